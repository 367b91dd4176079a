// The content of a message as text.  See mipi-syst.md 6 and 7.
#pragma once

#include "waymark/base/text_buffer.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/message.h"
#include "waymark/syst/quirks.h"

namespace waymark::syst {

/// The status of a message of `client`, which may be nullptr.  A CATALOG message without a client
/// is kMissingCollateral, whatever is wrong in its payload.
Status status_of(const Message& message, const Client* client);

/// The format of a CATALOG or short message; nullptr: none is known.
const Entry* format_entry(const Message& message, const Client* client);

/// The text of a message: formatted, or as hexadecimal bytes if its status is not kOk.  `entry` is
/// its format_entry().  A CATALOG message without a format shows its ID and arguments, except under
/// Quirks::reference_wording.
void write_payload(TextBuffer& out, const Message& message, const Client* client,
                   const Entry* entry, const Quirks& quirks = {});

/// All bytes of the message, in upper case.
void write_raw(TextBuffer& out, const Message& message, const Quirks& quirks = {});

/// "BUILD:LONG", "SHORT32", "RAW:console", "CATALOG:??"; for a reserved type "RESERVED:12".
void write_type(TextBuffer& out, const Message& message, const Client* client);

/// "src/main.c:123", "0x80081234", both, or nothing.
void write_location(TextBuffer& out, const Message& message, const Client* client,
                    const Entry* entry, const Quirks& quirks = {});

}  // namespace waymark::syst

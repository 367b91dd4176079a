// Words for software trace elements (STM).
#pragma once

#include <string_view>

#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"

namespace waymark::outputs {

/// "data", "flag", "trigger", "frequency", "time", "master_error", "global_error", "user",
/// "cross_sync", "channel_error".
std::string_view software_word(const Element& element);

/// False: it is about all masters, so its master and channel mean nothing.
bool has_master(const Element& element);

/// For people: "master 0x41, channel 5: 0x10000001, marker, time 61523133641".
void write_software(TextBuffer& out, const Element& element);

}  // namespace waymark::outputs

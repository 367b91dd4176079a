// What a snapshot's device type means: decoder, registers, factory.  One row per protocol; fact
// sheet snapshot-format.md section 4.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"
#include "waymark/tree/source.h"

namespace waymark::compat {

struct RegisterRule {
  std::string_view name;
  bool mandatory = false;
};

struct ProtocolRow {
  std::string_view type;       ///< Device type up to the first dot.
  std::string_view decoder;    ///< The registered name that the listing prints.
  std::string_view component;  ///< Of its log lines, after "PKTP_" and, in `decoder_component`,
  std::string_view decoder_component;  ///< after "DCD_".
  bool needs_core = false;
  std::span<const RegisterRule> registers;
  /// nullptr: this protocol has no decoder yet.
  Result<std::unique_ptr<Source>> (*make)(const inputs::Device& device, isa::Core core,
                                          const image::Image* image,
                                          const SourceOptions& options) = nullptr;
};

/// The row for a device type; nullptr: unknown.
const ProtocolRow* protocol_row(std::string_view type);

/// The row of a source that exists.
const ProtocolRow& protocol_row(Protocol protocol);

}  // namespace waymark::compat

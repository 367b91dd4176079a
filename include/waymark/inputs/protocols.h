// The meaning of device types: protocol, registers, factory.  One row per protocol.  See
// snapshot-format.md 4.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "waymark/base/register_value.h"
#include "waymark/base/result.h"
#include "waymark/image/image.h"
#include "waymark/protocol/source.h"

namespace waymark::inputs {

/// The value of a register by its name ("TRCIDR0"); nothing if the input does not have it.  The
/// value is an assumed one if only its trace ID is known.
using RegisterReader = std::function<std::optional<RegisterValue>(std::string_view name)>;

struct RegisterRule {
  std::string_view name;
  bool mandatory = false;
  /// Whether packets depend on it, by the values of other registers; nullptr: always.
  bool (*matters_to_packets)(const RegisterReader& registers) = nullptr;

  /// Whether a source that only lists packets (`decode` false), or decodes, needs it.
  [[nodiscard]] bool needed(const RegisterReader& registers, bool decode) const {
    return mandatory && (decode || matters_to_packets == nullptr || matters_to_packets(registers));
  }
};

class PacketAssembler;

struct ProtocolRow {
  std::string_view type;  ///< Device type up to the first dot: "ETM4".
  Protocol protocol = Protocol::kEtmV4;
  bool needs_core = false;  ///< It traces a PE, whose architecture is needed for decoding.
  std::string_view usual_core = "ARMv8-A";  ///< For raw trace, where none is given.
  bool framed = true;                       ///< False: its trace is never in CoreSight frames.
  std::span<const RegisterRule> registers{};
  std::span<const std::string_view> other_registers{};  ///< Optional registers.
  std::string_view where_registers{};  ///< Where a user finds their values: "on Linux ...".
  /// Missing registers have the defaults of snapshot-format.md 4.
  Result<std::unique_ptr<Source>> (*make)(const RegisterReader& registers, isa::Core core,
                                          const image::Image* image,
                                          const SourceOptions& options) = nullptr;
  /// The architecture version in the registers: "4.2"; nullptr: they have none.
  std::string (*version)(const RegisterReader& registers) = nullptr;
  /// Assembles packets for trace scripts.  nullptr: scripts do not know the protocol.
  std::unique_ptr<PacketAssembler> (*make_assembler)(const RegisterReader& registers,
                                                     isa::Core core) = nullptr;
};

/// The row for a device type such as "ETM4.2"; nullptr: unknown.
const ProtocolRow* protocol_by_type(std::string_view type);

/// The row for a name as users write it ("etmv4", "ete", "ptm"), in any case; nullptr: unknown.
const ProtocolRow* protocol_by_name(std::string_view name);

}  // namespace waymark::inputs

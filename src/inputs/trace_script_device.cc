// The devices of a trace script as protocols see them.
#include <fmt/format.h>

#include "packet_assembler.h"
#include "waymark/inputs/protocols.h"
#include "waymark/inputs/trace_script.h"

namespace waymark::inputs {
namespace {

/// The meaning of a device's registers.
struct Known {
  const ProtocolRow* row;
  RegisterReader registers;
  isa::Core core;
};

Result<Known> look_up(const ScriptDevice& device) {
  Known known{protocol_by_type(device.protocol), {}, {}};
  if (known.row == nullptr || known.row->make == nullptr || known.row->make_assembler == nullptr ||
      known.row->type != device.protocol)
    return fail(ErrorCode::kUnsupported,
                fmt::format("Trace scripts do not support the protocol '{}'.", device.protocol));
  known.registers = [&device](std::string_view name) -> std::optional<std::uint32_t> {
    for (const auto& [key, value] : device.registers)
      if (key == name) return value;
    return std::nullopt;
  };
  for (const RegisterRule& rule : known.row->registers)
    if (rule.mandatory && !known.registers(rule.name))
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("The device {} needs the register {}.", device.name, rule.name));
  if (known.row->needs_core) {
    const Result<isa::Core> core = isa::core_by_name(device.core);
    if (!core) return std::unexpected(core.error());
    known.core = *core;
  }
  return known;
}

}  // namespace

Result<std::unique_ptr<PacketAssembler>> make_packet_assembler(const ScriptDevice& device) {
  const Result<Known> known = look_up(device);
  if (!known) return std::unexpected(known.error());
  return known->row->make_assembler(known->registers, known->core);
}

Result<std::unique_ptr<Source>> make_source(const ScriptDevice& device, const image::Image* image,
                                            const SourceOptions& options) {
  const Result<Known> known = look_up(device);
  if (!known) return std::unexpected(known.error());
  return known->row->make(known->registers, known->core, image, options);
}

}  // namespace waymark::inputs

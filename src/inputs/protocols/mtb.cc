// MTB: its registers, and its records in trace scripts.
#include "../protocol_rows.h"
#include "waymark/mtb/encoder.h"
#include "waymark/mtb/fields.h"
#include "waymark/mtb/source.h"

namespace waymark::inputs {
namespace {

/// POSITION, MASTER and INITIAL_POSITION are for the order of the records, which is that of the
/// bytes here; see CaptureBuilder::order_records().
mtb::Config read_config(const RegisterReader& registers, isa::Core core) {
  mtb::Config config;
  config.core = core;
  config.vtor = registers("VTOR").value_or(config.vtor);
  if (const auto pc = registers("PC")) config.pc = pc->value();
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core core,
                                     const image::Image* image, const SourceOptions& options) {
  return mtb::make_source(read_config(registers, core), image, options);
}

constexpr RegisterRule kRegisters[] = {
    {"POSITION"}, {"MASTER"}, {"INITIAL_POSITION"}, {"VTOR"}, {"PC"}};

/// Those of a snapshot of the MTB that nothing is decoded with.
constexpr std::string_view kOtherRegisters[] = {"FLOW", "BASE"};

struct ScriptParts {
  using Config = mtb::Config;
  using Packet = mtb::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return mtb::packet_of_keyword(keyword);
  }
  static std::span<const mtb::Field> fields_of(const Packet& packet) {
    return mtb::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return mtb::packet_keyword(packet.type);
  }
  static Result<bool> assemble_special(std::string_view /*keyword*/,
                                       std::span<const ScriptField> /*fields*/,
                                       const Config& /*config*/,
                                       std::vector<std::uint8_t>& /*out*/) {
    return false;
  }
  static void complete(Packet& /*packet*/, std::span<const ScriptField> /*fields*/) {}
  static Result<void> encode(const Packet& packet, const Config& /*config*/,
                             std::vector<std::uint8_t>& out) {
    return mtb::encode(packet, out);
  }
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers, isa::Core core) {
  return std::make_unique<TableAssembler<ScriptParts>>(read_config(registers, core));
}

constexpr ProtocolRow kRows[] = {
    {.type = "MTB",
     .protocol = Protocol::kMtb,
     .needs_core = true,
     .usual_core = "ARMv8-M",
     .framed = false,
     .registers = kRegisters,
     .other_registers = kOtherRegisters,
     .where_registers = "a debugger reads POSITION and MASTER at the base of the MTB",
     .make = make,
     .make_assembler = make_assembler}};

}  // namespace

std::span<const ProtocolRow> mtb_rows() { return kRows; }

}  // namespace waymark::inputs

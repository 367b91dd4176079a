// The data stream of an ETMv4.  Snapshots have no name for it: "ETM4D" is Waymark's own, and a
// capture whose ETMv4 has data trace on gets a source for it automatically.
#include "../protocol_rows.h"
#include "waymark/etmv4data/encoder.h"
#include "waymark/etmv4data/fields.h"
#include "waymark/etmv4data/source.h"
#include "waymark/etmv4data/text.h"

namespace waymark::inputs {
namespace {

/// Layouts come as registers with the packet's name: [7:0] fixed bytes, [15:8] continued ones.
etmv4data::Config read_config(const RegisterReader& registers) {
  etmv4data::Config config;
  config.id = static_cast<TraceId>(registers("TRCTRACEIDR").value_or(0) & 0x7F);
  for (std::size_t row = 0; row < etmv4data::Layouts::kCount; ++row) {
    const auto layout = registers(etmv4data::packet_name(etmv4data::Layouts::types()[row]));
    if (!layout) continue;
    config.layouts.set_row(
        row, {static_cast<std::uint8_t>(*layout), static_cast<std::uint8_t>(*layout >> 8)});
  }
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core /*core*/,
                                     const image::Image* /*image*/, const SourceOptions& options) {
  return etmv4data::make_source(read_config(registers), options);
}

constexpr RegisterRule kRegisters[] = {{"TRCTRACEIDR", true}};

struct ScriptParts {
  using Config = etmv4data::Config;
  using Packet = etmv4data::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return etmv4data::packet_of_keyword(keyword);
  }
  static std::span<const etmv4data::Field> fields_of(const Packet& packet) {
    return etmv4data::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return etmv4data::packet_keyword(packet.type);
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
    return etmv4data::encode(packet, out);
  }
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers,
                                                isa::Core /*core*/) {
  return std::make_unique<TableAssembler<ScriptParts>>(read_config(registers));
}

constexpr ProtocolRow kRows[] = {{.type = "ETM4D",
                                  .protocol = Protocol::kEtmV4Data,
                                  .registers = kRegisters,
                                  .make = make,
                                  .make_assembler = make_assembler}};

}  // namespace

std::span<const ProtocolRow> etmv4data_rows() { return kRows; }

}  // namespace waymark::inputs

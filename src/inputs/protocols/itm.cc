// ITM: its register, and its packets in trace scripts.
#include <algorithm>

#include "../protocol_rows.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/fields.h"
#include "waymark/itm/source.h"

namespace waymark::inputs {
namespace {

/// Registers of the DWT, which complete the addresses that its packets shorten.
constexpr std::string_view kComparators[] = {"DWT_COMP0", "DWT_COMP1", "DWT_COMP2", "DWT_COMP3"};

itm::Config read_itm(const RegisterReader& registers) {
  itm::Config config;
  config.itm_tcr = registers("ITMTCR").value_or(config.itm_tcr);
  for (std::size_t i = 0; i < config.comparators.size(); ++i)
    config.comparators[i] = registers(kComparators[i]);
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core /*core*/,
                                     const image::Image* /*image*/, const SourceOptions& options) {
  return itm::make_source(read_itm(registers), options);
}

constexpr RegisterRule kRegisters[] = {{"ITMTCR", true}};

struct ScriptParts {
  using Config = itm::Config;
  using Packet = itm::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return itm::packet_of_keyword(keyword);
  }
  static std::span<const itm::Field> fields_of(const Packet& packet) {
    return itm::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return itm::packet_keyword(packet.type);
  }
  /// "text PORT WORD": one byte for each character of a word.
  static Result<bool> assemble_special(std::string_view keyword,
                                       std::span<const ScriptField> fields,
                                       const Config& /*config*/, std::vector<std::uint8_t>& out) {
    if (keyword != "text") return false;
    Packet packet;
    packet.type = itm::PacketType::kSoftware;
    packet.size = 1;
    std::string_view text;
    for (const ScriptField& field : fields) {
      if (field.name.empty()) {
        text = field.text;
      } else if (field.name == "port") {
        WAYMARK_TRY(itm::set_field(packet, field.name, field.text));
      } else {
        return fail(ErrorCode::kParse,
                    fmt::format("'text' has no field '{}': only port and a word.", field.name));
      }
    }
    for (const char c : text) {
      packet.value = static_cast<unsigned char>(c);
      WAYMARK_TRY(itm::encode(packet, out));
    }
    return true;
  }
  static void complete(Packet& packet, std::span<const ScriptField> fields) {
    if (std::ranges::find(fields, "size", &ScriptField::name) == fields.end())
      packet.size = itm::least_size(packet);
  }
  static Result<void> encode(const Packet& packet, const Config& /*config*/,
                             std::vector<std::uint8_t>& out) {
    return itm::encode(packet, out);
  }
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers,
                                                isa::Core /*core*/) {
  return std::make_unique<TableAssembler<ScriptParts>>(read_itm(registers));
}

constexpr ProtocolRow kRows[] = {
    {.type = "ITM",
     .protocol = Protocol::kItm,
     .registers = kRegisters,
     .other_registers = kComparators,
     .where_registers = "a debugger reads ITMTCR at 0xE0000E80 of the core",
     .make = make,
     .make_assembler = make_assembler}};

}  // namespace

std::span<const ProtocolRow> itm_rows() { return kRows; }

}  // namespace waymark::inputs

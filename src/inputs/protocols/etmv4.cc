// ETMv4 and ETE.
#include <algorithm>
#include <string>

#include "../protocol_rows.h"
#include "waymark/element/exception_names.h"
#include "waymark/etmv4/config.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/source.h"

namespace waymark::inputs {
namespace {

// -- Registers; snapshot-format.md 4. -------------------------------------------------------------

etmv4::Config read_common(const RegisterReader& registers, isa::Core core) {
  etmv4::Config config;
  config.core = core;
  config.trcidr0 = registers("TRCIDR0").value_or(config.trcidr0);
  config.trcidr1 = registers("TRCIDR1").value_or(0x4100F403);
  config.trcidr2 = registers("TRCIDR2").value_or(config.trcidr2);
  config.trcidr8 = registers("TRCIDR8").value_or(0);
  config.trcconfigr = registers("TRCCONFIGR").value_or(config.trcconfigr);
  config.trctraceidr = registers("TRCTRACEIDR").value_or(config.trctraceidr);
  return config;
}

etmv4::Config read_etmv4(const RegisterReader& registers, isa::Core core) {
  etmv4::Config config = read_common(registers, core);
  config.trcidr9 = registers("TRCIDR9").value_or(0);
  config.trcidr10 = registers("TRCIDR10").value_or(0);
  config.trcidr11 = registers("TRCIDR11").value_or(0);
  config.trcidr12 = registers("TRCIDR12").value_or(0);
  config.trcidr13 = registers("TRCIDR13").value_or(0);
  return config;
}

etmv4::Config read_ete(const RegisterReader& registers, isa::Core core) {
  etmv4::Config config = read_common(registers, core);
  config.ete = true;
  config.trcdevarch = registers("TRCDEVARCH").value_or(0x47705A13);
  return config;
}

template <etmv4::Config Read(const RegisterReader&, isa::Core)>
Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core core,
                                     const image::Image* image, const SourceOptions& options) {
  return etmv4::make_source(Read(registers, core), image, options);
}

std::string etmv4_version(const RegisterReader& registers) {
  const unsigned version = read_common(registers, {}).version();
  return fmt::format("{}.{}", version >> 4, version & 0xF);
}

/// ETE continues the numbers of ETMv4: major version 5 is ETE 1.
std::string ete_version(const RegisterReader& registers) {
  const etmv4::Config config = read_ete(registers, {});
  return fmt::format("{}.{}", static_cast<int>(config.major_version()) - 4, config.minor_version());
}

/// Only units that can trace conditional instructions or data have packets that depend on it.
bool config_matters_to_packets(const RegisterReader& registers) {
  const std::uint32_t trcidr0 = registers("TRCIDR0").value_or(0);
  return bit<6>(trcidr0) || bits<4, 3>(trcidr0) == 3;
}

constexpr RegisterRule kEtmv4Registers[] = {{"TRCCONFIGR", true, config_matters_to_packets},
                                            {"TRCTRACEIDR", true},
                                            {"TRCIDR0", true},
                                            {"TRCIDR1"},
                                            {"TRCIDR2", true},
                                            {"TRCIDR8"},
                                            {"TRCIDR9"},
                                            {"TRCIDR10"},
                                            {"TRCIDR11"},
                                            {"TRCIDR12"},
                                            {"TRCIDR13"}};
constexpr RegisterRule kEteRegisters[] = {{"TRCCONFIGR", true, config_matters_to_packets},
                                          {"TRCTRACEIDR", true},
                                          {"TRCIDR0", true},
                                          {"TRCIDR1"},
                                          {"TRCIDR2", true},
                                          {"TRCIDR8"},
                                          {"TRCDEVARCH"}};

/// coresight-etm4x reads mgmt/ from the unit, which loses its registers with its power.
constexpr std::string_view kWhereEtmv4 =
    "on Linux, TRCIDRn is trcidr/trcidrN in /sys/bus/coresight/devices/etm0/, and TRCCONFIGR is "
    "mgmt/trcconfig there, which reads 0 once the unit is off";
constexpr std::string_view kWhereEte =
    "on Linux, TRCIDRn is trcidr/trcidrN in /sys/bus/coresight/devices/ete0/, and TRCCONFIGR is "
    "mgmt/trcconfig there, which reads 0 once the unit is off";

// -- Trace scripts. -------------------------------------------------------------------------------

/// "atoms EENEN…": any number of letters, packed greedily into few packets.
Result<void> assemble_atoms(std::string_view letters, const etmv4::Config& config,
                            std::vector<std::uint8_t>& out) {
  if (letters.empty() || letters.find_first_not_of("EN") != std::string_view::npos)
    return fail(ErrorCode::kParse, "After 'atoms', letters E and N are needed.");
  while (!letters.empty()) {
    const auto count = static_cast<unsigned>(std::min<std::size_t>(letters.size(), 24));
    std::uint32_t atoms = 0;
    for (unsigned i = 0; i < count; ++i)
      if (letters[i] == 'E') atoms |= 1U << i;
    const etmv4::Packet packet = etmv4::longest_atom_packet(atoms, count);
    WAYMARK_TRY(etmv4::encode(packet, config, out));
    letters.remove_prefix(packet.atom_count);
  }
  return {};
}

/// Sets what the forms of an address leave to the script: the width that a value needs.
void complete_address(etmv4::Packet& packet, bool bits_given) {
  using etmv4::PacketType;
  const auto needs = [&](std::uint8_t first) {
    if (!bits_given)
      packet.address.update_bits = packet.address.value >> first == 0 ? first : first + 8;
  };
  switch (packet.type) {
    case PacketType::kAddressShortIs0:
    case PacketType::kSourceShortIs0:
      needs(9);
      return;
    case PacketType::kAddressShortIs1:
    case PacketType::kSourceShortIs1:
      needs(8);
      return;
    case PacketType::kQ:
      if (packet.q.type == 5) needs(9);
      if (packet.q.type == 6) needs(8);
      return;
    default:
      return;
  }
}

struct ScriptParts {
  using Config = etmv4::Config;
  using Packet = etmv4::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return etmv4::packet_of_keyword(keyword);
  }
  static std::span<const etmv4::Field> fields_of(const Packet& packet) {
    return etmv4::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return etmv4::packet_keyword(packet.type);
  }
  /// An exception of the M profile by its name: "type=SysTick".
  static std::optional<std::uint32_t> named_value(const Config& config, std::string_view field,
                                                  std::string_view word) {
    if (field != "type" || config.core.profile != isa::Profile::kM) return std::nullopt;
    const auto ipsr = ipsr_number(word);
    return ipsr ? traced_number(ExceptionNumbers::kEtmV4M, *ipsr) : std::nullopt;
  }
  static Result<bool> assemble_special(std::string_view keyword,
                                       std::span<const ScriptField> fields, const Config& config,
                                       std::vector<std::uint8_t>& out) {
    if (keyword != "atoms") return false;
    WAYMARK_TRY(assemble_atoms(fields.size() == 1 && fields[0].name.empty() ? fields[0].text : "",
                               config, out));
    return true;
  }
  static void complete(Packet& packet, std::span<const ScriptField> fields) {
    complete_address(packet, std::ranges::find(fields, "bits", &ScriptField::name) != fields.end());
  }
  static Result<void> encode(const Packet& packet, const Config& config,
                             std::vector<std::uint8_t>& out) {
    return etmv4::encode(packet, config, out);
  }
};

template <etmv4::Config Read(const RegisterReader&, isa::Core)>
std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers, isa::Core core) {
  return std::make_unique<TableAssembler<ScriptParts>>(Read(registers, core));
}

constexpr ProtocolRow kRows[] = {
    {.type = "ETM4",
     .protocol = Protocol::kEtmV4,
     .needs_core = true,
     .registers = kEtmv4Registers,
     .where_registers = kWhereEtmv4,
     .make = make<read_etmv4>,
     .version = etmv4_version,
     .make_assembler = make_assembler<read_etmv4>},
    {.type = "ETE",
     .protocol = Protocol::kEte,
     .needs_core = true,
     .registers = kEteRegisters,
     .where_registers = kWhereEte,
     .make = make<read_ete>,
     .version = ete_version,
     .make_assembler = make_assembler<read_ete>},
};

}  // namespace

std::span<const ProtocolRow> etmv4_rows() { return kRows; }

}  // namespace waymark::inputs

// PTM.
#include <algorithm>
#include <string>

#include "../protocol_rows.h"
#include "waymark/ptm/config.h"
#include "waymark/ptm/encoder.h"
#include "waymark/ptm/fields.h"
#include "waymark/ptm/source.h"

namespace waymark::inputs {
namespace {

// -- Registers; snapshot-format.md 4. -------------------------------------------------------------

ptm::Config read_config(const RegisterReader& registers, isa::Core core) {
  ptm::Config config;
  config.core = core;
  config.etmidr = registers("ETMIDR").value_or(config.etmidr);
  config.etmcr = registers("ETMCR").value_or(config.etmcr);
  config.etmccer = registers("ETMCCER").value_or(config.etmccer);
  config.etmtraceidr = registers("ETMTRACEIDR").value_or(config.etmtraceidr);
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core core,
                                     const image::Image* image, const SourceOptions& options) {
  return ptm::make_source(read_config(registers, core), image, options);
}

std::string version(const RegisterReader& registers) {
  if (!registers("ETMIDR")) return {};
  return fmt::format("1.{}", read_config(registers, {}).minor_version());
}

/// These registers determine how timestamps are written.
bool has_timestamps(const RegisterReader& registers) {
  return bit<28>(registers("ETMCR").value_or(~0U));
}

constexpr RegisterRule kRegisters[] = {{"ETMIDR", true, has_timestamps},
                                       {"ETMCR", true},
                                       {"ETMCCER", true, has_timestamps},
                                       {"ETMTRACEIDR", true}};

constexpr std::string_view kWhere = "on Linux they are in /sys/bus/coresight/devices/ptm0/mgmt/";

// -- Trace scripts. -------------------------------------------------------------------------------

/// "atoms EENEN…": any number of letters, five per packet, or one per packet with cycle counts.
Result<void> assemble_atoms(std::string_view letters, const ptm::Config& config,
                            std::vector<std::uint8_t>& out) {
  if (letters.empty() || letters.find_first_not_of("EN") != std::string_view::npos)
    return fail(ErrorCode::kParse, "After 'atoms', letters E and N are needed.");
  const std::size_t most = config.cycle_accurate() ? 1 : 5;
  while (!letters.empty()) {
    ptm::Packet packet;
    packet.type = ptm::PacketType::kAtom;
    const std::string_view part = letters.substr(0, most);
    packet.atom_count = static_cast<std::uint8_t>(part.size());
    for (std::size_t i = 0; i < part.size(); ++i)
      if (part[i] == 'E') packet.atoms |= 1U << i;
    WAYMARK_TRY(ptm::encode(packet, config, out));
    letters.remove_prefix(part.size());
  }
  return {};
}

struct ScriptParts {
  using Config = ptm::Config;
  using Packet = ptm::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return ptm::packet_of_keyword(keyword);
  }
  static std::span<const ptm::Field> fields_of(const Packet& packet) {
    return ptm::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return ptm::packet_keyword(packet.type);
  }
  static Result<bool> assemble_special(std::string_view keyword,
                                       std::span<const ScriptField> fields, const Config& config,
                                       std::vector<std::uint8_t>& out) {
    if (keyword != "atoms") return false;
    WAYMARK_TRY(assemble_atoms(fields.size() == 1 && fields[0].name.empty() ? fields[0].text : "",
                               config, out));
    return true;
  }
  static void complete(Packet& packet, std::span<const ScriptField> /*fields*/) {
    if (packet.type == ptm::PacketType::kIsync && packet.isa == isa::Isa::kThumbEE)
      packet.context.alt_isa = true;
  }
  static Result<void> encode(const Packet& packet, const Config& config,
                             std::vector<std::uint8_t>& out) {
    return ptm::encode(packet, config, out);
  }
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers, isa::Core core) {
  return std::make_unique<TableAssembler<ScriptParts>>(read_config(registers, core));
}

constexpr ProtocolRow kRows[] = {
    {.type = "PTM1",
     .protocol = Protocol::kPtm,
     .needs_core = true,
     .registers = kRegisters,
     .where_registers = kWhere,
     .make = make,
     .version = version,
     .make_assembler = make_assembler},
    {.type = "PFT1",
     .protocol = Protocol::kPtm,
     .needs_core = true,
     .registers = kRegisters,
     .where_registers = kWhere,
     .make = make,
     .version = version,
     .make_assembler = make_assembler},
};

}  // namespace

std::span<const ProtocolRow> ptm_rows() { return kRows; }

}  // namespace waymark::inputs

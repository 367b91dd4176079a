// ETMv3.
#include <algorithm>
#include <string>

#include "../protocol_rows.h"
#include "waymark/element/exception_names.h"
#include "waymark/etmv3/config.h"
#include "waymark/etmv3/encoder.h"
#include "waymark/etmv3/fields.h"
#include "waymark/etmv3/source.h"

namespace waymark::inputs {
namespace {

// -- Registers; snapshot-format.md 4. -------------------------------------------------------------

constexpr RegisterRule kRegisters[] = {
    {"ETMIDR", true}, {"ETMCR", true}, {"ETMCCER", true}, {"ETMTRACEIDR", true}};

constexpr std::string_view kWhere = "on Linux they are in /sys/bus/coresight/devices/etm0/mgmt/";

etmv3::Config read(const RegisterReader& registers, isa::Core core) {
  etmv3::Config config;
  config.core = core;
  config.etmcr = registers("ETMCR").value_or(config.etmcr);
  config.etmidr = registers("ETMIDR").value_or(config.etmidr);
  config.etmccer = registers("ETMCCER").value_or(config.etmccer);
  config.etmtraceidr = registers("ETMTRACEIDR").value_or(config.etmtraceidr);
  return config;
}

Result<std::unique_ptr<Source>> make(const RegisterReader& registers, isa::Core core,
                                     const image::Image* image, const SourceOptions& options) {
  return etmv3::make_source(read(registers, core), image, options);
}

std::string version(const RegisterReader& registers) {
  return fmt::format("3.{}", read(registers, {}).minor_version());
}

// -- Trace scripts. -------------------------------------------------------------------------------

/// "atoms EENEN…": any number of letters, packed greedily into few P-headers.
Result<void> assemble_atoms(std::string_view letters, const etmv3::Config& config,
                            std::vector<std::uint8_t>& out) {
  if (letters.empty() || letters.find_first_not_of("EN") != std::string_view::npos)
    return fail(ErrorCode::kParse, "After 'atoms', letters E and N are needed.");
  while (!letters.empty()) {
    const auto count = static_cast<unsigned>(std::min<std::size_t>(letters.size(), 16));
    std::uint32_t atoms = 0;
    for (unsigned i = 0; i < count; ++i)
      if (letters[i] == 'E') atoms |= 1U << i;
    const etmv3::Packet packet = etmv3::longest_p_header(atoms, count, config.cycle_accurate());
    WAYMARK_TRY(etmv3::encode(packet, config, out));
    letters.remove_prefix(packet.atom_count);
  }
  return {};
}

bool given(std::span<const ScriptField> fields, std::string_view name) {
  return std::ranges::find(fields, name, &ScriptField::name) != fields.end();
}

/// The smallest number of bytes that hold a value.
std::uint8_t size_of(std::uint32_t value) {
  return value == 0 ? 0 : value < 0x100 ? 1 : value < 0x10000 ? 2 : 4;
}

struct ScriptParts {
  using Config = etmv3::Config;
  using Packet = etmv3::Packet;

  static Result<Packet> packet_of_keyword(std::string_view keyword) {
    return etmv3::packet_of_keyword(keyword);
  }
  static std::span<const etmv3::Field> fields_of(const Packet& packet) {
    return etmv3::fields_of(packet.type);
  }
  static std::string_view keyword_of(const Packet& packet) {
    return etmv3::packet_keyword(packet.type);
  }
  /// An exception of the M profile by its name: "exception=SysTick".
  static std::optional<std::uint32_t> named_value(const Config& config, std::string_view field,
                                                  std::string_view word) {
    if (field != "exception" || config.core.profile != isa::Profile::kM) return std::nullopt;
    const auto ipsr = ipsr_number(word);
    return ipsr ? traced_number(ExceptionNumbers::kEtmV3M, *ipsr) : std::nullopt;
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
    if (!given(fields, "size")) packet.transfer.size = size_of(packet.transfer.value);
  }
  static Result<void> encode(const Packet& packet, const Config& config,
                             std::vector<std::uint8_t>& out) {
    return etmv3::encode(packet, config, out);
  }
};

std::unique_ptr<PacketAssembler> make_assembler(const RegisterReader& registers, isa::Core core) {
  return std::make_unique<TableAssembler<ScriptParts>>(read(registers, core));
}

constexpr ProtocolRow kRows[] = {{.type = "ETM3",
                                  .protocol = Protocol::kEtmV3,
                                  .needs_core = true,
                                  .registers = kRegisters,
                                  .where_registers = kWhere,
                                  .make = make,
                                  .version = version,
                                  .make_assembler = make_assembler}};

}  // namespace

std::span<const ProtocolRow> etmv3_rows() { return kRows; }

}  // namespace waymark::inputs

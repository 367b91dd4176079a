// ETMv4 and ETE in trace scripts.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "packet_assembler.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/fields.h"
#include "waymark/isa/instruction.h"

namespace waymark::inputs {
namespace {

using etmv4::Config;
using etmv4::Packet;

// Sheet snapshot-format.md section 4: the registers, and what stands for one that is missing.
struct Register {
  std::string_view name;
  std::uint32_t Config::* member;
  std::optional<std::uint32_t> fallback;
};
constexpr Register kRegisters[] = {
    {"TRCCONFIGR", &Config::trcconfigr, {}}, {"TRCTRACEIDR", &Config::trctraceidr, {}},
    {"TRCIDR0", &Config::trcidr0, {}},       {"TRCIDR1", &Config::trcidr1, 0x4100F403},
    {"TRCIDR2", &Config::trcidr2, {}},       {"TRCIDR8", &Config::trcidr8, 0},
    {"TRCIDR9", &Config::trcidr9, 0},        {"TRCIDR10", &Config::trcidr10, 0},
    {"TRCIDR11", &Config::trcidr11, 0},      {"TRCIDR12", &Config::trcidr12, 0},
    {"TRCIDR13", &Config::trcidr13, 0},      {"TRCDEVARCH", &Config::trcdevarch, 0x47705A13},
};

/// "atoms EENEN…": any number of letters, in as few packets as greedy choice gives.
Result<void> assemble_atoms(std::string_view letters, const Config& config,
                            std::vector<std::uint8_t>& out) {
  if (letters.empty() || letters.find_first_not_of("EN") != std::string_view::npos)
    return fail(ErrorCode::kParse, "After 'atoms', letters E and N are needed.");
  while (!letters.empty()) {
    const auto count = static_cast<unsigned>(std::min<std::size_t>(letters.size(), 24));
    std::uint32_t atoms = 0;
    for (unsigned i = 0; i < count; ++i)
      if (letters[i] == 'E') atoms |= 1U << i;
    const Packet packet = etmv4::longest_atom_packet(atoms, count);
    WAYMARK_TRY(etmv4::encode(packet, config, out));
    letters.remove_prefix(packet.atom_count);
  }
  return {};
}

/// The field that a lone value means: the atoms, or the only one that can be set.
Result<std::string_view> lone_field(const Packet& packet) {
  std::string_view only;
  unsigned count = 0;
  for (const etmv4::Field& field : etmv4::fields_of(packet.type)) {
    if (field.kind == etmv4::FieldKind::kAtoms) return field.name;
    if (field.set == nullptr) continue;
    only = field.name;
    ++count;
  }
  if (count == 1) return only;
  return fail(ErrorCode::kParse, fmt::format("The fields of {} need names: name=value.",
                                             etmv4::packet_keyword(packet.type)));
}

/// What the forms of an address leave to the script: the width that a value needs.
void complete(Packet& packet, bool bits_given) {
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
      if (packet.q_type == 5) needs(9);
      if (packet.q_type == 6) needs(8);
      return;
    default:
      return;
  }
}

class Etmv4Assembler final : public PacketAssembler {
 public:
  explicit Etmv4Assembler(const Config& config) : config_(config) {}

  Result<void> assemble(std::string_view keyword, std::span<const ScriptField> fields,
                        std::vector<std::uint8_t>& out) const override {
    if (keyword == "atoms")
      return assemble_atoms(fields.size() == 1 && fields[0].name.empty() ? fields[0].text : "",
                            config_, out);
    Result<Packet> packet = etmv4::packet_of_keyword(keyword);
    if (!packet) return std::unexpected(std::move(packet).error());
    bool bits_given = false;
    for (const ScriptField& field : fields) {
      std::string_view name = field.name;
      if (name.empty()) {
        const Result<std::string_view> lone = lone_field(*packet);
        if (!lone) return std::unexpected(lone.error());
        name = *lone;
      }
      bits_given = bits_given || name == "bits";
      WAYMARK_TRY(etmv4::set_field(*packet, name, field.text));
    }
    complete(*packet, bits_given);
    return etmv4::encode(*packet, config_, out);
  }

  [[nodiscard]] TraceId trace_id() const override { return config_.trace_id(); }

 private:
  Config config_;
};

}  // namespace

Result<Config> etmv4_config(const ScriptDevice& device) {
  if (device.protocol != "ETM4" && device.protocol != "ETE")
    return fail(ErrorCode::kUnsupported,
                fmt::format("The device {} is no ETM4 or ETE.", device.name));
  Config config;
  config.ete = device.protocol == "ETE";
  for (const auto& [name, member, fallback] : kRegisters) {
    const auto found = std::ranges::find(device.registers, name,
                                         [](const auto& r) -> const auto& { return r.first; });
    if (found != device.registers.end()) {
      config.*member = found->second;
    } else if (fallback) {
      config.*member = *fallback;
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("The device {} needs the register {}.", device.name, name));
    }
  }
  const Result<isa::Core> core = isa::core_by_name(device.core);
  if (!core) return std::unexpected(core.error());
  config.core = *core;
  return config;
}

Result<std::unique_ptr<PacketAssembler>> make_etmv4_assembler(const ScriptDevice& device) {
  const Result<Config> config = etmv4_config(device);
  if (!config) return std::unexpected(config.error());
  return std::make_unique<Etmv4Assembler>(*config);
}

}  // namespace waymark::inputs

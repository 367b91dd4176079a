#include "protocols.h"

#include <algorithm>

#include "waymark/etmv4/source.h"

namespace waymark::compat {
namespace {

std::uint32_t value_or(const inputs::Device& device, std::string_view name,
                       std::uint32_t fallback) {
  return device.value(name).value_or(fallback);
}

etmv4::Config read_etm4(const inputs::Device& device, isa::Core core) {
  etmv4::Config config;
  config.core = core;
  config.trcidr0 = value_or(device, "TRCIDR0", config.trcidr0);
  config.trcidr1 = value_or(device, "TRCIDR1", 0x4100F403);
  config.trcidr2 = value_or(device, "TRCIDR2", config.trcidr2);
  config.trcidr8 = value_or(device, "TRCIDR8", 0);
  config.trcconfigr = value_or(device, "TRCCONFIGR", config.trcconfigr);
  config.trctraceidr = value_or(device, "TRCTRACEIDR", config.trctraceidr);
  return config;
}

Result<std::unique_ptr<Source>> make_etm4(const inputs::Device& device, isa::Core core,
                                          const image::Image* image, const SourceOptions& options) {
  etmv4::Config config = read_etm4(device, core);
  config.trcidr9 = value_or(device, "TRCIDR9", 0);
  config.trcidr10 = value_or(device, "TRCIDR10", 0);
  config.trcidr11 = value_or(device, "TRCIDR11", 0);
  config.trcidr12 = value_or(device, "TRCIDR12", 0);
  config.trcidr13 = value_or(device, "TRCIDR13", 0);
  return etmv4::make_source(config, image, options);
}

Result<std::unique_ptr<Source>> make_ete(const inputs::Device& device, isa::Core core,
                                         const image::Image* image, const SourceOptions& options) {
  etmv4::Config config = read_etm4(device, core);
  config.ete = true;
  config.trcdevarch = value_or(device, "TRCDEVARCH", 0x47705A13);
  return etmv4::make_source(config, image, options);
}

constexpr RegisterRule kEtm4Registers[] = {
    {"TRCCONFIGR", true}, {"TRCTRACEIDR", true}, {"TRCIDR0", true}, {"TRCIDR1"},
    {"TRCIDR2", true},    {"TRCIDR8"},           {"TRCIDR9"},       {"TRCIDR10"},
    {"TRCIDR11"},         {"TRCIDR12"},          {"TRCIDR13"}};
constexpr RegisterRule kEteRegisters[] = {
    {"TRCCONFIGR", true}, {"TRCTRACEIDR", true}, {"TRCIDR0", true}, {"TRCIDR1"},
    {"TRCIDR2", true},    {"TRCIDR8"},           {"TRCDEVARCH"}};
constexpr RegisterRule kEtm3Registers[] = {
    {"ETMIDR", true}, {"ETMCR", true}, {"ETMCCER", true}, {"ETMTRACEIDR", true}};
constexpr RegisterRule kStmRegisters[] = {{"STMTCSR", true}};
constexpr RegisterRule kItmRegisters[] = {{"ITMTCR", true}};

// An ETE source logs under the names of ETMv4.
constexpr ProtocolRow kRows[] = {
    {"ETM4", "ETMV4I", "ETMV4I", "ETMV4", true, kEtm4Registers, make_etm4},
    {"ETE", "ETE", "ETMV4I", "ETMV4", true, kEteRegisters, make_ete},
    {"ETM3", "ETMV3", "ETMV3", "ETMV3", true, kEtm3Registers, nullptr},
    {"PTM1", "PTM", "PTM", "PTM", true, kEtm3Registers, nullptr},
    {"PFT1", "PTM", "PTM", "PTM", true, kEtm3Registers, nullptr},
    {"STM", "STM", "STM", "STM", false, kStmRegisters, nullptr},
    {"ITM", "ITM", "ITM", "ITM", false, kItmRegisters, nullptr},
};

}  // namespace

const ProtocolRow* protocol_row(std::string_view type) {
  const auto* row = std::ranges::find(kRows, type.substr(0, type.find('.')), &ProtocolRow::type);
  return row == std::end(kRows) ? nullptr : row;
}

const ProtocolRow& protocol_row(Protocol protocol) {
  const auto* row = std::ranges::find(kRows, protocol_name(protocol), &ProtocolRow::decoder);
  return row == std::end(kRows) ? kRows[0] : *row;
}

}  // namespace waymark::compat

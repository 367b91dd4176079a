#include "waymark/inputs/protocols.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "waymark/etmv4/source.h"

namespace waymark::inputs {
namespace {

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

Result<std::unique_ptr<Source>> make_etmv4(const RegisterReader& registers, isa::Core core,
                                           const image::Image* image,
                                           const SourceOptions& options) {
  etmv4::Config config = read_common(registers, core);
  config.trcidr9 = registers("TRCIDR9").value_or(0);
  config.trcidr10 = registers("TRCIDR10").value_or(0);
  config.trcidr11 = registers("TRCIDR11").value_or(0);
  config.trcidr12 = registers("TRCIDR12").value_or(0);
  config.trcidr13 = registers("TRCIDR13").value_or(0);
  return etmv4::make_source(config, image, options);
}

Result<std::unique_ptr<Source>> make_ete(const RegisterReader& registers, isa::Core core,
                                         const image::Image* image, const SourceOptions& options) {
  etmv4::Config config = read_common(registers, core);
  config.ete = true;
  config.trcdevarch = registers("TRCDEVARCH").value_or(0x47705A13);
  return etmv4::make_source(config, image, options);
}

std::string etmv4_version(const RegisterReader& registers) {
  const unsigned version = read_common(registers, {}).version();
  return fmt::format("{}.{}", version >> 4, version & 0xF);
}

/// ETE counts on from ETMv4: major version 5 is ETE 1.
std::string ete_version(const RegisterReader& registers) {
  etmv4::Config config;
  config.ete = true;
  config.trcdevarch = registers("TRCDEVARCH").value_or(0x47705A13);
  return fmt::format("{}.{}", static_cast<int>(config.major_version()) - 4, config.minor_version());
}

constexpr RegisterRule kEtmv4Registers[] = {
    {"TRCCONFIGR", true}, {"TRCTRACEIDR", true}, {"TRCIDR0", true}, {"TRCIDR1"},
    {"TRCIDR2", true},    {"TRCIDR8"},           {"TRCIDR9"},       {"TRCIDR10"},
    {"TRCIDR11"},         {"TRCIDR12"},          {"TRCIDR13"}};
constexpr RegisterRule kEteRegisters[] = {
    {"TRCCONFIGR", true}, {"TRCTRACEIDR", true}, {"TRCIDR0", true}, {"TRCIDR1"},
    {"TRCIDR2", true},    {"TRCIDR8"},           {"TRCDEVARCH"}};
constexpr RegisterRule kEtmv3Registers[] = {
    {"ETMIDR", true}, {"ETMCR", true}, {"ETMCCER", true}, {"ETMTRACEIDR", true}};
constexpr RegisterRule kStmRegisters[] = {{"STMTCSR", true}};
constexpr RegisterRule kItmRegisters[] = {{"ITMTCR", true}};

constexpr ProtocolRow kRows[] = {
    {"ETM4", Protocol::kEtmV4, true, kEtmv4Registers, make_etmv4, etmv4_version},
    {"ETE", Protocol::kEte, true, kEteRegisters, make_ete, ete_version},
    {"ETM3", Protocol::kEtmV3, true, kEtmv3Registers},
    {"PTM1", Protocol::kPtm, true, kEtmv3Registers},
    {"PFT1", Protocol::kPtm, true, kEtmv3Registers},
    {"STM", Protocol::kStm, false, kStmRegisters},
    {"ITM", Protocol::kItm, false, kItmRegisters},
};

struct Name {
  std::string_view name;
  std::string_view type;
};
constexpr Name kNames[] = {{"etmv4", "ETM4"}, {"etm4", "ETM4"}, {"ete", "ETE"}, {"etmv3", "ETM3"},
                           {"etm3", "ETM3"},  {"ptm", "PTM1"},  {"stm", "STM"}, {"itm", "ITM"}};

}  // namespace

const ProtocolRow* protocol_by_type(std::string_view type) {
  const auto* row = std::ranges::find(kRows, type.substr(0, type.find('.')), &ProtocolRow::type);
  return row == std::end(kRows) ? nullptr : row;
}

const ProtocolRow* protocol_by_name(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* found = std::ranges::find(kNames, lower, &Name::name);
  return found == std::end(kNames) ? nullptr : protocol_by_type(found->type);
}

}  // namespace waymark::inputs

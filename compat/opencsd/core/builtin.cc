#include "builtin.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "opencsd/c_api/ocsd_c_api_types.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
#include "quirk_choice.h"
#include "waymark/etmv3/source.h"
#include "waymark/etmv4/source.h"
#include "waymark/itm/source.h"
#include "waymark/ptm/source.h"
#include "waymark/stm/source.h"

namespace waymark::compat {
namespace {

struct Named {
  std::string_view name;
  Protocol protocol;
  ocsd_trace_protocol_t number;
};

constexpr Named kBuiltin[] = {
    {OCSD_BUILTIN_DCD_STM, Protocol::kStm, OCSD_PROTOCOL_STM},
    {OCSD_BUILTIN_DCD_ETMV3, Protocol::kEtmV3, OCSD_PROTOCOL_ETMV3},
    {OCSD_BUILTIN_DCD_ETMV4I, Protocol::kEtmV4, OCSD_PROTOCOL_ETMV4I},
    {OCSD_BUILTIN_DCD_PTM, Protocol::kPtm, OCSD_PROTOCOL_PTM},
    {OCSD_BUILTIN_DCD_ETE, Protocol::kEte, OCSD_PROTOCOL_ETE},
    {OCSD_BUILTIN_DCD_ITM, Protocol::kItm, OCSD_PROTOCOL_ITM},
};

isa::Core core_of(ocsd_arch_version_t arch, ocsd_core_profile_t profile) {
  return {static_cast<isa::Arch>(arch), static_cast<isa::Profile>(profile)};
}

etmv3::Config read(const ocsd_etmv3_cfg& from) {
  return {.etmcr = from.reg_ctrl,
          .etmidr = from.reg_idr,
          .etmccer = from.reg_ccer,
          .etmtraceidr = from.reg_trc_id,
          .core = core_of(from.arch_ver, from.core_prof)};
}

ptm::Config read(const ocsd_ptm_cfg& from) {
  return {.etmidr = from.reg_idr,
          .etmcr = from.reg_ctrl,
          .etmccer = from.reg_ccer,
          .etmtraceidr = from.reg_trc_id,
          .core = core_of(from.arch_ver, from.core_prof)};
}

etmv4::Config read(const ocsd_etmv4_cfg& from) {
  etmv4::Config to;
  to.trcidr0 = from.reg_idr0;
  to.trcidr1 = from.reg_idr1;
  to.trcidr2 = from.reg_idr2;
  to.trcidr8 = from.reg_idr8;
  to.trcidr9 = from.reg_idr9;
  to.trcidr10 = from.reg_idr10;
  to.trcidr11 = from.reg_idr11;
  to.trcidr12 = from.reg_idr12;
  to.trcidr13 = from.reg_idr13;
  to.trcconfigr = from.reg_configr;
  to.trctraceidr = from.reg_traceidr;
  to.core = core_of(from.arch_ver, from.core_prof);
  return to;
}

etmv4::Config read(const ocsd_ete_cfg& from) {
  etmv4::Config to = etmv4::Config::ete_default();
  to.trcidr0 = from.reg_idr0;
  to.trcidr1 = from.reg_idr1;
  to.trcidr2 = from.reg_idr2;
  to.trcidr8 = from.reg_idr8;
  to.trcdevarch = trcdevarch_at(level_in_use(), from.reg_devarch);
  to.trcconfigr = from.reg_configr;
  to.trctraceidr = from.reg_traceidr;
  to.core = core_of(from.arch_ver, from.core_prof);
  return to;
}

stm::Config read(const ocsd_stm_cfg& from) {
  stm::Config to;
  to.order = stm::NibbleOrder::kAuto;  // Quirk most_nibble_first_only.
  to.stmtcsr = from.reg_tcsr;
  to.stmdevid = from.reg_devid;
  to.stmspfeat3r = from.reg_feat3r;
  return to;
}

itm::Config read(const ocsd_itm_cfg& from) {
  itm::Config to;
  to.itm_tcr = from.reg_tcr;
  return to;
}

/// The environment, as the reference reads it.  A program that changes it at the same time must
/// lock it.
const char* variable(const char* name) { return std::getenv(name); }

/// See etmv4-ete.md 4.1.
std::uint32_t range_limit() {
  const char* const text = variable("OPENCSD_INSTR_RANGE_LIMIT");
  if (text == nullptr) return 0;
  const unsigned long value = std::strtoul(text, nullptr, 0);
  return static_cast<std::uint32_t>(
      std::min<unsigned long>(value, std::numeric_limits<std::uint32_t>::max()));
}

template <class Config>
Result<std::unique_ptr<Source>> make(const Config& config, const image::Image* image,
                                     const SourceOptions& options) {
  if constexpr (std::is_same_v<Config, etmv4::Config>) {
    return etmv4::make_source(config, image, options);
  } else if constexpr (std::is_same_v<Config, etmv3::Config>) {
    return etmv3::make_source(config, image, options);
  } else if constexpr (std::is_same_v<Config, ptm::Config>) {
    return ptm::make_source(config, image, options);
  } else if constexpr (std::is_same_v<Config, stm::Config>) {
    return stm::make_source(config, options);
  } else {
    return itm::make_source(config, options);
  }
}

template <class Config>
Builtin build(Protocol protocol, const Config& config, bool decode, std::uint32_t flags,
              const image::Image& image) {
  constexpr bool kReads = requires { config.core; };
  unsigned version = 0;
  bool m_profile = false;
  if constexpr (requires { config.version(); }) version = config.version();
  if constexpr (kReads) m_profile = config.core.profile == isa::Profile::kM;

  SourceOptions options;
  options.decode = decode;
  options.packet_faults = decode;
  // Whether monitors get bad packets does not affect the sink.
  options.flags =
      effective_flags(protocol, flags) & ~std::uint32_t{OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS};
  if (variable("OPENCSD_ERR_ON_AA64_BAD_OPCODE") != nullptr) options.flags |= kA64OpcodeCheck;
  QuirkChoice quirks = QuirkChoice::of_environment();
  if ((flags & OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS) != 0) quirks.search_after_bad_packet();
  options.quirks = quirks.on(protocol);
  options.range_limit = range_limit();
  Builtin built{.source = nullptr,
                .trace_id = config.trace_id(),
                .packets = PacketStruct(protocol, version, m_profile),
                .reads_memory = kReads};
  auto made = make(config, &image, options);
  if (!made && decode) {
    built.refused = true;
    options.decode = false;
    made = make(config, nullptr, options);
  }
  if (made) built.source = std::move(*made);
  return built;
}

}  // namespace

std::optional<Protocol> builtin_by_name(std::string_view name) {
  for (const Named& row : kBuiltin)
    if (row.name == name && decodes(level_in_use(), name)) return row.protocol;
  return std::nullopt;
}

ocsd_trace_protocol_t protocol_number(Protocol protocol) {
  for (const Named& row : kBuiltin)
    if (row.protocol == protocol) return row.number;
  return OCSD_PROTOCOL_UNKNOWN;
}

std::uint32_t effective_flags(Protocol protocol, std::uint32_t flags) {
  std::uint32_t none = 0;
  if (protocol == Protocol::kPtm)
    none |= OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS | OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS;
  if (protocol != Protocol::kStm && protocol != Protocol::kItm)
    none |= OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS;
  return flags & ~none;
}

Builtin make_builtin(Protocol protocol, const void* config, bool decode, std::uint32_t flags,
                     const image::Image& image) {
  switch (protocol) {
    case Protocol::kEtmV3:
      return build(protocol, read(*static_cast<const ocsd_etmv3_cfg*>(config)), decode, flags,
                   image);
    case Protocol::kPtm:
      return build(protocol, read(*static_cast<const ocsd_ptm_cfg*>(config)), decode, flags, image);
    case Protocol::kEtmV4:
      return build(protocol, read(*static_cast<const ocsd_etmv4_cfg*>(config)), decode, flags,
                   image);
    case Protocol::kEte:
      return build(protocol, read(*static_cast<const ocsd_ete_cfg*>(config)), decode, flags, image);
    case Protocol::kStm:
      return build(protocol, read(*static_cast<const ocsd_stm_cfg*>(config)), decode, flags, image);
    case Protocol::kItm:
    case Protocol::kEtmV4Data:
    case Protocol::kMtb:
      break;
  }
  return build(Protocol::kItm, read(*static_cast<const ocsd_itm_cfg*>(config)), decode, flags,
               image);
}

}  // namespace waymark::compat

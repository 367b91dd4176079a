// A legal stream of some protocol with its registers as the C API takes them and its program, all
// from one source of random numbers: what a client of OpenCSD's interface would feed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
#include "support/etmv3_stream.h"
#include "support/etmv4_stream.h"
#include "support/itm_bench.h"
#include "support/ptm_stream.h"
#include "support/random.h"
#include "support/stm_stream.h"
#include "waymark/image/image.h"

namespace waymark::fuzz {

/// The registers of any built-in decoder.
union OpencsdConfig {
  ocsd_etmv4_cfg etmv4;
  ocsd_ete_cfg ete;
  ocsd_ptm_cfg ptm;
  ocsd_etmv3_cfg etmv3;
  ocsd_stm_cfg stm;
  ocsd_itm_cfg itm;
};

/// Immutable once made.
class LegalStream {
 public:
  explicit LegalStream(support::Random& random)
      : image_(support::Program(random).image(support::Program::Kind::kBuffers)) {
    switch (random.below(8)) {
      case 0:
        ptm(random);
        break;
      case 1:
        etmv3(random);
        break;
      case 2:
        stm(random);
        break;
      case 3:
        itm(random);
        break;
      default:
        etmv4(random);
    }
  }

  /// The name of the built-in decoder.
  [[nodiscard]] const char* decoder() const { return decoder_; }
  [[nodiscard]] const OpencsdConfig& config() const { return config_; }
  [[nodiscard]] TraceId id() const { return id_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

  /// Copies code from `address` on into `out`; returns the number of bytes copied.
  std::size_t read(std::uint64_t address, std::span<std::uint8_t> out) const {
    std::array<std::uint8_t, 16> scratch{};
    const Bytes found = image_->read(address, image::kSpaceAny, id_, scratch);
    const std::size_t count = std::min(found.size(), out.size());
    std::copy_n(found.begin(), count, out.begin());
    return count;
  }

 private:
  static constexpr unsigned kPackets = 60;

  template <class Cfg>
  static void set_core(Cfg& to, const isa::Core& core) {
    to.arch_ver = static_cast<ocsd_arch_version_t>(core.arch);
    to.core_prof = static_cast<ocsd_core_profile_t>(core.profile);
  }

  void etmv4(support::Random& random) {
    const etmv4::Config config = support::random_config(random);
    const bool ete = config.major_version() >= 5;
    const auto common = [&](auto& to) {
      to.reg_idr0 = config.trcidr0;
      to.reg_idr1 = config.trcidr1;
      to.reg_idr2 = config.trcidr2;
      to.reg_idr8 = config.trcidr8;
      to.reg_configr = config.trcconfigr;
      to.reg_traceidr = config.trctraceidr;
      set_core(to, config.core);
    };
    if (ete) {
      decoder_ = OCSD_BUILTIN_DCD_ETE;
      common(config_.ete);
      config_.ete.reg_devarch = config.trcdevarch;
    } else {
      decoder_ = OCSD_BUILTIN_DCD_ETMV4I;
      common(config_.etmv4);
    }
    id_ = config.trace_id();
    bytes_ = support::StreamMaker(random, config).make(kPackets, damage(random));
  }

  void ptm(support::Random& random) {
    const ptm::Config config = support::random_ptm_config(random);
    decoder_ = OCSD_BUILTIN_DCD_PTM;
    config_.ptm.reg_idr = config.etmidr;
    config_.ptm.reg_ctrl = config.etmcr;
    config_.ptm.reg_ccer = config.etmccer;
    config_.ptm.reg_trc_id = config.etmtraceidr;
    set_core(config_.ptm, config.core);
    id_ = config.trace_id();
    bytes_ = support::PtmStreamMaker(random, config).make(kPackets, damage(random), true);
  }

  void etmv3(support::Random& random) {
    const etmv3::Config config = support::random_etmv3_config(random);
    decoder_ = OCSD_BUILTIN_DCD_ETMV3;
    config_.etmv3.reg_idr = config.etmidr;
    config_.etmv3.reg_ctrl = config.etmcr;
    config_.etmv3.reg_ccer = config.etmccer;
    config_.etmv3.reg_trc_id = config.etmtraceidr;
    set_core(config_.etmv3, config.core);
    id_ = config.trace_id();
    bytes_ = support::etmv3_stream(random, config, kPackets, damage(random));
  }

  void stm(support::Random& random) {
    decoder_ = OCSD_BUILTIN_DCD_STM;
    id_ = 0x10;
    config_.stm.reg_tcsr = 0x100007 | std::uint32_t{id_} << 16;
    config_.stm.reg_devid = 0xFF;
    config_.stm.reg_feat3r = 0x10000;
    bytes_ = support::random_stm_stream(random, kPackets, damage(random));
  }

  void itm(support::Random& random) {
    decoder_ = OCSD_BUILTIN_DCD_ITM;
    id_ = 0x10;
    config_.itm.reg_tcr = 0x0000000F | std::uint32_t{id_} << 16;
    bytes_ = {0, 0, 0, 0, 0, 0x80};
    const std::vector<std::uint8_t> rest =
        support::random_itm_stream(random, kPackets, damage(random));
    bytes_.insert(bytes_.end(), rest.begin(), rest.end());
  }

  /// In a quarter of the streams, one packet or byte in this number is damaged.
  static unsigned damage(support::Random& random) {
    return random.one_in(4) ? random.between(10, 40) : 0;
  }

  const char* decoder_ = nullptr;
  OpencsdConfig config_{};
  TraceId id_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::unique_ptr<image::Image> image_;
};

}  // namespace waymark::fuzz

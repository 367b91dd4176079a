// A small random program in A64, A32 and T32, as target memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/random.h"
#include "waymark/image/image.h"

namespace waymark::support {

/// Three areas, one for each instruction set, so low that a short address right after a trace info
/// reaches them; between them nothing is readable.
class Program {
 public:
  static constexpr std::uint64_t kA64 = 0x10000;
  static constexpr std::uint64_t kA32 = 0x12000;
  static constexpr std::uint64_t kT32 = 0x14000;
  static constexpr std::uint32_t kBytes = 0x200;

  explicit Program(Random& random) {
    for (std::uint32_t at = 0; at < kBytes; at += 4) {
      word(areas_[0], a64(random));
      word(areas_[1], a32(random));
      word(areas_[2], t32(random) | t32(random) << 16);
    }
  }

  /// Some address in or near the area for (A64, A32: is = 0; T32: is = 1), aligned for it.
  static std::uint64_t address(Random& random, bool sf, unsigned is) {
    std::uint64_t base = sf ? kA64 : kA32;
    if (is != 0) base = kT32;
    const std::uint32_t unit = is != 0 ? 2 : 4;
    return base +
           std::uint64_t{unit} * random.below((kBytes + (random.one_in(16) ? 16 : 0)) / unit);
  }

  enum class Kind : std::uint8_t { kBuffers, kSpaces, kCallback };

  /// The areas as buffers; as buffers that the secure and the other worlds see differently; or
  /// as a callback whose answer depends on trace ID and space and can be short.
  [[nodiscard]] std::unique_ptr<image::Image> image(Kind kind) const {
    auto image = std::make_unique<image::Image>();
    constexpr std::array<std::uint64_t, 3> kBases = {kA64, kA32, kT32};
    if (kind == Kind::kCallback) {
      const auto read = [areas = areas_](std::uint64_t address, image::SpaceMask space, TraceId id,
                                         std::span<std::uint8_t> out) -> std::size_t {
        const std::size_t area = (address - kA64) / (kA32 - kA64);
        const std::uint64_t offset = (address - kA64) % (kA32 - kA64);
        if (area > 2 || offset >= kBytes) return 0;
        const std::size_t count = std::min(
            {out.size(), std::size_t{kBytes - offset}, std::size_t{4} + (address & 12) * 4});
        std::copy_n(areas[area].begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
        // The answer must not depend on where a read begins.
        for (std::size_t i = 0; ((id ^ space) & 1) != 0 && area == 0 && i < count; ++i)
          if ((offset + i) % 16 == 0) out[i] ^= 0x20;
        return count;
      };
      (void)image->add_callback(kA64, kT32 + kBytes - 1, image::kSpaceAny, read, "program");
      return image;
    }
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      if (kind == Kind::kBuffers) {
        (void)image->add_buffer(kBases[i], areas_[i]);
        continue;
      }
      constexpr auto kOthers = static_cast<image::SpaceMask>(~image::kSpaceSecure);
      (void)image->add_buffer(kBases[i], areas_[i], image::kSpaceSecure);
      std::vector<std::uint8_t> shifted = areas_[i];
      std::ranges::rotate(shifted, shifted.begin() + 8);
      (void)image->add_buffer(kBases[i], shifted, kOthers);
    }
    return image;
  }

 private:
  static void word(std::vector<std::uint8_t>& to, std::uint32_t opcode) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      to.push_back(static_cast<std::uint8_t>(opcode >> shift));
  }

  // Branch offsets are small, so that most targets are in the area.
  static std::uint32_t a64(Random& random) {
    const std::uint32_t offset = random.below(64) - 32;
    switch (random.below(18)) {
      case 0:
        return 0x14000000U | (offset & 0x03FFFFFF);  // B
      case 1:
        return 0x94000000U | (offset & 0x03FFFFFF);  // BL
      case 2:
        return 0x54000000U | (offset & 0x7FFFF) << 5 | random.below(16);  // B.cond
      case 3:
        return 0xB4000000U | (offset & 0x7FFFF) << 5;  // CBZ
      case 4:
        return 0x36000000U | (offset & 0x3FFF) << 5;  // TBZ
      case 5:
        return 0xD65F03C0;  // RET
      case 6:
        return 0xD63F0100;  // BLR
      case 7:
        return 0xD61F0200;  // BR
      case 8:
        return 0xD69F03E0;  // ERET
      case 9:
        return random.pick({0xD5033FDFU, 0xD503207FU, 0xD503309FU});  // ISB, WFI, DSB
      case 10:
        return static_cast<std::uint32_t>(random.bits(32));
      case 11:
        return random.one_in(4) ? random.below(0x10000) : 0xD2800000U;  // UDF, MOV
      default:
        return 0xD503201F;  // NOP
    }
  }

  static std::uint32_t a32(Random& random) {
    const std::uint32_t offset = (random.below(64) - 32) & 0xFFFFFF;
    const std::uint32_t condition = random.pick({0xEU, 0x0U, 0xAU}) << 28;
    switch (random.below(14)) {
      case 0:
        return condition | 0x0A000000U | offset;  // B
      case 1:
        return condition | 0x0B000000U | offset;  // BL
      case 2:
        return 0xFA000000U | offset;  // BLX
      case 3:
        return condition | 0x012FFF1EU;  // BX LR
      case 4:
        return condition | 0x012FFF33U;  // BLX r3
      case 5:
        return condition | 0x08BD8010U;  // POP {r4, pc}
      case 6:
        return condition | 0x01A0F00EU;  // MOV pc, lr
      case 7:
        return random.pick({0xF57FF06FU, 0xE320F003U});  // ISB, WFI
      case 8:
        return static_cast<std::uint32_t>(random.bits(32));
      default:
        return 0xE1A00000;  // NOP
    }
  }

  static std::uint32_t t32(Random& random) {
    switch (random.below(16)) {
      case 0:
        return 0xD000U | random.below(14) << 8 | random.byte();  // B.cond
      case 1:
        return 0xE000U | (random.below(64) & 0x3F);  // B
      case 2:
        return 0x4770;  // BX LR
      case 3:
        return 0x4798;  // BLX r3
      case 4:
        return 0xB100U | random.below(32) << 3;  // CBZ
      case 5:
        return 0xBD10;  // POP {r4, pc}
      case 6:
        return 0xBF00U | random.byte();  // IT and hints
      case 7:
        return 0xF000U | random.below(8);  // First half of BL, BLX, B.W
      case 8:
        return 0xF800U | random.below(64);  // Second half of BL
      case 9:
        return static_cast<std::uint32_t>(random.bits(16));
      default:
        return 0xBF00;  // NOP
    }
  }

  std::array<std::vector<std::uint8_t>, 3> areas_;
};

}  // namespace waymark::support

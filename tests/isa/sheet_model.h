// A second implementation of isa-waypoints.md 3 to 5: plain conditions in the order of the
// document, without a table, an index or reordering.  Slow; the classifier must agree with it.
#pragma once

#include "waymark/isa/instruction.h"

namespace waymark::isa::sheet {

using enum InstrType;
using enum InstrSubtype;

struct Model {
  const Options& options;
  std::uint64_t pc;
  std::uint32_t op;
  std::uint8_t it;
  Instruction out{};

  [[nodiscard]] bool is(std::uint32_t mask, std::uint32_t value) const {
    return (op & mask) == value;
  }
  [[nodiscard]] std::uint32_t b(unsigned n) const { return (op >> n) & 1; }
  [[nodiscard]] std::uint32_t field(unsigned high, unsigned low) const {
    return (op >> low) & ((1U << (high - low + 1)) - 1);
  }
  static std::int64_t sext(std::uint32_t value, unsigned width) {
    const std::int64_t wide = value;
    return (value >> (width - 1)) != 0 ? wide - (std::int64_t{1} << width) : wide;
  }

  void set(InstrType type, InstrSubtype subtype = kNone) {
    out.type = type;
    out.subtype = subtype;
    out.link = subtype == kBranchLink;
  }
  void branch64(std::int64_t offset) { out.target = pc + static_cast<std::uint64_t>(offset); }
  void branch32(std::int64_t offset) {
    out.target = static_cast<std::uint32_t>(pc + static_cast<std::uint64_t>(offset));
  }
  void dsb_dmb() {
    if (options.dsb_dmb_waypoints) set(kDsbDmb);
  }
  void wfi_wfe() {
    if (options.wfi_wfe_waypoints) set(kWfiWfe);
  }

  void a64() {
    out.next_isa = Isa::kA64;
    const bool v83 = static_cast<unsigned>(options.arch) >= 0x0803;
    const bool aa64 = static_cast<unsigned>(options.arch) >= 0x0864;
    const InstrSubtype by21 = b(21) != 0 ? kBranchLink : kNone;
    const std::uint32_t t = op >> 24;
    const std::uint32_t d = field(15, 14);
    const bool compare = (t == 0x74 && d != 1) || (t == 0xF4 && d == 0) ||
                         ((t == 0x75 || t == 0xF5) && (d & 1) == 0);
    if (is(0xffdffc1f, 0xd61f0000)) return set(kIndirectBranch, by21);
    if (is(0xfffffc1f, 0xd65f0000)) return set(kIndirectBranch, kV8Return);
    if (op == 0xd69f03e0) return set(kIndirectBranch, kV8ExceptionReturn);
    if (v83 && is(0xffdff800, 0xd71f0800)) return set(kIndirectBranch, by21);
    if (v83 && is(0xffdff81f, 0xd61f081f)) return set(kIndirectBranch, by21);
    if (v83 && is(0xfffffbff, 0xd69f0bff)) return set(kIndirectBranch, kV8ExceptionReturn);
    if (v83 && is(0xfffffbff, 0xd65f0bff)) return set(kIndirectBranch, kV8Return);
    if (v83 && is(0xffc0001f, 0x5500001f)) return set(kIndirectBranch, kV8Return);
    if (v83 && is(0xfffffbe0, 0xd65f0be0)) return set(kIndirectBranch, kV8Return);
    if (v83 && (op == 0xd6ff03e0 || op == 0xd6ff07e0))
      return set(kIndirectBranch, kV8ExceptionReturn);
    if (is(0xff000000, 0x54000000) || is(0x7e000000, 0x34000000)) {
      set(kBranch);
      out.conditional = true;
      return branch64(sext(field(23, 5), 19) * 4);
    }
    if (is(0x7c000000, 0x14000000)) {
      set(kBranch, b(31) != 0 ? kBranchLink : kNone);
      return branch64(sext(field(25, 0), 26) * 4);
    }
    if (is(0x7e000000, 0x36000000)) {
      set(kBranch);
      out.conditional = true;
      return branch64(sext(field(18, 5), 14) * 4);
    }
    if (compare) {
      set(kBranch);
      return branch64(sext(field(13, 5), 9) * 4);
    }
    if (is(0xfffff09f, 0xd503309f)) {
      if (field(6, 5) < 2) return dsb_dmb();
      if (field(6, 5) == 2) set(kIsb);
      return;
    }
    if (is(0xffffffdf, 0xd503205f)) return wfi_wfe();
    if (aa64 && is(0xffffffc0, 0xd5031000)) return wfi_wfe();
    if (aa64 && is(0xffffffe0, 0xd5233060)) return set(kTstart);
  }

  bool a32_indirect() {
    if (op >> 28 == 15) {
      if (is(0xfe500000, 0xf8100000)) set(kIndirectBranch);
      return out.type != kOther;
    }
    const auto found = [&](bool implied) {
      set(kIndirectBranch, implied ? kV7ImpliedReturn : kNone);
      return true;
    };
    if (is(0x0ff000d0, 0x01200010)) {
      found((op & 0xff) == 0x1e);
      if (is(0x0ff000f0, 0x01200030)) set(kIndirectBranch, kBranchLink);
      return true;
    }
    if (is(0x0ff000f0, 0x01200020)) return found(false);
    if (is(0x0e108000, 0x08108000)) return found(is(0x0fffa000, 0x08bd8000));
    if (is(0x0e50f000, 0x0410f000)) return found(is(0x01ff0000, 0x009d0000));
    if (is(0x0e50f010, 0x0610f000)) return found(false);
    if (is(0x0fe0f000, 0x01a0f000)) return found(is(0x00100fff, 0x0000000e));
    if (is(0x0f900080, 0x01000000)) return false;
    if (is(0x0f9000f0, 0x01800090)) return false;
    if (is(0x0fb0f000, 0x0320f000)) return false;
    if (is(0x0e00f000, 0x0200f000)) return !is(0x0f90f000, 0x0310f000) && found(false);
    if (is(0x0e00f000, 0x0000f000)) return found(false);
    return false;
  }

  void cp15_barrier() {
    if ((op & 0xff) == 0x9a || (op & 0xff) == 0xba) return dsb_dmb();
    if ((op & 0xff) == 0x95) set(kIsb);
  }

  void a32() {
    out.next_isa = Isa::kA32;
    const std::uint32_t c = op >> 28;
    out.conditional = c < 14;
    if (a32_indirect()) return;
    if (is(0xfe000000, 0xfa000000)) {
      set(kBranch, kBranchLink);
      out.next_isa = Isa::kT32;
      return branch32(8 + sext(field(23, 0), 24) * 4 + std::int64_t{b(24)} * 2);
    }
    if (c != 15 && is(0x0e000000, 0x0a000000)) {
      set(kBranch, b(24) != 0 ? kBranchLink : kNone);
      return branch32(8 + sext(field(23, 0), 24) * 4);
    }
    if (is(0xfff00000, 0xf5700000)) {
      if (field(7, 4) == 4 || field(7, 4) == 5) return dsb_dmb();
      if (field(7, 4) == 6) set(kIsb);
      return;
    }
    if (is(0x0fff0f00, 0x0e070f00)) return cp15_barrier();
    if (c != 15 && is(0x0ffffffe, 0x0320f002)) return wfi_wfe();
  }

  void t32_branch(std::int64_t offset) {
    branch32(4 + offset);
    out.target &= ~std::uint64_t{1};
  }

  [[nodiscard]] std::int64_t t4_offset(std::uint32_t imm11) const {
    const std::uint32_t s = b(26);
    const std::uint32_t i1 = b(13) == s ? 1 : 0;
    const std::uint32_t i2 = b(11) == s ? 1 : 0;
    return sext((((s * 2 + i1) * 2 + i2) * 1024 + field(25, 16)) * 2048 + imm11, 24) * 2;
  }

  bool t32_direct() {
    const std::int64_t loop = std::int64_t{field(10, 1)} * 4 + std::int64_t{b(11)} * 2;
    if (is(0xf0000000, 0xd0000000) && field(27, 25) != 7) {
      set(kBranch);
      out.conditional = true;
      t32_branch(sext(field(23, 16), 8) * 2);
    } else if (is(0xf8000000, 0xe0000000)) {
      set(kBranch);
      t32_branch(sext(field(26, 16), 11) * 2);
    } else if (is(0xf800d000, 0xf0008000) && field(25, 23) != 7) {
      set(kBranch);
      out.conditional = true;
      const std::uint32_t top = (b(26) * 2 + b(11)) * 2 + b(13);
      t32_branch(sext((top * 64 + field(21, 16)) * 2048 + field(10, 0), 20) * 2);
    } else if (is(0xf8009000, 0xf0009000)) {
      set(kBranch, b(14) != 0 ? kBranchLink : kNone);
      t32_branch(t4_offset(field(10, 0)));
    } else if (is(0xf800d001, 0xf000c000)) {
      set(kBranch, kBranchLink);
      out.next_isa = Isa::kA32;
      pc &= ~std::uint64_t{3};
      t32_branch(t4_offset(field(10, 1) * 2));
    } else if (is(0xf5000000, 0xb1000000)) {
      set(kBranch);
      out.conditional = true;
      t32_branch(b(25) * 64 + field(23, 19) * 2);
    } else if (is(0xfffff001, 0xf00fc001) || is(0xfffff001, 0xf02fc001) ||
               is(0xfffff001, 0xf01fc001)) {
      set(kBranch);
      t32_branch(-loop);
    } else if (is(0xfff0f001, 0xf040c001) || is(0xffc0f001, 0xf000c001)) {
      set(kBranch);
      t32_branch(loop);
    }
    return out.type != kOther;
  }

  bool t32_indirect() {
    const auto found = [&](bool implied) {
      set(kIndirectBranch, implied ? kV7ImpliedReturn : kNone);
      return true;
    };
    if (is(0xff000000, 0x47000000)) {
      found(is(0x00780000, 0x00700000));
      if (b(23) != 0) set(kIndirectBranch, kBranchLink);
      return true;
    }
    if (is(0xfff0d000, 0xf3c08000)) return found(false);
    if (is(0xff000000, 0xbd000000)) return found(true);
    if (is(0xfd870000, 0x44870000)) return found(is(0xffff0000, 0x46f70000));
    if (is(0xfff0ffe0, 0xe8d0f000)) return found(false);
    if (is(0xffd00000, 0xe8100000) || is(0xffd00000, 0xe9900000)) return found(false);
    if (is(0xfff0d000, 0xf3d08000)) return found(false);
    if (is(0xfff0f000, 0xf8d0f000)) return found(false);
    if (is(0xff7ff000, 0xf85ff000)) return found(false);
    if (is(0xfff0f800, 0xf850f800)) return found(is(0x000f0f00, 0x000d0b00));
    if (is(0xfff0ffc0, 0xf850f000)) return found(false);
    if (is(0xfe508000, 0xe8108000)) return found(is(0x0fff0000, 0x08bd0000));
    return false;
  }

  void t32_type() {
    if (t32_direct() || t32_indirect()) return;
    if (is(0xffffff00, 0xf3bf8f00)) {
      if (field(7, 4) == 4 || field(7, 4) == 5) return dsb_dmb();
      if (field(7, 4) == 6) set(kIsb);
      return;
    }
    if (is(0xffff0f00, 0xee070f00)) return cp15_barrier();
    if (is(0xfffffffe, 0xf3af8002) || is(0xffef0000, 0xbf200000)) wfi_wfe();
  }

  void t32() {
    out.next_isa = Isa::kT32;
    op = op << 16 | op >> 16;
    out.size = (op >> 16 & 0xF800) >= 0xE800 ? 4 : 2;
    t32_type();
    if (!options.track_it_block) return;
    if (it != 0) {
      out.conditional = true;
      --it;
    } else if (out.type == kOther && op >> 24 == 0xBF) {
      for (std::uint8_t count = 4, n = 16; count > 0 && it == 0; --count, ++n)
        if (b(n) != 0) it = count;
    }
  }
};

}  // namespace waymark::isa::sheet

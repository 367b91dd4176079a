#include <algorithm>

#include "waymark/base/bits.h"
#include "waymark/program/disassembler.h"

namespace waymark::program {
namespace {

constexpr bool is_it(std::uint32_t opcode) {
  return (opcode & 0xFF00) == 0xBF00 && (opcode & 0xF) != 0;
}

/// The mask of VPT and VPST, which is in [22] and [15:13]; 0: another instruction.
std::uint8_t vpt_mask(std::uint32_t written) {
  if ((written & 0xEF810F00) != 0xEE010F00) return 0;
  if (bits<21, 20>(written) == 0b11) {
    // Floating point and VPST.  There is no unsigned condition: that is VPSEL.
    if (!bit<6>(written) && !bit<12>(written) && bit<0>(written)) return 0;
  } else if (!bit<28>(written)) {
    return 0;
  }
  return static_cast<std::uint8_t>(bits<22, 22>(written) << 3 | bits<15, 13>(written));
}

bool is_wide(std::uint16_t halfword) { return halfword >= 0xE800; }

}  // namespace

void ThumbBlock::pass(std::uint32_t opcode, isa::Profile profile) {
  if (vpt_count_ != 0) {
    --vpt_count_;
    vpt_else_ = static_cast<std::uint8_t>(vpt_else_ >> 1);
  }
  if (is_it(opcode) && !is_wide(static_cast<std::uint16_t>(opcode))) {
    it_ = static_cast<std::uint8_t>(opcode);
    return;
  }
  it_ = (it_ & 7) == 0 ? std::uint8_t{0}
                       : static_cast<std::uint8_t>((it_ & 0xE0) | ((it_ << 1) & 0x1F));
  if (profile != isa::Profile::kM || !is_wide(static_cast<std::uint16_t>(opcode))) return;
  const std::uint8_t mask = vpt_mask(written_opcode(isa::Isa::kT32, opcode));
  if (mask == 0) return;
  // Each bit says whether the sense changes from one instruction to the next.
  vpt_count_ = static_cast<std::uint8_t>(4 - std::countr_zero(mask));
  vpt_else_ = 0;
  bool is_else = false;
  for (unsigned i = 1; i < vpt_count_; ++i) {
    is_else ^= ((mask >> (4 - i)) & 1) != 0;
    if (is_else) vpt_else_ = static_cast<std::uint8_t>(vpt_else_ | 1U << i);
  }
}

std::uint8_t ThumbBlock::state() const {
  if ((it_ & 0xF) != 0) return static_cast<std::uint8_t>((it_ >> 4) + 1);
  if (vpt_count_ != 0) return (vpt_else_ & 1) != 0 ? kElse : kThen;
  return 0;
}

ThumbBlock ThumbBlock::before(Bytes before) {
  if (before.size() % 2 != 0) before = before.subspan(1);
  if (before.size() > kLookBack) before = before.last(kLookBack);
  const std::size_t count = before.size() / 2;
  const auto halfword = [&](std::size_t at) { return load_le<std::uint16_t>(&before[2 * at]); };
  // The nearest IT instruction whose block reaches here.
  for (std::size_t at = count; at-- > 0;) {
    if (!is_it(halfword(at))) continue;
    // It may be the second half of an instruction.
    if (at != 0 && is_wide(halfword(at - 1))) continue;
    ThumbBlock block;
    std::size_t next = at;
    while (next < count && (next == at || block.state() != 0)) {
      const std::uint32_t low = halfword(next);
      if (next != at && is_it(low)) break;
      const bool wide = is_wide(static_cast<std::uint16_t>(low));
      if (wide && next + 1 == count) break;
      block.pass(wide ? low | std::uint32_t{halfword(next + 1)} << 16 : low);
      next += wide ? 2 : 1;
    }
    if (next == count && block.state() != 0) return block;
  }
  return {};
}

}  // namespace waymark::program

#include "waymark/inputs/branch_code.h"

#include <array>

#include "waymark/base/bits.h"

namespace waymark::inputs {

std::optional<isa::Instruction> BranchCode::at(const Element& element, std::uint64_t address,
                                               unsigned size) const {
  std::array<std::uint8_t, 4> scratch{};
  const Bytes bytes = memory_->read(element, address, scratch);
  if (size > scratch.size() || bytes.size() < size) return std::nullopt;
  std::uint32_t opcode = 0;
  for (unsigned i = 0; i < size; ++i) opcode |= std::uint32_t{bytes[i]} << 8 * i;
  isa::Instruction instruction;
  std::uint8_t it_remaining = 0;
  const isa::Arch arch = element.isa == isa::Isa::kA64 ? isa::Arch::kAA64 : isa::Arch::kV8;
  if (isa::classify({.arch = arch}, element.isa, address, opcode, it_remaining, instruction) !=
          isa::Outcome::kOk ||
      instruction.size != size)
    return std::nullopt;
  return instruction;
}

bool BranchCode::follows_call(const Element& element, std::uint64_t address) const {
  const auto is_call = [&](unsigned size) {
    const auto instruction = at(element, address - size, size);
    return instruction && instruction->link;
  };
  return is_call(4) || (element.isa == isa::Isa::kT32 && is_call(2));
}

std::uint64_t BranchCode::direct_target(const Element& range) const {
  const auto branch = at(range, range.end - range.last_size, range.last_size);
  return branch && branch->type == isa::InstrType::kBranch ? branch->target : kNoAddress;
}

std::optional<std::uint16_t> BranchCode::halfword(const Element& element,
                                                  std::uint64_t address) const {
  std::array<std::uint8_t, 2> scratch{};
  const Bytes bytes = memory_->read(element, address, scratch);
  if (bytes.size() < scratch.size()) return std::nullopt;
  return load_le<std::uint16_t>(bytes.data());
}

}  // namespace waymark::inputs

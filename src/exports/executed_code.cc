#include "executed_code.h"

#include <algorithm>
#include <utility>

#include "waymark/program/disassembler.h"
#include "waymark/program/program.h"

namespace waymark::exports {
namespace {

constexpr unsigned kAarch64 = 183;

/// The word at the front, as isa::classify() takes it.
std::uint32_t opcode_of(Bytes bytes) {
  std::uint32_t opcode = 0;
  for (unsigned i = 0; i < std::min<std::size_t>(4, bytes.size()); ++i)
    opcode |= std::uint32_t{bytes[i]} << (8 * i);
  return opcode;
}

}  // namespace

ExecutedCode::ExecutedCode(const profile::ProgramProfile& program) {
  std::uint64_t end = 0;  // The end of the passed code.
  for (const count::Row& row : program.counts.rows) {
    const count::Range& range = row.range;
    std::uint64_t at = std::max(range.start, end);
    if (at >= range.end) continue;
    const bool thumb = range.isa == isa::Isa::kT32 || range.isa == isa::Isa::kThumbEE;
    Bytes bytes = thumb && program.program != nullptr ? program.program->bytes_from(at) : Bytes();
    while (at < range.end) {
      // Without its bytes, T32 code is counted by halfwords.
      unsigned size = 4;
      if (thumb) size = bytes.empty() ? 2 : program::instruction_size(range.isa, opcode_of(bytes));
      size = static_cast<unsigned>(std::min<std::uint64_t>(size, range.end - at));
      addresses_.push_back(at);
      sizes_.push_back(static_cast<std::uint8_t>(size));
      bytes = bytes.subspan(std::min<std::size_t>(size, bytes.size()));
      at += size;
    }
    end = range.end;
  }
  counts_ = count::instruction_counts(program.counts, addresses_, end);
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (i % kBlock == 0) most_of_block_.push_back(0);
    most_of_block_.back() = std::max(most_of_block_.back(), counts_[i].times);
  }
}

std::size_t ExecutedCode::index_of(std::uint64_t address) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(addresses_, address) -
                                  addresses_.begin());
}

count::InstructionCount ExecutedCode::at(std::uint64_t address) const {
  const std::size_t i = index_of(address);
  return i < addresses_.size() && addresses_[i] == address ? counts_[i] : count::InstructionCount{};
}

std::uint64_t ExecutedCode::most(std::uint64_t start, std::uint64_t end) const {
  std::uint64_t most = 0;
  std::size_t i = index_of(start);
  const std::size_t after = std::max(index_of(end), i);
  if (i < addresses_.size() && addresses_[i] == start) most = counts_[i].times;
  while (i < after) {
    if (i % kBlock == 0 && after - i >= kBlock) {
      most = std::max(most, most_of_block_[i / kBlock]);
      i += kBlock;
    } else {
      most = std::max(most, counts_[i++].times);
    }
  }
  return most;
}

BranchFinder::BranchFinder(const profile::ProgramProfile& program) : program_(*program.program) {
  if (program_.machine() == kAarch64) {
    isa_ = isa::Isa::kA64;
  } else if (!program.counts.rows.empty()) {
    isa_ = program.counts.rows.front().range.isa;
  }
  for (const count::Row& row : program.counts.rows) {
    if (row.range.is_branch() && row.range.conditional)
      executed_.push_back(row.range.last_address());
    left_ += row.range.end - row.range.start;
  }
  std::ranges::sort(executed_);
  for (const program::CodeRange& code : program_.code()) left_ += code.last - code.first + 1;
  constexpr std::uint64_t kTimes = 8;
  left_ *= kTimes;
}

void BranchFinder::add(std::uint64_t start, std::uint64_t end,
                       std::vector<std::uint64_t>& branches) {
  if (start >= end || end - start > left_) return;
  left_ -= end - start;
  if (start != std::exchange(next_, end)) it_remaining_ = 0;
  branches.insert(branches.end(), std::ranges::lower_bound(executed_, start),
                  std::ranges::lower_bound(executed_, end));
  Bytes bytes = program_.bytes_from(start);
  for (std::uint64_t at = start; at < end && !bytes.empty();) {
    const auto content = program_.content(at);
    isa::Isa isa = isa_;
    if (content == program::Content::kA64) isa = isa::Isa::kA64;
    if (content == program::Content::kA32) isa = isa::Isa::kA32;
    if (content == program::Content::kT32) isa = isa::Isa::kT32;
    std::size_t size = 1;
    if (content != program::Content::kData) {
      const std::uint32_t opcode = opcode_of(bytes);
      size = program::instruction_size(isa, opcode);
      isa::Instruction instruction;
      const bool known = isa::classify({.arch = isa::Arch::kAA64, .track_it_block = true}, isa, at,
                                       opcode, it_remaining_, instruction) == isa::Outcome::kOk;
      const bool branch = instruction.type == isa::InstrType::kBranch ||
                          instruction.type == isa::InstrType::kIndirectBranch;
      if (known && branch && instruction.conditional) branches.push_back(at);
    }
    at += size;
    bytes = bytes.subspan(std::min(size, bytes.size()));
  }
}

std::uint64_t loops_to_start(const profile::ProgramProfile& program,
                             const program::Function& function) {
  std::uint64_t times = 0;
  const auto [first, after] = std::pair(
      std::ranges::lower_bound(program.branches, function.start, {}, &profile::Branch::from),
      std::ranges::upper_bound(program.branches, function.last, {}, &profile::Branch::from));
  for (auto branch = first; branch < after; ++branch) {
    if (branch->to == function.start && branch->to_program == program.number &&
        branch->subtype != isa::InstrSubtype::kBranchLink)
      times += branch->times;
  }
  return times;
}

}  // namespace waymark::exports

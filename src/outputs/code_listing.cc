#include "waymark/outputs/code_listing.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "waymark/base/number.h"
#include "waymark/count/instruction_counts.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

/// Where executed ranges begin in a part, with their instruction sets.
using Starts = std::map<std::uint64_t, isa::Isa>;

AnnotatedInstruction data_at(std::uint64_t at, std::uint32_t opcode, unsigned size) {
  if (size == 3) size = 2;
  AnnotatedInstruction each{.address = at};
  each.size = size;
  each.is_data = true;
  each.opcode = static_cast<std::uint32_t>(opcode & ((std::uint64_t{1} << 8 * size) - 1));
  each.text = ".byte 0x";
  if (size == 2) each.text = ".short 0x";
  if (size == 4) each.text = ".word 0x";
  char digits[16];
  each.text.append(digits, write_hex(digits, each.opcode, 2 * size));
  return each;
}

/// Reads one instruction after the other.
class Lister {
 public:
  Lister(const CodePart& part, program::Disassembler& disassembler)
      : part_(part), disassembler_(disassembler), isa_(part.isa) {
    bool any = false;
    for (const count::Row& row : part.rows) {
      if (row.range.start > part.last || row.range.end <= part.start) continue;
      if (!std::exchange(any, true)) isa_ = row.range.isa;
      if (row.range.start >= part.start) starts_.emplace(row.range.start, row.range.isa);
    }
  }

  std::vector<AnnotatedInstruction> list() {
    std::vector<AnnotatedInstruction> code;
    // The start of a function may be the entry of a T32 function, whose bit 0 is cleared.
    for (std::uint64_t at = part_.start; at <= part_.last;) {
      auto each = next(at);
      if (!each) break;
      at += each->size;
      code.push_back(*std::move(each));
      if (at == 0) break;
    }
    return code;
  }

 private:
  std::optional<AnnotatedInstruction> next(std::uint64_t at) {
    if (const auto start = starts_.find(at); start != starts_.end()) isa_ = start->second;
    const auto content = content_at(at);
    if (content && *content == program::Content::kA64) isa_ = isa::Isa::kA64;
    if (content && *content == program::Content::kA32) isa_ = isa::Isa::kA32;
    if (content && *content == program::Content::kT32) isa_ = isa::Isa::kT32;
    const bool data = content && *content == program::Content::kData && !starts_.contains(at);
    const auto after = starts_.upper_bound(at);
    std::uint64_t room = part_.last - at + 1;
    if (after != starts_.end()) room = std::min(room, after->first - at);
    if (bytes_.size() < 4 || at - bytes_at_ > bytes_.size() - 4) {
      bytes_ = part_.read(at, scratch_);
      bytes_at_ = at;
    }
    const Bytes here =
        bytes_.subspan(in_memory(std::min<std::uint64_t>(at - bytes_at_, bytes_.size())));
    if (here.empty()) return std::nullopt;
    std::uint32_t opcode = 0;
    for (unsigned i = 0; i < std::min<std::size_t>(4, here.size()); ++i)
      opcode |= std::uint32_t{here[i]} << (8 * i);
    // Data ends where code begins.
    unsigned wanted = data ? 1 : program::instruction_size(isa_, opcode);
    while (data && wanted < 4 && content_at(at + wanted) == program::Content::kData) ++wanted;
    const std::uint64_t most = std::min<std::uint64_t>(room, here.size());
    const auto size = static_cast<unsigned>(std::min<std::uint64_t>(wanted, most));
    if (data || size != wanted) {
      block_ = {};
      return data_at(at, opcode, size);
    }
    return instruction(at, opcode, size);
  }

  AnnotatedInstruction instruction(std::uint64_t at, std::uint32_t opcode, unsigned size) {
    AnnotatedInstruction each{.address = at};
    each.size = size;
    const program::InstructionText text =
        disassembler_.disassemble(isa_, at, opcode, block_, part_.profile);
    if (isa_ == isa::Isa::kT32) block_.pass(opcode, part_.profile);
    each.opcode = program::written_opcode(isa_, opcode);
    each.text = text.text;
    each.note = text.note;
    if (text.target != kNoAddress && part_.target_name)
      each.target_name = part_.target_name(text.target);
    each.is_branch = text.is_branch;
    return each;
  }

  [[nodiscard]] std::optional<program::Content> content_at(std::uint64_t at) const {
    return part_.program == nullptr ? std::nullopt : part_.program->content(at);
  }

  const CodePart& part_;
  program::Disassembler& disassembler_;
  isa::Isa isa_;
  Starts starts_;
  program::ThumbBlock block_;
  std::array<std::uint8_t, 4096> scratch_{};
  Bytes bytes_;
  std::uint64_t bytes_at_ = 0;
};

}  // namespace

std::vector<AnnotatedInstruction> list_code(const CodePart& part,
                                            program::Disassembler& disassembler) {
  return Lister(part, disassembler).list();
}

void add_counts(const count::Counts& counts, std::vector<AnnotatedInstruction>& code) {
  if (code.empty()) return;
  std::vector<std::uint64_t> addresses;
  addresses.reserve(code.size());
  for (const AnnotatedInstruction& each : code) addresses.push_back(each.address);
  const std::vector<count::InstructionCount> found =
      count::instruction_counts(counts, addresses, code.back().address + code.back().size);
  for (std::size_t i = 0; i < found.size(); ++i) code[i].count = found[i];
}

void add_source_lines(const program::Program& program, std::vector<AnnotatedInstruction>& code) {
  std::vector<program::Frame> frames;
  for (AnnotatedInstruction& each : code) {
    if (each.is_data) continue;
    program.frames(each.address, frames);
    if (frames.empty()) continue;
    each.file = frames.front().file;
    each.line = frames.front().line;
    if (frames.size() > 1 && !frames.front().function.empty())
      each.inlined = readable_name(std::string(frames.front().function));
  }
}

}  // namespace waymark::outputs

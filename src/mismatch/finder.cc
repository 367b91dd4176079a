#include "waymark/mismatch/finder.h"

#include <algorithm>
#include <utility>

#include "waymark/isa/instruction.h"

namespace waymark::mismatch {
namespace {

using isa::InstrType;

bool is_branch(InstrType type) {
  return type == InstrType::kBranch || type == InstrType::kIndirectBranch;
}

bool is_return(isa::InstrSubtype subtype) {
  return subtype == isa::InstrSubtype::kV8Return || subtype == isa::InstrSubtype::kV7ImpliedReturn;
}

/// Reads the instruction at an address of a range; false: it cannot be read.
bool classify(const Bytes& bytes, const Element& element, std::uint64_t address,
              isa::Instruction& out) {
  if (bytes.size() < 2 || (bytes.size() < 4 && element.isa != isa::Isa::kT32)) return false;
  std::uint32_t opcode = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(4, bytes.size()); ++i)
    opcode |= std::uint32_t{bytes[i]} << (8 * i);
  const isa::Options options{.arch = isa::Arch::kAA64};
  std::uint8_t it = 0;
  return isa::classify(options, element.isa, address, opcode, it, out) == isa::Outcome::kOk;
}

}  // namespace

Finder::Position& Finder::position_of(TraceId id) {
  std::unique_ptr<Position>& position = positions_[id & (kTraceIdCount - 1)];
  if (position == nullptr) position = std::make_unique<Position>();
  return *position;
}

void Finder::restart() {
  for (auto& position : positions_) {
    if (position != nullptr) confirm(*position);
    position.reset();
  }
}

void Finder::give(Held& held) {
  held.mismatch.path = held.path;
  found_(held.mismatch);
}

// No damage came after those that are held.
void Finder::confirm(Position& position) {
  for (Held& held : position.held) give(held);
  position.held.clear();
}

void Finder::lose(Position& position) {
  position.expects = false;
  position.astray = false;
  position.path.clear();
  position.oldest = 0;
}

void Finder::report(Position& position, Kind kind, const Element& element, std::uint64_t address) {
  ordered_.clear();
  for (std::size_t i = 0; i < position.path.size(); ++i)
    ordered_.push_back(position.path[(position.oldest + i) % position.path.size()]);
  const bool reported = !position.astray && position.damaged == 0;
  // It may be an element of the position.
  Held held{.mismatch = {.kind = kind, .element = element, .address = address}, .path = ordered_};
  lose(position);
  if (!reported) return;
  if (position.held.size() == kMostHeld) {
    give(position.held.front());
    position.held.erase(position.held.begin());
  }
  position.held.push_back(std::move(held));
}

bool Finder::target_of(const Element& element, std::uint64_t& target) const {
  std::array<std::uint8_t, 4> scratch{};
  const std::uint64_t at = element.end - element.last_size;
  isa::Instruction last;
  if (!classify(read_(element, at, scratch), element, at, last) || last.type != InstrType::kBranch)
    return false;
  target = last.target;
  return true;
}

/// Whether there is a branch in a range that was walked up to an exception.
bool Finder::passes_branch(const Element& element, std::uint64_t& branch) const {
  constexpr std::uint32_t kMost = 4096;
  if (element.count > kMost) return false;
  std::array<std::uint8_t, 4> scratch{};
  for (std::uint64_t at = element.start; at < element.end;) {
    isa::Instruction each;
    if (!classify(read_(element, at, scratch), element, at, each)) return false;
    if (is_branch(each.type)) {
      branch = at;
      return true;
    }
    at += each.size;
  }
  return false;
}

void Finder::walk_on(Position& position, const Walked& walked) {
  const auto same = [&](const Walked& each) {
    return each.start == walked.start && each.end == walked.end;
  };
  if (std::ranges::any_of(position.path, same)) return;
  if (position.path.size() < kPathLength) {
    position.path.push_back(walked);
  } else {
    position.path[position.oldest] = walked;
    position.oldest = (position.oldest + 1) % kPathLength;
  }
}

/// Whether there is a call before a range.
bool Finder::follows_call(const Element& element) const {
  std::array<std::uint8_t, 4> scratch{};
  for (const std::uint64_t size : {4U, 2U}) {
    if (size == 2 && element.isa != isa::Isa::kT32) continue;
    const std::uint64_t at = element.start - size;
    isa::Instruction before;
    if (classify(read_(element, at, scratch), element, at, before) && before.size == size &&
        before.subtype == isa::InstrSubtype::kBranchLink)
      return true;
  }
  return false;
}

/// Whether a range is where an indirect branch went by a return stack: the trace did not state its
/// address.  There is a return stack if atoms of one packet are both before and after such a
/// branch.
bool Finder::is_popped(Position& position, const Element& element) {
  if (position.last.last_type != InstrType::kIndirectBranch) return false;
  position.has_return_stack |= position.last.index == element.index;
  const auto found = std::ranges::find(position.calls, element.start);
  if (!position.has_return_stack || found == position.calls.end()) return false;
  position.calls.erase(found);
  return true;
}

void Finder::range(Position& position, const Element& element) {
  if (position.damaged != 0) --position.damaged;
  for (Held& held : position.held) --held.left;
  while (!position.held.empty() && position.held.front().left == 0) [[unlikely]] {
    give(position.held.front());
    position.held.erase(position.held.begin());
  }
  // Another process goes on where it was.
  const Element& last = position.last;
  if (position.any && (last.context_id != element.context_id || last.vmid != element.vmid))
    lose(position);
  if (position.expects && position.next != element.start) {
    report(position, Kind::kContinuedElsewhere, position.last,
           position.last.end - position.last.last_size);
  }
  const bool walked = !position.path.empty();
  bool no_call_before = false;
  if (!position.expects && !(walked && is_popped(position, element))) {
    const bool good = walked && !position.astray;
    no_call_before = good && is_return(position.last.last_subtype) && !follows_call(element);
    if (good && passed_) passed_(position.path);
    lose(position);
  }
  position.last = element;
  position.any = true;
  walk_on(position, {element.start, element.end, no_call_before});
  const bool executed = (element.flags & kElementExecuted) != 0;
  position.expects = true;
  position.next = element.end;
  if (!executed || !is_branch(element.last_type)) {
    const bool conditional = (element.flags & kElementConditional) != 0;
    if (!executed && !conditional && element.isa == isa::Isa::kA64 &&
        is_branch(element.last_type)) {
      report(position, Kind::kNotTaken, element, element.end - element.last_size);
      position.astray = true;
      position.expects = true;
    }
    return;
  }
  if (element.last_subtype == isa::InstrSubtype::kBranchLink) {
    if (position.calls.size() == kMostCalls) position.calls.erase(position.calls.begin());
    position.calls.push_back(element.end);
  }
  if (element.last_type == InstrType::kIndirectBranch || !target_of(element, position.next))
    position.expects = false;
}

// The instructions before an exception, after the last atom, are a range with the same index.
void Finder::exception(Position& position, const Element& element) {
  constexpr unsigned kUsable = kElementReturnAddress | kElementReturnIsTarget | kElementTailChain;
  const bool stated = (element.flags & kUsable) == kElementReturnAddress;
  const bool walked = position.any && position.last.index == element.index &&
                      position.last.trace_id == element.trace_id && !position.path.empty();
  if (stated && position.any && position.last.isa == isa::Isa::kA64) {
    std::uint64_t branch = 0;
    if (walked && position.last.end == element.end) {
      if (passes_branch(position.last, branch))
        report(position, Kind::kException, position.last, branch);
    } else if (!walked && position.expects && position.next != element.end) {
      report(position, Kind::kException, position.last, position.next);
    }
  }
  lose(position);
}

void Finder::observe(std::span<const Element> elements) {
  for (const Element& element : elements) {
    switch (element.kind) {
      case ElementKind::kInstrRange:
        range(position_of(element.trace_id), element);
        break;
      case ElementKind::kException:
        exception(position_of(element.trace_id), element);
        break;
      case ElementKind::kEndOfTrace:
        confirm(position_of(element.trace_id));
        lose(position_of(element.trace_id));
        break;
      case ElementKind::kNoSync:
      case ElementKind::kTraceOn:
        position_of(element.trace_id).damaged = 0;
        lose(position_of(element.trace_id));
        break;
      case ElementKind::kAddrNacc:
      case ElementKind::kAddrUnknown:
      case ElementKind::kExceptionReturn:
      case ElementKind::kMemTrans:
        lose(position_of(element.trace_id));
        break;
      case ElementKind::kInstrRangeNoPath:
        pass_unknown_way(position_of(element.trace_id), element);
        break;
      default:
        break;
    }
  }
}

// A Q element.  It is not certain that the code after it is what ran: in the capture q_elem, two
// atoms after the one at byte 564 only fit the code at another address than it states.
void Finder::pass_unknown_way(Position& position, const Element& element) {
  lose(position);
  position.astray = true;
  position.expects = true;
  position.next = element.end;
}

void Finder::observe(const Diagnostic& record) {
  if (record.trace_id >= kTraceIdCount) return;
  Position& position = position_of(record.trace_id);
  const bool about_image =
      record.fault == Fault::kBadImage || record.fault == Fault::kInvalidOpcode;
  if (!about_image) {
    if (!record.is_damage()) return;
    lose(position);
    position.damaged = kConfirming;
    // A wrong image can leave the return stack empty.
    if (record.fault != Fault::kReturnStackUnderrun) position.held.clear();
    return;
  }
  if (!position.any) return;
  const std::uint64_t address =
      record.address != kNoAddress ? record.address : position.last.end - position.last.last_size;
  report(position, Kind::kDecoder, position.last, address);
}

}  // namespace waymark::mismatch

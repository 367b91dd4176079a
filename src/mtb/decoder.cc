#include "waymark/mtb/decoder.h"

#include <algorithm>

#include "waymark/flow/walk_to.h"
#include "waymark/mtb/memory_space.h"

namespace waymark::mtb {
namespace {

using flow::Block;
using flow::BlockEnd;
using isa::Isa;
using Known = DecoderState::Known;

/// The longest way between two records, in bytes.
constexpr std::uint64_t kMostWalked = std::uint64_t{64} << 10;

isa::Options walk_options(const Config& config) {
  return {.arch = config.core.arch,
          .dsb_dmb_waypoints = false,
          .wfi_wfe_waypoints = false,
          .track_it_block = true};
}

bool is_branch(isa::InstrType type) {
  return type == isa::InstrType::kBranch || type == isa::InstrType::kIndirectBranch;
}

bool is_return(PacketType type) {
  return type == PacketType::kExceptionReturn || type == PacketType::kFunctionReturn;
}

Fault fault_of(BlockEnd ended) {
  switch (ended) {
    case BlockEnd::kRangeLimit:
      return Fault::kRangeLimit;
    case BlockEnd::kUnsupported:
      return Fault::kUnsupportedIsa;
    default:
      return Fault::kInvalidOpcode;
  }
}

}  // namespace

Decoder::Decoder(const Config& config, const image::Image& image)
    : config_(config), image_(&image), follower_(image, walk_options(config), Config::trace_id()) {
  refresh();
}

void Decoder::refresh() {
  follower_.flush();
  follower_.select(space_of({}), 0);
  vectors_.reset();
}

void Decoder::reset() {
  state_ = {};
  state_.unsync_reason = UnsyncReason::kResetDecoder;
  count_ = given_ = 0;
  walking_ = false;
  held_.reset();
  diagnostics_.clear();
}

// ---- Output ---------------------------------------------------------------------------------

Element& Decoder::queue(ElementKind kind) {
  Element& element = queue_[count_++];
  element = {};
  element.kind = kind;
  element.index = state_.index;
  element.trace_id = Config::trace_id();
  element.isa = Isa::kT32;
  element.security = Security::kNonSecure;
  return element;
}

/// An executed one, whose last instruction is not a branch.
Element Decoder::range(std::uint64_t start, std::uint64_t end, std::uint32_t count) const {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.index = state_.index;
  element.trace_id = Config::trace_id();
  element.isa = Isa::kT32;
  element.security = Security::kNonSecure;
  element.start = start;
  element.end = end;
  element.count = count;
  element.flags = kElementExecuted;
  return element;
}

/// After the elements that are queued now.  One for each packet: the first.
void Decoder::report(Fault fault, Severity severity, Finding finding, std::uint64_t address) {
  if (held_) return;
  Diagnostic record;
  record.fault = fault;
  record.severity = severity;
  record.finding = finding;
  record.trace_id = Config::trace_id();
  record.index = state_.index;
  record.address = address;
  held_ = record;
  report_at_ = count_;
}

void Decoder::disagree(Fault fault, Finding finding, std::uint64_t address) {
  report(fault, Severity::kError, finding, address);
  queue(ElementKind::kNoSync).reason = static_cast<std::uint8_t>(UnsyncReason::kBadImage);
}

std::size_t Decoder::drain(std::span<Element> out) {
  if (!diagnostics_.empty()) return 0;
  std::size_t count = 0;
  while (true) {
    while (walking_ && given_ == walk_at_) {
      if (count == out.size()) return count;
      const Part part = part_of(walk_, 0);
      if (part.range.count != 0) out[count++] = part.range;
      walk_.at = part.range.end;
      walk_.it = part.it;
      walking_ = part.end == End::kOn;
    }
    if (held_ && given_ == report_at_) {
      diagnostics_.push_back(*held_);
      held_.reset();
      return count;
    }
    if (given_ == count_ || count == out.size()) return count;
    out[count++] = queue_[given_++];
  }
}

// ---- Records --------------------------------------------------------------------------------

void Decoder::begin(TraceIndex index) {
  state_.index = index;
  count_ = given_ = 0;
  if (!state_.begun)
    queue(ElementKind::kNoSync).reason = static_cast<std::uint8_t>(state_.unsync_reason);
  state_.begun = true;
}

void Decoder::accept(const Packet& packet) {
  begin(packet.index);
  const bool unused = packet.type == PacketType::kUnused;
  if (!is_record(packet.type)) {
    if (!unused)
      report(Fault::kBadPacketSequence, Severity::kWarning, Finding::kEndsInPacket);
    else if (!state_.in_unused)
      report(Fault::kBadPacket, Severity::kWarning, Finding::kRecordsUnused);
    state_.in_unused = unused;
    state_.known = Known::kNothing;
    return;
  }
  state_.in_unused = false;
  const bool is_target = state_.known == Known::kPlace && state_.address == packet.source;
  if (packet.start || state_.known == Known::kNothing) {
    restart(packet);
  } else {
    arrive(packet);
  }
  switch (packet.type) {
    case PacketType::kException:
      exception(packet);
      if (is_target && !packet.start && queue_[count_ - 1].kind == ElementKind::kException)
        queue_[count_ - 1].flags |= kElementReturnIsTarget;
      return;
    case PacketType::kExceptionReturn:
      return exception_return(packet);
    default:
      return go_to(packet.destination);
  }
}

/// The code before the record is not known.
void Decoder::restart(const Packet& packet) {
  const TraceOnReason reason = packet.start ? TraceOnReason::kNormal : TraceOnReason::kOverflow;
  queue(ElementKind::kTraceOn).reason = static_cast<std::uint8_t>(reason);
  if (!state_.context_reported) queue(ElementKind::kPeContext);
  state_.context_reported = true;
  if (packet.type == PacketType::kBranch) lone_branch(packet);
}

/// From the last destination to the source of the record.
void Decoder::arrive(const Packet& packet) {
  const bool returns = is_return(packet.type);
  if (state_.known == Known::kReturnValue || returns) {
    const bool paired =
        state_.known == Known::kReturnValue && returns && (packet.source & ~1U) == state_.address;
    if (paired) return;
    disagree(Fault::kBadPacketSequence, Finding::kRecordReturn, packet.source);
    if (packet.type == PacketType::kBranch) lone_branch(packet);
    return;
  }
  const bool branch = packet.type == PacketType::kBranch;
  const Walk way{.at = state_.address, .to = packet.source, .it = state_.it, .inclusive = branch};
  if (!walk(way, packet.destination, false) && branch) lone_branch(packet);
}

void Decoder::go_to(std::uint32_t destination) {
  state_.known = is_return_value(destination) ? Known::kReturnValue : Known::kPlace;
  state_.address = destination;
  state_.it = 0;
}

void Decoder::exception(const Packet& packet) {
  const Vector vector = vector_of(packet.destination);
  // Only a debugger goes to a place that is not in the table.  See mtb.md 4.
  if (config_.vtor.given() && vector.readable && vector.found == 0) {
    queue(ElementKind::kTraceOn).reason = static_cast<std::uint8_t>(TraceOnReason::kDebugRestart);
  } else {
    Element& element = queue(ElementKind::kException);
    element.number = vector.number;
    element.end = packet.source;
    element.flags |= kElementReturnAddress;
    state_.interrupted.push(packet.source, state_.it);
  }
  go_to(packet.destination);
}

void Decoder::exception_return(const Packet& packet) {
  queue(ElementKind::kExceptionReturn);
  go_to(packet.destination);
  if (const auto it = state_.interrupted.take(packet.destination)) {
    state_.it = *it;
    return;
  }
  const Vector vector = vector_of(packet.destination);
  if (vector.found == 0) return;
  // The next handler begins at once: tail-chaining.
  Element& element = queue(ElementKind::kException);
  element.number = vector.number;
  element.flags |= kElementTailChain;
}

Decoder::Vector Decoder::vector_of(std::uint32_t handler) {
  if (!vectors_) vectors_ = read_vectors();
  Vector vector;
  vector.readable = vectors_->size() > 2;
  // Entry 0 is the stack pointer, and entry 1 Reset, which no record says.
  constexpr std::size_t kFirst = 2;
  for (std::size_t i = kFirst; i < vectors_->size(); ++i) {
    if ((*vectors_)[i] != (handler | 1)) continue;
    ++vector.found;
    vector.number = vector.found == 1 ? static_cast<std::uint32_t>(i) : 0;
  }
  return vector;
}

/// The table has no mark at its end: as many entries as the architecture allows are read.
std::vector<std::uint32_t> Decoder::read_vectors() const {
  constexpr std::size_t kMostV6 = 16 + 32;
  constexpr std::size_t kMost = 16 + 480;
  constexpr std::size_t kEntry = 4;
  const std::size_t most = config_.core.arch < isa::Arch::kV8 ? kMostV6 : kMost;
  std::vector<std::uint8_t> bytes(most * kEntry);
  std::size_t read = 0;
  while (read < bytes.size()) {
    const std::span<std::uint8_t> rest = std::span(bytes).subspan(read);
    const Bytes part = image_->read(std::uint64_t{config_.vtor.value()} + read, space_of({}),
                                    Config::trace_id(), rest);
    if (part.empty()) break;
    const std::size_t taken = std::min(part.size(), rest.size());
    // A callback fills `rest` itself.
    if (part.data() != rest.data()) std::copy_n(part.begin(), taken, rest.begin());
    read += taken;
  }
  std::vector<std::uint32_t> entries(read / kEntry);
  for (std::size_t i = 0; i != entries.size(); ++i)
    for (std::size_t byte = kEntry; byte != 0; --byte)
      entries[i] = entries[i] << 8 | bytes[i * kEntry + byte - 1];
  return entries;
}

void Decoder::end_of_trace() {
  const TraceIndex index = state_.index;
  const bool begun = state_.begun;
  begin(index);
  if (!begun) count_ = 0;
  if (config_.pc && state_.known == Known::kPlace)
    walk({.at = state_.address, .to = *config_.pc & ~1U, .it = state_.it}, 0, true);
  state_.known = Known::kNothing;
  queue(ElementKind::kEndOfTrace).reason = static_cast<std::uint8_t>(UnsyncReason::kEndOfTrace);
}

// ---- Walks ----------------------------------------------------------------------------------

/// Plans the ranges of a walk that is possible, or reports why it is not.  False: it does not reach
/// its end.
bool Decoder::walk(const Walk& walk, std::uint32_t destination, bool at_end) {
  const Finding unreached = at_end ? Finding::kHaltNotReached : Finding::kRecordNotReached;
  if (walk.to < walk.at || walk.to - walk.at > kMostWalked) {
    disagree(Fault::kBadImage, unreached, walk.to);
    return false;
  }
  state_.it = walk.it;
  if (walk.to == walk.at && !walk.inclusive) return true;
  const Part last = last_part(walk, destination);
  state_.it = last.it;
  const bool unreadable = last.end == End::kStuck && last.ended == BlockEnd::kNotAccessible;
  const bool there = last.end == End::kThere || last.end == End::kWrongTarget;
  if (there || unreadable) {
    walking_ = true;
    walk_ = walk;
    walk_at_ = count_;
  }
  if (last.end == End::kWrongTarget)
    report(Fault::kBadImage, Severity::kError, Finding::kRecordTarget, walk.to);
  if (there) return true;
  state_.it = 0;
  if (unreadable) {
    Element& element = queue(ElementKind::kAddrNacc);
    element.start = last.range.end;
    element.number = follower_.space();
  } else if (last.end == End::kStuck) {
    disagree(fault_of(last.ended), Finding::kRecordNotFollowed, last.range.end);
  } else {
    disagree(Fault::kBadImage, last.end == End::kNotBranch ? Finding::kRecordNotBranch : unreached,
             last.end == End::kPassedBranch ? last.range.end - last.range.last_size : walk.to);
  }
  return false;
}

/// The part with which a walk ends.
Decoder::Part Decoder::last_part(Walk walk, std::uint32_t destination) {
  while (true) {
    Part part = part_of(walk, destination);
    if (part.end != End::kOn) return part;
    walk.at = part.range.end;
    walk.it = part.it;
  }
}

/// The first part of a walk, which is not yet at its end.
Decoder::Part Decoder::part_of(const Walk& walk, std::uint32_t destination) {
  const Block& block = follower_.block(walk.at, Isa::kT32, walk.it);
  const bool whole = block.ended == BlockEnd::kWaypoint;
  const std::uint64_t last = block.end - block.last_size;
  const bool beyond = walk.to >= block.end;
  const bool taken = whole && walk.inclusive && walk.to == last;
  if (!beyond && !taken) return part_inside(walk);

  Part part;
  part.range = range(block.start, block.end, block.count);
  part.it = block.it_out;
  part.ended = block.ended;
  part.range.last_size = block.last_size;
  if (!whole) {
    const bool there = walk.to == block.end && !walk.inclusive;
    part.end = there ? End::kThere : End::kStuck;
    return part;
  }
  part.range.last_type = block.type;
  part.range.last_subtype = block.subtype;
  if (block.conditional) part.range.flags |= kElementConditional;
  const bool branch = is_branch(block.type);
  if (taken) {
    const bool elsewhere = block.is_direct_branch() && block.target != destination;
    part.it = 0;
    part.end = !branch ? End::kNotBranch : elsewhere ? End::kWrongTarget : End::kThere;
    return part;
  }
  if (branch) part.range.flags &= static_cast<std::uint16_t>(~unsigned{kElementExecuted});
  if (branch && !block.conditional) {
    part.end = End::kPassedBranch;
  } else if (walk.to == block.end && !walk.inclusive) {
    part.end = End::kThere;
  }
  return part;
}

/// The same for a walk that ends inside the block.
Decoder::Part Decoder::part_inside(const Walk& walk) {
  std::uint32_t credit = kMostWalked;
  const flow::Stretch walked =
      flow::walk_to(follower_, {.address = walk.at, .isa = Isa::kT32, .it = walk.it},
                    {.address = walk.to, .inclusive = walk.inclusive}, credit);
  Part part;
  part.range = range(walk.at, walked.end, walked.count);
  part.range.last_size = walked.last.size;
  part.it = walked.it;
  part.ended = walked.ended;
  if (walked.arrived == flow::Arrived::kBeyond) {
    part.end = End::kInside;
  } else if (walked.arrived == flow::Arrived::kNone) {
    part.end = End::kStuck;
  } else {
    part.end = walk.inclusive ? End::kNotBranch : End::kThere;
  }
  return part;
}

/// The branch of a record, which was certainly executed, whatever came before it.
void Decoder::lone_branch(const Packet& packet) {
  std::uint8_t it = 0;
  const flow::Follower::Fetched fetched = follower_.fetch(packet.source, Isa::kT32, it);
  const isa::Instruction& branch = fetched.instruction;
  if (fetched.outcome == BlockEnd::kNotAccessible) {
    if (count_ != 0 && queue_[count_ - 1].kind == ElementKind::kAddrNacc) return;
    Element& element = queue(ElementKind::kAddrNacc);
    element.start = packet.source;
    element.number = follower_.space();
    return;
  }
  if (fetched.outcome != BlockEnd::kWaypoint)
    return report(fault_of(fetched.outcome), Severity::kError, Finding::kRecordNotFollowed,
                  packet.source);
  if (!flow::is_branch(branch))
    return report(Fault::kBadImage, Severity::kError, Finding::kRecordNotBranch, packet.source);
  if (branch.type == isa::InstrType::kBranch && branch.target != packet.destination)
    report(Fault::kBadImage, Severity::kError, Finding::kRecordTarget, packet.source);
  Element& element = queue_[count_++];
  element = range(packet.source, packet.source + branch.size, 1);
  element.last_type = branch.type;
  element.last_subtype = branch.subtype;
  element.last_size = branch.size;
  if (branch.conditional) element.flags |= kElementConditional;
}

}  // namespace waymark::mtb

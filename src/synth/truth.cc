#include "waymark/synth/truth.h"

#include <fmt/core.h>

#include <algorithm>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"

namespace waymark::synth {
namespace {

constexpr std::string_view kMagic = "WMTRUTH1";
constexpr std::uint8_t kOtherTag = 0x80;
constexpr std::uint8_t kIsaTag = 0xC0;
constexpr std::uint8_t kTakenBit = 0x40;
constexpr std::uint64_t kLongSize = 0x3F;

unsigned unit_of(isa::Isa isa) { return isa == isa::Isa::kT32 ? 1 : 2; }

std::uint64_t zigzag(std::uint64_t delta) {
  return delta << 1 ^ (delta >> 63 != 0 ? ~std::uint64_t{0} : 0);
}
std::uint64_t unzigzag(std::uint64_t value) {
  return value >> 1 ^ ((value & 1) != 0 ? ~std::uint64_t{0} : 0);
}

// Writes where there is room; returns the end.
std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 0x80);
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

std::string_view name_of(isa::Isa isa) {
  switch (isa) {
    case isa::Isa::kA32:
      return "A32";
    case isa::Isa::kT32:
      return "T32";
    case isa::Isa::kA64:
      return "A64";
    default:
      return "other";
  }
}

/// The part of the execution that an element shows.
enum class Shows : std::uint8_t { kNothing, kEvent, kWhatNeverHappens };

Shows show_message(const Element& element, TruthEvent& seen) {
  seen.kind = EventKind::kMessage;
  seen.start = element.start;
  if (element.kind == ElementKind::kSwTrace) {
    if (element.extra_value == 0) return Shows::kNothing;  // A new master or channel.
    seen.number = std::uint64_t{element.sw_id.master} << 16 | element.sw_id.channel;
    seen.count = element.extra_value;
    return Shows::kEvent;
  }
  const unsigned kind = element.extra & kItmKindMask;
  if (kind > static_cast<unsigned>(ItmKind::kHardware)) return Shows::kNothing;
  seen.number = element.number;
  if (kind == static_cast<unsigned>(ItmKind::kHardware)) seen.number |= 0x100;
  seen.count = element.extra_value * 8;
  return Shows::kEvent;
}

Shows show(const Element& element, TruthEvent& seen) {
  switch (element.kind) {
    case ElementKind::kInstrRange:
      seen.kind = EventKind::kRange;
      seen.start = element.start;
      seen.end = element.end;
      seen.count = element.count;
      seen.taken = (element.flags & kElementExecuted) != 0;
      seen.isa = element.isa;
      break;
    case ElementKind::kInstrRangeNoPath:
      seen.kind = EventKind::kUnknownPath;
      seen.start = element.start;
      seen.address = element.end;
      seen.count = element.count;
      break;
    case ElementKind::kException:
      seen.kind = EventKind::kException;
      seen.number = element.number;
      seen.address = element.end;
      break;
    case ElementKind::kExceptionReturn:
      seen.kind = EventKind::kExceptionReturn;
      break;
    case ElementKind::kTimestamp:
      seen.kind = EventKind::kTimestamp;
      seen.number = element.timestamp;
      break;
    case ElementKind::kCycleCount:
      seen.kind = EventKind::kCycleCount;
      seen.number = element.cycle_count;
      break;
    case ElementKind::kEvent:
      seen.kind = EventKind::kEvent;
      seen.number = element.number;
      break;
    case ElementKind::kTraceOn:
      seen.kind = EventKind::kTraceOn;
      seen.number = element.reason;
      break;
    case ElementKind::kNoSync:
      seen.kind = EventKind::kLost;
      seen.number = element.reason;
      break;
    case ElementKind::kSwTrace:
    case ElementKind::kItmTrace:
      return show_message(element, seen);
    case ElementKind::kPeContext:
      if ((element.flags & kElementHasCycleCount) == 0) return Shows::kNothing;
      seen.kind = EventKind::kCycleCount;
      seen.number = element.cycle_count;
      break;
    default:
      return Shows::kWhatNeverHappens;
  }
  return Shows::kEvent;
}

}  // namespace

std::string describe(const TruthEvent& e) {
  switch (e.kind) {
    case EventKind::kRange:
    case EventKind::kHidden:
      return fmt::format("{} {:#x}-{:#x} x{} {} {}",
                         e.kind == EventKind::kRange ? "range" : "hidden range", e.start, e.end,
                         e.count, e.taken ? 'E' : 'N', name_of(e.isa));
    case EventKind::kContext:
      return fmt::format("context EL{} {} {} context ID {:#x} VMID {:#x}", e.context.el,
                         e.context.secure ? "secure" : "non-secure",
                         e.context.a64 ? "AArch64" : "AArch32", e.context.context_id,
                         e.context.vmid);
    case EventKind::kException:
      return fmt::format("exception {:#x} returning to {:#x}", e.number, e.address);
    case EventKind::kExceptionReturn:
      return "exception return";
    case EventKind::kTimestamp:
      return fmt::format("timestamp {:#x}", e.number);
    case EventKind::kCycleCount:
      return fmt::format("cycle count {}", e.number);
    case EventKind::kEvent:
      return fmt::format("event {:#x}", e.number);
    case EventKind::kTraceOn:
      return fmt::format("trace on, reason {}", e.number);
    case EventKind::kLost:
      return fmt::format("loss of trace, reason {}", e.number);
    case EventKind::kUnknownPath:
      return fmt::format("Q of {} instructions from {:#x} to {:#x}", e.count, e.start, e.address);
    case EventKind::kMessage:
      return fmt::format("message {:#x} of {} bits from {:#x}", e.start, e.count, e.number);
    case EventKind::kEnd:
      return "end of trace";
  }
  return "unknown";
}

void TruthTotals::add(const TruthEvent& e) {
  switch (e.kind) {
    case EventKind::kRange:
      add_range(e.start, e.end, e.count, e.taken);
      return;
    case EventKind::kHidden:
      hidden_instructions += e.count;
      return;
    case EventKind::kContext:
    case EventKind::kEnd:
      return;
    default:
      ++events;
      mix(static_cast<std::uint64_t>(e.kind) << 56 ^ e.number);
      mix(e.address ^ e.start << 1 ^ std::uint64_t{e.count} << 40);
  }
}

TruthWriter::TruthWriter(bool keep) : keep_(keep) {
  if (!keep_) return;
  make_room();
  for (const char c : kMagic) put(static_cast<std::uint8_t>(c));
}

void TruthWriter::varint(std::uint64_t value) {
  used_ = static_cast<std::size_t>(put_varint(bytes_.data() + used_, value) - bytes_.data());
}

// Called for every block.
void TruthWriter::put_range(std::uint64_t start, std::uint64_t end, std::uint32_t count, bool taken,
                            isa::Isa isa) {
  make_room();
  std::uint8_t* out = bytes_.data() + used_;
  if (isa != isa_) {
    isa_ = isa;
    *out++ = static_cast<std::uint8_t>(kIsaTag | static_cast<unsigned>(isa));
  }
  const unsigned unit = unit_of(isa);
  const std::uint64_t size = (end - start) >> unit;
  *out++ = static_cast<std::uint8_t>(std::min(size, kLongSize) | (taken ? kTakenBit : 0U));
  if (size >= kLongSize) out = put_varint(out, size);
  out = put_varint(out, zigzag(start - expected_));
  if (isa == isa::Isa::kT32) out = put_varint(out, count);
  used_ = static_cast<std::size_t>(out - bytes_.data());
  expected_ = end;
}

void TruthWriter::add(const TruthEvent& e) {
  totals_.add(e);
  if (!keep_) return;
  if (e.kind == EventKind::kRange) {
    put_range(e.start, e.end, e.count, e.taken, e.isa);
    return;
  }
  make_room();
  put(static_cast<std::uint8_t>(kOtherTag | static_cast<unsigned>(e.kind)));
  switch (e.kind) {
    case EventKind::kHidden:
      put_range(e.start, e.end, e.count, e.taken, e.isa);
      return;
    case EventKind::kContext:
      varint(e.context.context_id);
      varint(e.context.vmid);
      put(static_cast<std::uint8_t>(e.context.el | (e.context.secure ? 0x10U : 0U) |
                                    (e.context.a64 ? 0x20U : 0U)));
      return;
    case EventKind::kException:
      varint(e.number);
      varint(e.address);
      return;
    case EventKind::kUnknownPath:
      varint(e.start);
      varint(e.address);
      varint(e.count);
      return;
    case EventKind::kMessage:
      varint(e.number);
      varint(e.count);
      varint(e.start);
      return;
    case EventKind::kExceptionReturn:
    case EventKind::kEnd:
      return;
    default:
      varint(e.number);
  }
}

TruthReader::TruthReader(Bytes bytes) : bytes_(bytes) {
  failed_ =
      bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
  at_ = kMagic.size();
}

std::uint8_t TruthReader::byte() {
  if (at_ >= bytes_.size()) {
    failed_ = true;
    return 0;
  }
  return bytes_[at_++];
}

std::uint64_t TruthReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint8_t part = byte();
    value |= std::uint64_t{part & 0x7FU} << shift;
    if ((part & 0x80) == 0) return value;
  }
  failed_ = true;
  return value;
}

bool TruthReader::next(TruthEvent& e) {
  std::uint8_t tag = 0;
  do {
    if (failed_ || at_ >= bytes_.size()) return false;
    tag = byte();
    e = {.kind = EventKind::kRange};
    if ((tag & 0xC0) == kOtherTag) {
      e.kind = static_cast<EventKind>(tag & 0x0F);
      if (e.kind == EventKind::kHidden) tag = byte();
    }
    if ((tag & 0xC0) != kIsaTag) break;
    isa_ = static_cast<isa::Isa>(tag & 7);
    if (e.kind == EventKind::kHidden) tag = byte();
  } while (e.kind != EventKind::kHidden);
  switch (e.kind) {
    case EventKind::kRange:
    case EventKind::kHidden: {
      const unsigned unit = unit_of(isa_);
      std::uint64_t size = tag & kLongSize;
      if (size == kLongSize) size = varint();
      e.taken = (tag & kTakenBit) != 0;
      e.isa = isa_;
      e.start = expected_ + unzigzag(varint());
      e.end = e.start + (size << unit);
      e.count = static_cast<std::uint32_t>(isa_ == isa::Isa::kT32 ? varint() : size);
      expected_ = e.end;
      break;
    }
    case EventKind::kContext: {
      e.context.context_id = static_cast<std::uint32_t>(varint());
      e.context.vmid = static_cast<std::uint32_t>(varint());
      const std::uint8_t bits = byte();
      e.context.el = bits & 3;
      e.context.secure = (bits & 0x10) != 0;
      e.context.a64 = (bits & 0x20) != 0;
      break;
    }
    case EventKind::kException:
      e.number = varint();
      e.address = varint();
      break;
    case EventKind::kUnknownPath:
      e.start = varint();
      e.address = varint();
      e.count = static_cast<std::uint32_t>(varint());
      break;
    case EventKind::kMessage:
      e.number = varint();
      e.count = static_cast<std::uint32_t>(varint());
      e.start = varint();
      break;
    case EventKind::kTimestamp:
    case EventKind::kCycleCount:
    case EventKind::kEvent:
    case EventKind::kTraceOn:
    case EventKind::kLost:
      e.number = varint();
      break;
    case EventKind::kExceptionReturn:
    case EventKind::kEnd:
      break;
    default:
      failed_ = true;
  }
  return !failed_;
}

void TruthChecker::differ(const Element& element, const std::string& what) {
  TextBuffer text;
  write_element(text, element);
  difference_ = fmt::format("After {} ranges and {} instructions, at index {}: {} ({}).",
                            totals_.ranges, totals_.instructions, element.index, what, text.view());
}

// Finds the next event that the trace shows, and keeps the context of what follows.
bool TruthChecker::expected(TruthEvent& event) {
  while (reader_.next(event)) {
    if (event.kind == EventKind::kContext) {
      context_ = event.context;
      has_context_ = true;
    }
    if (event.kind == EventKind::kHidden) totals_.add(event);
    if (event.kind != EventKind::kContext && event.kind != EventKind::kHidden) return true;
  }
  return false;
}

void TruthChecker::compare(const TruthEvent& seen, const Element& element) {
  TruthEvent want;
  if (!expected(want)) {
    differ(element, fmt::format("The trace shows {}, but the truth ends", describe(seen)));
    return;
  }
  bool equal = want.kind == seen.kind && want.number == seen.number &&
               want.address == seen.address && want.start == seen.start && want.end == seen.end &&
               want.count == seen.count && want.taken == seen.taken && want.isa == seen.isa;
  if (want.kind == EventKind::kUnknownPath) {
    // If only one path is possible, the decoder gives it as a range.
    const bool path = seen.kind == EventKind::kRange;
    equal = (path || (seen.kind == want.kind && seen.address == want.address)) &&
            want.start == seen.start && want.count == seen.count;
  }
  if (!equal) {
    differ(element,
           fmt::format("The trace shows {}, but it was {}", describe(seen), describe(want)));
    return;
  }
  totals_.add(want);
  if (want.kind == EventKind::kRange) compare_context(element);
}

void TruthChecker::compare_context(const Element& element) {
  if (!has_context_) return;
  const bool context_id =
      (element.flags & kElementContextIdValid) == 0 || element.context_id == context_.context_id;
  const bool vmid = (element.flags & kElementVmidValid) == 0 || element.vmid == context_.vmid;
  const bool level =
      (element.flags & kElementElValid) == 0 || element.exception_level == context_.el;
  const bool security = (element.security == Security::kSecure) == context_.secure;
  if (context_id && vmid && level && security) return;
  TruthEvent shown{.kind = EventKind::kContext};
  shown.context = {element.context_id, element.vmid, element.exception_level,
                   element.security == Security::kSecure, context_.a64};
  TruthEvent was{.kind = EventKind::kContext};
  was.context = context_;
  differ(element, fmt::format("The trace shows {}, but it was {}", describe(shown), describe(was)));
}

// Takes one instruction of a range; the cycles are counted with the whole range.
void TruthChecker::take_part(const TruthEvent& seen, const Element& element) {
  if (parts_ == 0) {
    if (!expected(whole_) || whole_.kind != EventKind::kRange || whole_.start != seen.start) {
      differ(element,
             fmt::format("The trace shows {}, but it was {}", describe(seen), describe(whole_)));
      return;
    }
    part_cycles_ = 0;
  }
  parts_ += seen.count;
  const bool last = parts_ == whole_.count;
  const std::uint64_t start = whole_.end;
  if (seen.isa != whole_.isa || parts_ > whole_.count || seen.taken != (whole_.taken || !last) ||
      (last ? seen.end != start : seen.end > start)) {
    differ(element,
           fmt::format("The trace shows {} as a part of {}", describe(seen), describe(whole_)));
    return;
  }
  const bool cycles = (element.flags & kElementHasCycleCount) != 0;
  if (cycles) part_cycles_ += element.cycle_count;
  compare_context(element);
  if (!last) return;
  totals_.add(whole_);
  parts_ = 0;
  TruthEvent count{.kind = EventKind::kCycleCount};
  count.number = part_cycles_;
  if (cycles) compare(count, element);
}

void TruthChecker::take(const Element& element) {
  if (element.kind == ElementKind::kEndOfTrace) return;
  // Nothing was lost before the first synchronisation.
  if (element.kind == ElementKind::kNoSync && !synced_) return;
  TruthEvent seen;
  const Shows shows = show(element, seen);
  if (shows == Shows::kWhatNeverHappens) {
    differ(element, "The trace shows something that never happened");
    return;
  }
  synced_ = true;
  if (shows == Shows::kNothing) return;
  if (in_parts_ && seen.kind == EventKind::kRange) {
    take_part(seen, element);
    return;
  }
  if (parts_ != 0) {
    differ(element, fmt::format("The trace shows {} within {}", describe(seen), describe(whole_)));
    return;
  }
  compare(seen, element);
  if (!difference_.empty() || seen.kind == EventKind::kCycleCount) return;
  if ((element.flags & kElementHasCycleCount) == 0) return;
  TruthEvent count{.kind = EventKind::kCycleCount};
  count.number = element.cycle_count;
  compare(count, element);
}

void TruthChecker::take(std::span<const Element> elements) {
  for (const Element& element : elements) {
    if (!difference_.empty()) return;
    take(element);
  }
}

void TruthChecker::finish() {
  if (!difference_.empty()) return;
  TruthEvent rest;
  if (expected(rest) && rest.kind != EventKind::kEnd)
    difference_ = fmt::format("The trace ends after {} ranges, but then there was {}.",
                              totals_.ranges, describe(rest));
  if (reader_.failed()) difference_ = "The truth cannot be read: it is damaged or cut.";
}

}  // namespace waymark::synth

#include "waymark/outputs/human.h"

#include <algorithm>
#include <utility>

#include "quoted.h"
#include "software_words.h"
#include "waymark/base/escape.h"
#include "waymark/count/counts.h"
#include "waymark/element/text.h"
#include "waymark/image/image.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

constexpr std::size_t kIndexWidth = 10;
constexpr std::size_t kCountWidth = 6;
constexpr std::size_t kTimeWidth = 16;
constexpr std::size_t kMnemonicWidth = 7;

bool executed(const Element& element) { return (element.flags & kElementExecuted) != 0; }

/// Whether execution continued elsewhere after the last instruction of a range.
bool jumps(const Element& element) {
  return element.kind == ElementKind::kInstrRange && executed(element) &&
         (element.last_type == isa::InstrType::kBranch ||
          element.last_type == isa::InstrType::kIndirectBranch);
}

/// Where the source continues, if this element shows it; otherwise kNoAddress.
std::uint64_t continues_at(const Element& element) {
  switch (element.kind) {
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
    case ElementKind::kAddrNacc:
      return element.start;
    case ElementKind::kException:
      // Where the last branch led, nothing was executed before the exception.
      return (element.flags & kElementReturnAddress) != 0 &&
                     (element.flags & kElementTailChain) == 0
                 ? element.end
                 : kNoAddress;
    default:
      return kNoAddress;
  }
}

/// Elements that do not concern the flow: a waiting line continues to wait.
bool passes(const Element& element) {
  switch (element.kind) {
    case ElementKind::kMemTrans:
      // After a failure, execution does not go on where the last branch led.
      return static_cast<MemTransType>(element.reason) != MemTransType::kFail;
    case ElementKind::kTimestamp:
    case ElementKind::kCycleCount:
    case ElementKind::kEvent:
    case ElementKind::kSyncMarker:
    case ElementKind::kInstrumentation:
    case ElementKind::kExceptionReturn:
    case ElementKind::kSwTrace:
    case ElementKind::kItmTrace:
    case ElementKind::kDataAddress:
    case ElementKind::kDataValue:
    case ElementKind::kDataEvent:
    case ElementKind::kCustom:
      return true;
    default:
      return false;
  }
}

std::string_view jump_word(const Element& element) {
  switch (element.last_subtype) {
    case isa::InstrSubtype::kBranchLink:
      return "call";
    case isa::InstrSubtype::kV8Return:
    case isa::InstrSubtype::kV7ImpliedReturn:
      return "return";
    case isa::InstrSubtype::kV8ExceptionReturn:
      return "exception return";
    case isa::InstrSubtype::kNone:
      break;
  }
  return "branch";
}

std::string_view unsync_sentence(const Element& element) {
  switch (static_cast<UnsyncReason>(element.reason)) {
    case UnsyncReason::kInitDecoder:
      return "waiting for the first synchronisation point";
    case UnsyncReason::kResetDecoder:
      return "decoder was reset; waiting for a synchronisation point";
    case UnsyncReason::kOverflow:
      return "trace lost: the trace unit's buffer overflowed";
    case UnsyncReason::kDiscard:
      return "trace stopped here and was discarded";
    case UnsyncReason::kBadPacket:
      return "damaged trace: skipping to the next synchronisation point";
    case UnsyncReason::kBadImage:
      return "trace and image disagree: skipping to the next synchronisation point";
    case UnsyncReason::kUndefined:
    case UnsyncReason::kEndOfTrace:
      break;
  }
  return "no synchronisation";
}

std::string_view data_sentence(const Element& element) {
  switch (static_cast<DataEvent>(element.reason)) {
    case DataEvent::kPending:
      return "follows later";
    case DataEvent::kNotTraced:
      return "not traced";
    case DataEvent::kSuppressed:
      return "lost: the trace unit's buffer was nearly full";
    case DataEvent::kStoreFailed:
      break;
  }
  return "not stored: the exclusive store failed";
}

void write_address(TextBuffer& out, std::uint64_t address) {
  out.put("0x");
  out.hex(address, 16);
}

/// "at file.c:12".
void write_source(TextBuffer& out, const program::Frame& frame) {
  out.put("at ");
  const std::size_t folder = frame.file.find_last_of('/');
  write_shown(out, frame.file.substr(folder == std::string_view::npos ? 0 : folder + 1));
  if (frame.line == 0) return;
  out.put(':');
  out.dec(frame.line);
}

void write_instruction(TextBuffer& out, const Style& style, const Instructions& instruction) {
  write_address(out, instruction.address());
  out.put("  ");
  out.hex(instruction.opcode(), 2 * instruction.size());
  out.put(instruction.size() == 2 ? std::string_view("      ") : std::string_view("  "));
  const std::string_view mnemonic = instruction.mnemonic();
  out.put(mnemonic);
  if (!instruction.operands().empty()) {
    for (std::size_t i = mnemonic.size(); i < kMnemonicWidth; ++i) out.put(' ');
    out.put(' ');
    out.put(instruction.operands());
  }
  const std::string_view note = instruction.note();
  if (!note.empty()) {
    out.put("  ; ");
    out.put(note);
  }
  if (!instruction.target_name().empty()) {
    out.put(" <");
    begin_colour(out, style, Colour::kName);
    write_shown(out, instruction.target_name());
    end_colour(out, style);
    out.put('>');
  }
  bool commented = !note.empty();
  const auto comment = [&] {
    out.put(std::exchange(commented, true) ? std::string_view(", ") : std::string_view("  ; "));
  };
  if (const std::string_view outcome = instruction.outcome(); !outcome.empty()) {
    comment();
    out.put(outcome);
  }
  if (instruction.source_changes() && !instruction.source().file.empty()) {
    comment();
    write_source(out, instruction.source());
  }
}

void write_marker(TextBuffer& out, const Element& element) {
  if (element.reason == static_cast<std::uint8_t>(MarkerType::kTimestamp)) {
    out.put("time marker: the next timestamp belongs here");
    return;
  }
  out.put("data synchronisation marker");
  if (element.reason == static_cast<std::uint8_t>(MarkerType::kDataNumbered)) {
    out.put(' ');
    out.dec(element.number);
  }
}

/// The event, where one element says it all.
void write_note(TextBuffer& out, const Element& element) {
  switch (element.kind) {
    case ElementKind::kExceptionReturn:
      out.put("return from exception");
      break;
    case ElementKind::kNoSync:
      out.put(unsync_sentence(element));
      break;
    case ElementKind::kTraceOn:
      out.put("trace on");
      if (element.reason == static_cast<std::uint8_t>(TraceOnReason::kOverflow)) {
        out.put(" after an overflow: instructions before this are missing");
      } else if (element.reason == static_cast<std::uint8_t>(TraceOnReason::kDebugRestart)) {
        out.put(" after debug state");
      }
      break;
    case ElementKind::kEndOfTrace:
      out.put("end of trace");
      break;
    case ElementKind::kTimestamp:
      if ((element.flags & (kElementHasTimestamp | kElementTimeIsPartial)) ==
          kElementTimeIsPartial) {
        out.put("time unknown: the upper bits of its Gray code were not sent");
        break;
      }
      out.put("time ");
      out.dec(element.timestamp);
      out.put(partial_time_words(element));
      break;
    case ElementKind::kCycleCount:
      out.put("cycles");
      break;
    case ElementKind::kEvent:
      out.put(event_words(element));
      break;
    case ElementKind::kSyncMarker:
      write_marker(out, element);
      break;
    case ElementKind::kMemTrans:
      out.put("memory transaction: ");
      out.put(reason_word(element));
      break;
    case ElementKind::kInstrumentation:
      out.put("program wrote ");
      write_address(out, element.value);
      out.put(" (EL");
      out.dec(element.exception_level);
      out.put(')');
      break;
    case ElementKind::kSwTrace:
      write_software(out, element);
      break;
    case ElementKind::kAddrUnknown:
      out.put("address unknown until the next branch packet");
      break;
    default:
      write_element(out, element);
      break;
  }
}

}  // namespace

void HumanWriter::name_core(TraceId id, std::string name) {
  if (id >= kTraceIdCount) return;
  name = escaped(name);
  cores_.width = std::max(cores_.width, name.size());
  cores_.names[id] = std::move(name);
}

void HumanWriter::name_exceptions(TraceId id, ExceptionNumbers numbers) {
  if (id < kTraceIdCount) cores_.exceptions[id] = numbers;
}

void HumanWriter::header() {
  begin_colour(out_, style_, Colour::kHeading);
  if (shows_times_) {
    out_.right("time", kTimeWidth);
    out_.put("  ");
  }
  out_.right("index", kIndexWidth);
  out_.put("  id    ");
  if (cores_.width != 0) {
    out_.put("core");
    for (std::size_t i = 4; i < cores_.width + 2; ++i) out_.put(' ');
  }
  out_.put("address              insns  what happened");
  end_colour(out_, style_);
  out_.put('\n');
}

void HumanWriter::add(std::span<const Element> elements) {
  for (const Element& element : elements) {
    add(element);
    // Independent of the number of elements per call, so that the same lines are given up.
    if (lines_.items.size() - lines_.first > kMaxWaiting) [[unlikely]]
      write_ready();
  }
  write_ready();
}

void HumanWriter::add(const Element& element) {
  if (element.kind == ElementKind::kItmTrace) {
    add_itm(element);
    return;
  }
  complete_line(element);
  const bool waits = jumps(element);
  if (waits) waiting_[element.trace_id] = lines_.items.size();
  lines_.items.push_back({.element = element, .waits = waits});
}

void HumanWriter::complete_line(const Element& element) {
  std::size_t& waiting = waiting_[element.trace_id];
  if (waiting == kNone) return;
  const Element& branch = lines_.items[waiting].element;
  if (element.kind == ElementKind::kPeContext) {
    if (count::continues(count::context_of(branch), count::context_of(element))) return;
  } else if (passes(element)) {
    return;
  }
  lines_.items[waiting].target = continues_at(element);
  lines_.items[waiting].waits = false;
  waiting = kNone;
}

std::uint64_t HumanWriter::target_of(const Item& item) const {
  const bool is_in_code = item.element.last_type == isa::InstrType::kBranch;
  return item.target == kNoAddress && is_in_code && direct_targets_ ? direct_targets_(item.element)
                                                                    : item.target;
}

void HumanWriter::pass_over(const Element& element) {
  complete_line(element);
  write_ready();
}

void HumanWriter::add(const Diagnostic& record) {
  Item item;
  item.is_damage = true;
  damage_.push_back(record);
  lines_.items.push_back(item);
}

void HumanWriter::add(const merge::TimedRecord& record) {
  const std::size_t before = lines_.items.size();
  if (record.is_damage) {
    add(record.damage);
  } else {
    add(record.element);
  }
  // An element may have joined the line of an earlier one.
  if (lines_.items.size() > before) {
    lines_.items.back().system_time = record.time;
    lines_.items.back().time_kind = record.kind;
  }
  write_ready();
}

void HumanWriter::finish() {
  for (Item& item : lines_.items) item.waits = false;
  waiting_ = make_waiting();
  write_ready();
}

bool HumanWriter::release() {
  const std::size_t before = out_.size();
  for (std::size_t& at : waiting_) {
    if (at == kNone || lines_.items[at].element.kind != ElementKind::kItmTrace) continue;
    lines_.items[at].waits = false;
    at = kNone;
  }
  write_ready();
  return out_.size() != before;
}

void HumanWriter::write_ready() {
  write_oldest();
  while (lines_.items.size() - lines_.first > kMaxWaiting && lines_.first < lines_.end) {
    Item& oldest = lines_.items[lines_.first];
    oldest.waits = false;
    waiting_[oldest.element.trace_id] = kNone;
    write_oldest();
  }
  settle();
}

/// Writes up to the first line that waits.
void HumanWriter::write_oldest() {
  const std::size_t end = std::min(lines_.items.size(), lines_.end);
  for (; lines_.first < end && !lines_.items[lines_.first].waits; ++lines_.first)
    write(lines_.items[lines_.first]);
}

/// Removes lines that were written.
void HumanWriter::settle() {
  if (lines_.first == 0) return;
  lines_.items.erase(lines_.items.begin(),
                     lines_.items.begin() + static_cast<std::ptrdiff_t>(lines_.first));
  for (std::size_t& at : waiting_) {
    if (at != kNone) at -= lines_.first;
  }
  if (lines_.end != kNone) lines_.end -= lines_.first;
  lines_.first = 0;
}

void HumanWriter::write_time(const Item& item) {
  char text[24];
  std::size_t size = 0;
  if (item.time_kind == merge::TimeKind::kUnknown) {
    text[size++] = '-';
  } else {
    size = static_cast<std::size_t>(write_dec(text, item.system_time) - text);
  }
  out_.right({text, size}, kTimeWidth);
  constexpr char kMarks[] = {'?', ' ', '~', '>', '<'};
  out_.put(kMarks[static_cast<std::size_t>(item.time_kind)]);
  out_.put(' ');
}

void HumanWriter::begin_line(const Item& item, TraceIndex index, TraceId id) {
  if (shows_times_) write_time(item);
  char number[20];
  if (index == kNoIndex) {
    out_.right("-", kIndexWidth);
  } else {
    out_.right({number, static_cast<std::size_t>(write_dec(number, index) - number)}, kIndexWidth);
  }
  out_.put("  ");
  if (id == kNoTraceId) {
    out_.put("-   ");
  } else {
    out_.put("0x");
    out_.hex(id, 2);
  }
  out_.put("  ");
  if (cores_.width == 0) return;
  const std::string_view core = id < kTraceIdCount ? std::string_view(cores_.names[id]) : "";
  out_.put(core);
  for (std::size_t i = core.size(); i < cores_.width + 2; ++i) out_.put(' ');
}

void HumanWriter::write(const Item& item) {
  if (item.is_damage) {
    write(item, damage_.front());
    damage_.pop_front();
    return;
  }
  const Element& element = item.element;
  begin_line(item, element.index, element.trace_id);
  write_what(item);
  if ((element.flags & kElementHasCycleCount) != 0) {
    if (element.kind == ElementKind::kCycleCount && element.cycle_count == 0) {
      out_.put(": unknown");
    } else {
      out_.put(element.kind == ElementKind::kCycleCount ? " +" : ", cycles +");
      out_.dec(element.cycle_count);
    }
  }
  out_.put('\n');
  if (instructions_ != nullptr && element.kind == ElementKind::kInstrRange)
    write_instructions(element);
}

void HumanWriter::write_what(const Item& item) {
  const Element& element = item.element;
  switch (element.kind) {
    case ElementKind::kInstrRange:
    case ElementKind::kInstrRangeNoPath:
      write_range(item);
      break;
    case ElementKind::kAddrNacc:
      write_missing_code(element);
      break;
    case ElementKind::kPeContext:
      write_context(element);
      break;
    case ElementKind::kException:
      write_exception(element);
      break;
    case ElementKind::kItmTrace:
      write_itm(item);
      break;
    case ElementKind::kDataAddress:
    case ElementKind::kDataValue:
    case ElementKind::kDataEvent:
      write_data(element);
      break;
    case ElementKind::kCustom:
      out_.put("-- ");
      if (custom_) {
        custom_(out_, element);
      } else {
        write_element(out_, element);
      }
      break;
    default:
      out_.put("-- ");
      write_note(out_, element);
      break;
  }
}

void HumanWriter::write_missing_code(const Element& element) {
  write_address(out_, element.start);
  out_.put("       ?  no code image at this address (");
  // EL0 has no memory space of its own, so the space would name another level.
  if ((element.flags & kElementElValid) != 0) {
    write_level(element);
  } else {
    out_.put(image::space_name(static_cast<image::SpaceMask>(element.number)));
  }
  out_.put("); decoding resumes at the next address in the trace");
  if (functions_) write_function(*functions_, element);
}

void HumanWriter::write_instructions(const Element& element) {
  const std::size_t indent = (shows_times_ ? kTimeWidth + 2 : 0) + kIndexWidth + 8 +
                             (cores_.width == 0 ? 0 : cores_.width + 2);
  for (instructions_->begin(element); instructions_->next();) {
    out_.right("", indent);
    write_instruction(out_, style_, *instructions_);
    out_.put('\n');
  }
}

void HumanWriter::write_range(const Item& item) {
  const Element& element = item.element;
  write_address(out_, element.start);
  out_.put("  ");
  char number[24] = {'+'};
  out_.right({number, static_cast<std::size_t>(write_dec(number + 1, element.count) - number)},
             kCountWidth);
  out_.put(element.count == 1 ? std::string_view("  insn") : std::string_view("  insns"));

  if (element.kind == ElementKind::kInstrRangeNoPath) {
    out_.put(" on a path that was not traced, to ");
    write_address(out_, element.end);
    if (functions_) write_function(*functions_, element);
    return;
  }
  switch (element.last_type) {
    case isa::InstrType::kBranch:
    case isa::InstrType::kIndirectBranch:
      if (element.count == 1) out_.put(' ');
      if (!executed(element)) {
        out_.put("  not taken");
        break;
      }
      out_.put("  ");
      out_.put(style_.arrow());
      out_.put(' ');
      out_.put(jump_word(element));
      if (const std::uint64_t target = target_of(item); target != kNoAddress) {
        out_.put(' ');
        write_address(out_, target);
      } else {
        out_.put(", target not in the trace");
      }
      break;
    case isa::InstrType::kIsb:
      out_.put("  isb");
      break;
    case isa::InstrType::kDsbDmb:
      out_.put("  barrier");
      break;
    case isa::InstrType::kWfiWfe:
      out_.put("  wait for interrupt or event");
      break;
    case isa::InstrType::kTstart:
      out_.put("  transaction start");
      break;
    case isa::InstrType::kOther:
      break;
  }
  if (functions_) write_function(*functions_, element);
}

void HumanWriter::write_function(FunctionNames& names, const Element& element) {
  if (!names.find(element)) return;
  const std::vector<program::Frame>& frames = names.frames();
  if (names.details().inlines) {
    // All but the last were inlined.
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
      out_.put(i == 0 ? std::string_view("  in ") : std::string_view(", inlined into "));
      write_name(frames[i].function.empty() ? std::string("??") : names.readable(frames[i]));
      write_source(frames[i]);
    }
  }
  const bool inlined = names.details().inlines && frames.size() > 1;
  if (names.has_function()) {
    out_.put(inlined ? std::string_view(", inlined into ") : std::string_view("  in "));
    write_name(names.readable());
    if (names.offset() != 0) {
      out_.put("+0x");
      out_.hex(names.offset());
    }
  } else if (!inlined) {
    out_.put(' ');
  }
  if (!frames.empty()) write_source(inlined ? frames.back() : frames.front());
}

void HumanWriter::write_name(const std::string& name) {
  begin_colour(out_, style_, Colour::kName);
  write_shown(out_, name);
  end_colour(out_, style_);
}

void HumanWriter::write_source(const program::Frame& frame) {
  if (frame.file.empty()) return;
  out_.put(' ');
  waymark::outputs::write_source(out_, frame);
}

void HumanWriter::write_level(const Element& element) {
  if ((element.flags & kElementElValid) != 0) {
    out_.put("EL");
    out_.dec(element.exception_level);
  }
  constexpr std::string_view kWorlds[] = {", secure", ", non-secure", ", root", ", realm"};
  out_.put(kWorlds[static_cast<std::size_t>(element.security) & 3]);
}

void HumanWriter::write_context(const Element& element) {
  out_.put("-- now");
  if ((element.flags & kElementElValid) != 0) out_.put(" at ");
  write_level(element);
  out_.put((element.flags & kElement64Bit) != 0 ? std::string_view(", AArch64 (")
                                                : std::string_view(", AArch32 ("));
  out_.put(isa_name(element.isa));
  out_.put(')');
  if ((element.flags & kElementContextIdValid) != 0) {
    out_.put(", context 0x");
    out_.hex(element.context_id);
  }
  if (processes_) {
    if (const std::string name = processes_(element); !name.empty()) {
      out_.put(", process ");
      begin_colour(out_, style_, Colour::kName);
      write_shown(out_, name);
      end_colour(out_, style_);
    }
  }
  if ((element.flags & kElementVmidValid) != 0) {
    if (thread_in_vmid_ && thread_in_vmid_(element.trace_id)) {
      out_.put(", thread ");
      out_.dec(element.vmid);
    } else {
      out_.put(", virtual machine 0x");
      out_.hex(element.vmid);
    }
  }
}

void HumanWriter::write_exception(const Element& element) {
  if ((element.flags & kElementReturnAddress) != 0) {
    write_address(out_, element.end);
    out_.put("          exception ");
  } else {
    out_.put("-- exception ");
  }
  out_.dec(element.number);
  if (element.trace_id < kTraceIdCount) {
    const std::string name = exception_name(cores_.exceptions[element.trace_id], element.number);
    if (!name.empty()) {
      out_.put(" (");
      out_.put(name);
      out_.put(')');
    }
  }
  if ((element.flags & kElementReturnAddress) != 0) out_.put(", will return to this address");
  if ((element.flags & kElementTailChain) != 0) out_.put(", tail-chained");
}

void HumanWriter::write_data(const Element& element) {
  const DataPlace place = DataPlace::unpack(element.extra_value);
  const unsigned flags = element.extra;
  out_.put("-- data ");
  switch (element.kind) {
    case ElementKind::kDataValue:
      out_.put("0x");
      out_.hex(element.value);
      break;
    case ElementKind::kDataEvent:
      out_.put(data_sentence(element));
      break;
    default:
      out_.put("address");
      break;
  }
  if (place.known_bits != 0) {
    out_.put(element.kind == ElementKind::kDataAddress ? " 0x" : " at 0x");
    out_.hex(element.start);
    if (place.known_bits < 32) out_.put(" (upper bits unknown)");
  }
  if ((flags & kDataOwned) != 0) {
    out_.put(", by the instruction at 0x");
    out_.hex(element.end);
  }
  if ((flags & kDataStacking) != 0) out_.put(", by the entry of an exception");
  if ((flags & kDataUnstacking) != 0) out_.put(", by the return from an exception");
  if (place.tag != 0) {
    out_.put(", tag ");
    out_.dec(place.tag);
  }
  if ((flags & kDataInferred) != 0) out_.put(", inferred");
  if ((flags & kDataCancelled) != 0) out_.put(", cancelled");
}

void HumanWriter::write(const Item& item, const Diagnostic& record) {
  begin_line(item, record.index, record.trace_id);
  if (record.is_damage()) begin_colour(out_, style_, Colour::kDamage);
  out_.put(record.is_damage() ? "!! damage: " : "!! note: ");
  put_escaped(out_, describe(record));
  out_.put(" (");
  out_.put(fault_word(record.fault));
  if (record.lost != 0) {
    out_.put(", ");
    out_.dec(record.lost);
    out_.put(record.lost == 1 ? " byte" : " bytes");
  }
  out_.put(')');
  if (record.address != kNoAddress) {
    out_.put(" at ");
    write_address(out_, record.address);
  }
  if (record.is_damage()) end_colour(out_, style_);
  out_.put('\n');
}

}  // namespace waymark::outputs

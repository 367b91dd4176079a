#include "code_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "range_walk.h"
#include "stack_watch.h"
#include "waymark/base/cut_text.h"
#include "waymark/count/counts.h"
#include "waymark/outputs/code_listing.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/outputs/source_files.h"
#include "waymark/program/disassembler.h"
#include "window_cut.h"

namespace waymark::view {
namespace {

/// Around code without a name.
constexpr std::uint64_t kBefore = 128;
constexpr std::uint64_t kAfter = 512;

/// The code that is shown, in the addresses of its program, or of memory without a program.
struct Shown {
  FunctionNumber number = FunctionTable::kUnknown;
  const program::Program* program = nullptr;
  std::uint64_t start = 0;
  std::uint64_t last = 0;
  std::uint64_t entry = 0;    ///< Where its executions begin.
  bool has_function = false;  ///< Else it is code without a name.
  Element element{};          ///< Its memory is that of this element,
  std::uint64_t bias = 0;     ///< where the code is so far above.
  std::string note{};
};

void add_note(std::string& note, std::string_view more) {
  if (!note.empty()) note += ' ';
  note += more;
}

std::string hex(Bytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// Cuts what is too large to the surroundings of an address.
void cut_around(Shown& shown, std::uint64_t address) {
  if (shown.last - shown.start < kMostCode) return;
  const std::uint64_t half = kMostCode / 2;
  const std::uint64_t start =
      address - shown.start < half ? shown.start : (address - half) & ~std::uint64_t{3};
  shown.start = start;
  shown.last = std::min(shown.last, start + kMostCode - 1);
  add_note(shown.note,
           fmt::format("The function is large: only {} KiB of it are shown.", kMostCode >> 10));
}

/// The content at an address of the program of `place`, in the memory of an element.
Shown shown_at(const Knowledge& knowledge, const Element& element, const program::Place& place,
               std::uint64_t bias) {
  Shown shown{.program = place.program, .element = element, .bias = bias};
  const program::Function* const function =
      place.program == nullptr ? nullptr : place.program->function(place.address);
  if (function == nullptr) {
    shown.start = place.address - std::min(place.address, kBefore);
    shown.last = place.address + std::min(kAfter, ~place.address);
    shown.entry = place.address;
    shown.number = knowledge.functions->number(
        stacks::Code{.kind = stacks::CodeKind::kUnknown,
                     .program = place.program == nullptr ? std::string() : place.program->path()});
    add_note(shown.note, "No named function contains this address; the code around it is shown.");
    return shown;
  }
  shown.number = knowledge.functions->number(*place.program, *function);
  shown.start = shown.entry = function->start;
  shown.last = function->last;
  shown.has_function = true;
  cut_around(shown, place.address);
  return shown;
}

/// Counts the ranges of a window that touch the code.
class CodeCounter {
 public:
  CodeCounter(const Shown& shown, WindowCut& cut, Replay& replay, const Knowledge& knowledge)
      : shown_(shown),
        cut_(cut),
        replay_(replay),
        knowledge_(knowledge),
        places_(knowledge.places),
        walk_(knowledge.read) {}

  Result<Reached> decode(double from, std::optional<std::uint64_t> most, const Stop& stop) {
    SettledRun run(replay_);
    Reached reached{};
    const auto visit = [&](const Element& element, std::uint64_t n) {
      if (is_range(element)) {
        reached[element.trace_id] = n + element.count;
        if (is_shown(run, element.trace_id)) count(element, n);
      }
      return !most || run.bytes() < *most;
    };
    WAYMARK_TRY(
        run.run({.from = from, .from_instant = {}, .to = cut_.to, .sink = nullptr}, visit, stop));
    return reached;
  }

  count::Counts take() {
    count::Counts counts;
    for (const auto& [range, times] : rows_)
      counts.rows.push_back(
          {.range = range, .executed = times.executed, .not_executed = times.not_executed});
    return counts;
  }

 private:
  struct Times {
    std::uint64_t executed = 0;
    std::uint64_t not_executed = 0;
  };

  bool is_shown(SettledRun& run, TraceId source) {
    if (cut_.tracks.empty()) return true;
    const StackWatch::Stack* const stack = run.watch().running(source);
    return stack != nullptr && knowledge_.track &&
           cut_.has_track(knowledge_.track(source, stack->thread));
  }

  void count(const Element& element, std::uint64_t n) {
    if (element.trace_id >= kTraceIdCount) return;
    const std::uint64_t first = std::max(cut_.begin.first[element.trace_id], n);
    const std::uint64_t after = std::min(cut_.end.first[element.trace_id], n + element.count);
    if (first >= after) return;
    const program::Place place =
        places_ ? places_(element, element.start) : program::Place{nullptr, element.start};
    const std::uint64_t at = place.program == nullptr ? element.start : place.address;
    if (place.program != shown_.program || at > shown_.last ||
        at + (element.end - element.start) <= shown_.start)
      return;
    const bool whole = first == n && after == n + element.count;
    const Element part = whole ? element
                               : walk_.part(element, static_cast<std::uint32_t>(first - n),
                                            static_cast<std::uint32_t>(after - n));
    const count::Range range{.start = at + (part.start - element.start),
                             .end = at + (part.end - element.start),
                             .count = part.count,
                             .isa = part.isa,
                             .last_type = part.last_type,
                             .last_subtype = part.last_subtype,
                             .last_size = part.last_size,
                             .conditional = (part.flags & kElementConditional) != 0};
    Times& times = rows_[range];
    ++((part.flags & kElementExecuted) != 0 ? times.executed : times.not_executed);
  }

  const Shown& shown_;
  WindowCut& cut_;
  Replay& replay_;
  const Knowledge& knowledge_;
  program::PlaceLookup places_;
  RangeWalk walk_;
  std::map<count::Range, Times> rows_;
};

/// Code in the form of the answer.
class CodeWriter {
 public:
  CodeWriter(const Shown& shown, const count::Counts& counts, const Knowledge& knowledge,
             Code& code)
      : shown_(shown), counts_(counts), knowledge_(knowledge), code_(code) {}

  void write() {
    if (shown_.program != nullptr) name_main_file();
    for (const outputs::AnnotatedInstruction& each : list()) {
      if (each.address == shown_.entry) code_.executions = each.count.times;
      code_.instructions.push_back(instruction(each));
      if (each.line != 0 && !each.file.empty() && code_.instructions.back().file == 0) {
        auto& count = lines_[each.line];
        count = std::max(count, each.count.times);
      }
    }
    write_lines();
  }

 private:
  [[nodiscard]] Bytes read(std::uint64_t address, std::span<std::uint8_t> scratch) const {
    Bytes bytes;
    if (knowledge_.read) bytes = knowledge_.read(shown_.element, address + shown_.bias, scratch);
    if (bytes.empty() && shown_.program != nullptr) bytes = shown_.program->bytes_from(address);
    return bytes;
  }

  std::vector<outputs::AnnotatedInstruction> list() {
    program::Disassembler disassembler(knowledge_.llvm);
    outputs::CodePart part{.program = shown_.program,
                           .start = shown_.start,
                           .last = shown_.last,
                           .rows = counts_.rows,
                           .isa = shown_.element.isa};
    if (knowledge_.profile) part.profile = knowledge_.profile(shown_.element.trace_id);
    part.read = [this](std::uint64_t address, std::span<std::uint8_t> scratch) {
      return read(address, scratch);
    };
    part.target_name = [this](std::uint64_t target) { return target_name(target); };
    if (!shown_.has_function) begin_at_instruction(part);
    std::vector<outputs::AnnotatedInstruction> listed = outputs::list_code(part, disassembler);
    outputs::add_counts(counts_, listed);
    if (shown_.program != nullptr) outputs::add_source_lines(*shown_.program, listed);
    return listed;
  }

  /// Code without a name may begin with data, or in the middle of an instruction.
  void begin_at_instruction(outputs::CodePart& part) {
    std::uint64_t start = shown_.entry;
    const bool fixed = part.isa == isa::Isa::kA64 || part.isa == isa::Isa::kA32;
    std::array<std::uint8_t, 4096> scratch{};
    while (fixed && start >= part.start + 4 && !read(start - 4, scratch).empty()) start -= 4;
    for (const count::Row& row : counts_.rows)
      if (!fixed && row.range.start >= part.start) start = std::min(start, row.range.start);
    part.start = start;
  }

  std::string target_name(std::uint64_t target) const {
    if (shown_.program == nullptr) return {};
    const program::Function* const function = shown_.program->function(target);
    if (function == nullptr) return {};
    std::string name = outputs::readable_name(function->name);
    if (target != function->start) name += fmt::format("+0x{:x}", target - function->start);
    return name;
  }

  CodeInstruction instruction(const outputs::AnnotatedInstruction& each) {
    CodeInstruction made;
    made.address = each.address;
    made.text = each.text;
    if (!each.note.empty()) (made.text += " ; ") += each.note;
    if (!each.target_name.empty()) ((made.text += " <") += each.target_name) += '>';
    made.text = cut_text(made.text, kLongestLine);
    std::array<std::uint8_t, 16> scratch{};
    const Bytes bytes = read(each.address, scratch);
    made.bytes = hex(bytes.first(std::min<std::size_t>(each.size, bytes.size())));
    made.count = each.count.times;
    if (!each.is_data && is_conditional(each, bytes)) {
      made.taken = each.count.taken;
      made.not_taken = each.count.not_taken;
    }
    made.line = each.line;
    if (!each.file.empty()) made.file = file_number(each.file);
    return made;
  }

  bool is_conditional(const outputs::AnnotatedInstruction& each, Bytes bytes) const {
    isa::Isa isa = shown_.element.isa;
    for (const count::Row& row : counts_.rows) {
      if (row.range.start <= each.address && each.address < row.range.end) isa = row.range.isa;
      if (row.range.last_address() == each.address && row.range.conditional &&
          row.range.is_branch())
        return true;
    }
    std::uint32_t opcode = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 4); ++i)
      opcode |= std::uint32_t{bytes[i]} << (8 * i);
    isa::Instruction found;
    std::uint8_t it_remaining = 0;
    const isa::Arch arch = isa == isa::Isa::kA64 ? isa::Arch::kAA64 : isa::Arch::kV8;
    return isa::classify({.arch = arch}, isa, each.address, opcode, it_remaining, found) ==
               isa::Outcome::kOk &&
           found.conditional &&
           (found.type == isa::InstrType::kBranch || found.type == isa::InstrType::kIndirectBranch);
  }

  std::uint32_t file_number(std::string_view file) {
    const auto [known, added] =
        files_.try_emplace(std::string(file), static_cast<std::uint32_t>(code_.files.size()));
    if (added) code_.files.emplace_back(file);
    return known->second;
  }

  /// The file of the function itself, not of what was inlined into it.
  void name_main_file() {
    std::vector<program::Frame> frames;
    for (std::uint64_t at = shown_.entry; at <= shown_.last && at - shown_.entry < 256; at += 2) {
      shown_.program->frames(at, frames);
      if (frames.empty() || frames.back().file.empty()) continue;
      file_number(frames.back().file);
      return;
    }
  }

  void write_lines() {
    if (code_.files.empty()) return;
    if (lines_.empty()) return;
    outputs::SourceFiles files(knowledge_.source_places);
    files.limit_size(kMostSource);
    if (shown_.program != nullptr) files.look_beside(shown_.program->path());
    const std::string& file = code_.files.front();
    const auto put = [&](std::uint32_t number, std::optional<std::string_view> text) {
      CodeLine line{.number = number};
      if (text) line.text = cut_text(*text, kLongestLine);
      if (const auto count = lines_.find(number); count != lines_.end()) line.count = count->second;
      code_.lines.push_back(std::move(line));
    };
    if (!files.line(file, 1)) {
      add_note(code_.note, fmt::format("The source file {} was not found, or is too large.", file));
      for (const auto& [number, count] : lines_)
        if (code_.lines.size() < kMostLines) put(number, std::nullopt);
      return;
    }
    const std::uint32_t middle = lines_.begin()->first;
    const std::uint32_t after = files.line(file, kMostLines + 1)
                                    ? std::max(middle, kMostLines / 2) - kMostLines / 2 + 1
                                    : 1;
    for (std::uint32_t i = 0; i < kMostLines; ++i) {
      const auto text = files.line(file, after + i);
      if (!text) break;
      put(after + i, text);
    }
  }

  const Shown& shown_;
  const count::Counts& counts_;
  const Knowledge& knowledge_;
  Code& code_;
  std::map<std::string, std::uint32_t> files_;
  std::map<std::uint32_t, std::uint64_t> lines_;  ///< Counts of files[0].
};

Result<Code> show(Replay& replay, const Shown& shown, const Window& window,
                  const Knowledge& knowledge, const Stop& stop) {
  auto cut = cut_window(replay, window, knowledge, stop);
  if (!cut) return std::unexpected(std::move(cut).error());
  CodeCounter counter(shown, *cut, replay, knowledge);
  const auto exact = decode_window(replay, *cut, knowledge.limits, stop,
                                   [&](double from, std::optional<std::uint64_t> most) {
                                     return counter.decode(from, most, stop);
                                   });
  if (!exact) return std::unexpected(exact.error());
  Code code;
  code.function = shown.number;
  code.exact = *exact;
  code.note = shown.note;
  const count::Counts counts = counter.take();
  CodeWriter(shown, counts, knowledge, code).write();
  if (code.instructions.empty()) add_note(code.note, "The code could not be read.");
  code.functions = knowledge.functions->names({shown.number});
  return code;
}

/// Where a program is in the memory of an element.
struct Sighting {
  program::Place place{};
  Element element{};
};

/// The first range of a program, from a place of the axis on.
Result<std::optional<Sighting>> find_program(Replay& replay, const std::string& path, double from,
                                             const Knowledge& knowledge, const Stop& stop) {
  std::optional<Sighting> found;
  program::PlaceLookup places = knowledge.places;
  TraceIndex start = 0;
  bool any = false;
  const auto take = [&](const Element& element, std::uint64_t) {
    if (!std::exchange(any, true)) start = element.index;
    if (is_range(element)) {
      const program::Place place = places(element, element.start);
      if (place.program != nullptr && place.program->path() == path)
        found = Sighting{place, element};
    }
    return !found &&
           (element.index < start || element.index - start < knowledge.limits.search_bytes);
  };
  WAYMARK_TRY(
      replay.run({.from = from, .from_instant = {}, .to = {}, .sink = nullptr}, take, stop));
  return found;
}

}  // namespace

Result<Code> code_around(Replay& replay, Instant instant, const Window& window,
                         const Knowledge& knowledge, const Stop& stop) {
  std::optional<Shown> shown;
  program::PlaceLookup places = knowledge.places;
  RangeWalk walk(knowledge.read);
  const auto take = [&](const Element& element, std::uint64_t n) {
    if (element.trace_id != instant.source || !is_range(element)) return true;
    if (instant.n < n) return false;
    if (instant.n - n >= element.count) return true;
    const std::uint64_t address = walk.address(element, static_cast<std::uint32_t>(instant.n - n));
    program::Place place = places ? places(element, address) : program::Place();
    if (place.program == nullptr) place.address = address;
    shown = shown_at(knowledge, element, place, address - place.address);
    return false;
  };
  WAYMARK_TRY(
      replay.run({.from = 0, .from_instant = instant, .to = {}, .sink = nullptr}, take, stop));
  if (!shown) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("The source 0x{:02x} has not executed instruction {} in the trace read so far.",
                    instant.source, instant.n));
  }
  return show(replay, *shown, window, knowledge, stop);
}

Result<Code> code_of(Replay& replay, FunctionNumber function, const Window& window,
                     const Knowledge& knowledge, const Stop& stop) {
  if (!knowledge.functions->has(function)) {
    return fail(ErrorCode::kNotFound,
                "There is no function with this number; use a number from the lists.");
  }
  const stacks::Code code = knowledge.functions->code(function);
  Code none;
  none.function = function;
  none.functions = knowledge.functions->names({function});
  if (code.kind != stacks::CodeKind::kFunction && code.kind != stacks::CodeKind::kAddress) {
    none.note = "This is not a function: it has no code of its own.";
    return none;
  }
  if (!knowledge.places || code.program.empty()) {
    none.note = "The program of this code is not known.";
    return none;
  }
  for (const double from : {std::max(window.from, 0.0), 0.0}) {
    const auto found = find_program(replay, code.program, from, knowledge, stop);
    if (!found) return std::unexpected(found.error());
    if (!*found) continue;
    const Sighting& sighting = **found;
    const std::uint64_t bias = sighting.element.start - sighting.place.address;
    return show(replay,
                shown_at(knowledge, sighting.element, {sighting.place.program, code.start}, bias),
                window, knowledge, stop);
  }
  none.note = "This program was not executed in the part of the trace that was searched.";
  return none;
}

}  // namespace waymark::view

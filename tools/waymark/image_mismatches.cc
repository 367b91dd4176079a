#include "image_mismatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "symbol_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/image_check.h"
#include "waymark/mismatch/suspects.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {
namespace {

/// Whether a range has code of the kernel that changes in memory.
bool has_switches(const perf::ProcessImages& images, TaskId task, const mismatch::Walked& walked) {
  const perf::ProgramPlace place = images.place(task, walked.start);
  if (place.file == nullptr || !place.mapping->in_kernel) return false;
  const program::SwitchedCode* const code = place.file->switched_code();
  std::vector<std::size_t> found;
  if (code != nullptr) code->switches_in(place.file_offset, walked.end - walked.start, found);
  return !found.empty();
}

std::string build_id_of(const program::Program& program) {
  std::string text;
  for (const std::uint8_t byte : program.build_id()) text += fmt::format("{:02x}", byte);
  return text;
}

std::string region_at(const image::Image& image, std::uint64_t address) {
  for (const image::RegionInfo& region : image.regions())
    if (region.first <= address && address <= region.last) return region.name;
  return {};
}

std::string_view remedy(mismatch::Cause cause) {
  switch (cause) {
    case mismatch::Cause::kChangedCode:
      return "The kernel changes this code in memory (static keys, alternatives). Record with "
             "perf "
             "record --kcore, which copies the code that runs.";
    case mismatch::Cause::kOtherKernel:
      return "Check that the file is the kernel that ran, or record with perf record --kcore.";
    case mismatch::Cause::kPatchedCode:
      return "Only this function differs, so its code may have been changed in memory "
             "(breakpoints, self-modifying code). Check that the file is the one that ran.";
    case mismatch::Cause::kOtherFile:
      break;
  }
  return "Check that the file is the one that ran.";
}

/// The contradictions of a capture, as rows.
class MismatchCollector {
 public:
  explicit MismatchCollector(const inputs::Capture& capture) : capture_(capture) {}

  void add(const mismatch::Mismatch& mismatch) {
    suspects_.fail(mismatch.path);
    // Code beyond these is not counted, or is blamed on the place where it shows.
    constexpr std::size_t kMost = std::size_t{1} << 16;
    constexpr std::size_t kMostPaths = 4096;
    if (kept_.size() == kMost) return;
    kept_.push_back({.element = mismatch.element, .address = mismatch.address});
    if (kept_.size() <= kMostPaths)
      kept_.back().path.assign(mismatch.path.begin(), mismatch.path.end());
  }
  void pass(std::span<const mismatch::Walked> path) { suspects_.pass(path); }

  std::vector<mismatch::FunctionRow> take() {
    if (kept_.empty()) return {};
    auto lookup = place_lookup(capture_, {});
    if (lookup) places_ = *std::move(lookup);
    mismatch::FunctionRows rows;
    for (const Kept& kept : kept_) rows.add(row(kept));
    return rows.take();
  }

 private:
  struct Kept {
    Element element{};
    std::uint64_t address = 0;
    std::vector<mismatch::Walked> path{};
  };

  mismatch::FunctionRow row(const Kept& kept) {
    const Element& at = kept.element;
    const mismatch::Walked* const blamed = suspects_.blame(kept.path);
    mismatch::FunctionRow row{.address = blamed != nullptr ? blamed->start : kept.address,
                              .end = blamed != nullptr ? blamed->end : kept.address + 1,
                              .index = at.index};
    const perf::ProcessImages* const images = capture_.processes();
    row.no_context = images == nullptr &&
                     (at.flags & (kElementContextIdValid | kElementVmidValid)) == 0 &&
                     (at.flags & kElementElValid) != 0 && at.exception_level == 0;
    if (images != nullptr) {
      const ExecutionContext context = execution_context(at);
      const TaskId task = images->task_at(at.index, at.trace_id, context).id;
      const perf::ProgramPlace place = images->place(task, row.address);
      if (place.file != nullptr) row.program = place.file->path();
      row.in_kernel = place.mapping != nullptr && place.mapping->in_kernel;
      row.switches = std::ranges::any_of(kept.path, [&](const mismatch::Walked& walked) {
        return has_switches(*images, task, walked);
      });
    } else {
      row.program = region_at(capture_.image(), row.address);
    }
    add_suspects(kept, row);
    if (!places_) return row;
    const program::Place place = places_(at, row.address);
    if (place.program != nullptr) row.build_id = build_id_of(*place.program);
    row.function = function_at(at, row.address);
    return row;
  }

  /// Empty: not known.
  [[nodiscard]] std::string function_at(const Element& at, std::uint64_t address) {
    const program::Place place = places_ ? places_(at, address) : program::Place{};
    const program::Function* const function =
        place.program == nullptr ? nullptr : place.program->function(place.address);
    return function == nullptr ? std::string() : outputs::readable_name(function->name);
  }

  /// Code of other programs counts too: a call may have gone there by mistake, or from there.
  void add_suspects(const Kept& kept, mismatch::FunctionRow& row) {
    for (const mismatch::Walked& walked : std::views::reverse(suspects_.suspects(kept.path))) {
      if (walked.start == row.address) continue;
      if (row.suspects.size() == mismatch::kMostSuspects) return;
      row.suspects.push_back({.address = walked.start,
                              .end = walked.end,
                              .function = function_at(kept.element, walked.start)});
    }
  }

  const inputs::Capture& capture_;
  outputs::PlaceLookup places_;
  mismatch::Suspects suspects_;
  std::vector<Kept> kept_;
};

}  // namespace

ImageMismatches::ImageMismatches(inputs::Capture& capture, std::uint64_t most) {
  MismatchCollector collector(capture);
  inputs::check_image(
      capture, [&](const mismatch::Mismatch& mismatch) { collector.add(mismatch); }, most,
      [&](std::span<const mismatch::Walked> path) { collector.pass(path); });
  rows_ = collector.take();
}

std::vector<exports::Finding> ImageMismatches::findings() const {
  std::vector<exports::Finding> findings;
  for (const mismatch::ProgramSummary& program : mismatch::by_program(rows_)) {
    std::string names;
    for (const auto& [function, times] : program.functions) {
      names +=
          fmt::format("{}{} ({})", names.empty() ? "" : ", ", function, counted(times, "time"));
    }
    if (program.other_functions != 0)
      names += fmt::format(" and {}", counted(program.other_functions, "other function"));
    std::string text =
        fmt::format("The trace contradicts {} {}{}{}",
                    program.program.empty() ? "the code image" : program.program,
                    counted(program.times, "time"), names.empty() ? "" : ", in ", names);
    text += fmt::format(", first at 0x{:x}, at byte {} of the trace: other code ran. ",
                        program.address, program.index);
    if (!program.suspects.empty()) {
      text += fmt::format("The path to this place also led through {}, which {} also suspect. ",
                          fmt::join(program.suspects, ", "),
                          one_or(program.suspects.size(), "is", "are"));
    }
    text += remedy(program.cause);
    if (!program.build_id.empty() && program.cause != mismatch::Cause::kChangedCode)
      text += fmt::format(" Its build ID is {}.", program.build_id);
    if (program.no_context) {
      text += " The trace has no context IDs, so another process may have run at the same address.";
    }
    findings.push_back({.kind = "wrong_image", .count = program.times, .text = std::move(text)});
  }
  return findings;
}

void report_mismatches(inputs::Capture& capture, int code) {
  constexpr std::uint64_t kMostRead = std::uint64_t{1} << 20;
  if (code != kOk && code != kDamaged) return;
  if (capture.checking_tree() == nullptr || interrupted()) return;
  for (const exports::Finding& finding : ImageMismatches(capture, kMostRead).findings())
    note(finding.text);
}

void write_switches_text(TextBuffer& out, const inputs::Capture& capture) {
  if (capture.kernel_switches().empty()) return;
  out.put("\nkernel code that differed from the file, as the trace shows\n");
  for (const inputs::KernelSwitch& each : capture.kernel_switches()) {
    out.put(fmt::format("  {:<3}  {}{}, {} of {}\n", each.on ? "on" : "off",
                        each.is_key ? "static key " : "", escaped(each.name),
                        counted(each.sites, "place"), escaped(each.program)));
  }
}

void write_mismatches_json(TextBuffer& out, const inputs::Capture& capture,
                           const ImageMismatches* mismatches) {
  out.put(R"(,"kernel_switches":[)");
  std::string_view comma;
  for (const inputs::KernelSwitch& each : capture.kernel_switches()) {
    out.put(fmt::format(R"({}{{"program":)", std::exchange(comma, ",")));
    outputs::write_json_string(out, each.program);
    out.put(R"(,"name":)");
    outputs::write_json_string(out, each.name);
    out.put(fmt::format(R"(,"kind":"{}","on":{},"sites":{}}})",
                        each.is_key ? "static_key" : "capability", each.on, each.sites));
  }
  out.put(R"(],"mismatches":[)");
  comma = {};
  if (mismatches != nullptr) {
    for (const mismatch::FunctionRow& row : mismatches->rows()) {
      out.put(fmt::format(R"({}{{"program":)", std::exchange(comma, ",")));
      outputs::write_json_string(out, row.program);
      out.put(R"(,"function":)");
      outputs::write_json_string(out, row.function);
      out.put(fmt::format(
          R"(,"times":{},"kernel_changes_code":{},"address":"0x{:x}","end":"0x{:x}","index":{},)"
          R"("suspects":[)",
          row.times, row.switches, row.address, row.end, row.index));
      std::string_view next;
      for (const mismatch::SuspectCode& code : row.suspects) {
        out.put(fmt::format(R"({}{{"address":"0x{:x}","end":"0x{:x}","function":)",
                            std::exchange(next, ","), code.address, code.end));
        outputs::write_json_string(out, code.function);
        out.put('}');
      }
      out.put("]}");
    }
  }
  out.put(']');
}

}  // namespace waymark::cli

#include "image_mismatches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "symbol_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/inputs/image_check.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {
namespace {

/// How many functions a sentence names.
constexpr std::size_t kMostNamed = 4;

/// Whether a range has code of the kernel that changes in memory.
bool has_switches(const perf::ProcessImages& images, std::uint32_t task,
                  const mismatch::Walked& walked) {
  const perf::ProgramPlace place = images.place(task, walked.start);
  if (place.file == nullptr || !place.mapping->in_kernel) return false;
  const program::SwitchedCode* const code = place.file->switched_code();
  std::vector<std::size_t> found;
  if (code != nullptr) code->switches_in(place.file_offset, walked.end - walked.start, found);
  return !found.empty();
}

std::string region_at(const image::Image& image, std::uint64_t address) {
  for (const image::RegionInfo& region : image.regions())
    if (region.first <= address && address <= region.last) return region.name;
  return {};
}

}  // namespace

ImageMismatches::ImageMismatches(inputs::Capture& capture) {
  const perf::ProcessImages* const images = capture.processes();
  // Only needed once there is something to name.
  std::optional<outputs::PlaceLookup> lookup;
  std::map<std::pair<std::string, std::string>, Row> rows;
  inputs::check_image(capture, [&](const mismatch::Mismatch& mismatch) {
    if (!lookup) {
      auto made = place_lookup(capture, {});
      lookup = made ? *std::move(made) : outputs::PlaceLookup();
    }
    Row row;
    if (images != nullptr) {
      const Element& element = mismatch.element;
      const std::uint64_t context = std::uint64_t{element.vmid} << 32 | element.context_id;
      const std::uint32_t task = images->task_at(element.index, element.trace_id, context).number;
      const perf::ProgramPlace place = images->place(task, mismatch.address);
      if (place.file != nullptr) row.program = place.file->path();
      row.in_kernel = place.mapping != nullptr && place.mapping->in_kernel;
      row.switches = std::ranges::any_of(mismatch.path, [&](const mismatch::Walked& walked) {
        return has_switches(*images, task, walked);
      });
    } else {
      row.program = region_at(capture.image(), mismatch.address);
    }
    if (*lookup) {
      const program::Place place = (*lookup)(mismatch.element, mismatch.address);
      const program::Function* const function =
          place.program == nullptr ? nullptr : place.program->function(place.address);
      if (function != nullptr) row.function = outputs::readable_name(function->name);
    }
    const auto at = rows.try_emplace({row.program, row.function}, row).first;
    ++at->second.times;
    at->second.switches |= row.switches;
  });
  for (auto& [key, row] : rows) rows_.push_back(std::move(row));
  std::ranges::stable_sort(rows_, std::ranges::greater{}, &Row::times);
}

std::vector<std::string> ImageMismatches::doubts() const {
  std::vector<std::string> programs;
  for (const Row& row : rows_)
    if (std::ranges::find(programs, row.program) == programs.end()) programs.push_back(row.program);
  std::vector<std::string> doubts;
  for (const std::string& program : programs) {
    std::uint64_t times = 0;
    std::size_t functions = 0;
    bool in_kernel = false;
    bool switches = false;
    std::string names;
    for (const Row& row : rows_) {
      if (row.program != program) continue;
      times += row.times;
      in_kernel |= row.in_kernel;
      switches |= row.switches;
      if (row.function.empty() || ++functions > kMostNamed) continue;
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", row.function,
                           counted(row.times, "time"));
    }
    if (functions > kMostNamed)
      names += fmt::format(" and {}", counted(functions - kMostNamed, "other function"));
    std::string text = fmt::format("The trace contradicts {} {}{}{}: other code ran.",
                                   program.empty() ? "the code image" : program,
                                   counted(times, "time"), names.empty() ? "" : ", in ", names);
    if (in_kernel && switches) {
      text +=
          " The kernel changes code there in memory (static keys, alternatives). Record with perf "
          "record --kcore, which copies the code that runs.";
    } else if (in_kernel) {
      text += " Check that the file is of the kernel that ran, or record with perf record --kcore.";
    } else {
      text += " Check that the file is the one that ran.";
    }
    doubts.push_back(std::move(text));
  }
  return doubts;
}

void write_switches_text(TextBuffer& out, const inputs::Capture& capture) {
  if (capture.kernel_switches().empty()) return;
  out.put("\nkernel code that was not as in the file, as the trace shows\n");
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
    for (const ImageMismatches::Row& row : mismatches->rows()) {
      out.put(fmt::format(R"({}{{"program":)", std::exchange(comma, ",")));
      outputs::write_json_string(out, row.program);
      out.put(R"(,"function":)");
      outputs::write_json_string(out, row.function);
      out.put(fmt::format(R"(,"times":{},"kernel_changes_code":{}}})", row.times, row.switches));
    }
  }
  out.put(']');
}

}  // namespace waymark::cli

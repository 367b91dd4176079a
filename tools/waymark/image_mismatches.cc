#include "image_mismatches.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string_view remedy(mismatch::Cause cause) {
  switch (cause) {
    case mismatch::Cause::kChangedCode:
      return "The kernel changes code there in memory (static keys, alternatives). Record with "
             "perf "
             "record --kcore, which copies the code that runs.";
    case mismatch::Cause::kOtherKernel:
      return "Check that the file is of the kernel that ran, or record with perf record --kcore.";
    case mismatch::Cause::kOtherFile:
      break;
  }
  return "Check that the file is the one that ran.";
}

}  // namespace

ImageMismatches::ImageMismatches(inputs::Capture& capture) {
  const perf::ProcessImages* const images = capture.processes();
  // Only needed once there is something to name.
  std::optional<outputs::PlaceLookup> lookup;
  mismatch::FunctionRows rows;
  inputs::check_image(capture, [&](const mismatch::Mismatch& mismatch) {
    if (!lookup) {
      auto made = place_lookup(capture, {});
      lookup = made ? *std::move(made) : outputs::PlaceLookup();
    }
    mismatch::FunctionRow row;
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
    rows.add(std::move(row));
  });
  rows_ = rows.take();
}

std::vector<std::string> ImageMismatches::doubts() const {
  std::vector<std::string> doubts;
  for (const mismatch::ProgramSummary& program : mismatch::by_program(rows_)) {
    std::string names;
    for (const auto& [function, times] : program.functions) {
      names +=
          fmt::format("{}{} ({})", names.empty() ? "" : ", ", function, counted(times, "time"));
    }
    if (program.other_functions != 0)
      names += fmt::format(" and {}", counted(program.other_functions, "other function"));
    doubts.push_back(fmt::format("The trace contradicts {} {}{}{}: other code ran. {}",
                                 program.program.empty() ? "the code image" : program.program,
                                 counted(program.times, "time"), names.empty() ? "" : ", in ",
                                 names, remedy(program.cause)));
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
    for (const mismatch::FunctionRow& row : mismatches->rows()) {
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

// Any trace and any ELF files: the search for the program that was executed ends, says what it did
// not contradict, and leaves the image as it was.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "any_capture.h"
#include "memory_file.h"
#include "require.h"
#include "waymark/base/bits.h"
#include "waymark/locate/locate.h"

namespace {

using namespace waymark;
using fuzz::require;

void check(const locate::Found& found) {
  const locate::Evidence& evidence = found.evidence;
  require(found.share >= 0 && found.share <= 1, "a share that is not one");
  require(evidence.before_first <= evidence.waypoints, "more waypoints than there are");
  require((evidence.contradictions != 0) == (evidence.address != kNoAddress),
          "a contradiction without a place");
  require((found.verdict == locate::Verdict::kNotReadable) == !found.reason.empty(),
          "a reason for nothing");
  if (found.verdict == locate::Verdict::kExecuted)
    require(evidence.waypoints >= locate::kEnoughWaypoints, "sure after few waypoints");
}

/// The trace, and the program after it.
void search(const inputs::CaptureOptions& given, Bytes trace, Bytes program) {
  const fuzz::MemoryFile capture_file;
  const fuzz::MemoryFile program_file;
  if (!capture_file.write(trace) || !program_file.write(program)) return;
  const auto image = std::make_shared<image::Image>();
  inputs::CaptureOptions options = given;
  options.check_image = true;
  options.image = image;
  auto capture = inputs::Capture::open(capture_file.path(), options);
  if (!capture) return;
  const std::vector<std::string> paths{program_file.path()};
  // Each stop is a place where the search may be interrupted.
  int left = 2000;
  const auto reports = locate::locate(*capture, *image, paths, [&left] { return --left < 0; });
  require(image->regions().empty(), "a program is still in the image");
  if (!reports) {
    require(!reports.error().detail.empty(), "an error without a sentence");
    return;
  }
  for (const locate::Report& report : *reports) {
    require(report.programs.size() == paths.size(), "a program without a verdict");
    std::ranges::for_each(report.programs, check);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  constexpr std::size_t kMost = std::size_t{1} << 16;
  if (size < kHead || size > kMost) return 0;
  const Bytes rest = Bytes(data, size).subspan(kHead);
  const std::size_t trace = std::min<std::size_t>(load_le<std::uint16_t>(data + 1), rest.size());
  search(fuzz::any_capture(data[0]), rest.first(trace), rest.subspan(trace));
  return 0;
}

#include "waymark/inputs/trace_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/inputs/capture.h"
#include "waymark/inputs/joined_trace.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::inputs {

std::string trace_name(const Capture& capture) {
  const JoinedTrace* const joined = capture.joined();
  if (joined == nullptr || capture.snapshot() == nullptr) return capture.trace().path();
  constexpr std::size_t kMostNamed = 4;
  const std::vector<JoinedTrace::Buffer>& buffers = joined->buffers;
  const std::size_t named = std::min(buffers.size(), kMostNamed);
  std::string names;
  for (std::size_t i = 0; i < named; ++i) {
    if (i != 0) names += i + 1 == buffers.size() ? " and " : ", ";
    names += buffers[i].name;
  }
  if (buffers.size() > named) names += fmt::format(" and {} more", buffers.size() - named);
  return fmt::format("{} (buffer{} {})", capture.snapshot()->directory,
                     buffers.size() == 1 ? "" : "s", names);
}

}  // namespace waymark::inputs

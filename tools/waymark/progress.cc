#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "waymark/base/standard_streams.h"

namespace waymark::cli {
namespace {

constexpr auto kFirst = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(200);
constexpr double kMega = 1e6;

}  // namespace

Progress::Progress(std::uint64_t total)
    : start_(Clock::now()),
      next_(start_ + kFirst),
      total_(total),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) write_to_standard_error("\r\x1b[K");
}

void Progress::at(std::uint64_t done) {
  if (!terminal_ || total_ == 0) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  const std::chrono::duration<double> time = now - start_;
  const auto bytes = static_cast<double>(done);
  write_to_standard_error(fmt::format("\r{:3.0f} %  {:.1f} of {:.1f} MB, {:.1f} MB/s\x1b[K",
                                      100 * bytes / static_cast<double>(total_), bytes / kMega,
                                      static_cast<double>(total_) / kMega,
                                      bytes / kMega / time.count()));
  shown_ = true;
}

}  // namespace waymark::cli

// A progress line on the terminal for work that takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>

namespace waymark::cli {

/// Writes to standard error, and only if that is a terminal.
class Progress {
 public:
  explicit Progress(std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to call per block.
  void at(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
  Clock::time_point next_;
  std::uint64_t total_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace waymark::cli

// The clock of the benchmark.
#pragma once

#include <ctime>

namespace waymark::bench {

/// Processor time of the calling thread.  Both sides use one thread and never wait, so on a quiet
/// machine it equals the elapsed time, and on a busy one other programs do not disturb it.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  static double now() {
    timespec time{};
    static_cast<void>(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  double start_ = now();
};

}  // namespace waymark::bench

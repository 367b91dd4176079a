// Requests that wait for their turn, shared fairly between clients.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http.h"
#include "waymark/view/request.h"

namespace waymark::view {

using Clock = std::chrono::steady_clock;

/// A request of a connection, and its result.
struct Job {
  std::uint64_t connection = 0;
  std::string head{};
  std::expected<Request, Refusal> request{};
  Clock::time_point arrived{};
  std::atomic<bool> gone = false;      ///< The client has left.
  std::atomic<bool> replaced = false;  ///< A newer request has the same key.
  HttpBytes result{};

  [[nodiscard]] bool wanted() const { return !gone && !replaced; }
  /// Whether the answer is at hand: it needs no computing.
  [[nodiscard]] bool quick() const;
  /// Whether it draws the timeline, which must follow the hand of the user.
  [[nodiscard]] bool draws() const;
};

using JobPointer = std::shared_ptr<Job>;

/// Quick requests have a queue of their own.  Pictures wait with the other questions, but a worker
/// may take only them, so that slow questions never hold up all of them.  Each job of these gets a
/// number: that after the last job of its client, or that of the job that last began if this is
/// more; the lowest begins first.  So the jobs of a client with many go between those of the
/// others.
class JobQueue {
 public:
  enum class Kind : std::uint8_t { kQuick, kPicture, kQuestion };  ///< kQuestion: also pictures.

  void push(JobPointer job);
  /// Waits for a job; nullptr: the queue was closed.
  JobPointer pop(Kind kind);
  /// A job of pop() has its result.
  void finish(const JobPointer& job);
  /// The client of the job has left: its answer is not needed.
  void leave(const JobPointer& job);
  /// Ends all waiting; jobs are neither waited for nor wanted after it.
  void close();

 private:
  struct Waiting {
    std::uint64_t number = 0;
    JobPointer job;
  };

  /// With the lock: the next job for a worker; questions_.end(): there is none.
  std::vector<Waiting>::iterator next(Kind kind);
  /// With the lock: jobs with this key are not wanted any more.  To say so is quick.
  void replace(const std::string& key);

  std::mutex mutex_;
  std::condition_variable quick_ready_;
  std::condition_variable picture_ready_;
  std::condition_variable question_ready_;
  std::deque<JobPointer> quick_;
  std::vector<Waiting> questions_;  ///< In the order of arrival.
  std::vector<JobPointer> running_;
  std::map<std::string, std::uint64_t> last_;  ///< For each client, the number of its last job.
  std::uint64_t begun_ = 0;                    ///< The number of the job that last began.
  bool closed_ = false;
};

}  // namespace waymark::view

#include "job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace waymark::view {
namespace {

/// The page that asks, which is the key up to its first dot or hyphen; else the connection.
std::string client_of(const Job& job) {
  const std::string& key = job.request->cancel;
  if (!key.empty()) return key.substr(0, key.find_first_of(".-"));
  return fmt::format("/{}", job.connection);
}

}  // namespace

bool Job::quick() const {
  if (!request) return true;
  const auto* question = std::get_if<Question>(&request->what);
  return question == nullptr || std::holds_alternative<CaptureQuestion>(*question) ||
         std::holds_alternative<TracksQuestion>(*question);
}

bool Job::draws() const {
  if (!request) return false;
  const auto* question = std::get_if<Question>(&request->what);
  return question != nullptr && std::holds_alternative<TimelineQuestion>(*question);
}

void JobQueue::push(JobPointer job) {
  const std::lock_guard lock(mutex_);
  if (job->request && !job->request->cancel.empty()) replace(job->request->cancel);
  if (job->quick()) {
    quick_.push_back(std::move(job));
    quick_ready_.notify_one();
    return;
  }
  std::uint64_t& last = last_[client_of(*job)];
  last = std::max(last + 1, begun_);
  const bool draws = job->draws();
  questions_.push_back({last, std::move(job)});
  question_ready_.notify_one();
  if (draws) picture_ready_.notify_one();
}

std::vector<JobQueue::Waiting>::iterator JobQueue::next(Kind kind) {
  auto first = questions_.end();
  for (auto at = questions_.begin(); at != questions_.end(); ++at) {
    if (kind == Kind::kPicture && !at->job->draws()) continue;
    if (first == questions_.end() || at->number < first->number) first = at;
  }
  return first;
}

JobPointer JobQueue::pop(Kind kind) {
  std::unique_lock lock(mutex_);
  JobPointer job;
  if (kind == Kind::kQuick) {
    quick_ready_.wait(lock, [&] { return closed_ || !quick_.empty(); });
    if (closed_) return nullptr;
    job = std::move(quick_.front());
    quick_.pop_front();
  } else {
    auto first = questions_.end();
    auto& ready = kind == Kind::kPicture ? picture_ready_ : question_ready_;
    ready.wait(lock, [&] { return closed_ || (first = next(kind)) != questions_.end(); });
    if (closed_) return nullptr;
    begun_ = std::max(begun_, first->number);
    job = std::move(first->job);
    questions_.erase(first);
    // Those would get the same number as new clients.
    std::erase_if(last_, [&](const auto& client) { return client.second < begun_; });
  }
  running_.push_back(job);
  return job;
}

void JobQueue::finish(const JobPointer& job) {
  const std::lock_guard lock(mutex_);
  std::erase(running_, job);
}

void JobQueue::leave(const JobPointer& job) {
  const std::lock_guard lock(mutex_);
  job->gone = true;
  std::erase_if(questions_, [&](const Waiting& waiting) { return waiting.job == job; });
  std::erase(quick_, job);
}

void JobQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const JobPointer& job : running_) job->gone = true;
  quick_ready_.notify_all();
  picture_ready_.notify_all();
  question_ready_.notify_all();
}

void JobQueue::replace(const std::string& key) {
  for (const JobPointer& job : running_) {
    if (job->request && job->request->cancel == key) job->replaced = true;
  }
  const auto has_key = [&](const Waiting& waiting) { return waiting.job->request->cancel == key; };
  for (Waiting& waiting : questions_) {
    if (!has_key(waiting)) continue;
    waiting.job->replaced = true;
    quick_.push_back(waiting.job);
    quick_ready_.notify_one();
  }
  std::erase_if(questions_, has_key);
}

}  // namespace waymark::view

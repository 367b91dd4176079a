#include "waymark/view/server.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "connections.h"
#include "give_way.h"
#include "http.h"
#include "job_queue.h"
#include "waymark/view/json.h"
#include "waymark/view/reply.h"

namespace waymark::view {
namespace {

using std::chrono::milliseconds;

/// Host names and schemes in either case.
bool equal_words(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kParse:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kLimit:
      return 503;
    default:
      return 500;
  }
}

/// Jobs that have their results, for the thread of the connections.
class DoneList {
 public:
  DoneList() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  void push(JobPointer job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    const std::uint64_t one = 1;
    // It can only fail if it is set already.
    (void)!::write(wake_.number(), &one, sizeof(one));
  }
  std::deque<JobPointer> take() {
    std::uint64_t count = 0;
    (void)!::read(wake_.number(), &count, sizeof(count));
    const std::lock_guard lock(mutex_);
    return std::exchange(jobs_, {});
  }
  [[nodiscard]] const Descriptor& wake() const { return wake_; }

 private:
  Descriptor wake_;
  std::mutex mutex_;
  std::deque<JobPointer> jobs_;
};

struct CloseLater {
  JobQueue& queue;
  ~CloseLater() { queue.close(); }
};

class HttpServer final : public Server {
 public:
  HttpServer(Session& session, ServerOptions options, Descriptor listener)
      : session_(session),
        options_(std::move(options)),
        port_(port_of(listener)),
        connections_(
            std::move(listener),
            {.head_time = options_.head_time,
             .idle_time = options_.idle_time,
             .write_time = options_.write_time,
             .most_connections = options_.most_connections},
            [this](std::uint64_t id, std::string head) { return take(id, std::move(head)); },
            [this](const JobPointer& job) { queue_.leave(job); }) {
    for (const std::string_view name : {"127.0.0.1", "localhost"}) {
      hosts_.push_back(fmt::format("{}:{}", name, port_));
      // A browser leaves out the port of HTTP.
      if (port_ == 80) hosts_.emplace_back(name);
    }
  }

  [[nodiscard]] std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/{}/", port_, options_.token);
  }
  [[nodiscard]] std::uint16_t port() const override { return port_; }

  Result<void> run(const std::function<bool()>& stop) override;

 private:
  void work(JobQueue::Kind kind);
  JobPointer take(std::uint64_t connection, std::string head);
  [[nodiscard]] HttpAnswer answer(Job& job, const HttpHead& head) const;
  /// A sentence if the request comes from elsewhere.
  [[nodiscard]] std::optional<std::string> foreign(const HttpHead& head, bool is_page) const;
  [[nodiscard]] HttpAnswer page_file(const PageRequest& request) const;
  [[nodiscard]] HttpAnswer question(const Job& job, const Question& question) const;
  [[nodiscard]] bool is_own_host(std::string_view host) const {
    return std::ranges::any_of(hosts_,
                               [&](const std::string& own) { return equal_words(own, host); });
  }

  Session& session_;
  ServerOptions options_;
  std::uint16_t port_;
  std::vector<std::string> hosts_;
  JobQueue queue_;
  DoneList done_;
  Connections connections_;
};

Result<void> HttpServer::run(const std::function<bool()>& stop) {
  if (!done_.wake().open())
    return fail(ErrorCode::kIo,
                fmt::format("Cannot create an event: {}.", std::generic_category().message(errno)));
  {
    std::vector<std::jthread> workers;
    // Before the workers are joined, also if the system refuses one of them.
    const CloseLater closer{queue_};
    for (const JobQueue::Kind kind : {JobQueue::Kind::kQuick, JobQueue::Kind::kPicture})
      workers.emplace_back([this, kind] { work(kind); });
    for (unsigned i = 0; i < options_.workers; ++i)
      workers.emplace_back([this] { work(JobQueue::Kind::kQuestion); });
    constexpr milliseconds kPeriod{100};
    while (!stop()) {
      connections_.step(kPeriod, done_.wake().number());
      for (const JobPointer& job : done_.take()) connections_.answer(job);
    }
  }
  return {};
}

void HttpServer::work(JobQueue::Kind kind) {
  if (kind == JobQueue::Kind::kQuestion) give_way();
  while (JobPointer job = queue_.pop(kind)) {
    try {
      job->result =
          answer_http(job->head, [&](const HttpHead& head) { return answer(*job, head); });
    } catch (...) {
      // Memory ran out, perhaps only for this answer.
      job->result = {.bytes = {}, .close = true};
    }
    queue_.finish(job);
    done_.push(std::move(job));
  }
}

JobPointer HttpServer::take(std::uint64_t connection, std::string head) {
  auto job = std::make_shared<Job>();
  job->connection = connection;
  job->request = parse_target(target_of(head), options_.token);
  job->head = std::move(head);
  job->arrived = Clock::now();
  queue_.push(job);
  return job;
}

HttpAnswer HttpServer::answer(Job& job, const HttpHead& head) const {
  const bool is_page = job.request && std::holds_alternative<PageRequest>(job.request->what);
  if (auto sentence = foreign(head, is_page)) return error_answer(403, *sentence);
  // The token comes first: without it, nothing is said about anything else.
  if (!job.request && job.request.error().status == 403) {
    const std::string& sentence = job.request.error().sentence;
    return head.navigates ? error_page(403, sentence) : error_answer(403, sentence);
  }
  if (head.method != "GET") {
    return error_answer(405, "Only GET requests are answered, because the server changes nothing.");
  }
  if (head.has_body) return error_answer(400, "Requests cannot have a body.");
  if (!job.request) return error_answer(job.request.error().status, job.request.error().sentence);
  if (is_page) return page_file(std::get<PageRequest>(job.request->what));
  return question(job, std::get<Question>(job.request->what));
}

std::optional<std::string> HttpServer::foreign(const HttpHead& head, bool is_page) const {
  if (head.host_count != 1 || !is_own_host(head.host)) {
    return fmt::format(
        "The request was not sent to {}; use the address that 'waymark view' "
        "printed.",
        hosts_.front());
  }
  constexpr std::string_view kScheme = "http://";
  if (head.has_origin && !(equal_words(head.origin.substr(0, kScheme.size()), kScheme) &&
                           is_own_host(head.origin.substr(kScheme.size())))) {
    return "Another page sent the request; only the page of this server may.";
  }
  // A link elsewhere may lead to the page, but only the page may ask.
  if (!is_page && !head.fetch_site.empty() && head.fetch_site != "same-origin" &&
      head.fetch_site != "none") {
    return "Another page sent the request; only the page of this server may.";
  }
  return std::nullopt;
}

HttpAnswer HttpServer::page_file(const PageRequest& request) const {
  const auto file = std::ranges::find(options_.files, request.name, &PageFile::name);
  if (file == options_.files.end())
    return error_answer(404, "There is no such file; requests begin with api/1/.");
  return {.status = 200, .type = std::string(file->type), .body = std::string(file->content)};
}

HttpAnswer HttpServer::question(const Job& job, const Question& question) const {
  const auto replaced = [] {
    return error_answer(409, "A newer request with the same key replaced this one.");
  };
  if (job.replaced) return replaced();
  const auto start = Clock::now();
  if (start - job.arrived > options_.question_time)
    return error_answer(503, "Too many requests are being answered; try again.");
  const auto end = start + options_.question_time;
  const Stop stop = [&] { return !job.wanted() || Clock::now() > end; };
  auto reply = reply_to(session_, question, options_.version, stop);
  if (reply) return {.status = 200, .type = std::move(reply->type), .body = std::move(reply->body)};
  if (reply.error().code == ErrorCode::kLimit) {
    if (job.replaced) return replaced();
    if (Clock::now() > end)
      return error_answer(408, "The answer took too long; request a smaller window.");
  }
  return error_answer(status_of(reply.error().code), reply.error().detail);
}

}  // namespace

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return fail(ErrorCode::kIo, fmt::format("Cannot read random numbers: {}.",
                                              std::generic_category().message(errno)));
    }
    have += static_cast<std::size_t>(count);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::unique_ptr<Server>> Server::open(Session& session, ServerOptions options) {
  if (options.token.empty()) {
    auto token = random_token();
    if (!token) return std::unexpected(std::move(token).error());
    options.token = *std::move(token);
  }
  if (options.workers == 0)
    options.workers = std::clamp(std::thread::hardware_concurrency(), 2U, 8U);
  auto listener = listen_here(options.port);
  if (!listener) return std::unexpected(std::move(listener).error());
  return std::make_unique<HttpServer>(session, std::move(options), *std::move(listener));
}

}  // namespace waymark::view

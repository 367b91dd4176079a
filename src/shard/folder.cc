#include "waymark/shard/folder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/number.h"

namespace waymark::shard {
namespace {

namespace fs = std::filesystem;

// Folders of a job.
constexpr std::string_view kParts = "/parts";
constexpr std::string_view kAttempts = "/attempts";
constexpr std::string_view kErrors = "/errors";
constexpr std::string_view kTimes = "/times";

constexpr std::size_t kMostSentence = 4096;
constexpr std::size_t kFanOut = 256;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  std::string text(name.data());
  for (char& c : text)
    if (c == '/' || c == ',' || c == ' ') c = '_';
  return text.empty() ? "unknown" : text;
}

std::string file_of(std::size_t shard) { return fmt::format("{:08}", shard); }

/// A short file that is advice only: nothing depends on it.
void write_advice(const std::string& temporary, const std::string& path,
                  std::string_view text) noexcept {
  try {
    std::error_code ignored;
    fs::remove(path, ignored);
    (void)publish(temporary, path, text);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without memory, no advice.
  }
}

/// The content of such a file; empty: there is none.
std::string read_advice(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return {};
  return std::string(file->text().substr(0, kMostSentence));
}

/// Whether the process that makes an attempt may still live.  `name`: SHARD,HOST,PID.
bool may_live(const std::string& name, const std::string& host) {
  const std::size_t comma = name.rfind(',');
  if (!name.ends_with(fmt::format(",{}{}", host, name.substr(comma)))) return true;
  const auto pid = parse_number(name.substr(comma + 1));
  return pid && (::kill(static_cast<pid_t>(*pid), 0) == 0 || errno == EPERM);
}

}  // namespace

double Status::bytes_per_second() const {
  return end > begin && begin > 0 ? static_cast<double>(done_bytes) / (end - begin) : 0;
}

Folder::Folder(std::string path, Plan plan)
    : path_(std::move(path)), plan_(std::move(plan)), job_(digest_of(plan_)) {}

Result<Folder> Folder::create(const std::string& path, const Plan& plan) {
  std::error_code failed;
  for (const std::string_view name : {kParts, kAttempts, kErrors, kTimes}) {
    if (!failed) fs::create_directories(path + std::string(name), failed);
  }
  if (failed) {
    return fail(ErrorCode::kIo, fmt::format("Cannot create the folder {}: {}. Choose another one "
                                            "with -o.",
                                            escaped(path), failed.message()));
  }
  Folder folder(path, plan);
  const std::string temporary =
      fmt::format("{}{}/plan,{},{}", path, kAttempts, host_name(), ::getpid());
  const auto is_new = publish(temporary, path + "/plan", text_of(plan));
  if (!is_new) return std::unexpected(is_new.error());
  if (*is_new) return folder;
  const auto old = open(path, plan.version);
  if (!old) return std::unexpected(old.error());
  if (old->job() != folder.job()) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} already has the plan of another job, or its inputs have changed "
                            "since; plan into another folder.",
                            escaped(path)));
  }
  return folder;
}

Result<Folder> Folder::open(const std::string& path, std::string_view version) {
  const auto file = MappedFile::open(path + "/plan");
  if (!file) {
    return fail(file.error().code,
                fmt::format("{} is not a job folder: {}", escaped(path), file.error().detail));
  }
  auto plan = read_plan(file->text());
  if (!plan) {
    return fail(plan.error().code, fmt::format("{}/plan: {}", escaped(path), plan.error().detail));
  }
  if (plan->version != version) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} was planned by Waymark {}, and this is {}; use the same one for "
                            "the whole job.",
                            escaped(path), escaped(plan->version), version));
  }
  return Folder(path, *std::move(plan));
}

std::string Folder::part_path(std::size_t shard) const {
  return fmt::format("{}{}/{:02x}/{}-{}.part", path_, kParts, shard % kFanOut, file_of(shard),
                     hex_of(job_).substr(0, 16));
}

bool Folder::has_part_file(std::size_t shard) const {
  std::error_code ignored;
  return fs::exists(part_path(shard), ignored);
}

Result<std::optional<Part>> Folder::part(std::size_t shard) const {
  const std::string path = part_path(shard);
  const auto file = MappedFile::open(path);
  if (!file) {
    if (file.error().code == ErrorCode::kNotFound) return std::nullopt;
    return std::unexpected(file.error());
  }
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return fail(code, fmt::format("{}: {}; run shard {} again.", escaped(path), why, shard));
  };
  auto part = read_part(file->bytes());
  if (!part) return refuse(part.error().code, part.error().detail);
  if (part->job != job_) return refuse(ErrorCode::kConflict, "this is a part of another job");
  if (part->shard != shard || part->codes.size() != plan_.shards[shard].count ||
      part->payload != plan_.payload_of(shard))
    return refuse(ErrorCode::kConflict, "this is the part of another shard");
  return std::optional<Part>(*std::move(part));
}

Result<void> Folder::set_aside(std::size_t shard) const {
  const std::string path = part_path(shard);
  const std::string aside = fmt::format("{}.bad,{},{}", path, host_name(), ::getpid());
  if (::rename(path.c_str(), aside.c_str()) == 0 || errno == ENOENT) return {};
  return fail(ErrorCode::kIo, fmt::format("Cannot rename {}: {}.", escaped(path),
                                          std::generic_category().message(errno)));
}

Status Folder::status() const {
  Status status;
  const std::string host = host_name();
  std::set<std::size_t> attempted;
  std::error_code failed;
  for (fs::directory_iterator at(path_ + std::string(kAttempts), failed), end; !failed && at != end;
       at.increment(failed)) {
    const std::string name = at->path().filename().string();
    const auto shard = parse_number(name.substr(0, name.find(',')));
    if (shard && *shard < plan_.shards.size() && may_live(name, host))
      attempted.insert(static_cast<std::size_t>(*shard));
  }
  for (std::size_t shard = 0; shard < plan_.shards.size(); ++shard) {
    const std::uint64_t bytes = plan_.bytes_of(shard);
    status.all_bytes += bytes;
    if (has_part_file(shard)) {
      ++status.done;
      status.done_bytes += bytes;
      const std::string times = read_advice(fmt::format("{}{}/{}", path_, kTimes, file_of(shard)));
      const std::size_t blank = std::min(times.find(' '), times.size());
      const double began = std::strtod(times.c_str(), nullptr);
      const double ended = std::strtod(times.c_str() + blank, nullptr);
      if (began > 0 && (status.begin <= 0 || began < status.begin)) status.begin = began;
      status.end = std::max(status.end, ended);
      continue;
    }
    status.missing.push_back(shard);
    if (attempted.contains(shard)) status.running.push_back(shard);
    std::string sentence = read_advice(fmt::format("{}{}/{}", path_, kErrors, file_of(shard)));
    if (!sentence.empty())
      status.failures.push_back({.shard = shard, .sentence = std::move(sentence)});
  }
  return status;
}

Attempt::Attempt(const Folder& folder, std::size_t shard, std::string temporary)
    : folder_(&folder), shard_(shard), temporary_(std::move(temporary)), began_(now()) {}

Attempt::Attempt(Attempt&& other) noexcept
    : folder_(other.folder_),
      shard_(other.shard_),
      temporary_(std::exchange(other.temporary_, {})),
      began_(other.began_) {}

Attempt::~Attempt() {
  if (!temporary_.empty()) (void)::unlink(temporary_.c_str());
}

Result<Attempt> Attempt::begin(const Folder& folder, std::size_t shard) {
  std::string temporary = fmt::format("{}{}/{},{},{}", folder.path(), kAttempts, file_of(shard),
                                      host_name(), ::getpid());
  std::error_code failed;
  fs::create_directories(fs::path(folder.part_path(shard)).parent_path(), failed);
  std::FILE* const file = failed ? nullptr : std::fopen(temporary.c_str(), "we");
  if (file == nullptr) {
    return fail(
        ErrorCode::kIo,
        fmt::format("Cannot write to {}: {}. Every shard writes there.", escaped(folder.path()),
                    failed ? failed.message() : std::generic_category().message(errno)));
  }
  (void)std::fclose(file);
  return Attempt(folder, shard, std::move(temporary));
}

Result<bool> Attempt::finish(const Part& part) {
  auto is_new = publish(temporary_, folder_->part_path(shard_), bytes_of(part));
  if (!is_new) {
    fail_with(is_new.error().detail);
    return is_new;
  }
  std::error_code ignored;
  fs::remove(fmt::format("{}{}/{}", folder_->path(), kErrors, file_of(shard_)), ignored);
  if (*is_new) {
    write_advice(temporary_, fmt::format("{}{}/{}", folder_->path(), kTimes, file_of(shard_)),
                 fmt::format("{:.3f} {:.3f} {}\n", began_, now(), host_name()));
  }
  return is_new;
}

void Attempt::fail_with(std::string_view sentence) noexcept {
  write_advice(temporary_, fmt::format("{}{}/{}", folder_->path(), kErrors, file_of(shard_)),
               sentence.substr(0, kMostSentence));
}

}  // namespace waymark::shard

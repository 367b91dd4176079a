// The present state of an input.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "errors.h"
#include "waymark/base/escape.h"
#include "waymark/base/mapped_file.h"
#include "waymark/index/file_digest.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 1'000'000;

/// Adds up what is in files.
class Looker {
 public:
  /// Of `without`, only the size counts.
  Looker(Check check, const Stop& stop, std::string without)
      : check_(check), stop_(stop), without_(std::move(without)) {}

  Result<void> add(const std::string& path) {
    if (stop_ && stop_()) return stopped();
    std::error_code ignored;
    if (check_ == Check::kTimes) return add_times(path);
    if (!without_.empty() && fs::equivalent(path, without_, ignored)) return add_size(path);
    return add_content(path);
  }

  void add_name(std::string_view name) {
    for (const char c : name) mix(static_cast<unsigned char>(c));
    mix(name.size());
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  static Result<struct stat> status_of(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) return status;
    return fail(ErrorCode::kIo,
                fmt::format("{}: {}", escaped(path), std::generic_category().message(errno)));
  }

  Result<void> add_size(const std::string& path) {
    const auto status = status_of(path);
    if (!status) return std::unexpected(status.error());
    bytes_ += static_cast<std::uint64_t>(status->st_size);
    mix(static_cast<std::uint64_t>(status->st_size));
    return {};
  }

  Result<void> add_times(const std::string& path) {
    const auto found = status_of(path);
    if (!found) return std::unexpected(found.error());
    const struct stat& status = *found;
    bytes_ += static_cast<std::uint64_t>(status.st_size);
    mix(static_cast<std::uint64_t>(status.st_size));
    mix(static_cast<std::uint64_t>(status.st_mtim.tv_sec));
    mix(static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
    return {};
  }

  Result<void> add_content(const std::string& path) {
    auto file = MappedFile::open(path);
    if (!file) return std::unexpected(file.error());
    index::FileDigest digest;
    const std::uint64_t size = file->size();
    for (std::uint64_t at = 0; at < size; at += kStep) {
      if (stop_ && stop_()) return stopped();
      (void)digest.read(file->bytes(), std::min(at + kStep, size));
      file->passed(at);
    }
    bytes_ += size;
    mix(size);
    mix(digest.value(file->bytes(), size));
    return {};
  }

  /// FNV-1a over words, with a mix of the upper bits.
  void mix(std::uint64_t word) {
    digest_ = (digest_ ^ word) * 0x100000001B3ULL;
    digest_ ^= digest_ >> 29;
  }

  static constexpr std::uint64_t kStep = std::uint64_t{4} << 20;

  Check check_;
  const Stop& stop_;
  std::string without_;
  std::uint64_t bytes_ = 0;
  std::uint64_t digest_ = 0xCBF29CE484222325ULL;
};

Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->is_regular_file(failed)) files.push_back(at->path().string());
    if (files.size() > kMostFiles) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{}: this folder has more than {} files, so it is not a capture; "
                              "name the captures in it.",
                              escaped(folder), kMostFiles));
    }
  }
  if (failed) return fail(ErrorCode::kIo, fmt::format("{}: {}", escaped(folder), failed.message()));
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool was_stopped(const Error& error) { return error.detail == kStopped; }

Result<Input> look_at(const std::string& path, const std::string& folder, Check check,
                      const Stop& stop, const std::string& without) {
  const auto below = [&](const std::string& each) {
    return each.empty() || each.starts_with('/') ? each : folder + "/" + each;
  };
  const std::string whole = below(path);
  Looker looker(check, stop, below(without));
  std::error_code ignored;
  if (fs::is_directory(whole, ignored)) {
    const auto files = files_below(whole);
    if (!files) return std::unexpected(files.error());
    for (const std::string& file : *files) {
      looker.add_name(std::string_view(file).substr(whole.size()));
      WAYMARK_TRY(looker.add(file));
    }
  } else {
    WAYMARK_TRY(looker.add(whole));
  }
  return Input{.path = path, .bytes = looker.bytes(), .digest = looker.digest()};
}

Result<void> check_inputs(const Plan& plan, std::size_t shard, const Stop& stop) {
  const Cut* const cut = plan.cut_of(shard);
  for (const Input& input : plan.inputs_of(shard)) {
    const auto now = look_at(input.path, plan.folder, plan.check, stop,
                             cut != nullptr ? cut->trace : std::string());
    if (!now) return std::unexpected(now.error());
    if (*now != input) return changed(input);
  }
  return {};
}

}  // namespace waymark::shard

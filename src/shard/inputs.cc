// The paths that a job names.
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "waymark/base/escape.h"
#include "waymark/base/mapped_file.h"
#include "waymark/shard/job.h"

namespace waymark::shard {
namespace {

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// For glob(): so that each character stands for itself.
std::string literal(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

/// A path that begins at `folder`, unless it is absolute.
std::string below(const std::string& folder, const std::string& path) {
  return path.starts_with('/') ? path : folder + "/" + path;
}

class Paths {
 public:
  explicit Paths(const std::string& folder) : folder_(folder) {}

  Result<void> add(const std::string& path, const std::string& where) {
    std::error_code failed;
    if (!std::filesystem::exists(below(folder_, path), failed)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: there is no capture {}; relative paths begin at {}.", where,
                              escaped(path), escaped(folder_)));
    }
    put(path);
    return {};
  }

  Result<void> add_pattern(const std::string& pattern, const std::string& where) {
    if (!is_pattern(pattern)) return add(pattern, where);
    const bool is_relative = !pattern.starts_with('/');
    const std::string prefix = is_relative ? literal(folder_) + "/" : "";
    glob_t found{};
    // Only one thread makes plans, and nothing changes the environment.
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    const int status = ::glob((prefix + pattern).c_str(), GLOB_NOSORT, nullptr, &found);
    std::vector<std::string> paths;
    for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
      std::string path = found.gl_pathv[i];
      if (is_relative) path.erase(0, folder_.size() + 1);
      paths.push_back(std::move(path));
    }
    ::globfree(&found);
    if (paths.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("{}: nothing matches {}; relative patterns start at {}.", where,
                              escaped(pattern), escaped(folder_)));
    }
    std::ranges::sort(paths);
    for (std::string& path : paths) put(std::move(path));
    return {};
  }

  Result<void> add_list(const std::string& list, const std::string& where) {
    const auto file = MappedFile::open_text(below(folder_, list));
    if (!file) return fail(file.error().code, fmt::format("{}: {}", where, file.error().detail));
    std::string_view text = file->text();
    for (std::size_t line = 1; !text.empty(); ++line) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view path = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (path.ends_with('\r')) path.remove_suffix(1);
      if (path.empty() || path.starts_with('#')) continue;
      WAYMARK_TRY(add(std::string(path), fmt::format("{}:{}", escaped(list), line)));
    }
    return {};
  }

  std::vector<std::string> take() { return std::move(paths_); }

 private:
  void put(std::string path) {
    if (known_.insert(path).second) paths_.push_back(std::move(path));
  }

  const std::string& folder_;
  std::vector<std::string> paths_;
  std::set<std::string> known_;
};

}  // namespace

Result<std::vector<std::string>> find_inputs(const Job& job, const std::string& folder) {
  Paths paths(folder);
  for (const std::string& pattern : job.inputs) WAYMARK_TRY(paths.add_pattern(pattern, "inputs"));
  for (const std::string& list : job.lists) WAYMARK_TRY(paths.add_list(list, "lists"));
  std::vector<std::string> found = paths.take();
  if (found.empty()) return fail(ErrorCode::kNotFound, "The lists of the job name no capture.");
  return found;
}

}  // namespace waymark::shard

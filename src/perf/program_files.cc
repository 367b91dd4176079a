#include "waymark/perf/program_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "waymark/image/build_id.h"

namespace waymark::perf {
namespace {

// A root may be a whole file system: only so many files are looked at for their build IDs.
constexpr std::size_t kMostFiles = 20000;

// Memory that is not a file: "[vdso]", "[heap]", "//anon", "/memfd:x (deleted)".
bool is_not_a_file(const std::string& path) {
  return path.empty() || path.front() == '[' || path.starts_with("//") ||
         path.starts_with("/memfd:") || path.starts_with("/anon_hugepage");
}

}  // namespace

const program::Program* ProgramFile::program() const {
  std::call_once(once_, [this] {
    if (auto opened = program::Program::open(file_.path(), search_)) program_ = *std::move(opened);
  });
  return program_.get();
}

struct ProgramFiles::Search {
  const std::string& path;
  const std::vector<std::uint8_t>& build_id;
  std::string other{};  ///< A file of that name with another build ID.
  std::vector<std::uint8_t> other_id{};
};

const ProgramFile* ProgramFiles::open(const std::string& path, Search& search) {
  const auto [at, inserted] = files_.try_emplace(path);
  if (inserted) {
    std::error_code error;
    auto file = std::filesystem::is_regular_file(path, error)
                    ? MappedFile::open(path)
                    : fail(ErrorCode::kNotFound, std::string());
    if (file) {
      auto build_id = image::build_id_of(file->bytes());
      at->second = std::make_unique<ProgramFile>(*std::move(file), std::move(build_id),
                                                 program::DebugSearch{.roots = roots_});
    }
  }
  const ProgramFile* const found = at->second.get();
  if (found == nullptr || search.build_id.empty()) return found;
  if (image::same_build_id(found->build_id(), search.build_id)) return found;
  if (search.other.empty()) {
    search.other = path;
    search.other_id = found->build_id();
  }
  return nullptr;
}

void ProgramFiles::list_roots() {
  if (std::exchange(listed_, true)) return;
  for (const std::string& root : roots_) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator at(
        root, std::filesystem::directory_options::skip_permission_denied, error);
    for (; !error && at != std::filesystem::end(at); at.increment(error)) {
      if (below_roots_.size() == kMostFiles) return;
      if (at->is_regular_file(error)) below_roots_.push_back(at->path().string());
    }
  }
}

const ProgramFile* ProgramFiles::find_given(Search& search) {
  const auto name_of = [](const std::string& path) {
    return std::filesystem::path(path).filename();
  };
  for (const std::string& path : given_) {
    const bool same_name = name_of(path) == name_of(search.path);
    if (search.build_id.empty() && !same_name) continue;
    Search other{search.path, search.build_id};
    if (const ProgramFile* found = open(path, same_name ? search : other)) return found;
  }
  return nullptr;
}

const ProgramFile* ProgramFiles::find_by_id(Search& search) {
  if (search.build_id.empty()) return nullptr;
  list_roots();
  for (const std::string& path : below_roots_) {
    Search other{search.path, search.build_id};
    if (const ProgramFile* found = open(path, other)) return found;
  }
  return nullptr;
}

const ProgramFile* ProgramFiles::find(const std::string& path,
                                      const std::vector<std::uint8_t>& build_id) {
  const std::lock_guard lock(mutex_);
  const auto [known, inserted] = known_.try_emplace({path, build_id}, nullptr);
  if (!inserted) return known->second;
  if (is_not_a_file(path)) {
    reasons_.try_emplace(path, "This is not a file.");
    return nullptr;
  }
  Search search{path, build_id};
  const ProgramFile* found = find_given(search);
  if (found == nullptr && roots_.empty()) found = open(path, search);
  for (const std::string& root : roots_) {
    if (found == nullptr)
      found =
          open((std::filesystem::path(root) / std::filesystem::path(path).relative_path()).string(),
               search);
  }
  if (found == nullptr) found = find_by_id(search);
  known->second = found;
  if (found != nullptr) return found;
  if (!search.other.empty()) {
    reasons_.try_emplace(
        path, fmt::format("{} has the build ID {}, and the recording names {}.", search.other,
                          search.other_id.empty() ? "none" : image::build_id_text(search.other_id),
                          image::build_id_text(build_id)));
  } else if (roots_.empty()) {
    reasons_.try_emplace(path,
                         "This machine has no such file. Add --symfs DIR, a copy of the recorded "
                         "machine's files.");
  } else {
    reasons_.try_emplace(path, "No --symfs folder has such a file.");
  }
  return nullptr;
}

std::vector<MissingFile> ProgramFiles::missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<MissingFile> all;
  for (const auto& [path, reason] : reasons_) all.push_back({path, reason, !is_not_a_file(path)});
  return all;
}

std::vector<std::string> ProgramFiles::found() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [key, file] : known_)
    if (file != nullptr) all.push_back(file->file().path());
  return all;
}

}  // namespace waymark::perf

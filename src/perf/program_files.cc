#include "waymark/perf/program_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "waymark/elf/build_id.h"
#include "waymark/perf/kallsyms.h"
#include "waymark/program/compressed_file.h"

namespace waymark::perf {
namespace {

// A root may be a whole file system: only this number of files are checked for their build IDs.
constexpr std::size_t kMostFiles = 20000;

// Memory that is not a file: "[vdso]", "[heap]", "//anon", "/memfd:x (deleted)".
bool is_not_a_file(const std::string& path) {
  return path.empty() || path.front() == '[' || path.starts_with("//") ||
         path.starts_with("/memfd:") || path.starts_with("/anon_hugepage");
}

}  // namespace

ProgramFile::ProgramFile(MappedFile file, program::DebugSearch search)
    : file_(std::move(file)), search_(std::move(search)) {
  if (program::is_compressed(file_.bytes())) {
    if (auto unpacked = program::unpack_file(file_.bytes())) unpacked_ = *std::move(unpacked);
  }
  build_id_ = elf::build_id_of(bytes());
}

const program::Program* ProgramFile::program() const {
  std::call_once(once_, [this] {
    if (auto opened = program::Program::view(bytes(), path(), search_))
      program_ = *std::move(opened);
  });
  return program_.get();
}

const program::ModuleCode* ProgramFile::module_code() const {
  std::call_once(module_once_, [this] { module_ = program::module_code(bytes()); });
  return module_ ? &*module_ : nullptr;
}

program::SwitchedCode* ProgramFile::switched_code() const {
  std::call_once(switched_once_, [this] { switched_ = program::SwitchedCode::make(bytes()); });
  return switched_.get();
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
      at->second = std::make_unique<ProgramFile>(*std::move(file),
                                                 program::DebugSearch{.roots = search_.roots});
    }
  }
  const ProgramFile* const found = at->second.get();
  if (found == nullptr || search.build_id.empty()) return found;
  if (elf::same_build_id(found->build_id(), search.build_id)) return found;
  if (search.other.empty()) {
    search.other = path;
    search.other_id = found->build_id();
  }
  return nullptr;
}

const ProgramFile* ProgramFiles::open_packed(const std::string& path, Search& search) {
  if (const ProgramFile* const found = open(path, search)) return found;
  if (!path.ends_with(".ko")) return nullptr;
  for (const std::string_view ending : program::kCompressedEndings) {
    if (const ProgramFile* const found = open(path + std::string(ending), search)) return found;
  }
  return nullptr;
}

void ProgramFiles::list_roots() {
  if (std::exchange(listed_, true)) return;
  for (const std::string& root : search_.roots) {
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
  for (const std::string& path : search_.given) {
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

const ProgramFile* ProgramFiles::find_in_caches(Search& search) {
  constexpr std::size_t kUsualSize = 20;
  if (search.build_id.size() < 2) return nullptr;
  // An ID may end with zeros, which recordings also use to pad it.
  std::vector<std::uint8_t> padded = search.build_id;
  padded.resize(std::max(padded.size(), kUsualSize));
  for (const std::string& cache : search_.caches) {
    for (const std::string& id :
         {elf::build_id_text(search.build_id), elf::build_id_text(padded)}) {
      const std::filesystem::path entry =
          std::filesystem::path(cache) / ".build-id" / id.substr(0, 2) / id.substr(2);
      // Old versions of perf keep the file itself there.
      for (const std::filesystem::path& path : {entry / "elf", entry / "vdso", entry}) {
        Search other{search.path, search.build_id};
        if (const ProgramFile* const found = open(path.string(), other)) return found;
      }
    }
  }
  return nullptr;
}

const ProgramFile* ProgramFiles::find_anywhere(Search& search) {
  if (const ProgramFile* const found = find_given(search)) return found;
  const std::filesystem::path path(search.path);
  const bool is_file = !is_not_a_file(search.path);
  if (is_file && search_.roots.empty()) {
    if (const ProgramFile* const found = open_packed(search.path, search)) return found;
  }
  for (const std::string& root : search_.roots) {
    if (!is_file) break;
    const std::filesystem::path below = std::filesystem::path(root) / path.relative_path();
    if (const ProgramFile* const found = open_packed(below.string(), search)) return found;
  }
  if (const ProgramFile* const found = find_by_id(search)) return found;
  if (const ProgramFile* const found = find_in_caches(search)) return found;
  if (!search_.fetch || search.build_id.empty()) return nullptr;
  const auto fetched = search_.fetch(search.build_id);
  Search other{search.path, search.build_id};
  return fetched ? open(*fetched, other) : nullptr;
}

const ProgramFile* ProgramFiles::find(const std::string& path,
                                      const std::vector<std::uint8_t>& recorded_id) {
  // Recordings pad build IDs with zeros.
  std::vector<std::uint8_t> build_id = recorded_id;
  while (!build_id.empty() && build_id.back() == 0) build_id.pop_back();
  const std::lock_guard lock(mutex_);
  const auto [known, inserted] = known_.try_emplace({path, build_id}, nullptr);
  if (!inserted) return known->second;
  // The kernel gives some memory a build ID: "[vdso]".
  if (is_not_a_file(path) && build_id.empty()) {
    reasons_.try_emplace(path, "This is not a file.");
    return nullptr;
  }
  Search search{path, build_id};
  const ProgramFile* const found = find_anywhere(search);
  known->second = found;
  if (found != nullptr) return found;
  if (!search.other.empty()) {
    reasons_.try_emplace(
        path, fmt::format("{} has the build ID {}, and the recording names {}.", search.other,
                          search.other_id.empty() ? "none" : elf::build_id_text(search.other_id),
                          elf::build_id_text(build_id)));
  } else if (is_not_a_file(path)) {
    reasons_.try_emplace(
        path, fmt::format("No file with the build ID {} was found.", elf::build_id_text(build_id)));
  } else if (search_.roots.empty()) {
    reasons_.try_emplace(path,
                         "This machine has no such file. Name a folder with a copy of the recorded "
                         "machine's files with --symfs.");
  } else {
    reasons_.try_emplace(path, "No --symfs folder has such a file.");
  }
  return nullptr;
}

const ProgramFile* ProgramFiles::find_written(const std::string& path, bool needed) {
  {
    const std::lock_guard lock(mutex_);
    const std::vector<std::uint8_t> any;
    Search search{path, any};
    const ProgramFile* found = find_anywhere(search);
    for (const std::string& root : search_.roots) {
      if (found != nullptr) break;
      found = open((std::filesystem::path(root) / std::filesystem::path(path).filename()).string(),
                   search);
    }
    if (found != nullptr) known_[{path, any}] = found;
    if (found != nullptr || !needed) return found;
  }
  return find(path, {});
}

const ProgramFile* ProgramFiles::kernel(const std::vector<std::uint8_t>& build_id) {
  static const std::string kName = "[kernel.kallsyms]";
  if (!search_.vmlinux.empty()) {
    const std::lock_guard lock(mutex_);
    Search search{kName, build_id};
    const ProgramFile* const found = open(search_.vmlinux, search);
    if (found != nullptr) known_[{kName, build_id}] = found;
    if (found == nullptr) {
      reasons_.insert_or_assign(
          kName,
          search.other.empty()
              ? fmt::format("Cannot read {}.", search_.vmlinux)
              : fmt::format("{} has the build ID {}, and the recording names {}.", search.other,
                            search.other_id.empty() ? "none" : elf::build_id_text(search.other_id),
                            elf::build_id_text(build_id)));
    }
    return found;
  }
  return build_id.empty() ? nullptr : find(kName, build_id);
}

const ProgramFile* ProgramFiles::kcore() {
  if (search_.kcore.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const std::vector<std::uint8_t> any;
  Search search{search_.kcore, any};
  return open(search_.kcore, search);
}

const program::Program* ProgramFiles::names_of(
    std::optional<std::shared_ptr<const program::Program>>& known, std::string_view option,
    const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (known) return known->get();
  known.emplace();
  if (path.empty()) return nullptr;
  const auto file = MappedFile::open(path);
  auto functions = file ? read_kallsyms(file->text())
                        : Result<std::vector<image::Function>>(std::unexpected(file.error()));
  if (functions) {
    *known = program::Program::of(*std::move(functions), path);
  } else {
    problems_.push_back(fmt::format("{} {}: {}", option, path, functions.error().detail));
  }
  return known->get();
}

const program::Program* ProgramFiles::kernel_names() {
  return names_of(kernel_names_, "--kallsyms", search_.kallsyms);
}

const program::Program* ProgramFiles::guest_names() {
  return names_of(guest_names_, "--guest-kallsyms", search_.guest_kallsyms);
}

const ProgramFile* ProgramFiles::guest_kernel() {
  if (search_.guest_vmlinux.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  const std::vector<std::uint8_t> any;
  static const std::string kName = "[guest.kernel.kallsyms]";
  Search search{kName, any};
  const ProgramFile* const found = open(search_.guest_vmlinux, search);
  if (found != nullptr) known_[{kName, any}] = found;
  return found;
}

std::vector<std::string> ProgramFiles::problems() const {
  const std::lock_guard lock(mutex_);
  return problems_;
}

std::vector<MissingFile> ProgramFiles::missing() const {
  const std::lock_guard lock(mutex_);
  std::vector<MissingFile> all;
  all.reserve(reasons_.size());
  for (const auto& [path, reason] : reasons_) all.push_back({path, reason, !is_not_a_file(path)});
  return all;
}

std::vector<const ProgramFile*> ProgramFiles::found_files() const {
  const std::lock_guard lock(mutex_);
  std::vector<const ProgramFile*> all;
  for (const auto& [key, file] : known_)
    if (file != nullptr) all.push_back(file);
  return all;
}

std::vector<std::string> ProgramFiles::found() const {
  std::vector<std::string> all;
  for (const ProgramFile* const file : found_files()) all.push_back(file->path());
  return all;
}

}  // namespace waymark::perf

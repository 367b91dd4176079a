#include "table_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "complain.h"
#include "exit_code.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".part.";
constexpr std::size_t kRandomLetters = 6;  // Those of mkdtemp().

std::string lock_of(const std::string& temporary) { return temporary + "/.lock"; }

/// A file system may not know locks.  Then the lock cannot be taken, and nothing is removed.
bool take_lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0; }

int cannot_make(const std::string& path, const std::string& why) {
  return complain(
      fmt::format("Cannot create a folder in {}: {}. Choose another one.", escaped(path), why),
      kOutput);
}

/// How the names of all files with its rows begin.
std::string name_of(std::size_t input) { return fmt::format("part-{:05}", input); }

bool is_empty_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::is_empty(path, ignored);
}

/// A new folder with an open file whose lock says that it is in use.  errno: why there is none.
std::optional<std::pair<std::string, int>> make_locked_folder(const std::string& path) {
  while (true) {
    std::string temporary =
        (fs::path(path) / (std::string(kTemporary) + std::string(kRandomLetters, 'X'))).string();
    if (::mkdtemp(temporary.data()) == nullptr) return std::nullopt;
    const int lock = ::open(lock_of(temporary).c_str(),
                            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    // Before there is a lock, others take the folder for an abandoned one.
    if (lock < 0 && errno == ENOENT) continue;
    if (lock < 0) return std::nullopt;
    const bool taken = take_lock(lock);
    const bool removed = !taken && errno == EWOULDBLOCK;
    struct stat status{};
    if (!removed && ::stat(lock_of(temporary).c_str(), &status) == 0)
      return std::pair(std::move(temporary), lock);
    (void)::close(lock);
  }
}

/// The lock goes last, so that what is left can be removed by others if this process is killed.
void remove_all_of(const std::string& temporary) {
  std::error_code failed;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(temporary, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->path() != lock_of(temporary)) found.push_back(at->path());
  }
  for (const fs::path& path : found) fs::remove_all(path, failed);
  fs::remove(lock_of(temporary), failed);
  fs::remove(temporary, failed);
}

void remove_if_abandoned(const std::string& temporary) {
  const int lock = ::open(lock_of(temporary).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) {
    // Its process was ended before it made the lock.  A folder with files is not removed so.
    if (errno == ENOENT) (void)::rmdir(temporary.c_str());
    return;
  }
  if (take_lock(lock)) remove_all_of(temporary);
  (void)::close(lock);
}

}  // namespace

void remove_abandoned_tables(const std::string& path) {
  std::error_code failed;
  std::vector<std::string> found;
  for (fs::directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (name.starts_with(kTemporary) && name.size() == kTemporary.size() + kRandomLetters &&
        fs::is_directory(at->symlink_status(ignored)))
      found.push_back(at->path().string());
  }
  for (const std::string& temporary : found) remove_if_abandoned(temporary);
}

std::expected<TableFolder, int> TableFolder::open(const std::string& path,
                                                  std::vector<std::string> tables) {
  if (path.empty() || path == "-") {
    return std::unexpected(
        complain("parquet writes a folder of tables; name it with -o, such as -o tables.", kUsage));
  }
  std::error_code failed;
  for (const std::string& table : tables) {
    const fs::path folder = fs::path(path) / table;
    if (!fs::exists(fs::symlink_status(folder, failed)) || is_empty_folder(folder)) continue;
    return std::unexpected(
        complain(fmt::format("-o {}: the table {} exists, and rows of two exports would be mixed; "
                             "remove {} or choose another folder.",
                             escaped(path), table, escaped(folder.string())),
                 kUsage));
  }
  const bool made = !fs::exists(path, failed);
  fs::create_directories(path, failed);
  if (failed) return std::unexpected(cannot_make(path, failed.message()));
  auto folder = scratch(path, std::move(tables));
  if (folder) folder->made_ = made;
  return folder;
}

std::expected<TableFolder, int> TableFolder::scratch(const std::string& path,
                                                     std::vector<std::string> tables) {
  remove_abandoned_tables(path);
  auto made = make_locked_folder(path);
  if (!made) return std::unexpected(cannot_make(path, std::generic_category().message(errno)));
  TableFolder folder(path, std::move(made->first), made->second, std::move(tables));
  std::error_code failed;
  for (const std::string& table : folder.tables_) {
    fs::create_directory(fs::path(folder.temporary_) / table, failed);
    if (failed) return std::unexpected(cannot_make(path, failed.message()));
  }
  return folder;
}

TableFolder::TableFolder(std::string path, std::string temporary, int lock,
                         std::vector<std::string> tables)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      lock_(lock),
      tables_(std::move(tables)) {}

TableFolder::TableFolder(TableFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      lock_(std::exchange(other.lock_, -1)),
      tables_(std::move(other.tables_)),
      made_(std::exchange(other.made_, false)) {}

TableFolder::~TableFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) remove_all_of(temporary_);
  if (lock_ >= 0) (void)::close(lock_);
  if (made_) fs::remove(path_, ignored);  // Only if it is empty.
}

std::string TableFolder::part_path(std::string_view table, std::size_t input,
                                   std::optional<std::size_t> slice) const {
  const std::string name =
      slice ? fmt::format("{}-{:05}.parquet", name_of(input), *slice) : name_of(input) + ".parquet";
  return (fs::path(temporary_) / table / name).string();
}

void TableFolder::drop(std::size_t input) const {
  std::error_code failed;
  std::vector<fs::path> found;
  for (const std::string& table : tables_) {
    for (fs::directory_iterator at(fs::path(temporary_) / table, failed), end; !failed && at != end;
         at.increment(failed)) {
      const std::string name = at->path().filename().string();
      if (name.starts_with(name_of(input) + ".") || name.starts_with(name_of(input) + "-"))
        found.push_back(at->path());
    }
  }
  for (const fs::path& path : found) fs::remove(path, failed);
}

int TableFolder::commit() {
  for (const std::string& table : tables_) {
    const fs::path to = fs::path(path_) / table;
    std::error_code failed;
    // Another export may have written the table meanwhile: only an empty folder is replaced.
    fs::rename(fs::path(temporary_) / table, to, failed);
    if (failed) {
      return complain(fmt::format("Cannot write {}: {}. Choose another folder with -o.",
                                  escaped(to.string()), failed.message()),
                      kOutput);
    }
  }
  return kOk;
}

}  // namespace waymark::cli

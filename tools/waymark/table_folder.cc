#include "table_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "complain.h"
#include "exit_code.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

namespace fs = std::filesystem;

int cannot_make(const std::string& path, const std::string& why) {
  return complain(
      fmt::format("Cannot make a folder in {}: {}. Choose another one.", escaped(path), why),
      kOutput);
}

bool is_empty_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && fs::is_empty(path, ignored);
}

}  // namespace

std::expected<TableFolder, int> TableFolder::open(const std::string& path,
                                                  std::vector<std::string> tables) {
  if (path.empty() || path == "-") {
    return std::unexpected(complain("parquet is a folder of tables: name it with -o DIR.", kUsage));
  }
  std::error_code failed;
  for (const std::string& table : tables) {
    const fs::path folder = fs::path(path) / table;
    if (!fs::exists(fs::symlink_status(folder, failed)) || is_empty_folder(folder)) continue;
    return std::unexpected(complain(
        fmt::format("-o {}: the table {} is there already, and rows of two exports would be "
                    "mixed; remove {} or choose another folder.",
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
  std::error_code failed;
  std::string temporary = (fs::path(path) / ".part.XXXXXX").string();
  if (::mkdtemp(temporary.data()) == nullptr)
    return std::unexpected(cannot_make(path, std::generic_category().message(errno)));
  TableFolder folder(path, std::move(temporary), std::move(tables));
  for (const std::string& table : folder.tables_) {
    fs::create_directory(fs::path(folder.temporary_) / table, failed);
    if (failed) return std::unexpected(cannot_make(path, failed.message()));
  }
  return folder;
}

TableFolder::TableFolder(std::string path, std::string temporary, std::vector<std::string> tables)
    : path_(std::move(path)), temporary_(std::move(temporary)), tables_(std::move(tables)) {}

TableFolder::TableFolder(TableFolder&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      tables_(std::move(other.tables_)),
      made_(std::exchange(other.made_, false)) {}

TableFolder::~TableFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  if (made_) fs::remove(path_, ignored);  // Only if it is empty.
}

std::string TableFolder::part_path(std::string_view table, std::size_t part) const {
  return (fs::path(temporary_) / table / fmt::format("part-{:05}.parquet", part)).string();
}

void TableFolder::drop(std::size_t part) const {
  std::error_code ignored;
  for (const std::string& table : tables_) fs::remove(part_path(table, part), ignored);
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

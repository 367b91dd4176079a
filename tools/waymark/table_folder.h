// A folder of tables, each of which appears as a whole.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace waymark::cli {

/// Removes the temporary folders of processes that ended without removing them.  No process may
/// write to one that is in use, because its process holds a lock.
void remove_abandoned_tables(const std::string& path);

/// Tables are written to a temporary folder in the one of -o.  Without commit(), it is removed.
class TableFolder {
 public:
  /// On failure prints the sentence and returns the exit code: a table is there already, or the
  /// folder cannot be made.
  static std::expected<TableFolder, int> open(const std::string& path,
                                              std::vector<std::string> tables);
  /// The same in a folder that is there, for tables that are taken away before commit().
  static std::expected<TableFolder, int> scratch(const std::string& path,
                                                 std::vector<std::string> tables);
  TableFolder(TableFolder&& other) noexcept;
  TableFolder& operator=(TableFolder&&) = delete;
  TableFolder(const TableFolder&) = delete;
  ~TableFolder();

  /// Where the rows of an input in a table are written, or those of a slice of it.
  [[nodiscard]] std::string part_path(std::string_view table, std::size_t input,
                                      std::optional<std::size_t> slice = {}) const;
  /// Removes the rows of an input, and those of its slices.
  void drop(std::size_t input) const;
  /// Gives the tables their places.  kOk, or the exit code after the sentence.
  int commit();

 private:
  TableFolder(std::string path, std::string temporary, int lock, std::vector<std::string> tables);

  std::string path_;
  std::string temporary_;  ///< Empty: moved away.
  int lock_;               ///< The open lock of the temporary folder.
  std::vector<std::string> tables_;
  bool made_ = false;  ///< The folder was not there before.
};

}  // namespace waymark::cli

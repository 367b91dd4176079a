// The source files that debug information names: their text, and where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/mapped_file.h"

namespace waymark::outputs {

/// Finds the source files that debug information names.  Not thread safe.
class SourceFiles {
 public:
  /// Each place is a folder, or OLD=NEW, where NEW replaces OLD at the beginning of a
  /// path.  They are tried in order, before the path itself.  Below a folder, a file is looked for
  /// with its whole path, then without its first folders.
  explicit SourceFiles(const std::vector<std::string>& places);

  /// Larger files count as missing.
  void limit_size(std::uint64_t most) { most_bytes_ = most; }

  /// From now on, relative paths are also looked for in the folder of this program.
  void look_beside(const std::string& program);

  /// Where a file is by the places: below the first folder that has it, or with NEW for OLD, also
  /// where there is no such file.  Else `file` itself.
  [[nodiscard]] std::string path_of(const std::string& file) const;

  /// A line, counted from 1, without its line end; nothing: the file or the line is missing.
  std::optional<std::string_view> line(std::string_view file, std::uint32_t number);

  /// Files that were not found, as debug information names them.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Place {
    std::string old;  ///< Empty: `path` is a folder.
    std::string path;
  };
  struct Text {
    MappedFile file;
    std::vector<std::size_t> lines;  ///< Where each line begins.
  };

  std::optional<MappedFile> open(const std::string& file) const;

  std::vector<Place> places_;
  std::uint64_t most_bytes_ = ~std::uint64_t{0};
  std::string beside_;
  /// By path and, if that is relative, by the folder of the program.
  std::map<std::pair<std::string, std::string>, std::optional<Text>> texts_;
  std::vector<std::string> missing_;
};

}  // namespace waymark::outputs

// Source lines and inlined calls of a file with debug information.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dwarf_file.h"
#include "dwarf_inlines.h"
#include "dwarf_lines.h"
#include "dwarf_unit.h"
#include "waymark/program/program.h"

namespace waymark::program {

/// Reads a unit when an address of it is asked for first.  Any number of threads may ask.
class Dwarf {
 public:
  /// `file` must outlive the object.  `program`: the path of the program.
  Dwarf(LoadedFile& file, std::string program, DebugSearch search);
  ~Dwarf();

  /// Adds the functions that contain the address, the innermost first.  Nothing: no unit has it.
  void add_frames(std::uint64_t address, std::vector<Frame>& out) const;

  /// Calls take for the rows of all line tables.  A sequence of rows that ends before `high` is
  /// left out if keep(low, high) is false.
  void each_line(const std::function<bool(std::uint64_t low, std::uint64_t high)>& keep,
                 const std::function<void(const CodeLine&)>& take) const;

  /// The highest version of its units; 0: there are none.
  [[nodiscard]] unsigned version() const {
    unsigned highest = 0;
    for (const auto& unit : info_.units) highest = std::max<unsigned>(highest, unit->version);
    return highest;
  }

 private:
  /// Known facts about the code of a unit.
  struct UnitCode {
    std::shared_ptr<const LineTable> lines{};
    CodeTree tree{};
  };

  /// The file with all split units of the program, opened when it is first needed.
  struct Package {
    bool opened = false;
    std::unique_ptr<LoadedFile> file{};  ///< nullptr: there is none.
    DwarfSections sections{};
  };

  [[nodiscard]] bool is_code(std::uint64_t address) const;
  void map_units();
  const UnitCode& code_of(std::uint32_t unit) const;
  std::shared_ptr<const LineTable> lines_of(const DwarfUnit& unit) const;
  const DwarfUnit* split_unit(const DwarfUnit& skeleton) const;
  const DwarfUnit* packed_unit(const DwarfUnit& skeleton) const;
  void open_package() const;

  std::string program_;
  DebugSearch search_;
  std::vector<CodeRange> code_;
  std::function<bool(std::uint64_t)> is_code_;
  std::unique_ptr<LoadedFile> alternate_file_;
  DwarfInfo alternate_;
  DwarfInfo info_;
  std::vector<CodeChange> by_address_;  ///< The number of the unit.

  mutable std::vector<std::atomic<const UnitCode*>> codes_;
  // All of these are only used under the lock.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<UnitCode>> owned_;
  mutable std::map<std::uint64_t, std::shared_ptr<const LineTable>> line_tables_;
  mutable std::vector<std::unique_ptr<LoadedFile>> split_files_;
  mutable std::vector<std::unique_ptr<DwarfInfo>> split_infos_;
  mutable Package package_;
};

}  // namespace waymark::program

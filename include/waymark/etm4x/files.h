// Every file of the driver as a row of a table.  See etm4x-programming.md 4.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "waymark/etm4x/sysfs_text.h"
#include "waymark/etm4x/unit.h"

namespace waymark::etm4x {

enum class FileAccess : std::uint8_t { kReadWrite, kReadOnly, kWriteOnly };

/// How the bytes of a write become numbers.
enum class Grammar : std::uint8_t {
  kNone,     ///< Not writable.
  kHex,      ///< One number, base 16.
  kAnyBase,  ///< One number, C notation.
  kDecimal,  ///< One number, base 10.
  kHexList,  ///< Up to three numbers as scanf reads them, base 16.
  kWord,     ///< The first word.
  kBoolean,  ///< yes, no, 1, 0, on, off.
};

enum class IndexFile : std::uint8_t {
  kNone,
  kAddress,
  kSingleShot,
  kCounter,
  kSelector,
  kSequencer,
  kContextId,
  kVmid,
};
/// "addr_idx"; empty for kNone.
std::string_view index_file_name(IndexFile index);

/// The written text, parsed by the row's grammar.
struct FileInput {
  std::uint64_t number = 0;
  ScannedNumbers numbers{};
  std::string_view word{};
  std::size_t length = 0;  ///< Bytes, the newline included.
};

struct FileRow {
  using Gate = Outcome (*)(const Unit&);
  using Store = Outcome (*)(Unit&, const FileInput&);
  using Show = Shown (*)(Unit&);

  std::string_view name;
  FileAccess access;
  std::string_view registers;  ///< The registers that the file sets or shows.
  IndexFile index;             ///< The file that selects one of them.
  Grammar grammar;
  std::string_view accepts;  ///< What may be written, in words.
  Gate gate;                 ///< Checked before the bytes are parsed; null: none.
  Store store;               ///< Null: read-only.
  Show show;                 ///< Null: write-only.
  /// Units that are reached through system registers do not have the file.
  bool memory_mapped = false;
};

/// All rows, in the groups of the driver's reference document.
std::span<const FileRow> file_table();
/// Null: there is no such file.
const FileRow* find_file(std::string_view name);

/// The text of addr_cmp_view for one comparator.
std::string comparator_view(const Unit& unit, unsigned index);

/// Does what the file `reset` does; etm4x-programming.md 7.
void reset_unit(Unit& unit, bool clear_mode);

}  // namespace waymark::etm4x

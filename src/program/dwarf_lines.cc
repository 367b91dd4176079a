#include "dwarf_lines.h"

#include <algorithm>
#include <array>

#include "waymark/base/cut_text.h"

namespace waymark::program {
namespace {

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with('\\') || (path.size() > 2 && path[1] == ':');
}

/// `path` in `folder`.
std::string joined(std::string_view folder, std::string_view path) {
  if (folder.empty() || path.empty()) return std::string(folder.empty() ? path : folder);
  std::string all(folder);
  if (!folder.ends_with('/')) all += '/';
  all += path;
  return all;
}

/// The meaning of the columns in the lists of folders and files, from DWARF 5 on.
struct Column {
  std::uint64_t what = 0;
  std::uint16_t form = 0;
};

struct FileEntry {
  std::string_view name{};
  std::uint64_t folder = 0;
};

struct LineHeader {
  std::uint64_t end = 0;  ///< The end of the table.
  std::uint16_t version = 0;
  std::uint8_t offset_size = 4;
  std::uint8_t min_length = 1;
  bool default_is_statement = true;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::array<std::uint8_t, 256> operands{};
  std::uint64_t program = 0;  ///< Where the program of the table begins.
};

class LineReader {
 public:
  LineReader(const DwarfUnit& unit, const std::function<bool(std::uint64_t)>& is_code)
      : unit_(unit),
        is_code_(is_code),
        sections_(unit.info->sections),
        in_(sections_.line, sections_.big_endian, unit.line_table.value_or(0)) {}

  LineTable run() {
    if (read_header()) read_program();
    std::ranges::stable_sort(table_.sequences, {}, &LineSequence::low);
    return std::move(table_);
  }

 private:
  // A damaged table may claim any number.
  static constexpr std::size_t kMostRows = std::size_t{1} << 26;
  static constexpr std::size_t kMostFiles = std::size_t{1} << 20;

  bool read_header();
  std::vector<FileEntry> read_entries();
  void read_old_lists();
  void add_file(const FileEntry& entry);
  void read_program();
  void extended();
  void set_address(std::uint64_t address);
  void add_row();
  void end_sequence();
  void clear_state() {
    row_ = {.file = 1, .line = 1, .is_statement = header_.default_is_statement};
    first_row_ = table_.rows.size();
  }
  void advance(std::uint64_t operations) { row_.address += operations * header_.min_length; }

  const DwarfUnit& unit_;
  const std::function<bool(std::uint64_t)>& is_code_;
  const DwarfSections& sections_;
  ByteReader in_;
  LineTable table_;

  LineHeader header_;
  std::vector<std::string_view> folders_;
  LineRow row_;
  std::size_t first_row_ = 0;
};

bool LineReader::read_header() {
  std::uint64_t length = in_.u32();
  if (length == 0xFFFF'FFFF) {
    length = in_.u64();
    header_.offset_size = 8;
  }
  if (!in_.ok() || length > in_.remaining()) return false;
  header_.end = in_.position() + length;
  in_ = ByteReader(sections_.line.first(in_memory(header_.end)), sections_.big_endian,
                   in_.position());
  header_.version = in_.u16();
  if (header_.version < 2 || header_.version > 5) return false;
  if (header_.version >= 5) in_.skip(2);  // The sizes of addresses and segment selectors.
  const std::uint64_t header_length = in_.integer(header_.offset_size);
  header_.program = in_.position() + header_length;
  if (!in_.ok() || header_length > in_.remaining()) return false;
  header_.min_length = in_.u8();
  if (header_.version >= 4) in_.skip(1);  // Operations per instruction: 1 on these machines.
  header_.default_is_statement = in_.u8() != 0;
  header_.line_base = static_cast<std::int8_t>(in_.u8());
  header_.line_range = in_.u8();
  header_.opcode_base = in_.u8();
  for (unsigned i = 1; i < header_.opcode_base; ++i) header_.operands[i] = in_.u8();
  if (!in_.ok() || header_.line_range == 0 || header_.opcode_base == 0) return false;
  table_.from_zero = header_.version >= 5;
  if (header_.version >= 5) {
    for (const FileEntry& folder : read_entries()) folders_.push_back(folder.name);
    for (const FileEntry& file : read_entries()) add_file(file);
  } else {
    read_old_lists();
  }
  return in_.ok();
}

std::vector<FileEntry> LineReader::read_entries() {
  constexpr std::uint64_t kPath = 1;
  constexpr std::uint64_t kFolder = 2;
  std::vector<Column> columns(in_.u8());
  for (Column& column : columns) {
    column.what = in_.uleb();
    column.form = static_cast<std::uint16_t>(in_.uleb());
  }
  const std::uint64_t count = in_.uleb();
  std::vector<FileEntry> entries;
  if (columns.empty()) return entries;
  // The table may have another size of offsets than its unit.
  DwarfUnit unit = unit_;
  unit.offset_size = header_.offset_size;
  for (std::uint64_t i = 0; i < count && in_.ok() && entries.size() < kMostFiles; ++i) {
    FileEntry entry;
    for (const Column& column : columns) {
      const DwarfValue value = read_value(unit, {.form = column.form}, in_);
      if (column.what == kPath) entry.name = as_text(unit, value);
      if (column.what == kFolder) entry.folder = value.number;
    }
    entries.push_back(entry);
  }
  return entries;
}

void LineReader::read_old_lists() {
  while (in_.ok()) {
    const std::string_view folder = in_.text();
    if (folder.empty()) break;
    folders_.push_back(folder);
  }
  while (in_.ok()) {
    FileEntry entry{.name = in_.text()};
    if (entry.name.empty()) break;
    entry.folder = in_.uleb();
    in_.uleb();  // The time of the file, and its size.
    in_.uleb();
    add_file(entry);
  }
}

void LineReader::add_file(const FileEntry& entry) {
  if (table_.files.size() >= kMostFiles) return;
  if (is_absolute(entry.name)) {
    table_.files.push_back(cut_text(entry.name, kLongestName));
    return;
  }
  // Before DWARF 5, folder 0 is that of the unit, and is not in the list.
  const std::uint64_t index = entry.folder - (header_.version >= 5 ? 0 : 1);
  std::string folder(index < folders_.size() ? folders_[in_memory(index)].substr(0, kLongestName)
                                             : std::string_view());
  if (!is_absolute(folder)) folder = joined(unit_.directory.substr(0, kLongestName), folder);
  table_.files.push_back(cut_text(joined(folder, entry.name), kLongestName));
}

void LineReader::add_row() {
  if (table_.rows.size() >= kMostRows) return;
  const auto again = [&](const LineRow& last) {
    return last.address == row_.address && last.file == row_.file && last.line == row_.line &&
           last.is_statement == row_.is_statement;
  };
  if (table_.rows.size() > first_row_ && again(table_.rows.back())) {
    table_.rows.back() = row_;
  } else {
    table_.rows.push_back(row_);
  }
  row_.discriminator = 0;
}

void LineReader::end_sequence() {
  const std::size_t count = table_.rows.size() - first_row_;
  const std::uint64_t low = count == 0 ? 0 : table_.rows[first_row_].address;
  if (count != 0 && low < row_.address && is_code_(low)) {
    table_.sequences.push_back({low, row_.address, first_row_, count});
  } else {
    table_.rows.resize(first_row_);
  }
}

// Within a sequence, addresses only increase.  A rewritten program may go on elsewhere without an
// end before it: then the rows up to here are a sequence of their own.
void LineReader::set_address(std::uint64_t address) {
  if (table_.rows.size() > first_row_ && address != row_.address) {
    // Nothing says how far the last row reaches.
    end_sequence();
    first_row_ = table_.rows.size();
  }
  row_.address = address;
}

void LineReader::extended() {
  const std::uint64_t length = in_.uleb();
  const std::uint64_t next = in_.position() + length;
  if (length == 0 || length > in_.remaining()) {
    in_.skip(in_.remaining() + 1);
    return;
  }
  switch (in_.u8()) {
    case 1:
      end_sequence();
      clear_state();
      break;
    case 2:
      if (length - 1 == 4 || length - 1 == 8)
        set_address(in_.integer(static_cast<unsigned>(length - 1)));
      break;
    case 3: {
      FileEntry entry{.name = in_.text()};
      entry.folder = in_.uleb();
      add_file(entry);
      break;
    }
    case 4:
      row_.discriminator = static_cast<std::uint32_t>(in_.uleb());
      break;
    default:
      break;
  }
  in_.seek(next);
}

void LineReader::read_program() {
  in_.seek(header_.program);
  clear_state();
  const std::uint64_t const_advance = (255U - header_.opcode_base) / header_.line_range;
  while (!in_.at_end() && in_.ok()) {
    const std::uint8_t opcode = in_.u8();
    if (opcode >= header_.opcode_base) {
      const unsigned adjusted = opcode - header_.opcode_base;
      advance(adjusted / header_.line_range);
      row_.line += static_cast<std::uint32_t>(header_.line_base +
                                              static_cast<int>(adjusted % header_.line_range));
      add_row();
      continue;
    }
    switch (opcode) {
      case 0:
        extended();
        break;
      case 1:
        add_row();
        break;
      case 2:
        advance(in_.uleb());
        break;
      case 3:
        row_.line += static_cast<std::uint32_t>(in_.sleb());
        break;
      case 4:
        row_.file = static_cast<std::uint32_t>(in_.uleb());
        break;
      case 5:
        row_.column = static_cast<std::uint32_t>(in_.uleb());
        break;
      case 6:
        row_.is_statement = !row_.is_statement;
        break;
      case 7:   // A basic block begins.
      case 10:  // The prologue ends.
      case 11:  // The epilogue begins.
        break;
      case 8:
        advance(const_advance);
        break;
      case 9:
        row_.address += in_.u16();
        break;
      default:
        for (unsigned i = 0; i < header_.operands[opcode]; ++i) in_.uleb();
        break;
    }
  }
}

}  // namespace

const LineRow* LineTable::find(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(sequences, address, {}, &LineSequence::low);
  if (after == sequences.begin()) return nullptr;
  const LineSequence& sequence = *std::prev(after);
  if (address >= sequence.high) return nullptr;
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(sequence.first);
  const auto last = first + static_cast<std::ptrdiff_t>(sequence.count);
  const auto row = std::ranges::upper_bound(first, last, address, {}, &LineRow::address);
  return row == first ? nullptr : &*std::prev(row);
}

std::string_view LineTable::file(std::uint64_t number) const {
  const std::uint64_t index = number - (from_zero ? 0 : 1);
  return index < files.size() ? std::string_view(files[in_memory(index)]) : std::string_view();
}

LineTable read_line_table(const DwarfUnit& unit,
                          const std::function<bool(std::uint64_t)>& is_code) {
  if (!unit.line_table) return {};
  return LineReader(unit, is_code).run();
}

}  // namespace waymark::program

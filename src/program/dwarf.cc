#include "dwarf.h"

#include <algorithm>
#include <set>
#include <utility>

#include "debug_files.h"
#include "symbols.h"
#include "waymark/program/code_line.h"

namespace waymark::program {
namespace {

/// The parts of the sections of a .dwp file that a unit has; nothing: the file does not have it.
std::optional<DwarfSections> part_of_package(const DwarfSections& package, std::uint64_t id) {
  ByteReader in(package.unit_index, package.big_endian);
  // A number of 32 bits before DWARF 5, then one of 16 bits and two bytes of padding.
  const std::uint16_t first = in.u16();
  const std::uint16_t second = in.u16();
  const bool is_new = first == 5;
  if (!is_new && first != 2 && second != 2) return std::nullopt;
  const std::uint32_t columns = in.u32();
  const std::uint32_t units = in.u32();
  const std::uint32_t slots = in.u32();
  constexpr std::uint32_t kMost = 64;
  if (!in.ok() || columns > kMost || slots > in.remaining() / 12) return std::nullopt;
  const std::uint64_t ids = in.position();
  const std::uint64_t rows = ids + 8 * std::uint64_t{slots};
  const std::uint64_t kinds = rows + 4 * std::uint64_t{slots};
  const std::uint64_t offsets = kinds + 4 * std::uint64_t{columns};
  const std::uint64_t sizes = offsets + 4 * std::uint64_t{columns} * units;
  std::uint64_t row = 0;
  for (std::uint64_t slot = 0; slot < slots && row == 0; ++slot) {
    in.seek(ids + 8 * slot);
    if (in.u64() != id) continue;
    in.seek(rows + 4 * slot);
    row = in.u32();
  }
  if (row == 0 || row > units) return std::nullopt;
  DwarfSections part = package;
  part.unit_index = {};
  for (std::uint32_t column = 0; column < columns; ++column) {
    const std::uint64_t cell = 4 * ((row - 1) * columns + column);
    in.seek(kinds + 4 * column);
    const std::uint32_t kind = in.u32();
    in.seek(offsets + cell);
    const std::uint64_t offset = in.u32();
    in.seek(sizes + cell);
    const std::uint64_t size = in.u32();
    if (!in.ok()) return std::nullopt;
    const auto cut = [&](Bytes& section) {
      section =
          offset > section.size()
              ? Bytes()
              : section.subspan(in_memory(offset),
                                in_memory(std::min<std::uint64_t>(size, section.size() - offset)));
    };
    if (kind == 1) cut(part.info);
    if (kind == 3) cut(part.abbrev);
    if (kind == 6) cut(part.str_offsets);
    if (kind == 8 && is_new) cut(part.rnglists);
  }
  return part;
}

/// The unit with code that a skeleton stands for.
const DwarfUnit* unit_of(const DwarfInfo& info, const DwarfUnit& skeleton) {
  for (const auto& unit : info.units)
    if (unit->has_code && unit->split.id == skeleton.split.id) return unit.get();
  return nullptr;
}

}  // namespace

Dwarf::Dwarf(LoadedFile& file, std::string program, DebugSearch search)
    : program_(std::move(program)),
      search_(std::move(search)),
      is_code_([this](std::uint64_t address) { return is_code(address); }) {
  for (const ElfSection& section : file.elf.sections) {
    if (section.is_code() && section.address + (section.size - 1) >= section.address)
      code_.push_back({section.address, section.address + (section.size - 1)});
  }
  std::ranges::sort(code_, {}, &CodeRange::last);
  if (code_.empty()) code_ = code_ranges(file.elf);
  info_.sections = file.dwarf("");
  alternate_file_ = find_alternate_file(file, search_);
  if (alternate_file_ != nullptr) {
    alternate_.sections = alternate_file_->dwarf("");
    alternate_.read_units();
    info_.alternate = &alternate_;
  }
  info_.read_units();
  codes_ = std::vector<std::atomic<const UnitCode*>>(info_.units.size());
  map_units();
}

Dwarf::~Dwarf() = default;

bool Dwarf::is_code(std::uint64_t address) const {
  const auto at = std::ranges::lower_bound(code_, address, {}, &CodeRange::last);
  return at != code_.end() && at->first <= address;
}

void Dwarf::map_units() {
  // A unit that is in .debug_aranges has its addresses there; old ones have them nowhere else.
  std::map<const DwarfUnit*, std::vector<DwarfRange>> listed;
  each_address_range(info_, [&](const DwarfUnit& unit, const DwarfRange& range) {
    listed[&unit].push_back(range);
  });
  std::vector<Stretch> stretches;
  std::vector<DwarfRange> ranges;
  // The first unit that claims an address has it, so it is the last to be painted.  What begins at
  // 0 may be code that the linker left out.
  for (auto i = static_cast<std::uint32_t>(info_.units.size()); i-- > 0;) {
    const DwarfUnit& unit = *info_.units[i];
    if (!unit.has_code) continue;
    constexpr std::size_t kMost = std::size_t{1} << 24;
    ranges.clear();
    const auto found = listed.find(&unit);
    if (found != listed.end()) {
      ranges = std::move(found->second);
    } else if (stretches.size() < kMost) {
      add_ranges(unit, unit.extent, kMost - stretches.size(), ranges);
    }
    if (ranges.empty() && !unit.extent.ranges && !unit.extent.high && unit.line_table) {
      for (const LineSequence& sequence : lines_of(unit)->sequences)
        ranges.push_back({sequence.low, sequence.high});
    }
    for (const DwarfRange& range : ranges)
      if (is_code(range.low)) stretches.push_back({range.low, range.high, i});
  }
  std::ranges::stable_partition(stretches, [](const Stretch& it) { return it.low == 0; });
  by_address_ = paint(stretches);
}

std::shared_ptr<const LineTable> Dwarf::lines_of(const DwarfUnit& unit) const {
  if (!unit.line_table) return std::make_shared<const LineTable>();
  auto& table = line_tables_[*unit.line_table];
  if (table == nullptr) table = std::make_shared<const LineTable>(read_line_table(unit, is_code_));
  return table;
}

void Dwarf::open_package() const {
  if (std::exchange(package_.opened, true)) return;
  package_.file = LoadedFile::open(program_ + ".dwp");
  if (package_.file == nullptr) return;
  package_.sections = package_.file->dwarf(".dwo");
  package_.sections.unit_index = package_.file->contents(".debug_cu_index");
}

const DwarfUnit* Dwarf::packed_unit(const DwarfUnit& skeleton) const {
  open_package();
  auto part = part_of_package(package_.sections, skeleton.split.id);
  if (!part) return nullptr;
  auto info = std::make_unique<DwarfInfo>();
  info->sections = *std::move(part);
  info->read_units(&skeleton);
  return unit_of(*split_infos_.emplace_back(std::move(info)), skeleton);
}

const DwarfUnit* Dwarf::split_unit(const DwarfUnit& skeleton) const {
  if (skeleton.split.name.empty()) return nullptr;
  if (const DwarfUnit* const packed = packed_unit(skeleton)) return packed;
  auto file = find_split_file(skeleton.split.name, skeleton.directory, program_, search_);
  if (file == nullptr) return nullptr;
  auto info = std::make_unique<DwarfInfo>();
  info->sections = file->dwarf(".dwo");
  info->read_units(&skeleton);
  split_files_.push_back(std::move(file));
  return unit_of(*split_infos_.emplace_back(std::move(info)), skeleton);
}

const Dwarf::UnitCode& Dwarf::code_of(std::uint32_t unit) const {
  std::atomic<const UnitCode*>& known = codes_[unit];
  if (const UnitCode* const code = known.load(std::memory_order_acquire)) return *code;
  const std::lock_guard lock(mutex_);
  if (const UnitCode* const code = known.load(std::memory_order_relaxed)) return *code;
  const DwarfUnit& skeleton = *info_.units[unit];
  const DwarfUnit* const split = split_unit(skeleton);
  auto code = std::make_unique<UnitCode>();
  code->lines = lines_of(skeleton);
  code->tree = read_code_tree(split == nullptr ? skeleton : *split, is_code_);
  const UnitCode& made = *owned_.emplace_back(std::move(code));
  known.store(&made, std::memory_order_release);
  return made;
}

void Dwarf::add_frames(std::uint64_t address, std::vector<Frame>& out) const {
  const std::uint32_t unit = owner_at(by_address_, address);
  if (unit == CodeNode::kNone) return;
  const UnitCode& code = code_of(unit);
  Frame frame;
  if (const LineRow* const row = code.lines->find(address)) {
    frame.file = code.lines->file(row->file);
    frame.line = row->line;
    frame.column = row->column;
    frame.discriminator = row->discriminator;
  }
  for (const CodeNode* node = code.tree.find(address); node != nullptr;) {
    frame.function = node->name;
    frame.declared = node->declared;
    if (node->parent == CodeNode::kNone) break;
    out.push_back(frame);
    frame = {.file = code.lines->file(node->call_file),
             .line = node->call_line,
             .column = node->call_column,
             .discriminator = node->call_discriminator};
    node = &code.tree.nodes[node->parent];
  }
  out.push_back(frame);
}

void Dwarf::each_line(const std::function<bool(std::uint64_t low, std::uint64_t high)>& keep,
                      const std::function<void(const CodeLine&)>& take) const {
  std::set<std::uint64_t> passed;
  for (std::uint32_t number = 0; number < info_.units.size(); ++number) {
    const auto& unit = info_.units[number];
    if (!unit->has_code || !unit->line_table || !passed.insert(*unit->line_table).second) continue;
    const std::shared_ptr<const LineTable> table = [&] {
      const std::lock_guard lock(mutex_);
      return lines_of(*unit);
    }();
    const CodeTree& tree = code_of(number).tree;
    for (const LineSequence& sequence : table->sequences) {
      if (!keep(sequence.low, sequence.high)) continue;
      for (std::size_t i = 0; i < sequence.count; ++i) {
        const LineRow& row = table->rows[sequence.first + i];
        const std::uint64_t end =
            i + 1 < sequence.count ? table->rows[sequence.first + i + 1].address : sequence.high;
        // The addresses of a damaged table may go back.
        take({.address = row.address,
              .end = std::max(row.address, end),
              .file = table->file(row.file),
              .line = row.line,
              .function = tree.function(row.address),
              .is_statement = row.is_statement});
      }
    }
  }
}

}  // namespace waymark::program

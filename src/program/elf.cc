#include "elf.h"

#include <algorithm>

#include "byte_reader.h"
#include "waymark/base/cut_text.h"

namespace waymark::program {
namespace {

Bytes part_of(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(in_memory(offset), in_memory(size));
}

/// Reads no more of a name than is kept, and one byte that shows that it is longer, because many
/// symbols may share a long name.
std::string_view symbol_text(Bytes strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto* const begin = reinterpret_cast<const char*>(strings.data() + in_memory(offset));
  const std::string_view rest(begin,
                              std::min(strings.size() - in_memory(offset), kLongestName + 1));
  const std::size_t end = rest.find('\0');
  // The last string of a section must be terminated too.
  if (end == std::string_view::npos && rest.size() <= kLongestName) return {};
  return rest.substr(0, end);
}

/// The build ID among notes, whose parts are aligned to 4 bytes or, in some segments, to 8.
std::vector<std::uint8_t> build_id_in(Bytes notes, bool big_endian, std::uint64_t alignment) {
  constexpr std::uint32_t kBuildId = 3;
  constexpr std::uint32_t kLongestId = 64;
  const std::uint64_t mask = alignment == 8 ? 7 : 3;
  ByteReader in(notes, big_endian);
  while (in.remaining() >= 12) {
    const std::uint32_t name_size = in.u32();
    const std::uint32_t size = in.u32();
    const std::uint32_t type = in.u32();
    const Bytes name = in.take(name_size);
    in.seek((in.position() + mask) & ~mask);
    const Bytes id = in.take(size);
    if (!in.ok()) return {};
    constexpr std::uint8_t kGnu[] = {'G', 'N', 'U', 0};
    if (type == kBuildId && size <= kLongestId && std::ranges::equal(name, kGnu))
      return {id.begin(), id.end()};
    in.seek((in.position() + mask) & ~mask);
  }
  return {};
}

/// The header's fields that say where the tables are.
struct Tables {
  std::uint64_t segments = 0;
  std::uint64_t sections = 0;
  std::uint64_t segment_size = 0;
  std::uint64_t segment_count = 0;
  std::uint64_t section_size = 0;
  std::uint64_t section_count = 0;
  std::uint64_t names = 0;  ///< The section with the names of sections.
};

ElfSection read_section(ByteReader& in, unsigned word, std::uint32_t& name) {
  ElfSection section;
  name = in.u32();
  section.type = in.u32();
  section.flags = in.integer(word);
  section.address = in.integer(word);
  section.offset = in.integer(word);
  section.size = in.integer(word);
  section.link = in.u32();
  section.info = in.u32();
  section.alignment = in.integer(word);
  section.entry_size = in.integer(word);
  return section;
}

void read_sections(Elf& elf, Bytes bytes, Tables tables) {
  const unsigned word = elf.is_64bit ? 8 : 4;
  const unsigned header_size = elf.is_64bit ? 64 : 40;
  if (tables.sections == 0 || tables.section_size < header_size) return;
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i == 0 || i < tables.section_count; ++i) {
    ByteReader in(bytes, elf.big_endian, tables.sections);
    if (i > in.remaining() / tables.section_size) break;
    in.skip(i * tables.section_size);
    std::uint32_t name = 0;
    ElfSection section = read_section(in, word, name);
    if (!in.ok()) break;
    if (i == 0) {
      // Numbers that have no place in the header are here.
      if (tables.section_count == 0) tables.section_count = section.size;
      if (tables.names == 0xFFFF) tables.names = section.link;
    }
    if (section.type != ElfSection::kNoBits && section.type != 0)
      section.bytes = part_of(bytes, section.offset, section.size);
    names.push_back(name);
    elf.sections.push_back(section);
  }
  if (tables.names >= elf.sections.size()) return;
  const Bytes strings = elf.sections[in_memory(tables.names)].bytes;
  for (std::size_t i = 0; i < elf.sections.size(); ++i)
    elf.sections[i].name = symbol_text(strings, names[i]);
}

void read_segments(Elf& elf, Bytes bytes, const Tables& tables) {
  const unsigned word = elf.is_64bit ? 8 : 4;
  if (tables.segments == 0 || tables.segment_size < (elf.is_64bit ? 56U : 32U)) return;
  for (std::uint64_t i = 0; i < tables.segment_count; ++i) {
    ByteReader in(bytes, elf.big_endian, tables.segments);
    in.skip(i * tables.segment_size);
    const std::uint32_t type = in.u32();
    std::uint32_t flags = elf.is_64bit ? in.u32() : 0;
    ElfLoad load;
    load.offset = in.integer(word);
    load.address = in.integer(word);
    in.skip(word);
    load.file_size = in.integer(word);
    load.memory_size = in.integer(word);
    if (!elf.is_64bit) flags = in.u32();
    const std::uint64_t align = in.integer(word);
    if (!in.ok()) return;
    if (type == 4 && elf.build_id.empty())
      elf.build_id =
          build_id_in(part_of(bytes, load.offset, load.file_size), elf.big_endian, align);
    if (type != 1) continue;
    load.executable = (flags & 1) != 0;
    elf.loads.push_back(load);
  }
}

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  const std::uint64_t mask = alignment == 0 ? 0 : alignment - 1;
  return (value + mask) & ~mask;
}

}  // namespace

std::optional<Elf> Elf::read(Bytes bytes) {
  ByteReader ident(bytes, false);
  const Bytes magic = ident.take(4);
  constexpr std::uint8_t kMagic[] = {0x7F, 'E', 'L', 'F'};
  if (!std::ranges::equal(magic, kMagic)) return std::nullopt;
  const std::uint8_t kind = ident.u8();
  const std::uint8_t order = ident.u8();
  if (kind < 1 || kind > 2 || order < 1 || order > 2) return std::nullopt;
  Elf elf;
  elf.is_64bit = kind == 2;
  elf.big_endian = order == 2;
  const unsigned word = elf.is_64bit ? 8 : 4;
  ByteReader in(bytes, elf.big_endian, 16);
  elf.type = in.u16();
  elf.machine = in.u16();
  in.skip(4 + word);  // The version, the entry point.
  Tables tables;
  tables.segments = in.integer(word);
  tables.sections = in.integer(word);
  in.skip(6);
  tables.segment_size = in.u16();
  tables.segment_count = in.u16();
  tables.section_size = in.u16();
  tables.section_count = in.u16();
  tables.names = in.u16();
  if (!in.ok()) return std::nullopt;
  read_sections(elf, bytes, tables);
  // Segments that have no place for their number in the header are counted in the first section.
  if (tables.segment_count == 0xFFFF && !elf.sections.empty())
    tables.segment_count = elf.sections.front().info;
  read_segments(elf, bytes, tables);
  for (const ElfSection& section : elf.sections) {
    if (!elf.build_id.empty()) break;
    if (section.type == ElfSection::kNote)
      elf.build_id = build_id_in(section.bytes, elf.big_endian, section.alignment);
  }
  if (elf.type == kRelocatable) elf.lay_out();
  return elf;
}

const ElfSection* Elf::section(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

const ElfSection* Elf::section_of_type(std::uint32_t wanted) const {
  const auto found = std::ranges::find(sections, wanted, &ElfSection::type);
  return found == sections.end() ? nullptr : &*found;
}

void Elf::lay_out() {
  // A kernel puts code that is only needed at the start elsewhere, so it comes last here.
  std::uint64_t next = 0;
  for (const bool init : {false, true}) {
    for (ElfSection& section : sections) {
      if (!section.is_code() || section.name.starts_with(".init") != init) continue;
      section.address = align_up(next, section.alignment);
      next = section.address + section.size;
    }
  }
  for (ElfSection& section : sections) {
    if ((section.flags & ElfSection::kAlloc) == 0 || section.is_code()) continue;
    section.address = align_up(next, section.alignment);
    next = section.address + section.size;
  }
}

template <class Take>
void Elf::each_symbol(const ElfSection& table, Take take) const {
  const std::uint64_t entry_size = is_64bit ? 24 : 16;
  const Bytes strings = table.link < sections.size() ? sections[table.link].bytes : Bytes();
  const auto more = std::ranges::find_if(sections, [&](const ElfSection& it) {
    return it.type == ElfSection::kMoreIndexes && it.link < sections.size() &&
           &sections[it.link] == &table;
  });
  const std::uint64_t count = table.bytes.size() / entry_size;
  ByteReader in(table.bytes, big_endian);
  for (std::uint64_t i = 0; i < count; ++i) {
    ElfName symbol;
    const std::uint32_t name = in.u32();
    std::uint8_t info = 0;
    std::uint32_t section = 0;
    if (is_64bit) {
      info = in.u8();
      in.skip(1);
      section = in.u16();
      symbol.value = in.u64();
      symbol.size = in.u64();
    } else {
      symbol.value = in.u32();
      symbol.size = in.u32();
      info = in.u8();
      in.skip(1);
      section = in.u16();
    }
    if (section == 0xFFFF && more != sections.end()) {
      section = ByteReader(more->bytes, big_endian, 4 * i).u32();
    } else if (section >= 0xFF00) {
      section = ElfName::kAbsolute;
    }
    symbol.section = section;
    symbol.type = info & 0xF;
    symbol.binding = info >> 4;
    symbol.name = symbol_text(strings, name);
    take(symbol);
  }
}

std::vector<ElfName> Elf::names(const ElfSection& table) const {
  std::vector<ElfName> all;
  each_symbol(table, [&](ElfName& symbol) {
    if (symbol.section == 0 || symbol.name.empty()) return;
    if (type == kRelocatable) {
      if (symbol.section >= sections.size()) return;
      symbol.value += sections[symbol.section].address;
    }
    all.push_back(symbol);
  });
  return all;
}

std::vector<std::string_view> Elf::all_names(const ElfSection& table) const {
  std::vector<std::string_view> all;
  each_symbol(table, [&](const ElfName& symbol) { all.push_back(symbol.name); });
  return all;
}

}  // namespace waymark::program

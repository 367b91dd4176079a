#include "dwarf_file.h"

#include <algorithm>
#include <utility>

#include "byte_reader.h"
#include "decompress.h"
#include "section_cache.h"

namespace waymark::program {
namespace {

/// How many bytes of a section a relocation sets to an address; 0: another kind.
unsigned absolute_size(unsigned machine, std::uint32_t type) {
  constexpr unsigned kX86 = 62;
  struct Row {
    unsigned machine;
    std::uint32_t type;
    unsigned size;
  };
  constexpr Row kRows[] = {{Elf::kAarch64, 257, 8},
                           {Elf::kAarch64, 258, 4},
                           {Elf::kArm, 2, 4},
                           {kX86, 1, 8},
                           {kX86, 10, 4}};
  for (const Row& row : kRows)
    if (row.machine == machine && row.type == type) return row.size;
  return 0;
}

void put(std::vector<std::uint8_t>& bytes, std::uint64_t offset, std::uint64_t value, unsigned size,
         bool big_endian) {
  if (offset > bytes.size() || size > bytes.size() - offset) return;
  for (unsigned i = 0; i < size; ++i)
    bytes[in_memory(offset) + (big_endian ? size - 1 - i : i)] =
        static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

std::unique_ptr<LoadedFile> LoadedFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  return mapped ? map(*std::move(mapped)) : nullptr;
}

std::unique_ptr<LoadedFile> LoadedFile::map(MappedFile mapped) {
  auto file = view(mapped.bytes(), mapped.path());
  if (file != nullptr) file->file_ = std::move(mapped);
  return file;
}

std::unique_ptr<LoadedFile> LoadedFile::view(Bytes bytes, std::string name) {
  auto elf = Elf::read(bytes);
  if (!elf) return nullptr;
  auto file = std::make_unique<LoadedFile>();
  file->path = std::move(name);
  file->elf = *std::move(elf);
  return file;
}

std::unique_ptr<LoadedFile> LoadedFile::own(std::vector<std::uint8_t> bytes, std::string name) {
  auto file = view(bytes, std::move(name));
  // The bytes of a vector stay where they are when it is moved.
  if (file != nullptr) file->bytes_ = std::move(bytes);
  return file;
}

bool LoadedFile::has_dwarf() const {
  return std::ranges::any_of(elf.sections, [](const ElfSection& it) {
    return !it.bytes.empty() && (it.name == ".debug_info" || it.name == ".zdebug_info");
  });
}

Bytes LoadedFile::unpacked(const ElfSection& section) {
  constexpr std::uint32_t kZlib = 1;
  constexpr std::uint32_t kZstd = 2;
  ByteReader in(section.bytes, elf.big_endian);
  PackedSection packed{.build_id = elf.build_id, .name = section.name};
  std::uint32_t type = 0;
  if ((section.flags & ElfSection::kCompressed) != 0) {
    const unsigned word = elf.is_64bit ? 8 : 4;
    type = in.u32();
    if (elf.is_64bit) in.skip(4);
    packed.size = in.integer(word);
    in.skip(word);
    packed.packed = in.take(in.remaining());
  } else if (section.name.starts_with(".z")) {
    // "ZLIB" and the size, whose first byte is always the highest.
    ByteReader header(section.bytes, true);
    constexpr std::uint32_t kMagic = 0x5A4C4942;
    if (header.u32() == kMagic) type = kZlib;
    packed.size = header.u64();
    packed.packed = header.take(header.remaining());
  } else {
    return section.bytes;
  }
  if (auto known = find_in_cache(packed)) return cached_.emplace_back(*std::move(known)).bytes();
  std::optional<std::vector<std::uint8_t>> out;
  if (type == kZlib) out = unpack_zlib(packed.packed, packed.size);
  if (type == kZstd) out = unpack_zstd(packed.packed, packed.size);
  if (!out) return {};
  const Bytes bytes = storage_.emplace_back(*std::move(out));
  keep_in_cache(packed, bytes);
  return bytes;
}

Bytes LoadedFile::relocated(const ElfSection& section, Bytes bytes) {
  const auto index = static_cast<std::uint32_t>(&section - elf.sections.data());
  const auto table = std::ranges::find_if(elf.sections, [&](const ElfSection& it) {
    return it.type == ElfSection::kRela && it.info == index;
  });
  if (table == elf.sections.end() || table->link >= elf.sections.size()) return bytes;
  std::vector<std::uint64_t> values;
  const ElfSection& symbols = elf.sections[table->link];
  const unsigned word = elf.is_64bit ? 8 : 4;
  for (ByteReader in(symbols.bytes, elf.big_endian); !in.at_end();) {
    ByteReader symbol(in.take(elf.is_64bit ? 24 : 16), elf.big_endian, elf.is_64bit ? 6 : 14);
    const std::uint16_t owner = symbol.u16();
    symbol.seek(elf.is_64bit ? 8 : 4);
    const std::uint64_t base = owner < elf.sections.size() ? elf.sections[owner].address : 0;
    values.push_back(base + symbol.integer(word));
  }
  std::vector<std::uint8_t>& out = storage_.emplace_back(bytes.begin(), bytes.end());
  for (ByteReader in(table->bytes, elf.big_endian); in.remaining() >= 3 * word;) {
    const std::uint64_t offset = in.integer(word);
    const std::uint64_t info = in.integer(word);
    const std::uint64_t addend = in.integer(word);
    const std::uint64_t symbol = elf.is_64bit ? info >> 32 : info >> 8;
    const auto type = static_cast<std::uint32_t>(elf.is_64bit ? info & 0xFFFF'FFFF : info & 0xFF);
    const unsigned size = absolute_size(elf.machine, type);
    if (size != 0 && symbol < values.size())
      put(out, offset, values[in_memory(symbol)] + addend, size, elf.big_endian);
  }
  return out;
}

Bytes LoadedFile::contents(std::string_view name) {
  const ElfSection* section = elf.section(name);
  if (section == nullptr && name.starts_with(".debug_"))
    section = elf.section(".z" + std::string(name.substr(1)));
  if (section == nullptr) return {};
  const Bytes bytes = unpacked(*section);
  return elf.type == Elf::kRelocatable && !bytes.empty() ? relocated(*section, bytes) : bytes;
}

DwarfSections LoadedFile::dwarf(std::string_view suffix) {
  const auto named = [&](std::string_view name) {
    return contents(std::string(name) + std::string(suffix));
  };
  DwarfSections all;
  all.big_endian = elf.big_endian;
  all.info = named(".debug_info");
  all.abbrev = named(".debug_abbrev");
  all.str = named(".debug_str");
  all.str_offsets = named(".debug_str_offsets");
  all.line = named(".debug_line");
  all.rnglists = named(".debug_rnglists");
  all.line_str = contents(".debug_line_str");
  all.ranges = contents(".debug_ranges");
  all.addr = contents(".debug_addr");
  all.aranges = contents(".debug_aranges");
  all.unit_index = contents(".debug_cu_index");
  return all;
}

}  // namespace waymark::program

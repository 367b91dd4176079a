#include "waymark/program/kernel.h"

#include <algorithm>

#include "byte_reader.h"
#include "elf.h"

namespace waymark::program {
namespace {

// Types of relocations, and what they change.
constexpr std::uint32_t kTestBranch14 = 279;
constexpr std::uint32_t kConditionalBranch19 = 280;
constexpr std::uint32_t kJump26 = 282;
constexpr std::uint32_t kCall26 = 283;

std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  return bytes[at] | std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at + 2]} << 16 |
         std::uint32_t{bytes[at + 3]} << 24;
}

void set_word(std::vector<std::uint8_t>& bytes, std::size_t at, std::uint32_t word) {
  for (unsigned i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::uint8_t>(word >> (8 * i));
}

/// The instruction with another distance, in words.
std::uint32_t branch_with(std::uint32_t instruction, std::uint32_t type, std::int64_t words) {
  const auto bits = static_cast<std::uint32_t>(words);
  switch (type) {
    case kTestBranch14:
      return (instruction & ~(0x3FFFU << 5)) | (bits & 0x3FFF) << 5;
    case kConditionalBranch19:
      return (instruction & ~(0x7FFFFU << 5)) | (bits & 0x7FFFF) << 5;
    default:
      return (instruction & ~0x3FFFFFFU) | (bits & 0x3FFFFFF);
  }
}

struct Symbol {
  std::uint64_t value = 0;
  std::uint32_t section = 0;
};

Symbol symbol_at(const Elf& elf, const ElfSection& table, std::uint64_t number) {
  constexpr std::uint64_t kSize = 24;
  if (number >= table.bytes.size() / kSize) return {};
  ByteReader in(table.bytes, elf.big_endian, 0);
  in.skip(number * kSize + 6);
  const std::uint32_t section = in.u16();
  return {.value = in.integer(8), .section = section};
}

}  // namespace

std::vector<LoadedPart> executable_parts(Bytes elf_file) {
  std::vector<LoadedPart> parts;
  const auto elf = Elf::read(elf_file);
  if (!elf) return parts;
  for (const ElfLoad& load : elf->loads) {
    if (!load.executable || load.offset >= elf_file.size()) continue;
    const std::uint64_t size =
        std::min<std::uint64_t>(load.file_size, elf_file.size() - load.offset);
    if (size != 0) parts.push_back({load.address, load.offset, size});
  }
  return parts;
}

std::optional<std::uint64_t> symbol_value(Bytes elf_file, std::string_view name) {
  const auto elf = Elf::read(elf_file);
  const ElfSection* const table = elf ? elf->section_of_type(ElfSection::kSymbolTable) : nullptr;
  if (table == nullptr) return std::nullopt;
  for (const ElfName& symbol : elf->names(*table))
    if (symbol.name == name) return symbol.value;
  return std::nullopt;
}

std::optional<ModuleCode> module_code(Bytes elf_file) {
  const auto elf = Elf::read(elf_file);
  if (!elf || elf->type != Elf::kRelocatable || elf->machine != Elf::kAarch64 || !elf->is_64bit)
    return std::nullopt;
  const ElfSection* const text = elf->section(".text");
  if (text == nullptr || text->bytes.empty()) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(text - elf->sections.data());
  ModuleCode code{.file_offset = text->offset, .bytes = {text->bytes.begin(), text->bytes.end()}};
  for (const ElfSection& section : elf->sections) {
    if (section.type != ElfSection::kRela || section.info != number ||
        section.link >= elf->sections.size())
      continue;
    const ElfSection& symbols = elf->sections[section.link];
    constexpr std::uint64_t kEntry = 24;
    for (std::uint64_t i = 0; i < section.bytes.size() / kEntry; ++i) {
      ByteReader in(section.bytes, elf->big_endian, 0);
      in.skip(i * kEntry);
      const std::uint64_t offset = in.integer(8);
      const std::uint64_t info = in.integer(8);
      const auto addend = static_cast<std::int64_t>(in.integer(8));
      const auto type = static_cast<std::uint32_t>(info);
      if (type != kTestBranch14 && type != kConditionalBranch19 && type != kJump26 &&
          type != kCall26)
        continue;
      if (offset % 4 != 0 || code.bytes.size() < 4 || offset > code.bytes.size() - 4) continue;
      const auto at = static_cast<std::size_t>(offset);
      const Symbol symbol = symbol_at(*elf, symbols, info >> 32);
      if (symbol.section == number) {
        const auto distance =
            static_cast<std::int64_t>(symbol.value) + addend - static_cast<std::int64_t>(offset);
        set_word(code.bytes, at, branch_with(word_at(code.bytes, at), type, distance >> 2));
      } else if (type == kCall26) {
        set_word(code.bytes, at, 0xD63F0200);  // blr x16
      } else if (type == kJump26) {
        set_word(code.bytes, at, 0xD61F0200);  // br x16
      }
    }
  }
  return code;
}

}  // namespace waymark::program

#include "plt.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "byte_reader.h"
#include "waymark/base/bits.h"
#include "waymark/base/cut_text.h"

namespace waymark::program {
namespace {

/// By the address of the slot that an entry jumps through.
using Slots = std::map<std::uint64_t, std::string>;

struct RelocationTypes {
  std::uint32_t jump;
  std::uint32_t data;
  std::uint32_t chosen;  ///< IRELATIVE: the addend is a function that chooses another.
};

constexpr RelocationTypes kTypes64 = {.jump = 1026, .data = 1025, .chosen = 1032};
constexpr RelocationTypes kTypes32 = {.jump = 22, .data = 21, .chosen = 160};

std::string name_at(const std::vector<Function>& functions, std::uint64_t address) {
  const auto at = std::ranges::lower_bound(functions, address, {}, &Function::last);
  return at != functions.end() && at->start <= address ? at->name : std::string();
}

/// The word in memory at an address; 0: it is not in the file.
std::uint64_t word_at(const Elf& elf, std::uint64_t address, unsigned size) {
  for (const ElfSection& section : elf.sections) {
    if ((section.flags & ElfSection::kAlloc) == 0 || address < section.address) continue;
    const std::uint64_t offset = address - section.address;
    if (offset + size <= section.bytes.size() && offset < section.bytes.size())
      return ByteReader(section.bytes, elf.big_endian, offset).integer(size);
  }
  return 0;
}

Slots slots_of(const Elf& elf, const std::vector<Function>& functions) {
  Slots slots;
  const RelocationTypes types = elf.is_64bit ? kTypes64 : kTypes32;
  const unsigned word = elf.is_64bit ? 8 : 4;
  for (const ElfSection& section : elf.sections) {
    const bool rela = section.type == ElfSection::kRela;
    if ((!rela && section.type != ElfSection::kRel) || (section.flags & ElfSection::kAlloc) == 0)
      continue;
    std::vector<std::string_view> names;
    if (section.link < elf.sections.size() &&
        elf.sections[section.link].type == ElfSection::kDynamicSymbols)
      names = elf.all_names(elf.sections[section.link]);
    const unsigned size = word * (rela ? 3 : 2);
    for (ByteReader in(section.bytes, elf.big_endian); in.remaining() >= size;) {
      const std::uint64_t slot = in.integer(word);
      const std::uint64_t info = in.integer(word);
      std::uint64_t addend = rela ? in.integer(word) : 0;
      const auto type =
          static_cast<std::uint32_t>(elf.is_64bit ? info & low_mask(32) : info & 0xFF);
      const std::uint64_t symbol = elf.is_64bit ? info >> 32 : info >> 8;
      if (type == types.chosen) {
        if (!rela) addend = word_at(elf, slot, word);
        if (elf.machine == Elf::kArm) addend &= ~std::uint64_t{1};
        if (std::string name = name_at(functions, addend); !name.empty())
          slots.try_emplace(slot, std::move(name));
      } else if ((type == types.jump || type == types.data) && symbol < names.size()) {
        const std::string_view name = names[in_memory(symbol)];
        if (!name.empty()) slots.try_emplace(slot, cut_text(name, kLongestName));
      }
    }
  }
  return slots;
}

/// An instruction sequence that jumps through a slot.
struct Jump {
  std::uint64_t slot = 0;
  unsigned size = 0;
};

/// adrp x16, page; ldr x17, [x16, #low]; then add and br.
std::optional<Jump> a64_jump(ByteReader in, std::uint64_t address) {
  constexpr std::uint32_t kBti = 0xD503245F;
  constexpr std::uint32_t kBranch = 0xD61F0220;  // br x17
  unsigned size = 4;
  std::uint32_t word = in.u32();
  if (word == kBti) {
    word = in.u32();
    size += 4;
  }
  if ((word & 0x9F00001F) != 0x90000010) return std::nullopt;
  const std::uint64_t pages = bits<23, 5>(word) << 2 | bits<30, 29>(word);
  const std::uint64_t sign = (pages & 0x10'0000) != 0 ? ~std::uint64_t{0x1F'FFFF} : 0;
  const std::uint64_t page =
      ((address + size - 4) & ~std::uint64_t{0xFFF}) + ((pages | sign) << 12);
  word = in.u32();
  size += 4;
  if ((word & 0xFFC003FF) != 0xF9400211) return std::nullopt;
  const std::uint64_t slot = page + 8 * std::uint64_t{bits<21, 10>(word)};
  // The add and, if pointers are signed, an authentication come before the branch.
  for (int i = 0; i < 4 && in.ok(); ++i) {
    const std::uint32_t next = in.u32();
    size += 4;
    if (next == kBranch || next == 0xD71F0A30)  // braa x17, x16
      return Jump{slot, size};
  }
  return std::nullopt;
}

/// An immediate of A32: 8 bits, rotated.
std::uint32_t a32_immediate(std::uint32_t word) {
  const unsigned rotation = 2 * ((word >> 8) & 0xF);
  return std::rotr(word & 0xFF, static_cast<int>(rotation));
}

/// add ip, pc, #a; add ip, ip, #b (none or several); ldr pc, [ip, #c]!.
std::optional<Jump> a32_jump(ByteReader in, std::uint64_t address) {
  std::uint32_t word = in.u32();
  unsigned size = 4;
  // A T32 caller enters through bx pc; nop.
  if (word == 0x46C0'4778 || word == 0xE7FD'4778) {
    address += 4;
    word = in.u32();
    size += 4;
  }
  if ((word & 0xFFFFF000) != 0xE28FC000) return std::nullopt;
  std::uint64_t slot = address + 8 + a32_immediate(word);
  for (int i = 0; i < 4 && in.ok(); ++i) {
    word = in.u32();
    size += 4;
    if ((word & 0xFFFFF000) == 0xE28CC000) {
      slot += a32_immediate(word);
    } else if ((word & 0xFFFFF000) == 0xE5BCF000) {
      return Jump{(slot + (word & 0xFFF)) & low_mask(32), size};
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// movw ip, #low; movt ip, #high; add ip, pc; ldr.w pc, [ip].
std::optional<Jump> t32_jump(ByteReader in, std::uint64_t address) {
  const auto immediate = [](std::uint32_t first, std::uint32_t second) {
    return (first & 0xF) << 12 | ((first >> 10) & 1) << 11 | ((second >> 12) & 7) << 8 |
           (second & 0xFF);
  };
  const std::uint32_t low1 = in.u16();
  const std::uint32_t low2 = in.u16();
  const std::uint32_t high1 = in.u16();
  const std::uint32_t high2 = in.u16();
  if ((low1 & 0xFBF0) != 0xF240 || (low2 & 0x8F00) != 0x0C00 || (high1 & 0xFBF0) != 0xF2C0 ||
      (high2 & 0x8F00) != 0x0C00 || in.u16() != 0x44FC || in.u16() != 0xF8DC || in.u16() != 0xF000)
    return std::nullopt;
  const std::uint32_t distance = immediate(high1, high2) << 16 | immediate(low1, low2);
  return Jump{(address + 12 + distance) & low_mask(32), 16};
}

bool is_plt(const ElfSection& section) {
  return section.name == ".plt" || section.name == ".plt.got" || section.name == ".plt.sec" ||
         section.name == ".iplt";
}

}  // namespace

std::vector<Function> plt_entries(const Elf& elf, const std::vector<Function>& functions) {
  std::vector<Function> entries;
  if (elf.machine != Elf::kAarch64 && elf.machine != Elf::kArm) return entries;
  Slots slots;
  for (const ElfSection& section : elf.sections) {
    if (!is_plt(section) || !section.is_code()) continue;
    if (slots.empty()) slots = slots_of(elf, functions);
    const unsigned step = elf.machine == Elf::kArm ? 2 : 4;
    const std::size_t first = entries.size();
    // Instructions are little-endian, also in programs with big-endian data.
    for (std::uint64_t at = 0; at < section.bytes.size();) {
      const ByteReader in(section.bytes, false, at);
      const std::uint64_t address = section.address + at;
      std::optional<Jump> jump;
      if (elf.machine == Elf::kAarch64) {
        jump = a64_jump(in, address);
      } else {
        jump = a32_jump(in, address);
        if (!jump) jump = t32_jump(in, address);
      }
      if (!jump) {
        at += step;
        continue;
      }
      if (const auto slot = slots.find(jump->slot); slot != slots.end())
        entries.push_back({address, address + jump->size - 1, slot->second + "@plt"});
      at += jump->size;
    }
    // Bytes between two entries belong to the first one.
    for (std::size_t i = first; i + 1 < entries.size(); ++i) {
      constexpr std::uint64_t kMostFilled = 16;
      if (entries[i + 1].start - entries[i].last <= kMostFilled)
        entries[i].last = entries[i + 1].start - 1;
    }
  }
  // In a damaged file, sections may overlap or go past the end of the address space.
  std::erase_if(entries, [](const Function& it) { return it.last < it.start; });
  std::ranges::stable_sort(entries, {}, &Function::start);
  std::vector<Function> apart;
  for (Function& entry : entries) {
    if (apart.empty() || apart.back().last < entry.start) apart.push_back(std::move(entry));
  }
  return apart;
}

}  // namespace waymark::program

// AArch64 kernels and modules, as ELF files with the tables of code that is changed in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace waymark::support {

/// An ELF file, section by section.
class ElfFile {
 public:
  static constexpr std::uint32_t kProgramBits = 1;
  static constexpr std::uint32_t kRela = 4;
  static constexpr std::uint64_t kData = 2;
  static constexpr std::uint64_t kCode = 6;

  /// The number of the new section.
  std::uint32_t section(std::string name, std::uint64_t flags, std::uint64_t address,
                        std::vector<std::uint8_t> bytes) {
    sections_.push_back(
        {.name = std::move(name), .flags = flags, .address = address, .bytes = std::move(bytes)});
    return static_cast<std::uint32_t>(sections_.size());
  }
  /// The number of the new symbol; section 0: another file defines it.
  std::uint32_t symbol(std::string name, std::uint32_t section, std::uint64_t value) {
    symbols_.push_back({std::move(name), section, value});
    return static_cast<std::uint32_t>(symbols_.size());
  }
  /// A field of a section that refers to `symbol` + `addend`.
  void relocate(std::uint32_t section, std::uint64_t offset, std::uint32_t type,
                std::uint32_t symbol, std::uint64_t addend) {
    relocations_.push_back({section, offset, type, symbol, addend});
  }

  /// Where the bytes of a section are in the file, once no more sections follow.
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t section, bool relocatable) const {
    std::uint64_t at = kHeader + (relocatable ? 0 : kSegment * sections_.size());
    for (std::uint32_t i = 1; i < section; ++i) at += sections_[i - 1].bytes.size();
    return at;
  }

  /// A module, or else an executable with a segment for each section.
  [[nodiscard]] std::vector<std::uint8_t> bytes(bool relocatable) const {
    std::vector<Section> all = sections_;
    const auto symbol_table = static_cast<std::uint32_t>(all.size() + 1);
    add_symbols(all);
    for (std::uint32_t section = 1; section <= sections_.size(); ++section)
      add_relocations(all, section, symbol_table);
    std::vector<std::uint8_t> names{0};
    std::vector<std::uint32_t> name_at;
    all.push_back({.name = ".shstrtab", .type = 3});
    name_at.reserve(all.size());
    for (const Section& each : all) name_at.push_back(put_text(names, each.name));
    all.back().bytes = std::move(names);

    const std::uint64_t segments = relocatable ? 0 : sections_.size();
    std::uint64_t end = kHeader + kSegment * segments;
    std::vector<std::uint64_t> offsets;
    for (const Section& each : all) {
      offsets.push_back(end);
      end += each.bytes.size();
    }
    std::vector<std::uint8_t> out{0x7F, 'E', 'L', 'F', 2, 1, 1};
    out.resize(16);
    put(out, relocatable ? 1 : 2, 2);
    put(out, 183, 2);
    put(out, 1, 4);
    put(out, 0, 8);
    put(out, segments == 0 ? 0 : kHeader, 8);
    put(out, end, 8);
    put(out, 0, 4);
    for (const std::uint64_t field : {kHeader, kSegment, segments, kHeader,
                                      std::uint64_t{all.size() + 1}, std::uint64_t{all.size()}})
      put(out, field, 2);
    for (std::size_t i = 0; i < segments; ++i) {
      put(out, 1, 4);
      put(out, all[i].flags == kCode ? 5 : 4, 4);
      for (const std::uint64_t field : {offsets[i], all[i].address, all[i].address})
        put(out, field, 8);
      for (const std::uint64_t field : {all[i].bytes.size(), all[i].bytes.size(), std::size_t{4}})
        put(out, field, 8);
    }
    for (const Section& each : all) out.insert(out.end(), each.bytes.begin(), each.bytes.end());
    out.resize(out.size() + kHeader);  // The first section header is empty.
    for (std::size_t i = 0; i < all.size(); ++i) {
      put(out, name_at[i], 4);
      put(out, all[i].type, 4);
      for (const std::uint64_t field : {all[i].flags, relocatable ? 0 : all[i].address, offsets[i],
                                        std::uint64_t{all[i].bytes.size()}})
        put(out, field, 8);
      put(out, all[i].link, 4);
      put(out, all[i].info, 4);
      put(out, 4, 8);
      put(out, 0, 8);
    }
    return out;
  }

  static void put(std::vector<std::uint8_t>& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) out.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  static std::vector<std::uint8_t> words(const std::vector<std::uint32_t>& words) {
    std::vector<std::uint8_t> out;
    for (const std::uint32_t word : words) put(out, word, 4);
    return out;
  }

 private:
  static constexpr std::uint64_t kHeader = 64;
  static constexpr std::uint64_t kSegment = 56;
  struct Section {
    std::string name{};
    std::uint32_t type = kProgramBits;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes{};
    std::uint32_t link = 0;
    std::uint32_t info = 0;
  };
  struct Symbol {
    std::string name{};
    std::uint32_t section = 0;
    std::uint64_t value = 0;
  };
  struct Relocation {
    std::uint32_t section = 0;
    std::uint64_t offset = 0;
    std::uint32_t type = 0;
    std::uint32_t symbol = 0;
    std::uint64_t addend = 0;
  };

  static std::uint32_t put_text(std::vector<std::uint8_t>& out, const std::string& text) {
    const auto at = static_cast<std::uint32_t>(out.size());
    out.insert(out.end(), text.begin(), text.end());
    out.push_back(0);
    return at;
  }

  void add_symbols(std::vector<Section>& all) const {
    std::vector<std::uint8_t> table(24);
    std::vector<std::uint8_t> names{0};
    for (const Symbol& symbol : symbols_) {
      put(table, put_text(names, symbol.name), 4);
      put(table, 0x10, 1);
      put(table, 0, 1);
      put(table, symbol.section, 2);
      put(table, symbol.value, 8);
      put(table, 0, 8);
    }
    const auto strings = static_cast<std::uint32_t>(all.size() + 2);
    all.push_back({.name = ".symtab", .type = 2, .bytes = std::move(table), .link = strings});
    all.push_back({.name = ".strtab", .type = 3, .bytes = std::move(names)});
  }

  void add_relocations(std::vector<Section>& all, std::uint32_t section,
                       std::uint32_t symbol_table) const {
    std::vector<std::uint8_t> table;
    for (const Relocation& each : relocations_) {
      if (each.section != section) continue;
      put(table, each.offset, 8);
      put(table, std::uint64_t{each.symbol} << 32 | each.type, 8);
      put(table, each.addend, 8);
    }
    if (table.empty()) return;
    all.push_back({.name = ".rela" + all[section - 1].name,
                   .type = kRela,
                   .bytes = std::move(table),
                   .link = symbol_table,
                   .info = section});
  }

  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
  std::vector<Relocation> relocations_;
};

namespace a64 {

inline constexpr std::uint32_t kNop = 0xD503201F;
inline constexpr std::uint32_t kRet = 0xD65F03C0;
inline constexpr std::uint32_t kAdd = 0x91000400;  ///< add x0, x0, #1

/// Distances in instructions.
constexpr std::uint32_t b(std::int32_t distance) {
  return 0x14000000U | (static_cast<std::uint32_t>(distance) & 0x3FFFFFFU);
}
constexpr std::uint32_t cbz(std::int32_t distance) {
  return 0xB4000000U | (static_cast<std::uint32_t>(distance) & 0x7FFFFU) << 5;
}
constexpr std::uint32_t tbz(std::int32_t distance) {
  return 0x36000000U | (static_cast<std::uint32_t>(distance) & 0x3FFFU) << 5;
}
/// The distance in pages.
constexpr std::uint32_t adrp(std::int32_t distance) {
  const auto pages = static_cast<std::uint32_t>(distance);
  return 0x90000000U | (pages & 3) << 29 | (pages >> 2 & 0x7FFFFU) << 5;
}

}  // namespace a64

/// Fills __jump_table and .altinstructions.
struct ChangedCode {
  static constexpr std::uint64_t kText = 0x10000;
  static constexpr std::uint64_t kReplacements = 0x20000;
  static constexpr std::uint64_t kTables = 0x30000;
  static constexpr std::uint64_t kKeys = 0x40000;
  static constexpr std::uint64_t kCallbacks = kText + 0x40;  ///< A function that writes NOPs.

  std::vector<std::uint32_t> text{};
  std::vector<std::uint32_t> replacements{};
  struct Key {
    std::uint64_t code = 0;
    std::uint64_t target = 0;
    std::uint64_t key = 0;  ///< Bit 0: the branch is there while the key is off.
  };
  struct Alternative {
    std::uint64_t code = 0;
    std::uint64_t replacement = 0;
    std::uint16_t capability = 0;
    std::uint8_t size = 4;
    std::uint8_t replacement_size = 4;
  };
  std::vector<Key> keys{};
  std::vector<Alternative> alternatives{};

  /// `named`: the tables have sections of their own, or else symbols around them.
  [[nodiscard]] std::vector<std::uint8_t> kernel(bool named) const {
    std::vector<std::uint8_t> table;
    const auto relative = [&](std::uint64_t to, unsigned size) {
      ElfFile::put(table, to - (kTables + table.size()), size);
    };
    for (const Key& each : keys) {
      relative(each.code, 4);
      relative(each.target, 4);
      relative(each.key, 8);
    }
    const std::uint64_t middle = table.size();
    for (const Alternative& each : alternatives) {
      relative(each.code, 4);
      relative(each.replacement, 4);
      ElfFile::put(table, each.capability, 2);
      ElfFile::put(table, each.size, 1);
      ElfFile::put(table, each.replacement_size, 1);
    }
    ElfFile file;
    const std::uint32_t code = file.section(".text", ElfFile::kCode, kText, ElfFile::words(text));
    file.section(".rodata", ElfFile::kData, kReplacements, ElfFile::words(replacements));
    if (named) {
      const auto at = table.begin() + static_cast<std::ptrdiff_t>(middle);
      file.section("__jump_table", ElfFile::kData, kTables, {table.begin(), at});
      file.section(".altinstructions", ElfFile::kData, kTables + middle, {at, table.end()});
    } else {
      const std::uint32_t data = file.section(".data", ElfFile::kData, kTables, table);
      file.symbol("__start___jump_table", data, kTables);
      file.symbol("__stop___jump_table", data, kTables + middle);
      file.symbol("__alt_instructions", data, kTables + middle);
      file.symbol("__alt_instructions_end", data, kTables + table.size());
    }
    const std::uint32_t data = file.section(".bss", ElfFile::kData, kKeys, {});
    file.symbol("first_key", data, kKeys);
    file.symbol("second_key", data, kKeys + 16);
    file.symbol("alt_cb_patch_nops", code, kCallbacks);
    return file.bytes(false);
  }
};

}  // namespace waymark::support

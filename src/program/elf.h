// The parts of an ELF file: sections, segments, symbols.  Nothing is copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::program {

struct ElfSection {
  std::string_view name{};
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;
  Bytes bytes{};  ///< As they are in the file; empty if they are not in it.

  static constexpr std::uint32_t kSymbolTable = 2;
  static constexpr std::uint32_t kRela = 4;
  static constexpr std::uint32_t kNote = 7;
  static constexpr std::uint32_t kNoBits = 8;
  static constexpr std::uint32_t kRel = 9;
  static constexpr std::uint32_t kDynamicSymbols = 11;
  static constexpr std::uint32_t kMoreIndexes = 18;
  static constexpr std::uint64_t kAlloc = 2;
  static constexpr std::uint64_t kExecutable = 4;
  static constexpr std::uint64_t kCompressed = 0x800;

  [[nodiscard]] bool is_code() const {
    return (flags & (kAlloc | kExecutable)) == (kAlloc | kExecutable) && size != 0;
  }
};

struct ElfLoad {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  bool executable = false;
};

struct ElfName {
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  std::string_view name{};
  std::uint8_t type = 0;
  std::uint8_t binding = 0;
  std::uint32_t section = 0;  ///< kAbsolute: in none.

  static constexpr std::uint8_t kNoType = 0;
  static constexpr std::uint8_t kFunction = 2;
  static constexpr std::uint8_t kIndirectFunction = 10;
  static constexpr std::uint8_t kGlobal = 1;
  static constexpr std::uint8_t kWeak = 2;
  static constexpr std::uint32_t kAbsolute = 0xFFFF'FFF1;

  [[nodiscard]] bool is_function() const { return type == kFunction || type == kIndirectFunction; }
};

/// The views live as long as the bytes.
struct Elf {
  static constexpr unsigned kArm = 40;
  static constexpr unsigned kAarch64 = 183;
  static constexpr unsigned kRelocatable = 1;

  /// Nothing: this is not an ELF file.  What is damaged is left out.
  static std::optional<Elf> read(Bytes bytes);

  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section_of_type(std::uint32_t wanted) const;
  /// Those that the file defines, in its order; for a relocatable file with the addresses that
  /// lay_out() gave.
  [[nodiscard]] std::vector<ElfName> names(const ElfSection& table) const;
  /// The names of all entries of a table of symbols, by their index.
  [[nodiscard]] std::vector<std::string_view> all_names(const ElfSection& table) const;

  /// Gives the sections of a relocatable file addresses, as a kernel gives them to a module.
  void lay_out();

  bool is_64bit = true;
  bool big_endian = false;
  unsigned type = 0;
  unsigned machine = 0;
  std::vector<ElfSection> sections{};
  std::vector<ElfLoad> loads{};
  std::vector<std::uint8_t> build_id{};

 private:
  template <class Take>
  void each_symbol(const ElfSection& table, Take take) const;
};

}  // namespace waymark::program

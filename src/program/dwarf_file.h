// The sections of a file that have debug information, ready to be read.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "elf.h"
#include "waymark/base/mapped_file.h"

namespace waymark::program {

/// The views live as long as the file that they come from.
struct DwarfSections {
  bool big_endian = false;
  Bytes info{};
  Bytes abbrev{};
  Bytes str{};
  Bytes str_offsets{};
  Bytes line{};
  Bytes line_str{};
  Bytes ranges{};
  Bytes rnglists{};
  Bytes addr{};
  Bytes aranges{};
  Bytes unit_index{};  ///< .debug_cu_index of a .dwp file.
};

/// An ELF file in memory, and the sections of it that had to be unpacked.
struct LoadedFile {
  /// nullptr, here and below: it cannot be read, or is not an ELF file.
  static std::unique_ptr<LoadedFile> open(const std::string& path);
  static std::unique_ptr<LoadedFile> map(MappedFile mapped);
  /// `name` is for relative paths.  The bytes must outlive the result.
  static std::unique_ptr<LoadedFile> view(Bytes bytes, std::string name);
  static std::unique_ptr<LoadedFile> own(std::vector<std::uint8_t> bytes, std::string name);

  /// The content of a section, unpacked and relocated.  Empty: there is none, or it is damaged.
  Bytes contents(std::string_view name);
  /// `suffix`: that of the names of sections, such as ".dwo".
  DwarfSections dwarf(std::string_view suffix);
  [[nodiscard]] bool has_dwarf() const;

  std::string path{};
  Elf elf{};

 private:
  Bytes unpacked(const ElfSection& section);
  Bytes relocated(const ElfSection& section, Bytes bytes);

  MappedFile file_{};
  std::vector<std::uint8_t> bytes_{};
  std::deque<std::vector<std::uint8_t>> storage_{};
  std::deque<MappedFile> cached_{};
};

}  // namespace waymark::program

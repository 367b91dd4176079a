// What the command line needs of an ELF file: symbols, and what lies where in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/etm4x/plan.h"

namespace waymark::cli {

struct ElfSegment {
  std::uint64_t address = 0;  ///< With the bias.
  std::uint64_t offset = 0;   ///< In the file.
  std::uint64_t size = 0;     ///< In the file.
};

class ElfFile {
 public:
  /// `path`, loaded `bias` above the addresses that it was linked for.  kNotFound, kIo; kBadData:
  /// not an ELF file, or damaged.
  static Result<ElfFile> open(const std::string& path, std::uint64_t bias);

  /// Functions and objects, from the symbol table or else the dynamic one.
  [[nodiscard]] const etm4x::Symbol* find(std::string_view name) const;
  /// Loaded parts that are not empty, in file order.
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::map<std::string, etm4x::Symbol, std::less<>> symbols_;
  std::vector<ElfSegment> segments_;
};

/// "FILE" or "FILE@BIAS".
Result<ElfFile> open_elf_argument(const std::string& argument);

/// Looks in all files in turn; they must outlive the resolver.
etm4x::SymbolResolver symbol_resolver(const std::vector<ElfFile>& files);

}  // namespace waymark::cli

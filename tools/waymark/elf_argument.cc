#include "elf_argument.h"

#include <fmt/format.h>

#include "waymark/inputs/ini.h"

namespace waymark::cli {

Result<image::ElfFile> open_elf_argument(const std::string& argument) {
  const std::size_t at = argument.rfind('@');
  if (at == std::string::npos) return image::ElfFile::open(argument);
  const std::string text = argument.substr(at + 1);
  const auto bias = inputs::ini_number(text);
  if (!bias || text.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not of the form FILE@ADDRESS, such as a.out@0xaaaa0000.", argument));
  }
  return image::ElfFile::open(argument.substr(0, at), *bias);
}

etm4x::SymbolResolver symbol_resolver(const std::vector<image::ElfFile>& files) {
  if (files.empty()) return nullptr;
  return [&files](std::string_view name) -> Result<etm4x::Symbol> {
    std::string searched;
    for (const image::ElfFile& file : files) {
      if (const image::ElfSymbol* symbol = file.find(name)) {
        // A comparator sees the address of a T32 instruction without the bit that selects T32.
        const bool thumb = file.machine() == image::ElfFile::kArm && symbol->function;
        const std::uint64_t bit = thumb ? symbol->address & 1 : 0;
        return etm4x::Symbol{symbol->address - bit, symbol->size};
      }
      searched += fmt::format("{}{}", searched.empty() ? "" : ", ", file.path());
    }
    return fail(ErrorCode::kNotFound, fmt::format("No symbol of this name is in {}", searched));
  };
}

}  // namespace waymark::cli

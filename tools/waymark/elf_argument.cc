#include "elf_argument.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "waymark/base/number.h"

namespace waymark::cli {

Result<inputs::ProgramFile> parse_elf_argument(const std::string& argument) {
  const std::size_t at = argument.rfind('@');
  if (at == std::string::npos) return inputs::ProgramFile{argument};
  if (const auto bias = parse_number(std::string_view(argument).substr(at + 1)); bias && at != 0)
    return inputs::ProgramFile{argument.substr(0, at), *bias};
  std::error_code error;
  if (std::filesystem::exists(argument, error)) return inputs::ProgramFile{argument};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is not of the form FILE@ADDRESS, such as a.out@0xaaaa0000.", argument));
}

Result<elf::File> open_elf_argument(const std::string& argument) {
  const auto program = parse_elf_argument(argument);
  if (!program) return std::unexpected(program.error());
  return elf::File::open(program->path, program->bias);
}

std::vector<std::string> program_paths(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    const auto program = parse_elf_argument(argument);
    paths.push_back(program ? program->path : argument);
  }
  return paths;
}

etm4x::SymbolResolver symbol_resolver(const std::vector<elf::File>& files) {
  if (files.empty()) return nullptr;
  return [&files](std::string_view name) -> Result<etm4x::Symbol> {
    std::string searched;
    for (const elf::File& file : files) {
      if (const elf::Symbol* symbol = file.find(name)) {
        // A comparator sees the address of a T32 instruction without the bit that selects T32.
        const bool thumb = file.machine() == elf::File::kArm && symbol->function;
        const std::uint64_t bit = thumb ? symbol->address & 1 : 0;
        return etm4x::Symbol{symbol->address - bit, symbol->size};
      }
      searched += fmt::format("{}{}", searched.empty() ? "" : ", ", file.path());
    }
    return fail(ErrorCode::kNotFound, fmt::format("No symbol of this name is in {}", searched));
  };
}

}  // namespace waymark::cli

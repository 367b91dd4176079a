#include "elf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "waymark/inputs/ini.h"

namespace waymark::cli {
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

void read_symbols(Elf* elf, std::uint32_t wanted, std::uint64_t bias,
                  std::map<std::string, etm4x::Symbol, std::less<>>& symbols) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != wanted) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) continue;
    const auto count = static_cast<int>(data->d_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) break;
      const unsigned type = GELF_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF) continue;
      if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0' || *name == '$') continue;
      symbols.try_emplace(name, etm4x::Symbol{symbol.st_value + bias, symbol.st_size});
    }
  }
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path, std::uint64_t bias) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return fail(
        errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        fmt::format("{} cannot be opened: {}.", path, std::generic_category().message(errno)));
  }
  ElfFile file;
  file.path_ = path;
  elf_version(EV_CURRENT);
  bool good = false;
  {
    const std::unique_ptr<Elf, ElfEnd> elf(elf_begin(descriptor, ELF_C_READ, nullptr));
    std::size_t headers = 0;
    good = elf && elf_kind(elf.get()) == ELF_K_ELF && elf_getphdrnum(elf.get(), &headers) == 0;
    for (std::size_t i = 0; good && i < headers; ++i) {
      GElf_Phdr header;
      good = gelf_getphdr(elf.get(), static_cast<int>(i), &header) != nullptr;
      if (!good || header.p_type != PT_LOAD || header.p_filesz == 0) continue;
      file.segments_.push_back({header.p_vaddr + bias, header.p_offset, header.p_filesz});
    }
    if (good) {
      read_symbols(elf.get(), SHT_SYMTAB, bias, file.symbols_);
      if (file.symbols_.empty()) read_symbols(elf.get(), SHT_DYNSYM, bias, file.symbols_);
    }
  }
  close(descriptor);
  if (!good) {
    return fail(ErrorCode::kBadData, fmt::format("{} is not an ELF file, or is damaged.", path));
  }
  return file;
}

const etm4x::Symbol* ElfFile::find(std::string_view name) const {
  const auto at = symbols_.find(name);
  return at == symbols_.end() ? nullptr : &at->second;
}

Result<ElfFile> open_elf_argument(const std::string& argument) {
  const std::size_t at = argument.rfind('@');
  if (at == std::string::npos) return ElfFile::open(argument, 0);
  const std::string text = argument.substr(at + 1);
  const auto bias = inputs::ini_number(text);
  if (!bias || text.empty()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}' is not of the form FILE@ADDRESS, such as a.out@0xaaaa0000.", argument));
  }
  return ElfFile::open(argument.substr(0, at), *bias);
}

etm4x::SymbolResolver symbol_resolver(const std::vector<ElfFile>& files) {
  if (files.empty()) return nullptr;
  return [&files](std::string_view name) -> Result<etm4x::Symbol> {
    for (const ElfFile& file : files) {
      if (const etm4x::Symbol* symbol = file.find(name)) return *symbol;
    }
    std::string searched;
    for (const ElfFile& file : files) {
      searched += fmt::format("{}{}", searched.empty() ? "" : ", ", file.path());
    }
    return fail(ErrorCode::kNotFound, fmt::format("No symbol of this name is in {}", searched));
  };
}

}  // namespace waymark::cli

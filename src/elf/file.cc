#include "waymark/elf/file.h"

#include <fmt/core.h>

#if WAYMARK_HAVE_LIBELF
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "waymark/base/cut_text.h"
#endif

namespace waymark::elf {

const Symbol* File::find(std::string_view name) const {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &symbols_[at->second];
}

#if WAYMARK_HAVE_LIBELF

/// Fills a File, whose file is already mapped.
class Reader {
 public:
  Reader(File& file, std::uint64_t bias) : file_(file), bias_(bias) {}

  Result<void> run() {
    if (elf_version(EV_CURRENT) == EV_NONE)
      return fail(ErrorCode::kUnsupported,
                  "The libelf of this system is too old for this program.");
    const Bytes bytes = file_.file_.bytes();
    if (bytes.empty()) return broken("it is empty");
    // libelf only reads these bytes.
    auto* image = reinterpret_cast<char*>(const_cast<std::uint8_t*>(bytes.data()));
    elf_.reset(elf_memory(image, bytes.size()));
    GElf_Ehdr header;
    if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getehdr(elf_.get(), &header) == nullptr)
      return broken("it has no ELF header");
    file_.machine_ = header.e_machine;
    file_.big_endian_ = header.e_ident[EI_DATA] != ELFDATA2LSB;
    if (header.e_entry != 0) file_.entry_ = header.e_entry + bias_;
    WAYMARK_TRY(read_segments(header));
    read_symbols(SHT_SYMTAB);
    if (file_.symbols_.empty()) read_symbols(SHT_DYNSYM);
    for (std::size_t i = 0; i < file_.symbols_.size(); ++i)
      file_.index_.try_emplace(file_.symbols_[i].name, i);
    return {};
  }

 private:
  struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
  };

  std::unexpected<Error> broken(std::string_view what) const {
    return fail(ErrorCode::kBadData,
                fmt::format("'{}' is not an ELF file, or is damaged: {}.", file_.path(), what));
  }

  Result<void> read_segments(const GElf_Ehdr& elf_header) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_.get(), &count) != 0)
      return broken("its program headers cannot be read");
    const std::size_t file_size = file_.file_.size();
    // libelf ignores headers that the file does not have.
    if (elf_header.e_phnum != 0 && (count == 0 || elf_header.e_phoff > file_size))
      return broken("its program headers are beyond the end of the file");
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf_.get(), static_cast<int>(i), &header) == nullptr)
        return broken("a program header cannot be read");
      if (header.p_type != PT_LOAD || header.p_filesz == 0) continue;
      if (header.p_offset > file_size || header.p_filesz > file_size - header.p_offset)
        return broken("a segment reaches beyond the end of the file");
      file_.segments_.push_back(
          {header.p_vaddr + bias_, header.p_offset, header.p_filesz, (header.p_flags & PF_X) != 0});
    }
    return {};
  }

  /// The strings of a section, which are the names of symbols.
  [[nodiscard]] std::string_view strings_of(std::uint32_t section) const {
    Elf_Scn* const found = elf_getscn(elf_.get(), section);
    GElf_Shdr header;
    if (found == nullptr || gelf_getshdr(found, &header) == nullptr ||
        header.sh_type != SHT_STRTAB || (header.sh_flags & SHF_COMPRESSED) != 0)
      return {};
    const Elf_Data* const data = elf_getdata(found, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }

  /// Reads no more of a name than is kept, as many symbols may share a long one.
  static std::optional<std::string> name_at(std::string_view strings, std::size_t offset) {
    if (offset >= strings.size()) return std::nullopt;
    const std::string_view rest = strings.substr(offset, kLongestName + 1);
    const std::size_t end = rest.find('\0');
    // The last string of a section must be terminated too.
    if (end == std::string_view::npos && rest.size() <= kLongestName) return std::nullopt;
    return cut_text(rest.substr(0, end), kLongestName);
  }

  void read_symbols(std::uint32_t wanted) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_.get(), section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != wanted) continue;
      Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr || header.sh_entsize == 0) continue;
      const std::string_view strings = strings_of(header.sh_link);
      const auto count = static_cast<int>(data->d_size / header.sh_entsize);
      for (int i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == nullptr) break;
        const unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF) continue;
        if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) continue;
        std::optional<std::string> name = name_at(strings, symbol.st_name);
        // Mapping symbols ($a, $t, $x, $d) do not name a place in the program.
        if (!name || name->empty() || name->front() == '$') continue;
        file_.symbols_.push_back({symbol.st_value + bias_, symbol.st_size, *std::move(name),
                                  type == STT_FUNC, type == STT_NOTYPE});
      }
    }
  }

  File& file_;
  std::uint64_t bias_;
  std::unique_ptr<Elf, ElfEnd> elf_;
};

Result<File> File::open(const std::string& path, std::uint64_t bias) {
  File elf;
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  elf.file_ = std::move(*file);
  WAYMARK_TRY(Reader(elf, bias).run());
  return elf;
}

#else

Result<File> File::open(const std::string& path, std::uint64_t /*bias*/) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("'{}' cannot be read: this build is without libelf. Install the package "
                          "libelf-dev and build again with -DWAYMARK_ELF=ON.",
                          path));
}

#endif

}  // namespace waymark::elf

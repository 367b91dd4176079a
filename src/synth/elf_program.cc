// Programs from ELF files, read with libelf.
#include <fmt/core.h>

#include "waymark/synth/program.h"

#if WAYMARK_HAVE_LIBELF
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>
#endif

namespace waymark::synth {

#if WAYMARK_HAVE_LIBELF
namespace {

using isa::Isa;

/// Far above any real program.
constexpr std::uint64_t kMaxCode = std::uint64_t{1} << 30;

/// An open file with its ELF descriptor.
class ElfFile {
 public:
  ElfFile() = default;
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() {
    if (elf_ != nullptr) elf_end(elf_);
    if (descriptor_ >= 0) close(descriptor_);
  }

  Result<void> open(const std::string& path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0)
      return fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                  fmt::format("Cannot open '{}': {}.", path, std::strerror(errno)));
    if (elf_version(EV_CURRENT) == EV_NONE)
      return fail(ErrorCode::kUnsupported, "The libelf of this system is of another version.");
    elf_ = elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF)
      return fail(ErrorCode::kBadData, fmt::format("'{}' is no ELF file.", path));
    return {};
  }
  [[nodiscard]] Elf* get() const { return elf_; }

 private:
  int descriptor_ = -1;
  Elf* elf_ = nullptr;
};

class Reader {
 public:
  Reader(Elf* elf, const std::string& path) : elf_(elf), path_(path) {}

  Result<Program> run() {
    GElf_Ehdr header;
    if (gelf_getehdr(elf_, &header) == nullptr) return broken("its header cannot be read");
    arm_ = header.e_machine == EM_ARM;
    if (!arm_ && header.e_machine != EM_AARCH64)
      return fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' is for machine {}; AArch64 (183) and Arm (40) are supported.",
                              path_, header.e_machine));
    if (header.e_ident[EI_DATA] != ELFDATA2LSB)
      return fail(ErrorCode::kUnsupported, fmt::format("'{}' is big-endian.", path_));
    WAYMARK_TRY(read_segments());
    read_functions();
    if (header.e_entry != 0) add_entry(header.e_entry);
    for (const Place& place : program_.functions())
      if (program_.entries().size() < 16) program_.add_entry(place);
    if (program_.entries().empty())
      return fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' has neither an entry point nor functions in its symbol table, "
                              "so there is nowhere to begin.",
                              path_));
    WAYMARK_TRY(program_.add_default_handlers(arm_ ? Isa::kA32 : Isa::kA64));
    return std::move(program_);
  }

 private:
  std::unexpected<Error> broken(std::string_view what) const {
    return fail(ErrorCode::kBadData, fmt::format("'{}' is damaged: {}.", path_, what));
  }

  Result<void> read_segments() {
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0) return broken("its program headers cannot be read");
    std::size_t file_size = 0;
    const char* bytes = elf_rawfile(elf_, &file_size);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr segment;
      if (gelf_getphdr(elf_, static_cast<int>(i), &segment) == nullptr)
        return broken("a program header cannot be read");
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || segment.p_filesz == 0)
        continue;
      if (bytes == nullptr || segment.p_offset > file_size ||
          segment.p_filesz > file_size - segment.p_offset)
        return broken("a segment reaches beyond the end of the file");
      total += segment.p_filesz;
      if (total > kMaxCode) return broken("it has more than 1 GiB of code");
      const auto* first = reinterpret_cast<const std::uint8_t*>(bytes) + segment.p_offset;
      // Dumps in snapshots have an even size, and reading an instruction takes four bytes.
      std::vector<std::uint8_t> code(first, first + segment.p_filesz);
      code.resize((code.size() + 3) & ~std::size_t{3});
      WAYMARK_TRY(program_.add_segment(segment.p_vaddr, std::move(code)));
    }
    if (program_.segments().empty())
      return fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' has no executable segment; link it first.", path_));
    return {};
  }

  [[nodiscard]] Place place_of(std::uint64_t address) const {
    if (!arm_) return {address, Isa::kA64};
    return {address & ~std::uint64_t{1}, (address & 1) != 0 ? Isa::kT32 : Isa::kA32};
  }
  [[nodiscard]] bool fits(Place place) const {
    return place.address % (place.isa == Isa::kT32 ? 2 : 4) == 0 &&
           program_.segment_at(place.address) != nullptr;
  }
  void add_entry(std::uint64_t address) {
    if (fits(place_of(address))) program_.add_entry(place_of(address));
  }

  void read_functions() {
    std::set<std::pair<std::uint64_t, Isa>> seen;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
      if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
      Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr) continue;
      const std::size_t count = data->d_size / header.sh_entsize;
      for (std::size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        const Place place = place_of(symbol.st_value);
        if (fits(place) && seen.emplace(place.address, place.isa).second)
          program_.add_function(place);
      }
    }
  }

  Elf* elf_;
  const std::string& path_;
  Program program_;
  bool arm_ = false;
};

}  // namespace

Result<Program> Program::elf(const std::string& path) {
  ElfFile file;
  WAYMARK_TRY(file.open(path));
  return Reader(file.get(), path).run();
}

#else

Result<Program> Program::elf(const std::string& path) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("'{}' cannot be read: this build is without libelf. Install the package "
                          "libelf-dev and build again.",
                          path));
}

#endif

}  // namespace waymark::synth

#include "waymark/elf/build_id.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#if WAYMARK_HAVE_LIBELF
#include <gelf.h>
#include <libelf.h>
#endif

namespace waymark::elf {

#if WAYMARK_HAVE_LIBELF
namespace {

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

/// The build ID among the notes of a segment or section.
std::vector<std::uint8_t> find_in(Elf_Data* notes) {
  using namespace std::string_view_literals;
  constexpr std::string_view kOwner = "GNU\0"sv;
  constexpr std::size_t kLongest = 64;
  if (notes == nullptr || notes->d_buf == nullptr) return {};
  const auto* const bytes = static_cast<const std::uint8_t*>(notes->d_buf);
  GElf_Nhdr note;
  std::size_t name = 0;
  std::size_t content = 0;
  for (std::size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &content)) > 0;) {
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != kOwner.size() ||
        note.n_descsz > kLongest || std::memcmp(bytes + name, kOwner.data(), kOwner.size()) != 0)
      continue;
    return {bytes + content, bytes + content + note.n_descsz};
  }
  return {};
}

}  // namespace

std::vector<std::uint8_t> build_id_of(Bytes elf_file) {
  if (elf_version(EV_CURRENT) == EV_NONE || elf_file.empty()) return {};
  // libelf only reads these bytes.
  auto* image = reinterpret_cast<char*>(const_cast<std::uint8_t*>(elf_file.data()));
  const std::unique_ptr<Elf, ElfEnd> elf(elf_memory(image, elf_file.size()));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return {};
  std::size_t count = 0;
  if (elf_getphdrnum(elf.get(), &count) == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf.get(), static_cast<int>(i), &header) == nullptr) break;
      if (header.p_type != PT_NOTE || header.p_filesz > elf_file.size()) continue;
      const Elf_Type type = header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;
      auto id = find_in(elf_getdata_rawchunk(elf.get(), static_cast<std::int64_t>(header.p_offset),
                                             in_memory(header.p_filesz), type));
      if (!id.empty()) return id;
    }
  }
  // Kernel modules have no program headers.
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    auto id = find_in(elf_getdata(section, nullptr));
    if (!id.empty()) return id;
  }
  return {};
}

#else

std::vector<std::uint8_t> build_id_of(Bytes /*elf_file*/) { return {}; }

#endif

std::string build_id_text(const std::vector<std::uint8_t>& id) {
  std::string text;
  for (const std::uint8_t byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

bool same_build_id(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  const auto length = [](const std::vector<std::uint8_t>& id) {
    std::size_t size = id.size();
    while (size != 0 && id[size - 1] == 0) --size;
    return size;
  };
  const std::size_t size = length(a);
  return size != 0 && size == length(b) &&
         std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin());
}

}  // namespace waymark::elf

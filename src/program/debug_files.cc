#include "debug_files.h"

#include <array>
#include <filesystem>
#include <system_error>

#include "byte_reader.h"
#include "decompress.h"
#include "waymark/elf/build_id.h"

namespace waymark::program {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = (value & 1) != 0 ? 0xEDB8'8320U ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}();

/// A name in a program is not trusted to be a sensible one.
bool is_usable(std::string_view name) {
  constexpr std::size_t kLongestPath = 4096;
  return !name.empty() && name.size() < kLongestPath;
}

/// Where file systems begin: the roots, and that of this machine.
std::vector<fs::path> bases_of(const DebugSearch& search) {
  std::vector<fs::path> bases(search.roots.begin(), search.roots.end());
  if (search.this_machine) bases.emplace_back("/");
  return bases;
}

/// Files that may be the one with a build ID.
std::vector<fs::path> paths_of_id(const std::vector<std::uint8_t>& id, const DebugSearch& search) {
  std::vector<fs::path> paths;
  const std::string text = elf::build_id_text(id);
  if (text.size() < 4) return paths;
  const fs::path folder = text.substr(0, 2);
  const std::string rest = text.substr(2);
  for (const fs::path& base : bases_of(search))
    paths.push_back(base / "usr/lib/debug/.build-id" / folder / (rest + ".debug"));
  for (const std::string& name : search.roots) {
    const fs::path root(name);
    paths.push_back(root / ".build-id" / folder / (rest + ".debug"));
    paths.push_back(root / ".build-id" / folder / rest / "debug");
  }
  return paths;
}

/// The folder of a file, as its own machine names it.
fs::path folder_on_its_machine(const fs::path& file, const DebugSearch& search) {
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).lexically_normal().parent_path();
  for (const std::string& root : search.roots) {
    const fs::path top = fs::absolute(root, error).lexically_normal();
    const fs::path below = folder.lexically_relative(top);
    if (!below.empty() && *below.begin() != "..") return below;
  }
  return folder.relative_path();
}

std::unique_ptr<LoadedFile> open_regular(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? LoadedFile::open(path.string()) : nullptr;
}

/// The name and what follows it, in a section that links to another file.
struct Link {
  std::string_view name{};
  Bytes rest{};
};

Link read_link(Bytes section) {
  ByteReader in(section, false);
  Link link{.name = in.text()};
  link.rest = in.take(in.remaining());
  return link;
}

}  // namespace

std::uint32_t debug_link_crc(Bytes bytes) {
  std::uint32_t crc = ~0U;
  for (const std::uint8_t byte : bytes) crc = kCrcTable[(crc ^ byte) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::unique_ptr<LoadedFile> find_debug_file(LoadedFile& program, const DebugSearch& search) {
  for (const fs::path& path : paths_of_id(program.elf.build_id, search)) {
    auto file = open_regular(path);
    if (file != nullptr && elf::same_build_id(file->elf.build_id, program.elf.build_id))
      return file;
  }
  const Bytes section = program.contents(".gnu_debuglink");
  const Link link = read_link(section);
  if (!is_usable(link.name) || section.size() < 4) return nullptr;
  // The checksum is at the end, aligned to 4 bytes.
  ByteReader in(section, program.elf.big_endian, (link.name.size() + 4) & ~std::size_t{3});
  const std::uint32_t crc = in.u32();
  if (!in.ok()) return nullptr;
  const fs::path name = fs::path(link.name).relative_path();
  const fs::path folder = fs::path(program.path).parent_path();
  const fs::path there = folder_on_its_machine(program.path, search);
  std::vector<fs::path> paths{folder / name, folder / ".debug" / name};
  for (const fs::path& base : bases_of(search))
    paths.push_back(base / "usr/lib/debug" / there / name);
  for (const std::string& root : search.roots) {
    paths.push_back(fs::path(root) / there / name);
    paths.push_back(fs::path(root) / name);
  }
  for (const fs::path& path : paths) {
    auto file = open_regular(path);
    if (file == nullptr) continue;
    if (elf::same_build_id(file->elf.build_id, program.elf.build_id)) return file;
    const auto mapped = MappedFile::open(file->path);
    if (mapped && debug_link_crc(mapped->bytes()) == crc) return file;
  }
  return nullptr;
}

std::unique_ptr<LoadedFile> find_alternate_file(LoadedFile& debug, const DebugSearch& search) {
  const Link link = read_link(debug.contents(".gnu_debugaltlink"));
  if (!is_usable(link.name)) return nullptr;
  const std::vector<std::uint8_t> id(link.rest.begin(), link.rest.end());
  const fs::path name(link.name);
  std::vector<fs::path> paths{fs::path(debug.path).parent_path() / name};
  for (const fs::path& base : bases_of(search)) {
    paths.push_back(base / name.relative_path());
    paths.push_back(base / "usr/lib/debug/.dwz" / name.filename());
  }
  const std::vector<fs::path> by_id = paths_of_id(id, search);
  paths.insert(paths.end(), by_id.begin(), by_id.end());
  for (const fs::path& path : paths) {
    auto file = open_regular(path);
    if (file != nullptr && elf::same_build_id(file->elf.build_id, id)) return file;
  }
  return nullptr;
}

std::unique_ptr<LoadedFile> find_split_file(std::string_view name, std::string_view directory,
                                            const std::string& program, const DebugSearch& search) {
  if (!is_usable(name)) return nullptr;
  const fs::path file(name);
  const fs::path folder(is_usable(directory) ? directory : std::string_view());
  std::vector<fs::path> paths;
  paths.reserve(search.roots.size() + 2);
  for (const std::string& root : search.roots)
    paths.push_back(fs::path(root) / (folder / file).relative_path());
  if ((folder / file).is_absolute()) paths.push_back(folder / file);
  const fs::path beside = fs::path(program).parent_path();
  paths.push_back(beside / file.relative_path());
  paths.push_back(beside / file.filename());
  for (const fs::path& path : paths) {
    if (auto found = open_regular(path)) return found;
  }
  return nullptr;
}

std::unique_ptr<LoadedFile> mini_debug_file(LoadedFile& program) {
  auto bytes = unpack_xz(program.contents(".gnu_debugdata"));
  return bytes ? LoadedFile::own(*std::move(bytes), program.path) : nullptr;
}

}  // namespace waymark::program

#include "waymark/inputs/program_at.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/mapped_file.h"
#include "waymark/inputs/detect.h"

namespace waymark::inputs {
namespace {

bool is_elf(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file && detect(file->bytes().first(std::min<std::size_t>(file->size(), 16))).kind ==
                     InputKind::kElf;
}

}  // namespace

Result<std::optional<ProgramAt>> program_at(std::optional<std::uint64_t> address,
                                            const std::string& path) {
  if (!is_elf(path)) return std::nullopt;
  const auto linked = elf::File::open(path);
  if (!linked) return std::unexpected(linked.error());
  const auto& segments = linked->segments();
  const bool as_linked =
      segments.empty() || !address || std::ranges::any_of(segments, [&](const auto& it) {
        return *address >= it.address && *address - it.address < it.size;
      });
  const std::uint64_t first =
      segments.empty() ? 0 : std::ranges::min(segments, {}, &elf::Segment::address).address;
  const std::uint64_t bias = as_linked ? 0 : *address - first;
  auto program = elf::File::open(path, bias);
  if (!program) return std::unexpected(program.error());
  return ProgramAt{
      .program = std::move(*program),
      .note = fmt::format("--image {}{}: this is an ELF file, so it is loaded as with --elf {}{}.",
                          address ? fmt::format("0x{:x}=", *address) : "", path, path,
                          as_linked ? std::string() : fmt::format("@0x{:x}", bias))};
}

}  // namespace waymark::inputs

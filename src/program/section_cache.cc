#include "section_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "waymark/base/user_cache.h"

namespace waymark::program {
namespace {

namespace fs = std::filesystem;

/// FNV-1a over the size and samples from the whole section, which is far too long to be read.
std::uint64_t digest(Bytes packed) {
  constexpr std::size_t kSample = 64;
  constexpr std::size_t kSamples = 256;
  std::uint64_t value = 0xCBF29CE484222325ULL ^ packed.size();
  const auto take = [&value](Bytes bytes) {
    for (const std::uint8_t byte : bytes) value = (value ^ byte) * 0x100000001B3ULL;
  };
  const std::size_t step = std::max(kSample, packed.size() / kSamples);
  for (std::size_t at = 0; at < packed.size(); at += step)
    take(packed.subspan(at, std::min(kSample, packed.size() - at)));
  take(packed.last(std::min(kSample, packed.size())));
  return value;
}

/// Empty: sections of this program are not kept.
fs::path path_of(const PackedSection& section) {
  const std::string cache = user_cache_folder();
  if (cache.empty() || section.build_id.empty() || section.size < kSmallestCachedSection) return {};
  // A damaged file has names of any characters.
  std::string name;
  for (const char c : section.name.substr(0, 32))
    if ((c >= 'a' && c <= 'z') || c == '_') name.push_back(c);
  return fs::path(cache) / "sections" /
         fmt::format("{:02x}-{}-{:016x}", fmt::join(section.build_id, ""), name,
                     digest(section.packed));
}

bool write_all(int descriptor, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::optional<MappedFile> find_in_cache(const PackedSection& section) {
  const fs::path path = path_of(section);
  if (path.empty()) return std::nullopt;
  auto file = MappedFile::open(path.string());
  if (!file || file->size() != section.size) return std::nullopt;
  return *std::move(file);
}

void keep_in_cache(const PackedSection& section, Bytes unpacked) {
  const fs::path path = path_of(section);
  if (path.empty() || unpacked.size() != section.size) return;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::space_info space = fs::space(path.parent_path(), error);
  if (error || space.available / 4 < unpacked.size()) return;
  // Other programs see the file when it is complete.
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  const bool complete = write_all(descriptor, unpacked) && ::fchmod(descriptor, 0400) == 0;
  const bool closed = ::close(descriptor) == 0;
  if (complete && closed) fs::rename(temporary, path, error);
  if (!complete || !closed || error) ::unlink(temporary.c_str());
}

}  // namespace waymark::program

#include "waymark/program/compressed_file.h"

#include <algorithm>
#include <array>

#include "decompress.h"

namespace waymark::program {
namespace {

constexpr std::array<std::uint8_t, 6> kXz = {0xFD, '7', 'z', 'X', 'Z', 0};
constexpr std::array<std::uint8_t, 2> kGzip = {0x1F, 0x8B};
constexpr std::array<std::uint8_t, 4> kZstd = {0x28, 0xB5, 0x2F, 0xFD};

bool begins_with(Bytes file, Bytes magic) {
  return file.size() >= magic.size() && std::ranges::equal(file.first(magic.size()), magic);
}

}  // namespace

bool is_compressed(Bytes file) {
  return begins_with(file, kXz) || begins_with(file, kGzip) || begins_with(file, kZstd);
}

std::optional<std::vector<std::uint8_t>> unpack_file(Bytes file) {
  if (begins_with(file, kXz)) return unpack_xz(file);
  if (begins_with(file, kGzip)) return unpack_gzip(file);
  if (begins_with(file, kZstd)) return unpack_zstd_file(file);
  return std::nullopt;
}

}  // namespace waymark::program

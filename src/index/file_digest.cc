#include "waymark/index/file_digest.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "waymark/base/bits.h"

namespace waymark::index {
namespace {

constexpr std::uint64_t kFirstPrime = 0x9E37'79B1'85EB'CA87;
constexpr std::uint64_t kSecondPrime = 0xC2B2'AE3D'27D4'EB4F;

// Longer than the resolution of any clock from which file systems take their times.
constexpr std::uint64_t kSettled = 3'000'000'000;

constexpr std::uint64_t kStopAsked = std::uint64_t{4} << 20;  // Bytes between two calls of `stop`.

std::uint64_t mix(std::uint64_t value, std::uint64_t word) {
  return std::rotl(value ^ word * kSecondPrime, 31) * kFirstPrime;
}

/// Four chains, so that a processor works on all of them at the same time.
std::uint64_t piece_digest(Bytes piece) {
  constexpr std::size_t kLanes = 4;
  constexpr std::size_t kStep = kLanes * sizeof(std::uint64_t);
  std::array<std::uint64_t, kLanes> lanes = {1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + kStep <= piece.size(); at += kStep) {
    const std::uint8_t* const words = piece.data() + at;
    lanes[0] = mix(lanes[0], load_le<std::uint64_t>(words));
    lanes[1] = mix(lanes[1], load_le<std::uint64_t>(words + 8));
    lanes[2] = mix(lanes[2], load_le<std::uint64_t>(words + 16));
    lanes[3] = mix(lanes[3], load_le<std::uint64_t>(words + 24));
  }
  std::uint64_t value = piece.size();
  for (const std::uint64_t lane : lanes) value = mix(value, lane);
  for (; at < piece.size(); ++at) value = mix(value, piece[at]);
  return value ^ value >> 29;
}

std::uint64_t nanoseconds(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

FileTimes file_times(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const FileTimes times{nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
  const auto now = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  if (std::max(times.modified, times.changed) + kSettled > now) return {};
  return times;
}

bool FileDigest::read(Bytes file, std::uint64_t end, const Stop& stop) {
  end = std::min<std::uint64_t>(end, file.size());
  const std::uint64_t begin = size_;
  for (; size_ + kPiece <= end; size_ += kPiece) {
    if (stop && size_ != begin && size_ % kStopAsked == 0 && stop()) return false;
    value_ = mix(value_, piece_digest(file.subspan(in_memory(size_), kPiece)));
  }
  return true;
}

std::uint64_t FileDigest::value(Bytes file, std::uint64_t end) const {
  const Bytes rest = file.subspan(in_memory(size_), in_memory(end - size_));
  return rest.empty() ? value_ : mix(value_, piece_digest(rest));
}

}  // namespace waymark::index

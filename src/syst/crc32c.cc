#include "waymark/syst/crc32c.h"

#include <array>

#include "waymark/base/bits.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <arm_acle.h>
#include <sys/auxv.h>
#endif

namespace waymark::syst {
namespace {

using Table = std::array<std::uint32_t, 256>;

/// [k][b]: the effect of byte b when k more bytes follow it.
constexpr std::array<Table, 8> kTables = [] {
  constexpr std::uint32_t kReflected = 0x82F63B78;
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflected : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xFF];
  return tables;
}();

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) std::uint32_t hardware(const std::uint8_t* at, std::size_t size) {
  std::uint64_t crc = 0xFFFFFFFF;
  for (; size >= 8; at += 8, size -= 8) crc = _mm_crc32_u64(crc, load_le<std::uint64_t>(at));
  auto tail = static_cast<std::uint32_t>(crc);
  for (; size > 0; ++at, --size) tail = _mm_crc32_u8(tail, *at);
  return ~tail;
}

bool detect_hardware() { return __builtin_cpu_supports("sse4.2") != 0; }

#elif defined(__aarch64__) && defined(__linux__)

__attribute__((target("+crc"))) std::uint32_t hardware(const std::uint8_t* at, std::size_t size) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (; size >= 8; at += 8, size -= 8) crc = __crc32cd(crc, load_le<std::uint64_t>(at));
  for (; size > 0; ++at, --size) crc = __crc32cb(crc, *at);
  return ~crc;
}

bool detect_hardware() {
  constexpr unsigned long kCrcBit = 1UL << 7;  // HWCAP_CRC32
  return (getauxval(AT_HWCAP) & kCrcBit) != 0;
}

#else

std::uint32_t hardware(const std::uint8_t* at, std::size_t size) {
  return crc32c_portable({at, size});
}

bool detect_hardware() { return false; }

#endif

}  // namespace

bool crc32c_is_in_hardware() {
  static const bool kHas = detect_hardware();
  return kHas;
}

std::uint32_t crc32c(Bytes bytes) {
  return crc32c_is_in_hardware() ? hardware(bytes.data(), bytes.size()) : crc32c_portable(bytes);
}

std::uint32_t crc32c_portable(Bytes bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  const std::uint8_t* at = bytes.data();
  std::size_t size = bytes.size();
  for (; size >= 8; at += 8, size -= 8) {
    const std::uint64_t word = load_le<std::uint64_t>(at) ^ crc;
    crc = 0;
    for (unsigned i = 0; i < 8; ++i) crc ^= kTables[7 - i][word >> (8 * i) & 0xFF];
  }
  for (; size > 0; ++at, --size) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xFF];
  return ~crc;
}

}  // namespace waymark::syst

// Streams for the tests of this module.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace waymark::doctor {

using Stream = std::vector<std::uint8_t>;

inline void append(Stream& stream, const Stream& bytes) {
  stream.insert(stream.end(), bytes.begin(), bytes.end());
}

/// ETMv4: synchronisations, each with trace info, an address with context, and atoms.
/// `context_bytes` follow each context byte, whose value is `context`.
inline Stream etmv4_stream(std::uint8_t context = 0x31, const Stream& context_bytes = {},
                           std::uint8_t info = 0) {
  std::mt19937 random(7);
  Stream stream;
  for (unsigned round = 0; round < 24; ++round) {
    append(stream, Stream(11, 0));
    append(stream, {0x80, 0x01, 0x01, info, 0x04, 0x85});
    append(stream, {0x10, 0x20, static_cast<std::uint8_t>(random()), 0x00, 0x00, 0x80, 0xFF, 0xFF});
    stream.push_back(context);
    append(stream, context_bytes);
    for (unsigned i = 0; i < 40; ++i) {
      // Atoms, an exception with its return, and short addresses.
      stream.push_back(static_cast<std::uint8_t>(0xF6 + random() % 2));
      if (i % 8 == 0) append(stream, {0x95, static_cast<std::uint8_t>(random() & 0x7F)});
      if (i % 16 == 5) stream.push_back(0x07);
      if (i % 16 == 9) {
        append(stream, {0x81, context});
        append(stream, context_bytes);
        append(stream, {0x9D, 0x10, 0x20, 0x30, 0x40, 0x00, 0x80, 0xFF, 0xFF});
      }
    }
  }
  return stream;
}

/// Text on a stimulus port with local timestamps, after one synchronisation.
inline Stream swo_stream() {
  Stream stream = {0, 0, 0, 0, 0, 0x80};
  for (unsigned i = 0; i < 150; ++i)
    append(stream, {0x01, static_cast<std::uint8_t>('a' + i % 26), 0xC0, 0x05});
  return stream;
}

}  // namespace waymark::doctor

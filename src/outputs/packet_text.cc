#include "waymark/outputs/packet_text.h"

#include <array>
#include <cstring>
#include <string_view>

namespace waymark::outputs {
namespace {

constexpr std::array<std::array<char, 8>, 256> make_byte_texts() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 8>, 256> texts{};
  for (unsigned i = 0; i < 256; ++i) {
    texts[i] = {'0', 'x', kDigits[i >> 4], kDigits[i & 15], ' ', ' ', ' ', ' '};
  }
  return texts;
}

/// "0xNN " in five characters; copied as eight with one store.
constexpr auto kByteTexts = make_byte_texts();
constexpr std::size_t kByteTextSize = 5;

/// The maximum length of "Idx:" + decimal + "; ID:" + hexadecimal + "; [" ... "];\t" around the
/// bytes, with room for the last wide store.
constexpr std::size_t kHeadSize = 64;

template <bool WithBytes>
void write_line(TextBuffer& out, const PacketRef& packet, const Source& source) {
  char* const begin = out.grow(kHeadSize + (WithBytes ? packet.bytes.size() * kByteTextSize : 0));
  char* at = write_text(begin, "Idx:");
  at = write_dec(at, packet.index);
  at = write_text(at, "; ID:");
  at = write_hex(at, packet.trace_id);
  *at++ = ';';
  if constexpr (WithBytes) {
    at = write_text(at, " [");
    for (const std::uint8_t byte : packet.bytes) {
      std::memcpy(at, kByteTexts[byte].data(), 8);
      at += kByteTextSize;
    }
    at = write_text(at, "];");
  }
  *at++ = '\t';
  out.advance(static_cast<std::size_t>(at - begin));
  source.write_packet(out, packet);
  out.put('\n');
}

}  // namespace

void write_packet_line(TextBuffer& out, const PacketRef& packet, const Source& source) {
  write_line<true>(out, packet, source);
}

void write_packet_line_without_bytes(TextBuffer& out, const PacketRef& packet,
                                     const Source& source) {
  write_line<false>(out, packet, source);
}

}  // namespace waymark::outputs

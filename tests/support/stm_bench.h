// STM streams written as nibbles, and their packets and elements as text.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/stm/decoder.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/text.h"

namespace waymark::support {

inline constexpr std::string_view kStmAsync = "FFFFFFFFFFFFFFFFFFFFF0";

/// "F0 0 3": hexadecimal digits in stream order, blanks ignored.  A 0, which is a NULL packet,
/// completes a last half byte.
inline std::vector<std::uint8_t> nibbles(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  bool half = false;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    const auto digit = static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'A' + 10);
    if (half) {
      bytes.back() = static_cast<std::uint8_t>(bytes.back() | digit << 4);
    } else {
      bytes.push_back(digit);
    }
    half = !half;
  }
  return bytes;
}

inline std::string packet_text(const stm::Packet& packet) {
  TextBuffer text;
  stm::write_packet(text, packet);
  return std::string(text.view());
}

class StmBench {
 public:
  stm::Config config;
  stm::Quirks quirks;

  /// Calls `take(parser, packet)` for each packet of a stream fed in chunks.
  template <class Take>
  void parse(const std::vector<std::uint8_t>& bytes, std::size_t chunk, Take&& take) const {
    stm::Parser parser(config, quirks);
    stm::Packet packet;
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      // A separate block, so that a read beyond it is detected.
      const std::vector<std::uint8_t> block(
          bytes.begin() + static_cast<std::ptrdiff_t>(at),
          bytes.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, bytes.size())));
      const frames::Run run{.position = 0, .index = at};
      parser.feed({block, {&run, 1}});
      while (parser.next(packet)) take(parser, packet);
    }
    if (parser.finish(packet)) take(parser, packet);
  }

  /// "index [bytes] text" of each packet, one per line.
  [[nodiscard]] std::string lines(std::string_view stream, std::size_t chunk = 4096) const {
    std::string text;
    parse(nibbles(stream), chunk, [&](const stm::Parser& parser, const stm::Packet& packet) {
      text += fmt::format("{} [{:02x}] {}\n", packet.index, fmt::join(parser.packet_bytes(), " "),
                          packet_text(packet));
    });
    return text;
  }

  /// The packets after an ASYNC and VERSION 3, as text, without a NULL packet at the end.
  [[nodiscard]] std::string after_version(std::string_view stream, char version = '3') const {
    std::string text;
    const std::string all = fmt::format("{}F00{}{}", kStmAsync, version, stream);
    unsigned count = 0;
    parse(nibbles(all), 4096, [&](const stm::Parser&, const stm::Packet& packet) {
      if (count++ >= 2 && packet_text(packet) != "NULL:Null packet")
        text += packet_text(packet) + '\n';
    });
    return text;
  }

  /// The elements of a whole stream, without their names; damage as "! message".
  [[nodiscard]] std::string elements(std::string_view stream) const {
    std::string text;
    stm::Decoder decoder(config, quirks);
    const auto drain = [&] {
      Element element;
      while (decoder.busy()) {
        for (const Diagnostic& record : decoder.diagnostics())
          text += fmt::format("! {}\n", describe(record));
        decoder.clear_diagnostics();
        if (decoder.drain({&element, 1}) == 0) continue;
        TextBuffer line;
        write_element(line, element);
        std::string_view view = line.view();
        if (view.starts_with("OCSD_GEN_TRC_ELEM_")) view.remove_prefix(18);
        text += fmt::format("{} {}\n", element.index, view);
      }
    };
    parse(nibbles(stream), 4096, [&](const stm::Parser&, const stm::Packet& packet) {
      decoder.accept(packet);
      drain();
    });
    decoder.end_of_trace();
    drain();
    return text;
  }
};

}  // namespace waymark::support

// ITM bytes to text, for tests that state bytes, and random streams, for tests of properties.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "support/random.h"
#include "waymark/base/bits.h"
#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/itm/decoder.h"
#include "waymark/itm/encoder.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/text.h"

namespace waymark::support {

class ItmBench {
 public:
  itm::Config config;

  static std::vector<std::uint8_t> async() { return {0, 0, 0, 0, 0, 0x80}; }

  /// "index [bytes] text", with `*` for what only a monitor sees, one packet per line.
  std::string packets(const std::vector<std::uint8_t>& bytes, std::size_t chunk = 4096) const {
    std::string text;
    itm::Parser parser(config);
    itm::Packet packet;
    const auto take = [&] {
      TextBuffer out;
      itm::write_packet(out, packet, config.quirks);
      text += fmt::format("{}{} [{:02x}] {}\n", packet.index, packet.monitor_only ? "*" : "",
                          fmt::join(parser.packet_bytes(), " "), out.view());
    };
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      const frames::Run run{.position = 0, .index = at};
      parser.feed({Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
      while (parser.next(packet)) take();
    }
    if (parser.finish(packet)) take();
    return text;
  }

  /// The text of the packets that follow an alignment synchronisation.
  std::string after_async(std::initializer_list<std::uint8_t> bytes) const {
    std::vector<std::uint8_t> all = async();
    all.insert(all.end(), bytes);
    std::string text;
    itm::Parser parser(config);
    itm::Packet packet;
    const frames::Run run{};
    parser.feed({all, {&run, 1}});
    const auto take = [&] {
      if (packet.index < 6) return;
      TextBuffer out;
      itm::write_packet(out, packet, config.quirks);
      text += out.view();
      text += '\n';
    };
    while (parser.next(packet)) take();
    if (parser.finish(packet)) take();
    return text;
  }

  /// Elements and records, one per line: "index text".
  std::string elements(const std::vector<std::uint8_t>& bytes) const {
    std::string text;
    for (const Element& element : decode(bytes, &text)) (void)element;
    return text;
  }
  std::string elements_after_async(std::initializer_list<std::uint8_t> bytes) const {
    std::vector<std::uint8_t> all = async();
    all.insert(all.end(), bytes);
    std::string text = elements(all);
    text.erase(0, text.find('\n') + 1);
    return text;
  }

  std::vector<Element> decode(const std::vector<std::uint8_t>& bytes,
                              std::string* text = nullptr) const {
    std::vector<Element> all;
    itm::Parser parser(config);
    itm::Decoder decoder(config);
    const auto drain = [&] {
      while (decoder.busy()) {
        for (const Diagnostic& record : decoder.diagnostics())
          if (text != nullptr) *text += fmt::format("{} ! {}\n", record.index, describe(record));
        decoder.clear_diagnostics();
        Element one;
        if (decoder.drain({&one, 1}) == 0) continue;
        all.push_back(one);
        if (text == nullptr) continue;
        TextBuffer out;
        write_element(out, one);
        constexpr std::string_view kPrefix = "OCSD_GEN_TRC_ELEM_";
        *text += fmt::format("{} {}\n", one.index, out.view().substr(kPrefix.size()));
      }
    };
    itm::Packet packet;
    const frames::Run run{};
    parser.feed({bytes, {&run, 1}});
    while (!decoder.failed() && parser.next(packet)) {
      if (packet.monitor_only) continue;
      decoder.accept(packet);
      drain();
    }
    return all;
  }
};

/// A packet of any type with any legal field values.
inline itm::Packet random_itm_packet(Random& random) {
  using itm::PacketType;
  itm::Packet packet;
  packet.type =
      random.pick({PacketType::kSoftware, PacketType::kSoftware, PacketType::kHardware,
                   PacketType::kHardware, PacketType::kLocalTimestamp, PacketType::kLocalTimestamp,
                   PacketType::kGlobalTimestamp1, PacketType::kGlobalTimestamp2,
                   PacketType::kExtension, PacketType::kAsync, PacketType::kOverflow});
  switch (packet.type) {
    case PacketType::kSoftware:
    case PacketType::kHardware:
      packet.source = random.byte() & 31;
      packet.size = random.pick<std::uint8_t>({1, 2, 4});
      packet.value = random.bits(8U * packet.size);
      break;
    case PacketType::kLocalTimestamp:
      packet.size = random.byte() % 5;
      packet.source = packet.size == 0 ? 0 : random.byte() & 3;
      packet.value = packet.size == 0 ? random.between(1, 6) : random.bits(7U * packet.size);
      break;
    case PacketType::kGlobalTimestamp1:
      packet.size = static_cast<std::uint8_t>(random.between(1, 4));
      packet.source = packet.size == 4 ? random.byte() & 3 : 0;
      packet.value = random.bits(std::min(7U * packet.size, 26U));
      break;
    case PacketType::kGlobalTimestamp2:
      packet.size = static_cast<std::uint8_t>(random.between(1, 6));
      packet.value = random.bits(7U * packet.size);
      break;
    case PacketType::kExtension: {
      constexpr std::uint8_t kTopBits[] = {2, 9, 16, 23, 31};
      packet.size = random.byte() % 5;
      packet.value = random.bits(3 + 7U * packet.size);
      packet.source = static_cast<std::uint8_t>(kTopBits[packet.size] |
                                                (random.coin() ? itm::kExtensionHardware : 0));
      break;
    }
    case PacketType::kAsync:
      packet.length = random.one_in(4) ? random.between(6, 40) : 6;
      break;
    default:
      break;
  }
  return packet;
}

/// Consecutive packets; with `damage`, about one byte in this number is changed.
inline std::vector<std::uint8_t> random_itm_stream(Random& random, unsigned packets,
                                                   unsigned damage) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = random.below(20); i != 0; --i) bytes.push_back(random.byte());
  for (unsigned i = 0; i < packets; ++i)
    if (!itm::encode(random_itm_packet(random), bytes)) break;
  if (damage != 0)
    for (std::uint8_t& byte : bytes)
      if (random.one_in(damage)) byte = random.byte();
  return bytes;
}

}  // namespace waymark::support

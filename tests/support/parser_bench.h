// A parser that gives packets as text, for tests that state bytes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/text.h"

namespace waymark::support {

inline std::string packet_text(const etmv4::Packet& packet, const etmv4::Config& config) {
  TextBuffer text;
  etmv4::write_packet(text, packet, config);
  return std::string(text.view());
}

class ParserBench {
 public:
  etmv4::Config config;
  etmv4::Quirks quirks;

  ParserBench() {
    config.trcidr0 = 0x28000EA1;
    config.trcidr1 = 0x4100F463;
    config.trcidr2 = 0x1088;
    config.core = {isa::Arch::kAA64, isa::Profile::kA};
  }

  void ete(std::uint32_t minor = 0) {
    config.ete = true;
    config.trcdevarch = 0x47705A13U | minor << 16;
  }

  /// An ASYNC, then `bytes`, the first of which has the index 12; packet texts, one per line.
  std::string after_async(std::initializer_list<std::uint8_t> bytes) const {
    return after({}, bytes);
  }
  /// The same after ASYNC and an empty trace info.
  std::string after_info(std::initializer_list<std::uint8_t> bytes) const {
    return after({0x01, 0x00}, bytes);
  }

  /// "index [bytes] name", with `*` for what only a monitor sees, of an unsynchronised stream.
  std::string search(std::initializer_list<std::uint8_t> bytes, std::size_t chunk = 4096) const {
    return search(std::vector<std::uint8_t>(bytes), chunk);
  }
  std::string search(const std::vector<std::uint8_t>& bytes, std::size_t chunk = 4096) const {
    etmv4::Parser parser(config, quirks);
    etmv4::Packet packet;
    std::string text;
    const auto take = [&] {
      text += fmt::format("{}{} [{:02x}] {}", packet.index, packet.monitor_only ? "*" : "",
                          fmt::join(parser.packet_bytes(), " "), etmv4::packet_name(packet.type));
      if (packet.error_type != etmv4::PacketType::kNoErrorType)
        text += fmt::format("[{}]", etmv4::packet_name(packet.error_type));
      text += '\n';
    };
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      const frames::Run run{.position = 0, .index = at};
      parser.feed({Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
      while (parser.next(packet)) take();
    }
    if (parser.finish(packet)) take();
    return text;
  }

  /// True if, after ASYNC, `bytes` is one packet and no proper prefix of it is one.
  bool is_whole_only_at_its_end(const std::vector<std::uint8_t>& bytes) const {
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
      std::vector<std::uint8_t> all = async();
      all.insert(all.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      etmv4::Parser parser(config, quirks);
      etmv4::Packet packet;
      const frames::Run run{.position = 0, .index = 0};
      parser.feed({all, {&run, 1}});
      parser.next(packet);
      const bool whole = parser.next(packet);
      if (whole != (size == bytes.size())) return false;
      if (!whole && (!parser.finish(packet) || packet.type != etmv4::PacketType::kIncompleteEot ||
                     packet.length != size))
        return false;
    }
    return true;
  }

  static std::vector<std::uint8_t> async() {
    std::vector<std::uint8_t> bytes(11, 0x00);
    bytes.push_back(0x80);
    return bytes;
  }

 private:
  std::string after(std::initializer_list<std::uint8_t> before,
                    std::initializer_list<std::uint8_t> bytes) const {
    std::vector<std::uint8_t> all = async();
    all.insert(all.end(), before);
    all.insert(all.end(), bytes);
    etmv4::Parser parser(config, quirks);
    etmv4::Packet packet;
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({all, {&run, 1}});
    std::string text;
    for (std::size_t i = 0; parser.next(packet); ++i)
      if (i > (before.size() != 0 ? 1U : 0U)) text += packet_text(packet, config) + '\n';
    if (parser.finish(packet)) text += packet_text(packet, config) + '\n';
    return text;
  }
};

}  // namespace waymark::support

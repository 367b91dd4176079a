// ETMv3 bytes to packets and elements as text, for tests that state bytes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "support/decoded.h"
#include "waymark/etmv3/decoder.h"
#include "waymark/etmv3/parser.h"
#include "waymark/etmv3/text.h"
#include "waymark/image/image.h"

namespace waymark::support {

class Etmv3Bench {
 public:
  static constexpr std::uint32_t kBase = 0x1000;
  static constexpr std::uint32_t kNop = 0xE1A00000;

  etmv3::Config config{.etmcr = 0x10000000,
                       .etmidr = 0x410CF250,
                       .etmccer = 0x344008F2,
                       .etmtraceidr = 1,
                       .core = {}};
  etmv3::ParserQuirks parser_quirks;
  etmv3::DecoderQuirks decoder_quirks;
  image::Image image;

  void reference() {
    parser_quirks = etmv3::ParserQuirks::reference();
    decoder_quirks = etmv3::DecoderQuirks::reference();
  }

  void program(std::initializer_list<std::uint32_t> words, std::uint32_t at = kBase) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    ASSERT_TRUE(image.add_buffer(at, bytes));
  }

  static std::vector<std::uint8_t> joined(std::initializer_list<std::vector<std::uint8_t>> parts) {
    std::vector<std::uint8_t> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  static std::vector<std::uint8_t> async() { return {0, 0, 0, 0, 0, 0x80}; }
  /// An I-sync in A32 at kBase, trace enabled, secure: six bytes.
  static std::vector<std::uint8_t> isync() { return {0x08, 0x21, 0x00, 0x10, 0x00, 0x00}; }

  /// "index [bytes] text" of each packet.
  std::string packets(const std::vector<std::uint8_t>& bytes, std::size_t chunk = 4096) const {
    std::string text;
    etmv3::Parser parser(config, parser_quirks);
    etmv3::Packet packet;
    const auto take = [&] {
      TextBuffer line;
      etmv3::write_packet(line, packet, config, parser_quirks);
      text += fmt::format("{} [{:02x}] {}\n", packet.index, fmt::join(parser.packet_bytes(), " "),
                          line.view());
    };
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      const auto part = Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at));
      const frames::Run run{.position = 0, .index = at};
      parser.feed({part, {&run, 1}});
      while (parser.next(packet)) take();
    }
    while (parser.finish(packet)) take();
    return text;
  }

  /// The texts of the packets after an A-sync and isync(), without index and bytes.
  std::string after_isync(const std::vector<std::uint8_t>& bytes) const {
    return without_heads(packets(joined({async(), isync(), bytes})), 2);
  }
  /// The same after an A-sync.
  std::string after_async(const std::vector<std::uint8_t>& bytes) const {
    return without_heads(packets(joined({async(), bytes})), 1);
  }

  /// Elements and records after an A-sync and isync(); the first byte has the index 12.  The
  /// elements of the syncs themselves are left out.
  std::string elements(const std::vector<std::uint8_t>& bytes, bool end = false) {
    std::string text = raw_elements(joined({async(), isync(), bytes}), end);
    for (const std::string own :
         {"0 NO_SYNC( [init-decoder])\n", "6 TRACE_ON( [begin or filter])\n",
          "6 PE_CONTEXT((ISA=A32) S; 32-bit; )\n"})
      if (text.starts_with(own)) text.erase(0, own.size());
    return text;
  }

  std::string raw_elements(const std::vector<std::uint8_t>& bytes, bool end = false) {
    etmv3::Parser parser(config, parser_quirks);
    etmv3::Decoder decoder(config, image, decoder_quirks);
    text_.clear();
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({bytes, {&run, 1}});
    etmv3::Packet packet;
    while (!decoder.failed() && parser.next(packet)) {
      decoder.accept(packet);
      drain(decoder);
    }
    if (end && !decoder.failed()) {
      while (parser.finish(packet)) {
        decoder.accept(packet);
        drain(decoder);
      }
      decoder.end_of_trace();
      drain(decoder);
    }
    return text_;
  }

 private:
  static std::string without_heads(const std::string& lines, unsigned skip) {
    std::string text;
    std::size_t at = 0;
    for (unsigned line = 0; at < lines.size(); ++line) {
      const std::size_t end = lines.find('\n', at) + 1;
      if (line >= skip)
        text += lines.substr(lines.find("] ", at) + 2, end - lines.find("] ", at) - 2);
      at = end;
    }
    return text;
  }

  void drain(etmv3::Decoder& decoder) {
    std::vector<Element> out(3);
    while (decoder.busy()) {
      const std::size_t count = decoder.drain(out);
      for (std::size_t i = 0; i < count; ++i) {
        TextBuffer text;
        write_element(text, out[i]);
        std::string_view body = text.view();
        for (const std::string_view prefix : {"OCSD_GEN_TRC_ELEM_", "WAYMARK_TRC_ELEM_"})
          if (body.starts_with(prefix)) body.remove_prefix(prefix.size());
        text_ += fmt::format("{} {}\n", out[i].index, body);
      }
      if (count != 0 || !decoder.has_diagnostics()) continue;
      for (const Diagnostic& record : decoder.diagnostics())
        text_ += fmt::format("{} {}{}\n", record.index, record.fatal ? "fatal: " : "!! ",
                             describe(record));
      decoder.clear_diagnostics();
    }
  }

  std::string text_;
};

}  // namespace waymark::support

// PTM bytes to text, for tests that state bytes.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/text.h"
#include "waymark/image/image.h"
#include "waymark/ptm/decoder.h"
#include "waymark/ptm/parser.h"
#include "waymark/ptm/text.h"

namespace waymark::support {

class PtmBench {
 public:
  static constexpr std::uint64_t kBase = 0x1000;
  /// ETMCR[12], [15:14] and [29]; ETMCCER[23], [24], [28] and [29].
  static constexpr std::uint32_t kCycles = 1U << 12;
  static constexpr std::uint32_t kContextId4 = 3U << 14;
  static constexpr std::uint32_t kReturnStackOn = 1U << 29;
  static constexpr std::uint32_t kHasReturnStack = 1U << 23;
  static constexpr std::uint32_t kBarriers = 1U << 24;
  static constexpr std::uint32_t kBinary = 1U << 28;
  static constexpr std::uint32_t kLongTimestamps = 1U << 29;

  ptm::Config config;
  ptm::Quirks quirks;
  std::uint32_t flags = 0;
  image::Image image;

  PtmBench() {
    config.etmidr = 0x4100F310;
    config.etmcr = 0;
    config.etmccer = kHasReturnStack | kBinary | kLongTimestamps;
    config.etmtraceidr = 1;
  }

  void program(std::initializer_list<std::uint32_t> words, std::uint64_t at = kBase) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    ASSERT_TRUE(image.add_buffer(at, bytes));
  }
  void thumb_program(std::initializer_list<std::uint16_t> halves, std::uint64_t at) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint16_t half : halves) {
      bytes.push_back(static_cast<std::uint8_t>(half));
      bytes.push_back(static_cast<std::uint8_t>(half >> 8));
    }
    bytes.resize(bytes.size() + 2);  // An opcode is fetched as four bytes.
    ASSERT_TRUE(image.add_buffer(at, bytes));
  }

  /// Texts of the packets after an A-sync, one per line.
  std::string packets(std::initializer_list<std::uint8_t> bytes) const {
    std::vector<std::uint8_t> all = {0, 0, 0, 0, 0, 0x80};
    all.insert(all.end(), bytes);
    ptm::Parser parser(config, quirks);
    const frames::Run run{.position = 0, .index = 0};
    parser.feed({all, {&run, 1}});
    ptm::Packet packet;
    TextBuffer text;
    EXPECT_TRUE(parser.next(packet));
    const auto take = [&] {
      EXPECT_EQ(parser.packet_bytes().size(), packet.length);
      ptm::write_packet(text, packet, quirks);
      text.put('\n');
    };
    while (parser.next(packet)) take();
    if (parser.finish(packet)) take();
    return std::string(text.view());
  }

  /// "index [bytes] name", with `*` for what only a monitor sees, of an unsynchronised stream.
  std::string search(const std::vector<std::uint8_t>& bytes, std::size_t chunk = 4096) const {
    ptm::Parser parser(config, quirks);
    ptm::Packet packet;
    std::string text;
    const auto take = [&] {
      text += fmt::format("{}{} [{:02x}] {}\n", packet.index, packet.monitor_only ? "*" : "",
                          fmt::join(parser.packet_bytes(), " "), ptm::packet_name(packet.type));
    };
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      const frames::Run run{.position = 0, .index = at};
      parser.feed({Bytes(bytes).subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
      while (parser.next(packet)) take();
    }
    if (parser.finish(packet)) take();
    return text;
  }

  /// A-sync and an I-sync (trace enable) to kBase in A32, secure; in a cycle-accurate trace with a
  /// count of 1.  run() leaves its elements out; the next byte has the index start().
  [[nodiscard]] std::vector<std::uint8_t> sync() const {
    std::vector<std::uint8_t> bytes = {0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x10, 0, 0, 0x21};
    if (config.cycle_accurate()) bytes.push_back(0x84);
    for (unsigned i = 0; i < config.context_id_bytes(); ++i) bytes.push_back(i == 0 ? 7 : 0);
    return bytes;
  }
  [[nodiscard]] std::size_t start() const { return sync().size(); }

  /// Elements and records after sync(), one per line.
  std::string run(std::initializer_list<std::uint8_t> bytes) {
    std::vector<std::uint8_t> all = sync();
    const std::string own = run_raw(all);
    all.insert(all.end(), bytes);
    std::string text = run_raw(all);
    EXPECT_TRUE(text.starts_with(own));
    return text.substr(own.size());
  }

  std::string run_raw(Bytes bytes, bool end = false) {
    ptm::Parser parser(config, quirks);
    ptm::Decoder decoder(config, image, flags, quirks);
    const frames::Run input{.position = 0, .index = 0};
    parser.feed({bytes, {&input, 1}});
    text_.clear();
    ptm::Packet packet;
    const auto drain = [&] {
      std::vector<Element> out(3);
      while (decoder.busy()) {
        const std::size_t count = decoder.drain(out);
        for (const Element& element : std::span(out).first(count)) add(element);
        for (const Diagnostic& record : decoder.diagnostics())
          text_ += fmt::format("{} at {}: {}\n",
                               record.severity == Severity::kWarning ? "warning" : "error",
                               record.index, describe(record));
        decoder.clear_diagnostics();
      }
    };
    while (!decoder.failed() && parser.next(packet)) {
      if (packet.monitor_only) continue;
      decoder.accept(packet);
      drain();
    }
    if (end) {
      decoder.end_of_trace();
      drain();
    }
    if (decoder.failed()) text_ += "failed\n";
    return text_;
  }

 private:
  // "24 1000-1008 x2 E BR": index, range, instructions, last atom, last instruction.
  void add(const Element& element) {
    text_ += fmt::format("{} ", element.index);
    if (element.kind == ElementKind::kInstrRange) {
      static constexpr std::string_view kTypes[] = {"",         " BR",      " iBR",   " ISB",
                                                    " DSB.DMB", " WFI.WFE", " TSTART"};
      static constexpr std::string_view kSubtypes[] = {"", " link", " ret", " eret", " implied"};
      text_ += fmt::format("{:x}-{:x} x{} {}{}{}", element.start, element.end, element.count,
                           (element.flags & kElementExecuted) != 0 ? 'E' : 'N',
                           kTypes[static_cast<std::size_t>(element.last_type)],
                           kSubtypes[static_cast<std::size_t>(element.last_subtype)]);
      if (element.isa != isa::Isa::kA32) text_ += ' ' + std::string(isa_name(element.isa));
      if ((element.flags & kElementHasCycleCount) != 0)
        text_ += fmt::format(" CC={}", element.cycle_count);
    } else {
      TextBuffer line;
      write_element(line, element);
      text_ += line.view().substr(std::string_view("OCSD_GEN_TRC_ELEM_").size());
    }
    text_ += '\n';
  }

  std::string text_;
};

}  // namespace waymark::support

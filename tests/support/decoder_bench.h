// A source over a little memory, for tests that state bytes and expect elements as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "support/decoded.h"
#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/image/image.h"

namespace waymark::support {

/// Runs bytes through a parser and a decoder; the result is text, one line per element or record.
class DecoderBench {
 public:
  static constexpr std::uint64_t kBase = 0x1000;

  DecoderBench() {
    config.trctraceidr = 1;
    config.trcidr1 = 0x4100F423;
    config.trcidr2 = 0x1088;
    config.trcconfigr = 0;
    config.core = {isa::Arch::kAA64, isa::Profile::kA};
  }

  void ete(std::uint32_t minor = 0) {
    config.ete = true;
    config.trcdevarch = 0x47705A13U | minor << 16;
  }

  void program(std::initializer_list<std::uint32_t> words, std::uint64_t at = kBase,
               image::SpaceMask space = image::kSpaceAny) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t word : words)
      for (unsigned shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    ASSERT_TRUE(image.add_buffer(at, bytes, space));
  }

  /// Branches of all kinds, from kBase on.  Memory ends after the last instruction.
  void usual_program() {
    program({
        0xD503201F,  // 1000 NOP
        0x54000040,  // 1004 B.EQ 100c
        0x94000004,  // 1008 BL 1018
        0xD65F03C0,  // 100c RET
        0xD61F0020,  // 1010 BR x1
        0x17FFFFFF,  // 1014 B 1010
        0xD503201F,  // 1018 NOP
        0xD65F03C0,  // 101c RET
        0xD5033FDF,  // 1020 ISB
        0xD69F03E0,  // 1024 ERET
        0xD63F0020,  // 1028 BLR x1
        0xD503201F,  // 102c NOP
    });
  }

  /// ASYNC, trace info without sections, and with `where` the address kBase with a 64-bit
  /// non-secure EL1 context.  24 bytes with it, 14 without.
  static std::vector<std::uint8_t> sync(bool where = true) {
    std::vector<std::uint8_t> bytes(11, 0x00);
    bytes.insert(bytes.end(), {0x80, 0x01, 0x00});
    if (where) bytes.insert(bytes.end(), {0x85, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0x31});
    return bytes;
  }

  /// Decodes `bytes` after sync(), so that the first has the index 24.  The text leaves out
  /// the elements of the sync itself.
  std::string run(std::initializer_list<std::uint8_t> bytes, bool end = false) {
    std::vector<std::uint8_t> all = sync();
    all.insert(all.end(), bytes);
    std::string text = run_raw(all, end);
    for (const std::string_view own :
         {"0 NO_SYNC( [init-decoder])\n", "14 PE_CONTEXT((ISA=A64) EL1N; 64-bit; )\n"})
      if (text.starts_with(own)) text.erase(0, own.size());
    return text;
  }

  std::string run_raw(Bytes bytes, bool end = false) {
    etmv4::Parser parser(config, quirks);
    etmv4::Decoder decoder(config, image, flags, quirks);
    decoder.set_range_limit(range_limit);
    const frames::Run input{.position = 0, .index = 0};
    parser.feed({bytes, {&input, 1}});
    text_.clear();
    etmv4::Packet packet;
    while (!decoder.failed() && parser.next(packet)) {
      decoder.accept(packet);
      drain(decoder);
    }
    if (end) {
      if (parser.finish(packet)) {
        decoder.accept(packet);
        drain(decoder);
      }
      decoder.end_of_trace();
      drain(decoder);
    }
    if (decoder.failed()) text_ += "failed\n";
    return text_;
  }

  etmv4::Config config;
  etmv4::Quirks quirks;
  std::uint32_t flags = 0;
  std::uint32_t range_limit = 0;
  image::Image image;

 private:
  void drain(etmv4::Decoder& decoder) {
    std::vector<Element> out(16);
    while (decoder.busy()) {
      const std::size_t count = decoder.drain(out);
      for (const Element& element : std::span(out).first(count)) add(element);
      for (const Diagnostic& record : decoder.diagnostics()) {
        text_ += record.severity == Severity::kWarning ? "warning: " : "error: ";
        text_ += describe(record);
        if (!text_.ends_with('\n')) text_ += '\n';
      }
      decoder.clear_diagnostics();
    }
  }

  // "24 1000-1008 x2 E BR": index, range, instructions, last atom, last instruction.
  void add(const Element& element) {
    text_ += fmt::format("{} ", element.index);
    switch (element.kind) {
      case ElementKind::kInstrRange: {
        static constexpr std::string_view kTypes[] = {"",         " BR",      " iBR",   " ISB",
                                                      " DSB.DMB", " WFI.WFE", " TSTART"};
        static constexpr std::string_view kSubtypes[] = {"", " link", " ret", " eret", " implied"};
        const bool executed = (element.flags & kElementExecuted) != 0;
        text_ +=
            fmt::format("{:x}-{:x} x{} {}{}{}", element.start, element.end, element.count,
                        executed ? 'E' : 'N', kTypes[static_cast<std::size_t>(element.last_type)],
                        kSubtypes[static_cast<std::size_t>(element.last_subtype)]);
        if (element.isa != isa::Isa::kA64) text_ += ' ' + std::string(isa_name(element.isa));
        break;
      }
      case ElementKind::kInstrRangeNoPath:
        text_ += fmt::format("nopath {:x}->{:x} x{}", element.start, element.end, element.count);
        break;
      case ElementKind::kAddrNacc:
        text_ += fmt::format("nacc {:x} space {:x}", element.start, element.number);
        break;
      case ElementKind::kException:
        text_ += fmt::format("exception {:x}", element.number);
        if ((element.flags & kElementReturnAddress) != 0)
          text_ += fmt::format(" returns to {:x}", element.end);
        if ((element.flags & kElementReturnIsTarget) != 0) text_ += " which was the target";
        if ((element.flags & kElementTailChain) != 0) text_ += " tail chain";
        break;
      default: {
        TextBuffer line;
        write_element(line, element);
        text_ += line.view().substr(std::string_view("OCSD_GEN_TRC_ELEM_").size());
      }
    }
    text_ += '\n';
  }

  std::string text_;
};

}  // namespace waymark::support

#include "waymark/etmv4data/decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/decoded.h"
#include "waymark/etmv4data/source.h"

namespace waymark::etmv4data {
namespace {

using Data = std::vector<std::uint8_t>;

std::string elements(const Data& after_async, std::size_t chunk = 0) {
  Data bytes(11, 0x00);
  bytes.push_back(0x80);
  bytes.insert(bytes.end(), after_async.begin(), after_async.end());
  Config config;
  config.id = 0x11;
  auto source = *make_source(config, {});
  support::Decoded decoded;
  source->set_observer(&decoded, 0x11);
  support::feed(*source, 0, bytes, chunk, 10, decoded.elements);
  source->finish();
  support::take(*source, 10, decoded.elements);
  std::string text;
  std::size_t record = 0;
  for (std::size_t i = 0; i <= decoded.elements.size(); ++i) {
    for (; record < decoded.diagnostics.size() && decoded.diagnostics[record].after == i; ++record)
      text += fmt::format(
          "{} ! {} bytes, {}\n", decoded.diagnostics[record].what.index,
          decoded.diagnostics[record].what.lost,
          decoded.diagnostics[record].what.fault == Fault::kUnsupportedPacket ? "unknown" : "bad");
    if (i < decoded.elements.size()) text += support::text_of(decoded.elements[i]);
  }
  return text;
}

TEST(Etmv4DataDecoder, reports_markers_times_and_losses) {
  EXPECT_EQ(elements({0x00, 0x1B, 0x01, 0x02, 0x05, 0x03, 0x00, 0x05, 0x00, 0x03}),
            "Idx:0; ID:11; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])\n"
            "Idx:12; ID:11; OCSD_GEN_TRC_ELEM_SYNC_MARKER( [Data sync marker(0x00000005)])\n"
            "Idx:14; ID:11; OCSD_GEN_TRC_ELEM_SYNC_MARKER( [Data sync marker(0x00000000)])\n"
            "Idx:15; ID:11; OCSD_GEN_TRC_ELEM_TIMESTAMP( [ TS=0x000000000005]; )\n"
            "Idx:17; ID:11; WAYMARK_TRC_ELEM_DATA_EVENT( suppressed; by ? #0; )\n"
            "Idx:18; ID:11; OCSD_GEN_TRC_ELEM_NO_SYNC( [overflow])\n"
            "Idx:20; ID:11; OCSD_GEN_TRC_ELEM_NO_SYNC( [discard])\n"
            "Idx:20; ID:11; OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])\n");
}

TEST(Etmv4DataDecoder, gives_one_record_for_each_gap) {
  Data bytes(3000, 0x20);
  bytes.insert(bytes.end(), 11, 0x00);
  bytes.insert(bytes.end(), {0x80, 0x01, 0xC0, 0x01});
  const std::string text =
      "Idx:0; ID:11; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])\n"
      "12 ! 3000 bytes, unknown\n"
      "Idx:3024; ID:11; OCSD_GEN_TRC_ELEM_SYNC_MARKER( [Data sync marker(0x00000000)])\n"
      "3025 ! 2 bytes, bad\n"
      "Idx:3025; ID:11; OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])\n";
  for (const std::size_t chunk : {0U, 1U, 100U}) EXPECT_EQ(elements(bytes, chunk), text);
}

TEST(Etmv4DataDecoder, times_are_whole_once_all_bits_were_sent_since_a_gap) {
  const auto packet = [](PacketType type, std::uint8_t timestamp_bits = 0) {
    Packet made;
    made.begin(type, 1);
    made.timestamp_bits = timestamp_bits;
    return made;
  };
  using enum PacketType;
  Decoder decoder{Config{}};
  std::string marks;
  std::array<Element, 4> out;
  for (const Packet& given :
       {packet(kTimestamp, 7), packet(kTimestamp, 64), packet(kSuppression), packet(kTimestamp, 7),
        packet(kUnknown), packet(kTimestamp, 56), packet(kTimestamp, 64)}) {
    decoder.accept(given);
    while (decoder.busy()) {
      decoder.clear_diagnostics();
      for (const Element& element : std::span(out).first(decoder.drain(out))) {
        if (element.kind != ElementKind::kTimestamp) continue;
        marks += (element.flags & kElementTimeIsPartial) != 0 ? 'p' : 'w';
      }
    }
  }
  EXPECT_EQ(marks, "pwwpw");
}

}  // namespace
}  // namespace waymark::etmv4data

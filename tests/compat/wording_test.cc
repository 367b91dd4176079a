// The reference's messages about damage.
#include "wording/wording.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace waymark::compat {
namespace {

Diagnostic record_of(Finding finding, Stage stage = Stage::kElements) {
  Diagnostic record;
  record.fault = Fault::kBadPacket;
  record.finding = finding;
  record.stage = stage;
  record.index = 24;
  return record;
}

std::string_view text_of(Protocol protocol, const Diagnostic& record) {
  return wording_of(record, protocol).text;
}

TEST(Wording, is_that_of_the_protocol) {
  const Diagnostic atom = record_of(Finding::kAtomNotFollowed);
  EXPECT_EQ(text_of(Protocol::kEtmV4, atom), "Error processing atom packet.");
  EXPECT_EQ(text_of(Protocol::kEte, record_of(Finding::kQNotFollowed)),
            "Error processing Q packet");
  EXPECT_EQ(text_of(Protocol::kPtm, record_of(Finding::kUpdateNotFollowed)),
            "Error processing WP update packet.");
  Diagnostic isa = atom;
  isa.fault = Fault::kUnsupportedIsa;
  EXPECT_EQ(text_of(Protocol::kPtm, isa),
            "Warning: unsupported instruction set processing atom packet.");
  EXPECT_EQ(text_of(Protocol::kStm, record_of(Finding::kStpBadAsync, Stage::kPackets)),
            "STM: Invalid ASYNC sequence");
  EXPECT_EQ(text_of(Protocol::kItm, record_of(Finding::kGlobalTime2TooLong, Stage::kPackets)),
            "GTS2 packet: Payload continuation value too long");
}

TEST(Wording, an_empty_return_stack_has_no_index_in_etmv4) {
  const Diagnostic record = record_of(Finding::kReturnStackEmpty);
  const Wording wording = wording_of(record, Protocol::kEtmV4);
  EXPECT_EQ(wording.text, "Trace Return Stack Overflow.");
  EXPECT_EQ(wording.index, kNoIndex);
  EXPECT_EQ(wording_of(record, Protocol::kPtm).index, 24U);
}

TEST(Wording, of_etmv3_depends_on_the_header) {
  Diagnostic record = record_of(Finding::kReservedHeader, Stage::kPackets);
  record.number = 0x06;
  EXPECT_EQ(text_of(Protocol::kEtmV3, record), "Packet header reserved encoding.");
  record.number = 0x10;
  EXPECT_EQ(text_of(Protocol::kEtmV3, record), "Packet header reserved encoding");
  record.finding = Finding::kDataPacketRefused;
  for (const auto& [header, text] :
       {std::pair{0x50, "(store failed) - not tracing data values."},
        std::pair{0x62, "(data suppressed) - not tracing data."},
        std::pair{0x6A, "(value not traced) - not tracing data."},
        std::pair{0x02, "(normal data) - not tracing data."},
        std::pair{0x2E, "(normal data) - not tracing data."},
        std::pair{0x54, "(out of order placeholder) - not tracing data."},
        std::pair{0x24, "(out of order data) - not tracing data values."},
        std::pair{0x64, "(out of order data) - not tracing data values."}}) {
    record.number = static_cast<std::uint8_t>(header);
    EXPECT_EQ(text_of(Protocol::kEtmV3, record), "Invalid data trace header " + std::string(text));
  }
}

TEST(Wording, an_error_of_etmv3_that_ends_decoding) {
  Diagnostic record = record_of(Finding::kDataPacketRefused);
  record.fatal = true;
  Wording wording = wording_of(record, Protocol::kEtmV3);
  EXPECT_EQ(wording.text, "Invalid packet type : Data Tracing decode not supported.");
  EXPECT_EQ(wording.number, ErrorNumber::kHwCfgUnsupp);
  record.finding = Finding::kReservedPHeader;
  wording = wording_of(record, Protocol::kEtmV3);
  EXPECT_EQ(wording.text, "Reserved or unknown packet ID.");
  EXPECT_EQ(wording.number, ErrorNumber::kBadPacketSeq);
}

TEST(Wording, of_the_frame_layer_is_the_same_for_all_protocols) {
  Diagnostic record = record_of(Finding::kBlockSize, Stage::kFrames);
  record.number = 4;
  for (const Protocol protocol : {Protocol::kEtmV4, Protocol::kPtm, Protocol::kItm})
    EXPECT_EQ(text_of(protocol, record), "Input block incorrect size, must be 4 byte multiple");
}

TEST(Wording, is_native_where_the_reference_reports_nothing) {
  for (const Protocol protocol : {Protocol::kEtmV3, Protocol::kEtmV4, Protocol::kPtm,
                                  Protocol::kStm, Protocol::kItm, Protocol::kEtmV4Data}) {
    const Diagnostic record = record_of(Finding::kReturnInsideInstruction);
    EXPECT_EQ(text_of(protocol, record), describe(record));
  }
}

}  // namespace
}  // namespace waymark::compat

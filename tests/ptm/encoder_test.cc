#include "waymark/ptm/encoder.h"

#include <gtest/gtest.h>

#include "waymark/ptm/fields.h"

namespace waymark::ptm {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

class PtmEncoder : public testing::Test {
 protected:
  Config config{.etmccer = 0x30000000, .core = {}};

  /// The bytes of "keyword field=value ...", or the error.
  Bytes8 encoded(std::string_view keyword,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
    Result<Packet> packet = packet_of_keyword(keyword);
    EXPECT_TRUE(packet) << keyword;
    for (const auto& [name, text] : fields) {
      const auto set = set_field(*packet, name, text);
      EXPECT_TRUE(set) << set.error().detail;
    }
    if (packet->isa == isa::Isa::kThumbEE) packet->context.alt_isa = true;
    Bytes8 out;
    const auto done = encode(*packet, config, out);
    error = done ? "" : done.error().detail;
    return out;
  }

  std::string error;
};

// The examples of ptm.md 5.6, in the other direction.
TEST_F(PtmEncoder, branches) {
  EXPECT_EQ(encoded("branch", {{"value", "0x8000055C"}, {"bits", "8"}}), (Bytes8{0x2F}));
  EXPECT_EQ(encoded("branch", {{"value", "0x80000558"}, {"bits", "14"}}), (Bytes8{0xAD, 0x05}));
  EXPECT_EQ(encoded("branch", {{"value", "0x80000F7C"}, {"isa", "t32"}}),
            (Bytes8{0xFD, 0x9E, 0x80, 0x80, 0x18}));
  EXPECT_EQ(encoded("branch", {{"value", "0x07FFC006"}, {"isa", "jazelle"}}),
            (Bytes8{0x8D, 0x80, 0xFE, 0xFF, 0x20}));
  EXPECT_EQ(encoded("branch", {{"value", "0"}, {"exception", "1"}}),
            (Bytes8{0x81, 0x80, 0x80, 0x80, 0x48, 0x02}));
  EXPECT_EQ(
      encoded("branch", {{"value", "0x104"}, {"bits", "9"}, {"exception", "1"}, {"hyp", "1"}}),
      (Bytes8{0x83, 0x41, 0x82, 0x20}));
}

TEST_F(PtmEncoder, cycle_counts) {
  config.etmcr = 1U << 12;
  EXPECT_EQ(encoded("branch", {{"value", "0xC0010EF0"}, {"bits", "8"}, {"cycle_count", "2386492"}}),
            (Bytes8{0x79, 0x70, 0xA3, 0x8D, 0x09}));
  EXPECT_EQ(encoded("atom", {{"atoms", "E"}, {"cycle_count", "522"}}), (Bytes8{0xE8, 0x20}));
  EXPECT_EQ(encoded("atom", {{"atoms", "N"}, {"cycle_count", "4294967281"}}),
            (Bytes8{0xC6, 0xFF, 0xFF, 0xFF, 0x7F}));
  EXPECT_EQ(encoded("isync", {{"value", "0xC0036328"},
                              {"reason", "trace_enable"},
                              {"ns", "1"},
                              {"cycle_count", "380"}}),
            (Bytes8{0x08, 0x28, 0x63, 0x03, 0xC0, 0x29, 0xF0, 0x17}));
}

TEST_F(PtmEncoder, atoms) {
  EXPECT_EQ(encoded("atom", {{"atoms", "E"}}), (Bytes8{0x84}));
  EXPECT_EQ(encoded("atom", {{"atoms", "EE"}}), (Bytes8{0x88}));
  EXPECT_EQ(encoded("atom", {{"atoms", "NNE"}}), (Bytes8{0x9C}));
  EXPECT_EQ(encoded("atom", {{"atoms", "NNNE"}}), (Bytes8{0xBC}));
  EXPECT_EQ(encoded("atom", {{"atoms", "ENNNE"}}), (Bytes8{0xDC}));
}

TEST_F(PtmEncoder, waypoint_updates_and_the_rest) {
  EXPECT_EQ(encoded("waypoint_update", {{"value", "0xF0"}, {"bits", "8"}}), (Bytes8{0x72, 0x79}));
  EXPECT_EQ(encoded("async", {}), (Bytes8{0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(encoded("vmid", {{"vmid", "0x41"}}), (Bytes8{0x3C, 0x41}));
  EXPECT_EQ(encoded("trigger", {}), (Bytes8{0x0C}));
  EXPECT_EQ(encoded("exception_return", {}), (Bytes8{0x76}));
  EXPECT_EQ(encoded("ignore", {}), (Bytes8{0x66}));
  config.etmcr = 2U << 14;
  EXPECT_EQ(encoded("context_id", {{"context_id", "0xBEEF"}}), (Bytes8{0x6E, 0xEF, 0xBE}));
}

TEST_F(PtmEncoder, timestamps) {
  EXPECT_EQ(encoded("timestamp", {{"timestamp", "0xE80"}}), (Bytes8{0x42, 0x80, 0x1D}));
  EXPECT_EQ(encoded("timestamp", {{"timestamp", "0x82F9D18BCC"}, {"bits", "64"}}),
            (Bytes8{0x42, 0xCC, 0x97, 0xC6, 0xCE, 0xAF, 0x90, 0x80, 0x80, 0x00}));
  EXPECT_EQ(encoded("timestamp", {{"timestamp", "1"}, {"clock_changed", "1"}}),
            (Bytes8{0x46, 0x01}));
}

TEST_F(PtmEncoder, what_no_field_can_hold_is_refused) {
  encoded("branch", {{"value", "0x102"}});
  EXPECT_EQ(error, "The address 0x102 is not aligned for its instruction set.");
  encoded("branch", {{"value", "0x100"}, {"bits", "8"}, {"exception", "1"}});
  EXPECT_EQ(error, "Exception information needs at least two address bytes: give more bits.");
  encoded("branch", {{"value", "0x100"}, {"isa", "unknown"}});
  EXPECT_EQ(error, "An address of five bytes names its instruction set: a32, t32, tee or jazelle.");
  encoded("isync", {{"value", "0x100"}, {"isa", "jazelle"}});
  EXPECT_EQ(error, "An I-sync is in one of the instruction sets a32, t32 and tee.");
  encoded("waypoint_update", {{"value", "0x100"}, {"bits", "8"}, {"alt_isa", "1"}});
  EXPECT_EQ(error, "A waypoint update has one information byte at most, after five address bytes.");
  config.etmccer = 0;
  encoded("timestamp", {{"timestamp", "0x1000000000000"}});
  EXPECT_EQ(error, "0x1000000000000 does not fit a timestamp, which has 48 bits.");
  config.etmcr = 1U << 12;
  encoded("atom", {{"atoms", "EE"}});
  EXPECT_EQ(error, "A cycle-accurate atom packet has one atom.");
}

TEST_F(PtmEncoder, an_error_leaves_the_output_as_it_was) {
  Packet packet;
  packet.type = PacketType::kReserved;
  Bytes8 out = {1, 2};
  EXPECT_FALSE(encode(packet, config, out));
  EXPECT_EQ(out, (Bytes8{1, 2}));
}

TEST(PtmFields, words_and_numbers_that_are_none_are_refused) {
  Packet packet = packet_of_keyword("isync").value();
  EXPECT_EQ(set_field(packet, "isa", "a64").error().detail,
            "'a64' is not a value of the field isa.");
  EXPECT_EQ(set_field(packet, "reason", "3").error().detail,
            "'3' is not a value of the field reason.");
  EXPECT_EQ(set_field(packet, "bits", "8").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(packet_of_keyword("nothing").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace waymark::ptm

#include "waymark/live/orbflow.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::live {
namespace {

using Data = std::vector<std::uint8_t>;

/// Reads all, in pieces of `size`; `damages` gets the number of damaged packets.
Data read_all(OrbflowReader& reader, Bytes wire, std::size_t size, unsigned* damages = nullptr) {
  Data out;
  while (!wire.empty()) {
    Bytes piece = wire.first(std::min(size, wire.size()));
    wire = wire.subspan(piece.size());
    while (!piece.empty()) {
      piece = piece.subspan(reader.read(piece, out));
      if (damages != nullptr && reader.damaged()) ++*damages;
    }
  }
  return out;
}

Data read_all(Bytes wire, TraceId tag = 1) {
  OrbflowReader reader(tag);
  return read_all(reader, wire, 1000);
}

// live-sources: the worked examples.
TEST(Orbflow, examples) {
  EXPECT_EQ(read_all(Data{0x07, 0x01, 0x01, 0x41, 0x01, 0x42, 0x7A, 0x00}),
            (Data{0x01, 0x41, 0x01, 0x42}));
  EXPECT_EQ(read_all(Data{0x02, 0x01, 0x01, 0x01, 0x01, 0x01, 0x03, 0x80, 0x7F, 0x00}),
            (Data{0, 0, 0, 0, 0, 0x80}));
  EXPECT_EQ(read_all(Data{0x03, 0x02, 0xFE, 0x00}, 2), Data{});
  EXPECT_EQ(read_all(Data{0x04, 0x01, 0x70, 0x8F, 0x00}), Data{0x70});
}

TEST(Orbflow, message_that_ends_with_a_full_run) {
  Data wire{0xFF, 0x02};
  wire.insert(wire.end(), 252, 0x11);
  wire.insert(wire.end(), {0x42, 0x00});
  EXPECT_EQ(read_all(wire, 2), Data(252, 0x11));
}

TEST(Orbflow, message_longer_than_a_full_run) {
  Data wire{0xFF, 0x02};
  wire.insert(wire.end(), 253, 0x11);
  wire.insert(wire.end(), {0x02, 0x31, 0x00});
  EXPECT_EQ(read_all(wire, 2), Data(253, 0x11));
}

TEST(Orbflow, any_pieces_give_the_same) {
  Data wire;
  for (int i = 0; i < 20; ++i) {
    const Data packet = i % 3 == 0 ? Data{0x03, 0x02, 0xFE, 0x00}
                                   : Data{0x07, 0x01, 0x01, 0x41, 0x01, 0x42, 0x7A, 0x00};
    wire.insert(wire.end(), packet.begin(), packet.end());
  }
  const Data whole = read_all(wire);
  for (const std::size_t size : {1U, 2U, 3U, 7U, 16U}) {
    OrbflowReader reader(1);
    EXPECT_EQ(read_all(reader, wire, size), whole) << size;
    EXPECT_EQ(reader.counts().packets, 20U);
  }
}

TEST(Orbflow, idle_zeros_are_ignored) {
  OrbflowReader reader(1);
  EXPECT_EQ(read_all(reader, Data{0, 0, 0x04, 0x01, 0x70, 0x8F, 0, 0, 0}, 1), Data{0x70});
  EXPECT_EQ(reader.counts().bad_frames, 0U);
}

TEST(Orbflow, a_fragment_at_the_beginning_does_not_count_as_damage) {
  OrbflowReader reader(1);
  unsigned damages = 0;
  EXPECT_EQ(
      read_all(reader, Data{0x41, 0x42, 0x7A, 0x00, 0x04, 0x01, 0x70, 0x8F, 0x00}, 4, &damages),
      Data{0x70});
  EXPECT_EQ(damages, 0U);
  EXPECT_EQ(reader.counts().packets, 1U);
}

TEST(Orbflow, bad_checksum_is_damage_between_good_packets) {
  OrbflowReader reader(1);
  unsigned damages = 0;
  const Data wire{0x04, 0x01, 0x70, 0x8F, 0x00, 0x03, 0x01,
                  0x01, 0x00, 0x04, 0x01, 0x70, 0x8F, 0x00};
  EXPECT_EQ(read_all(reader, wire, 100, &damages), (Data{0x70, 0x70}));
  EXPECT_EQ(damages, 1U);
  EXPECT_EQ(reader.counts().bad_sums, 1U);
  EXPECT_EQ(reader.counts().bad_frames, 0U);
}

TEST(Orbflow, zero_inside_a_run_is_damage) {
  OrbflowReader reader(1);
  unsigned damages = 0;
  EXPECT_EQ(
      read_all(reader, Data{0, 0x05, 0x01, 0x02, 0x00, 0x04, 0x01, 0x70, 0x8F, 0x00}, 3, &damages),
      Data{0x70});
  EXPECT_EQ(damages, 1U);
  EXPECT_EQ(reader.counts().bad_frames, 1U);
}

TEST(Orbflow, too_long_a_message_is_dropped_and_needs_no_memory) {
  OrbflowReader reader(1);
  Data wire{0};
  for (int i = 0; i < 100; ++i) {
    wire.push_back(0xFF);
    wire.insert(wire.end(), 254, 0x22);
  }
  wire.insert(wire.end(), {0x00, 0x04, 0x01, 0x70, 0x8F, 0x00});
  EXPECT_EQ(read_all(reader, wire, 1000), Data{0x70});
  EXPECT_EQ(reader.counts().bad_frames, 1U);
}

TEST(Orbflow, other_tags_are_counted) {
  OrbflowReader reader(1);
  // Tag 2 with one byte, and a private tag.
  const Data wire{0x04, 0x02, 0x11, 0xED, 0x00, 0x04, 0x7F, 0x01, 0x80, 0x00};
  EXPECT_EQ(read_all(reader, wire, 100), Data{});
  EXPECT_EQ(reader.counts().other_bytes, 1U);
  EXPECT_EQ(reader.other_tag(), 2);
}

TEST(Orbflow, restart_forgets_half_a_packet) {
  OrbflowReader reader(1);
  EXPECT_EQ(read_all(reader, Data{0, 0x07, 0x01, 0x01}, 100), Data{});
  reader.restart();
  unsigned damages = 0;
  EXPECT_EQ(read_all(reader, Data{0x42, 0x00, 0x04, 0x01, 0x70, 0x8F, 0x00}, 100, &damages),
            Data{0x70});
  EXPECT_EQ(damages, 0U);
}

}  // namespace
}  // namespace waymark::live

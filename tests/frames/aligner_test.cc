#include "waymark/frames/aligner.h"

#include <gtest/gtest.h>

#include <random>

#include "waymark/frames/mux.h"

namespace waymark::frames {
namespace {

/// Two sources whose streams have alignment synchronisations, as hardware sends them.
std::vector<std::uint8_t> two_sources(unsigned seed, unsigned rounds = 120) {
  std::mt19937 random(seed);
  Mux mux;
  for (unsigned round = 0; round < rounds; ++round) {
    const TraceId id = round % 3 == 0 ? 0x20 : 0x10;
    std::vector<std::uint8_t> bytes(11, 0);
    bytes.push_back(0x80);
    for (unsigned i = 0; i < 80; ++i) bytes.push_back(static_cast<std::uint8_t>(random() | 1));
    EXPECT_TRUE(mux.write(id, bytes));
  }
  mux.finish();
  return mux.take();
}

std::vector<std::uint8_t> without(std::vector<std::uint8_t> bytes, std::size_t at,
                                  std::size_t size) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
  bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
  return bytes;
}

TEST(Aligner, frames_at_offset_zero_are_aligned) { EXPECT_TRUE(is_aligned(two_sources(1))); }

TEST(Aligner, bytes_before_the_frames_are_found) {
  const std::vector<std::uint8_t> frames = two_sources(2);
  for (const std::size_t lost : {1U, 2U, 5U, 8U, 11U, 14U}) {
    SCOPED_TRACE(lost);
    const std::vector<std::uint8_t> bytes = without(frames, 0, lost);
    EXPECT_FALSE(is_aligned(bytes));
    const FrameAlignment found = align(bytes);
    EXPECT_TRUE(found.plausible());
    ASSERT_EQ(found.pieces.size(), 1U);
    EXPECT_EQ(found.pieces[0].offset % kFrameSize, kFrameSize - lost);
    EXPECT_EQ(found.odd_ids, 0U);
  }
}

TEST(Aligner, alignment_is_found_again_after_lost_bytes) {
  const std::vector<std::uint8_t> frames = two_sources(3);
  const std::size_t cut = frames.size() / 2;
  for (const std::size_t lost : {1U, 3U, 4U, 5U, 10U}) {
    SCOPED_TRACE(lost);
    const std::vector<std::uint8_t> bytes = without(frames, cut, lost);
    const FrameAlignment found = align(bytes);
    EXPECT_TRUE(found.plausible());
    ASSERT_EQ(found.pieces.size(), 2U);
    EXPECT_EQ(found.pieces[0].offset, 0U);
    EXPECT_EQ((found.pieces[1].offset + lost) % kFrameSize, 0U);
    EXPECT_LT(found.left_out(bytes.size()), 1024U);
  }
}

TEST(Aligner, alignment_is_found_again_after_inserted_bytes) {
  std::vector<std::uint8_t> bytes = two_sources(4);
  const std::size_t cut = bytes.size() / 2;
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(cut), 7, 0xA5);
  const FrameAlignment found = align(bytes);
  ASSERT_EQ(found.pieces.size(), 2U);
  EXPECT_EQ((found.pieces[1].offset - 7) % kFrameSize, 0U);
}

TEST(Aligner, noise_is_not_frames) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> bytes(8192);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  EXPECT_FALSE(align(bytes).plausible());
}

TEST(Aligner, less_than_a_frame_has_no_pieces) {
  EXPECT_TRUE(align(std::vector<std::uint8_t>(15, 1)).pieces.empty());
  EXPECT_TRUE(align({}).pieces.empty());
}

TEST(Aligner, the_search_ends_when_it_is_stopped) {
  const std::vector<std::uint8_t> bytes = without(two_sources(7), 0, 5);
  ASSERT_FALSE(align(bytes).pieces.empty());
  unsigned asked = 0;
  EXPECT_TRUE(align(bytes, [&] { return ++asked == 1; }).pieces.empty());
  EXPECT_EQ(asked, 1U);
  // After the alignments are found, the pieces are read once more.
  asked = 0;
  EXPECT_TRUE(align(bytes, [&] { return ++asked == 2; }).pieces.empty());
}

TEST(Aligner, large_content_without_frames_is_not_searched_as_a_whole) {
  std::vector<std::uint8_t> bytes(kMostSearched + 1);
  std::mt19937 random(8);
  for (std::size_t i = 0; i < bytes.size(); i += 64)
    for (std::size_t k = i; k < std::min(i + 4, bytes.size()); ++k)
      bytes[k] = static_cast<std::uint8_t>(random());
  unsigned asked = 0;
  const FrameAlignment found = align(bytes, [&] {
    ++asked;
    return false;
  });
  EXPECT_TRUE(found.pieces.empty());
  EXPECT_LT(asked, 64U);
}

TEST(Aligner, pieces_are_in_order_and_within_the_content) {
  std::mt19937 random(6);
  for (unsigned round = 0; round < 20; ++round) {
    std::vector<std::uint8_t> bytes = two_sources(round, 30);
    for (unsigned i = 0; i < 3; ++i) {
      const std::size_t at = random() % (bytes.size() - 20);
      bytes = without(std::move(bytes), at, random() % 20);
    }
    std::size_t end = 0;
    for (const FramePiece& piece : align(bytes).pieces) {
      EXPECT_GE(piece.offset, end);
      EXPECT_EQ(piece.size % kFrameSize, 0U);
      end = piece.offset + piece.size;
    }
    EXPECT_LE(end, bytes.size());
  }
}

}  // namespace
}  // namespace waymark::frames

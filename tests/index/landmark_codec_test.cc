// Turns landmarks into bytes and back.
#include <gtest/gtest.h>

#include "support/random.h"
#include "waymark/index/index.h"

namespace waymark::index {
namespace {

std::vector<Landmark> some_landmarks(std::uint64_t seed) {
  support::Random random(seed);
  std::vector<Landmark> landmarks;
  TraceIndex index = random.between(0, 1U << 30);
  for (unsigned i = 0; i < 200; ++i) {
    Landmark landmark;
    landmark.kind = static_cast<LandmarkKind>(random.between(0, kLandmarkKindCount - 1));
    // Positions may go back a little.
    index += random.between(0, 1000);
    landmark.index = index - random.between(0, 10);
    switch (landmark.kind) {
      case LandmarkKind::kTimestamp:
        landmark.value = random.bits(64);
        landmark.whole = random.coin();
        break;
      case LandmarkKind::kContext:
        landmark.value = random.bits(32);
        landmark.vmid = static_cast<std::uint32_t>(random.bits(32));
        landmark.el = static_cast<std::uint8_t>(random.between(0, 3));
        break;
      case LandmarkKind::kEvent:
      case LandmarkKind::kTrigger:
      case LandmarkKind::kException:
        landmark.value = random.bits(64);
        break;
      default:
        break;
    }
    landmarks.push_back(landmark);
  }
  return landmarks;
}

TEST(LandmarkCodec, what_is_encoded_is_decoded_again) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<Landmark> landmarks = some_landmarks(seed);
    const auto decoded = decode_landmarks(encode_landmarks(landmarks));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, landmarks) << "seed " << seed;
  }
}

TEST(LandmarkCodec, no_landmarks_encode_to_no_bytes) {
  EXPECT_TRUE(encode_landmarks({}).empty());
  const auto decoded = decode_landmarks({});
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->empty());
}

TEST(LandmarkCodec, bytes_that_end_within_a_landmark_are_refused) {
  const std::vector<Landmark> one = {
      {.index = 100000, .value = 7, .vmid = 3, .kind = LandmarkKind::kContext, .el = 1}};
  const std::vector<std::uint8_t> bytes = encode_landmarks(one);
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_landmarks(Bytes(bytes).first(size))) << size;
}

TEST(LandmarkCodec, kinds_that_do_not_exist_and_endless_numbers_are_refused) {
  EXPECT_FALSE(decode_landmarks(std::vector<std::uint8_t>{0x0F, 0x00}));
  EXPECT_FALSE(decode_landmarks(std::vector<std::uint8_t>{0x7F, 0x00}));
  std::vector<std::uint8_t> endless(20, 0x80);
  endless[0] = 0x01;
  EXPECT_FALSE(decode_landmarks(endless));
}

TEST(LandmarkCodec, any_bytes_give_landmarks_or_an_error) {
  support::Random random(1);
  for (unsigned i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> bytes(random.between(0, 40));
    for (std::uint8_t& byte : bytes) byte = random.byte();
    const auto decoded = decode_landmarks(bytes);
    if (decoded) {
      EXPECT_LE(decoded->size(), bytes.size());
    }
  }
}

}  // namespace
}  // namespace waymark::index

#include "../../src/view/decoder_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "../../src/view/state_cache.h"
#include "real_session.h"
#include "sample.h"

namespace waymark::view {
namespace {

class DecoderPoolTest : public testing::Test {
 protected:
  SessionOptions options_ = options_of(Sample::folder());
  StateCache states_;
};

TEST_F(DecoderPoolTest, lends_no_more_than_it_may) {
  DecoderPool pool(options_, states_, 2);
  EXPECT_EQ(pool.most(), 2U);
  std::optional<DecoderPool::Loan> first = pool.lend_if_free();
  const auto second = pool.lend(kGoOn);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_NE(&**first, &**second);
  EXPECT_FALSE(pool.lend_if_free());
  const PartDecoder* const decoder = &**first;
  first.reset();
  const auto again = pool.lend_if_free();
  ASSERT_TRUE(again) << "one was given back";
  EXPECT_EQ(&**again, decoder) << "it is not opened again";
}

TEST_F(DecoderPoolTest, who_waits_gets_what_is_given_back) {
  DecoderPool pool(options_, states_, 1);
  std::optional<DecoderPool::Loan> held = pool.lend_if_free();
  ASSERT_TRUE(held);
  std::atomic<bool> waits = false;
  std::atomic<bool> got = false;
  std::thread other([&] {
    // `stop` is asked only while it waits.
    got = pool.lend([&] {
                waits = true;
                return false;
              })
              .has_value();
  });
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(got);
  held.reset();
  other.join();
  EXPECT_TRUE(got);
  EXPECT_TRUE(pool.lend_if_free());
}

TEST_F(DecoderPoolTest, a_stopped_caller_receives_nothing) {
  options_.queue = 0;
  DecoderPool pool(options_, states_, 1);
  const auto held = pool.lend_if_free();
  ASSERT_TRUE(held);
  const auto refused = pool.lend(kGoOn);
  ASSERT_FALSE(refused) << "nobody may wait";
  EXPECT_EQ(refused.error().code, ErrorCode::kLimit);
  options_.queue = 1;
  const auto stopped = pool.lend([] { return true; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kLimit);
}

TEST_F(DecoderPoolTest, a_decoder_that_cannot_be_opened_is_not_lent) {
  int opened = 0;
  const auto open = options_.open;
  options_.open = [&]() -> Result<inputs::Capture> {
    if (opened++ < 2) return fail(ErrorCode::kIo, "gone");
    return open();
  };
  DecoderPool pool(options_, states_, 1);
  EXPECT_FALSE(pool.lend_if_free());
  const auto refused = pool.lend(kGoOn);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().detail, "gone");
  EXPECT_TRUE(pool.lend_if_free()) << "both attempts count no longer";
}

KeyframePointer keyframe() { return std::make_shared<const Keyframe>(); }

/// A piece of about this many bytes.
std::shared_ptr<const Piece> piece_of(std::size_t bytes) {
  auto piece = std::make_shared<Piece>();
  piece->threads[1].spans.resize(bytes / sizeof(PieceSpan));
  return piece;
}

TEST(PieceCache, forgets_what_was_not_used_for_longest) {
  PieceCache cache;
  const KeyframePointer a = keyframe();
  const KeyframePointer b = keyframe();
  const KeyframePointer c = keyframe();
  const auto third = PieceCache::kMostBytes * 2 / 5;
  const auto first = piece_of(third);
  cache.keep(a, b, first);
  cache.keep(b, c, piece_of(third));
  EXPECT_EQ(cache.find(a, b), first);
  cache.keep(a, c, piece_of(third));
  EXPECT_EQ(cache.find(a, b), first);
  EXPECT_EQ(cache.find(b, c), nullptr);
  EXPECT_NE(cache.find(a, c), nullptr);
}

TEST(PieceCache, does_not_keep_what_is_too_large) {
  PieceCache cache;
  const KeyframePointer a = keyframe();
  const KeyframePointer b = keyframe();
  cache.keep(a, b, piece_of(PieceCache::kMostBytes + sizeof(PieceSpan)));
  EXPECT_EQ(cache.find(a, b), nullptr);
}

}  // namespace
}  // namespace waymark::view

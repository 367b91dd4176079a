#include "../../src/parallel/handover.h"

#include <gtest/gtest.h>

#include <thread>

namespace waymark::parallel {
namespace {

class NoPiece final : public Piece {
 public:
  void on_elements(std::span<const Element> /*elements*/) override {}
};

Done done(std::size_t end_at) { return {.piece = std::make_unique<NoPiece>(), .end_at = end_at}; }

TEST(Handover, jobs_are_given_in_order_and_no_more_than_there_are) {
  Handover handover(3);
  handover.start({nullptr, 64}, 2, 16);
  const auto first = handover.begin_piece();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->number, 0U);
  EXPECT_EQ(first->known.at, 64U);
  EXPECT_EQ(first->warm_up, 16U);
  EXPECT_EQ(handover.begin_piece()->number, 1U);
  EXPECT_FALSE(handover.begin_piece());
}

TEST(Handover, pieces_are_taken_in_order_whichever_is_ready_first) {
  Handover handover(2);
  handover.start({nullptr, 0}, 2, 16);
  handover.put(1, done(20));
  handover.put(0, done(10));
  Done taken;
  ASSERT_TRUE(handover.wait_for(0, taken));
  EXPECT_EQ(taken.end_at, 10U);
  ASSERT_TRUE(handover.wait_for(1, taken));
  EXPECT_EQ(taken.end_at, 20U);
}

TEST(Handover, a_worker_waits_until_a_slot_is_free) {
  Handover handover(1);
  handover.start({nullptr, 0}, 2, 16);
  ASSERT_TRUE(handover.begin_piece());
  std::thread worker([&] {
    const auto job = handover.begin_piece();
    handover.put(job->number, done(job->known.at));
  });
  handover.put(0, done(10));
  Done taken;
  ASSERT_TRUE(handover.wait_for(0, taken));
  handover.commit(1, {nullptr, 10});
  ASSERT_TRUE(handover.wait_for(1, taken));
  EXPECT_EQ(taken.end_at, 10U);  // The facts known when it began.
  worker.join();
}

TEST(Handover, warm_ups_become_longer_up_to_a_limit) {
  Handover handover(3);
  handover.start({nullptr, 0}, 3, 16);
  handover.lengthen_warm_up(48);
  EXPECT_EQ(handover.begin_piece()->warm_up, 32U);
  handover.lengthen_warm_up(48);
  EXPECT_EQ(handover.begin_piece()->warm_up, 48U);
}

TEST(Handover, the_end_wakes_everyone) {
  Handover stopped(1);
  stopped.start({nullptr, 0}, 2, 16);
  ASSERT_TRUE(stopped.begin_piece());
  std::thread worker([&] { EXPECT_FALSE(stopped.begin_piece()); });
  stopped.stop();
  worker.join();
  EXPECT_FALSE(stopped.out_of_memory());

  Handover failed(1);
  failed.start({nullptr, 0}, 2, 16);
  std::thread failing([&] { failed.run_out_of_memory(); });
  Done taken;
  EXPECT_FALSE(failed.wait_for(0, taken));
  failing.join();
  EXPECT_TRUE(failed.out_of_memory());
  EXPECT_FALSE(failed.begin_piece());
}

}  // namespace
}  // namespace waymark::parallel

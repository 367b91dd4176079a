#include "../../src/view/give_way.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

namespace waymark::view {
namespace {

TEST(GiveWay, lowers_the_priority_of_the_calling_thread_only) {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  int inside = 0;
  std::jthread([&] {
    give_way();
    inside = ::getpriority(PRIO_PROCESS, 0);
  }).join();
  EXPECT_GE(inside, 10);
  EXPECT_GE(inside, before);
  EXPECT_EQ(::getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace waymark::view

#include "waymark/ptm/register_conflicts.h"

#include <gtest/gtest.h>

namespace waymark::ptm {
namespace {

Config given() {
  Config config;
  config.etmcr = 0;
  return config;
}

TEST(PtmRegisterConflictCounts, a_few_are_damage_and_many_are_reported_once) {
  RegisterConflicts conflicts(given());
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(conflicts.arise(RegisterConflict::kContextIdOff));
  EXPECT_TRUE(conflicts.arise(RegisterConflict::kContextIdOff));
  EXPECT_FALSE(conflicts.arise(RegisterConflict::kContextIdOff));
}

TEST(PtmRegisterConflictCounts, an_async_begins_a_new_count) {
  RegisterConflicts conflicts(given());
  for (unsigned i = 0; i < 3; ++i) EXPECT_FALSE(conflicts.arise(RegisterConflict::kContextIdOff));
  conflicts.forget_counts();
  EXPECT_FALSE(conflicts.arise(RegisterConflict::kContextIdOff));
}

TEST(PtmRegisterConflictCounts, registers_that_were_not_given_raise_none) {
  RegisterConflicts conflicts{Config{}};
  for (unsigned i = 0; i < 20; ++i) EXPECT_FALSE(conflicts.arise(RegisterConflict::kContextIdOff));
}

TEST(PtmRegisterConflictCounts, bytes_after_a_reserved_header_can_be_cycle_counts) {
  RegisterConflicts conflicts(given());
  conflicts.watch();
  for (unsigned i = 0; i < 6; ++i) {
    EXPECT_FALSE(conflicts.take_found());
    conflicts.take_unsynced(0x04);
  }
  EXPECT_TRUE(conflicts.take_found());
  EXPECT_FALSE(conflicts.take_found());
}

TEST(PtmRegisterConflictCounts, other_bytes_are_not_watched) {
  RegisterConflicts conflicts(given());
  for (unsigned i = 0; i < 20; ++i) conflicts.take_unsynced(0x04);
  EXPECT_FALSE(conflicts.take_found());
  EXPECT_TRUE(conflicts == RegisterConflicts(given()));
}

}  // namespace
}  // namespace waymark::ptm

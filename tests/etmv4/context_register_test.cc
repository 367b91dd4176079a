#include "waymark/etmv4/context_register.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::etmv4 {
namespace {

Config config_of(std::uint32_t trcidr2) {
  Config config;
  config.trcidr2 = trcidr2;
  return config;
}
const Config kConfig = config_of(4 << 5 | 1 << 10);  // CIDSIZE 4, VMIDSIZE 1.

std::size_t take(ContextRegister& context, std::vector<std::uint8_t> bytes,
                 const Config& config = kConfig, bool alone = true) {
  return context.take(bytes, config, alone);
}

TEST(Etmv4ContextRegister, fields_that_are_not_sent_stay) {
  ContextRegister context;
  EXPECT_EQ(take(context, {0xF2, 0x07, 0x01, 0x02, 0x03, 0x04}), 6U);
  EXPECT_EQ(context.value().vmid, 7U);
  EXPECT_EQ(context.value().context_id, 0x04030201U);
  EXPECT_TRUE(context.is_64bit());
  EXPECT_EQ(take(context, {0x01}), 1U);
  EXPECT_EQ(context.value().el, 1);
  EXPECT_EQ(context.value().context_id, 0x04030201U);
  EXPECT_FALSE(context.value().updated_context_id);
  EXPECT_FALSE(context.is_64bit());
}

TEST(Etmv4ContextRegister, an_unfinished_packet_changes_nothing) {
  ContextRegister context;
  EXPECT_EQ(take(context, {}), 0U);
  EXPECT_EQ(take(context, {0x90, 0x01, 0x02, 0x03}), 0U);
  EXPECT_TRUE(context == ContextRegister());
}

TEST(Etmv4ContextRegister, fields_of_no_size_take_a_byte_without_an_address) {
  ContextRegister context;
  const Config none = config_of(0);
  EXPECT_EQ(take(context, {0x80, 0x00}, none, true), 2U);
  EXPECT_EQ(take(context, {0x80, 0x00}, none, false), 1U);
}

TEST(Etmv4ContextRegister, the_same_context_is_not_an_update) {
  ContextRegister context;
  take(context, {0x10});
  context.take_same();
  EXPECT_FALSE(context.value().updated);
  EXPECT_TRUE(context.is_64bit());
}

TEST(Etmv4ContextRegister, after_a_loss_the_state_is_not_known) {
  ContextRegister context;
  take(context, {0x10});
  context.reset();
  EXPECT_FALSE(context.is_64bit());
}

}  // namespace
}  // namespace waymark::etmv4

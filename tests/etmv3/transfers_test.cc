#include "waymark/etmv3/transfers.h"

#include <gtest/gtest.h>

namespace waymark::etmv3 {
namespace {

Transfer with_address(std::uint32_t address) {
  Transfer transfer;
  transfer.first = transfer.has_address = true;
  transfer.address = {address, 32, 32};
  return transfer;
}

TEST(Etmv3Transfers, later_transfers_of_a_load_multiple_follow_the_first) {
  Transfers transfers{Config{}};
  transfers.executed(0x1000, isa::DataAccess::kMemory);
  const Place first = transfers.place(with_address(0x2000));
  const Place second = transfers.place({});
  EXPECT_EQ(first.owner, (Owner{Owner::Kind::kInstruction, 0x1000}));
  EXPECT_EQ(first.number, 0);
  EXPECT_FALSE(first.inferred);
  EXPECT_EQ(second.number, 1);
  EXPECT_EQ(second.address.value, 0x2004U);
  EXPECT_TRUE(second.inferred);
}

TEST(Etmv3Transfers, the_next_instruction_infers_nothing_from_the_last) {
  Transfers transfers{Config{}};
  transfers.executed(0x1000, isa::DataAccess::kMemory);
  transfers.place(with_address(0x2000));
  transfers.executed(0x1004, isa::DataAccess::kMemory);
  const Place place = transfers.place({});
  EXPECT_EQ(place.owner.key, 0x1004U);
  EXPECT_EQ(place.number, 0);
  EXPECT_EQ(place.address.valid_bits, 0);
}

TEST(Etmv3Transfers, suppression_breaks_the_row) {
  Transfers transfers{Config{}};
  transfers.executed(0x1000, isa::DataAccess::kMemory);
  transfers.place(with_address(0x2000));
  transfers.suppressed();
  EXPECT_EQ(transfers.place({}).address.valid_bits, 0);
}

TEST(Etmv3Transfers, coprocessor_moves_count_only_when_they_are_traced) {
  Transfers off{Config{}};
  off.executed(0x1000, isa::DataAccess::kMemory);
  off.executed(0x1004, isa::DataAccess::kCoprocessor);
  EXPECT_EQ(off.place({}).owner.key, 0x1000U);

  Config config;
  config.etmcr = 2;
  Transfers on{config};
  on.executed(0x1000, isa::DataAccess::kMemory);
  on.executed(0x1004, isa::DataAccess::kCoprocessor);
  EXPECT_EQ(on.place({}).owner.key, 0x1004U);
  // Only a load or store has the A bit.
  EXPECT_EQ(on.place(with_address(0x2000)).owner.key, 0x1000U);
}

TEST(Etmv3Transfers, without_instructions_accesses_are_counted) {
  Config config;
  config.etmcr = 0x10000C;
  Transfers transfers{config};
  EXPECT_EQ(transfers.place(with_address(0x10)).owner, (Owner{Owner::Kind::kAccess, 0}));
  EXPECT_EQ(transfers.place({}).number, 1);
  EXPECT_EQ(transfers.place(with_address(0x10)).owner, (Owner{Owner::Kind::kAccess, 1}));
}

TEST(Etmv3Transfers, without_an_image_each_first_packet_begins_again) {
  Transfers transfers{Config{}};
  transfers.begin(Owner::Kind::kUnknown);
  EXPECT_EQ(transfers.place(with_address(0x10)).number, 0);
  EXPECT_EQ(transfers.place({}).number, 1);
  EXPECT_EQ(transfers.place(with_address(0x20)).number, 0);
}

TEST(Etmv3Transfers, values_come_in_the_order_of_their_placeholders) {
  Transfers transfers{Config{}};
  Place place;
  for (std::uint32_t key = 1; key <= 3; ++key) {
    place.owner = {Owner::Kind::kInstruction, key};
    transfers.remember(2, place);
  }
  EXPECT_FALSE(transfers.resolve(1).has_value());
  for (std::uint32_t key = 1; key <= 3; ++key) {
    const auto found = transfers.resolve(2);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->owner.key, key);
  }
  EXPECT_FALSE(transfers.resolve(2).has_value());
}

TEST(Etmv3Transfers, the_oldest_placeholder_is_given_up_when_there_are_too_many) {
  Transfers transfers{Config{}};
  Place place;
  for (std::uint32_t key = 0; key <= Transfers::kMaxPending; ++key) {
    place.owner = {Owner::Kind::kInstruction, key};
    transfers.remember(1, place);
  }
  EXPECT_EQ(transfers.resolve(1)->owner.key, 1U);
}

TEST(Etmv3Transfers, an_inferred_address_wraps_within_the_known_bits) {
  Transfers transfers{Config{}};
  transfers.executed(0x1000, isa::DataAccess::kMemory);
  Transfer first = with_address(0x7C);
  first.address.valid_bits = 7;
  transfers.place(first);
  EXPECT_EQ(transfers.place({}).address.value, 0U);
}

}  // namespace
}  // namespace waymark::etmv3

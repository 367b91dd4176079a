#include "waymark/etmv3/register_check.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::etmv3 {
namespace {

constexpr std::uint32_t kCycleAccurate = 1U << 12;
constexpr std::uint32_t kTimestamps = 1U << 28;

Config registers(std::uint32_t etmcr, std::uint32_t etmidr = 0x410CF240) {
  Config config;
  config.etmcr = etmcr;
  config.etmidr = etmidr;
  return config;
}

std::string said(RegisterCheck& check, PacketType type,
                 PacketType error_type = PacketType::kNoErrorType,
                 SyncReason reason = SyncReason::kTraceEnable) {
  Packet packet;
  packet.begin(type, 1);
  packet.error_type = error_type;
  packet.reason = reason;
  return std::string(describe(check.check(packet)));
}

TEST(Etmv3RegisterCheck, unexpected_cycle_counts_are_reported_once) {
  RegisterCheck check(registers(0, 0x410CF250));
  EXPECT_NE(said(check, PacketType::kISyncCycle).find("ETMCR[12]"), std::string::npos);
  EXPECT_EQ(said(check, PacketType::kISyncCycle), "");
  EXPECT_EQ(said(check, PacketType::kCycleCount), "");
}

TEST(Etmv3RegisterCheck, cycle_counts_that_should_be_are_missed) {
  RegisterCheck check(registers(kCycleAccurate, 0x410CF250));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(said(check, PacketType::kISync), "");
  EXPECT_NE(said(check, PacketType::kISync).find("ETMCR[12]"), std::string::npos);
  EXPECT_EQ(said(check, PacketType::kISync), "");
}

TEST(Etmv3RegisterCheck, periodic_syncs_and_those_after_overflows_need_no_cycles) {
  RegisterCheck check(registers(kCycleAccurate, 0x410CF250));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(said(check, PacketType::kISync, {}, SyncReason::kPeriodic), "");
    EXPECT_EQ(said(check, PacketType::kISync, {}, SyncReason::kOverflow), "");
  }
}

TEST(Etmv3RegisterCheck, cycles_in_a_packet_of_their_own_will_do) {
  RegisterCheck check(registers(kCycleAccurate, 0x410CF250));
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(said(check, PacketType::kCycleCount), "");
    EXPECT_EQ(said(check, PacketType::kISync), "");
  }
}

TEST(Etmv3RegisterCheck, versions_and_switches) {
  RegisterCheck old(registers(kTimestamps, 0x410CF240));
  EXPECT_NE(said(old, PacketType::kTimestamp).find("ETMIDR[7:4]"), std::string::npos);
  EXPECT_EQ(said(old, PacketType::kTimestamp), "");
  EXPECT_NE(said(old, PacketType::kVmid).find("ETMIDR[7:4]"), std::string::npos);
  RegisterCheck off(registers(0, 0x410CF250));
  EXPECT_NE(said(off, PacketType::kTimestamp).find("ETMCR[28]"), std::string::npos);
  RegisterCheck right(registers(kTimestamps, 0x410CF250));
  EXPECT_EQ(said(right, PacketType::kTimestamp), "");
  EXPECT_EQ(said(right, PacketType::kVmid), "");
}

TEST(Etmv3RegisterCheck, packets_that_the_registers_do_not_allow_name_the_register_once) {
  RegisterCheck check(registers(0));
  const auto bad = PacketType::kBadTraceMode;
  EXPECT_NE(said(check, bad, PacketType::kNormData).find("ETMCR[3:2]"), std::string::npos);
  EXPECT_EQ(said(check, bad, PacketType::kDataSuppressed), "");
  EXPECT_NE(said(check, bad, PacketType::kOooData).find("ETMCR[2]"), std::string::npos);
  EXPECT_NE(said(check, bad, PacketType::kContextId).find("ETMCR[15:14]"), std::string::npos);
  const auto reserved = PacketType::kReserved;
  EXPECT_NE(said(check, reserved, PacketType::kPHeader).find("ETMCR[12]"), std::string::npos);
  EXPECT_EQ(said(check, reserved, PacketType::kPHeader), "");
  EXPECT_EQ(said(check, reserved), "");
}

TEST(Etmv3RegisterCheck, data_that_does_not_come_is_missed_at_the_end) {
  const Config config = registers(0b1100);
  RegisterCheck check(config);
  EXPECT_EQ(describe(check.at_end(RegisterCheck::kManyPackets - 1)), "");
  EXPECT_NE(describe(check.at_end(RegisterCheck::kManyPackets)).find("ETMCR[3:2]"),
            std::string_view::npos);
  RegisterCheck other(config);
  EXPECT_EQ(said(other, PacketType::kNormData), "");
  EXPECT_EQ(describe(other.at_end(RegisterCheck::kManyPackets)), "");
}

}  // namespace
}  // namespace waymark::etmv3

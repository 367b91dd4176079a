#include "waymark/exports/branch_list.h"

#include <gtest/gtest.h>

#include "waymark/etmv4/packet.h"

namespace waymark::exports {
namespace {

BranchBits bits(std::string_view outcomes) {
  BranchBits result;
  for (const char c : outcomes) result.add(c == 'E');
  return result;
}

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// A file in the newer form, of one message.
std::string file_of(std::string_view message) {
  std::string file = "simpleperf:EtmBranchList";
  file += std::string("\1\0\0\0\0", 5);
  file += static_cast<char>(message.size());
  file += std::string(3, '\0');
  return file.append(message);
}

TEST(BranchBitsTest, first_executed_is_the_lowest_bit) {
  const BranchBits found = bits("NEENENNNE");
  EXPECT_EQ(found.count, 9);
  EXPECT_EQ(found.bytes, std::string("\x16\x01", 2));
  EXPECT_FALSE(found.taken(0));
  EXPECT_TRUE(found.taken(8));
}

TEST(BranchListFile, bytes_of_the_newer_form) {
  const BranchList list = {{{.path = "/a", .build_id = "ab12"}, {{0x1000, {{bits("NEENE"), 4}}}}}};
  const auto written = written_branch_list(list, false);
  ASSERT_TRUE(written);
  EXPECT_EQ(*written, file_of("\x12\x18"
                              "\x0a\x02/a"
                              "\x12\x04"
                              "ab12"
                              "\x1a\x0c\x08\x80\x20"
                              "\x12\x07\x0a\x01\x16\x10\x05\x18\x04"));
}

class BranchListRoundTrip : public testing::TestWithParam<bool> {};

TEST_P(BranchListRoundTrip, what_is_written_is_read) {
  BranchList list;
  list[{.path = "/system/lib.so", .build_id = "00ff"}][0x1001] = {{bits("E"), 1}, {bits("N"), 2}};
  list[{.path = "[kernel.kallsyms]",
        .build_id = "",
        .kind = BinaryKind::kKernel,
        .kernel_start = 0xFFFFFF9A5DC9D000}][0xFFFFFF9A5DC9D010] = {
      {bits(std::string(1000, 'E')), ~std::uint64_t{0}}};
  list[{.path = "m.ko", .build_id = "", .kind = BinaryKind::kModule}][0] = {{bits("EENNEENN"), 7}};
  const auto written = written_branch_list(list, GetParam());
  if (!written) GTEST_SKIP() << written.error().detail;
  EXPECT_TRUE(is_branch_list(bytes_of(*written)));
  const auto read = read_branch_list(bytes_of(*written));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(*read, list);
  for (std::size_t size = 0; size < written->size(); ++size)
    (void)read_branch_list(bytes_of(std::string_view(*written).substr(0, size)));
}

INSTANTIATE_TEST_SUITE_P(Compressed, BranchListRoundTrip, testing::Bool());

TEST(BranchListFile, the_older_form_is_one_message) {
  const std::string file =
      "\x0a\x18simpleperf:EtmBranchList"
      "\x12\x10\x0a\x01k\x1a\x09\x08\x10\x12\x05\x0a\x01\x01\x10\x01"
      "\x20\x01"
      "\x18\x80\x20";
  // The count of the branch is missing, so that it was never executed.
  const auto read = read_branch_list(bytes_of(file));
  ASSERT_TRUE(read) << read.error().detail;
  ASSERT_EQ(read->size(), 1);
  EXPECT_EQ(read->begin()->first.kind, BinaryKind::kKernel);
  EXPECT_EQ(read->begin()->first.kernel_start, 0x1000);
  EXPECT_TRUE(read->begin()->second.empty());
}

TEST(BranchListFile, equal_sequences_of_several_messages_are_added_up) {
  const std::string message = "\x12\x0d\x1a\x0b\x08\x10\x12\x07\x0a\x01\x16\x10\x05\x18\x04";
  const auto read = read_branch_list(bytes_of(file_of(message + message)));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->begin()->second.at(0x10).at(bits("NEENE")), 8);
}

TEST(BranchListFile, damage_is_refused) {
  const auto code = [](const std::string& file) {
    return read_branch_list(bytes_of(file)).error().code;
  };
  // More bits than bytes.
  EXPECT_EQ(code(file_of("\x12\x0d\x1a\x0b\x08\x10\x12\x07\x0a\x01\x16\x10\x09\x18\x04")),
            ErrorCode::kBadData);
  // A field that is longer than its message.
  EXPECT_EQ(code(file_of("\x12\x7f\x0a")), ErrorCode::kBadData);
  EXPECT_EQ(code("simpleperf:EtmBranchList\1"), ErrorCode::kBadData);
  EXPECT_EQ(code(file_of("").replace(24, 1, "\2")), ErrorCode::kUnsupported);
}

/// Packets of trace ID 0x10; address A is in the program "p" at A - 0x1000.
class Builder : public testing::Test {
 protected:
  void give(etmv4::Packet packet) {
    PacketRef seen;
    seen.trace_id = 0x10;
    seen.packet = &packet;
    builder_.on_packet(seen);
  }
  void address(std::uint64_t value, std::uint8_t is = 0) {
    etmv4::Packet packet;
    packet.type = etmv4::PacketType::kAddress64Is0;
    packet.address = {.value = value, .is = is};
    give(packet);
  }
  void atoms(std::string_view outcomes) {
    etmv4::Packet packet;
    packet.type = etmv4::PacketType::kAtomF6;
    packet.atom_count = static_cast<std::uint8_t>(outcomes.size());
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      packet.atoms |= (outcomes[i] == 'E' ? 1U : 0U) << i;
    give(packet);
  }
  void other(etmv4::PacketType type) {
    etmv4::Packet packet;
    packet.type = type;
    give(packet);
  }
  const BranchesOfBinary& found() {
    finish();
    return found_.list.begin()->second;
  }
  void finish() {
    builder_.finish();
    found_ = builder_.take();
  }

  FoundBranches found_;

  static bool locate(TraceIndex, TraceId, ExecutionContext, std::uint64_t address,
                     BinaryPlace& place) {
    place = {.name = {.path = "p"}, .address = address - 0x1000};
    return address >= 0x1000;
  }
  BranchListBuilder builder_{locate};
};

TEST_F(Builder, an_address_begins_a_list) {
  address(0x1100);
  atoms("EN");
  atoms("E");
  address(0x1200, 1);
  atoms("N");
  EXPECT_EQ(found(), (BranchesOfBinary{{0x100, {{bits("ENE"), 1}}}, {0x201, {{bits("N"), 1}}}}));
}

TEST_F(Builder, exceptions_and_contexts_do_not_end_it) {
  address(0x1100);
  atoms("EN");
  other(etmv4::PacketType::kException);
  other(etmv4::PacketType::kTraceOn);
  other(etmv4::PacketType::kContext);
  other(etmv4::PacketType::kTimestampMarker);
  atoms("E");
  EXPECT_EQ(found(), (BranchesOfBinary{{0x100, {{bits("ENE"), 1}}}}));
}

TEST_F(Builder, after_lost_trace_atoms_belong_to_nothing) {
  address(0x1100);
  atoms("EN");
  other(etmv4::PacketType::kOverflow);
  atoms("E");
  EXPECT_EQ(found(), (BranchesOfBinary{{0x100, {{bits("EN"), 1}}}}));
  EXPECT_EQ(found_.lost, 1);
}

TEST_F(Builder, a_reset_ends_it) {
  address(0x1100);
  atoms("EN");
  builder_.on_operation(Operation::kReset, 0x10);
  atoms("E");
  EXPECT_EQ(found(), (BranchesOfBinary{{0x100, {{bits("EN"), 1}}}}));
}

TEST_F(Builder, atoms_of_unknown_programs_are_counted) {
  address(0x100);
  atoms("EN");
  finish();
  EXPECT_TRUE(found_.list.empty());
  EXPECT_EQ(found_.lost, 2);
}

TEST_F(Builder, another_one_continues_from_the_states) {
  address(0x1100);
  atoms("EN");
  FoundBranches sum = builder_.take();
  EXPECT_TRUE(sum.list.empty());
  const BranchStates states = builder_.states();
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states.begin()->second.bits, bits("EN"));
  builder_ = BranchListBuilder(locate, states);
  EXPECT_EQ(builder_.states(), states);
  atoms("E");
  finish();
  sum.add(found_);
  EXPECT_EQ(sum.list.begin()->second, (BranchesOfBinary{{0x100, {{bits("ENE"), 1}}}}));
  EXPECT_TRUE(sum.saw_packets);
}

TEST_F(Builder, what_ended_leaves_no_state) {
  address(0x1100);
  other(etmv4::PacketType::kOverflow);
  EXPECT_EQ(builder_.states().begin()->second, BranchState());
  address(0x100);
  atoms("E");
  EXPECT_EQ(builder_.states().begin()->second, BranchState());
}

TEST_F(Builder, cancelled_atoms_are_left_out) {
  address(0x1100);
  atoms("EN");
  other(etmv4::PacketType::kCancelF1);
  finish();
  EXPECT_TRUE(found_.list.empty());
  EXPECT_EQ(found_.cancelled, 2);
}

/// isb; b.eq 0x0; b 0x0; br x0
const std::uint32_t kCode[] = {0xD5033FDF, 0x54FFFFE0, 0x17FFFFFE, 0xD61F0000};
const BinaryCode kA64Code = {.read =
                                 [](std::uint64_t address, std::uint32_t& opcode) {
                                   if (address >= sizeof kCode) return false;
                                   opcode = kCode[address / 4];
                                   return true;
                                 },
                             .is_64_bit = true};

TEST(Expand, a_barrier_goes_on_after_itself) {
  // The branch to 0 is taken once; then the barrier is executed, and the branch is not taken.
  const auto found = expand({{0, {{bits("EEEN"), 3}}}}, kA64Code);
  ASSERT_EQ(found.counts.rows.size(), 2);
  const count::Row& barrier = found.counts.rows[0];
  EXPECT_EQ(barrier.range.start, 0);
  EXPECT_EQ(barrier.executed, 6);
  EXPECT_EQ(barrier.taken(), 0);
  const count::Row& branch = found.counts.rows[1];
  EXPECT_EQ(branch.range.start, 4);
  EXPECT_EQ(branch.executed, 3);
  EXPECT_EQ(branch.not_executed, 3);
  EXPECT_EQ(branch.target, 0);
  EXPECT_EQ(found.lost, 0);
}

TEST(Expand, an_indirect_branch_ends_the_list) {
  const auto found = expand({{12, {{bits("EE"), 2}}}}, kA64Code);
  ASSERT_EQ(found.counts.rows.size(), 1);
  EXPECT_EQ(found.counts.rows[0].executed, 2);
  EXPECT_EQ(found.lost, 2);
}

TEST(Expand, outcomes_without_code_are_lost) {
  const auto found = expand({{0x100, {{bits("EEE"), 2}}}}, kA64Code);
  EXPECT_TRUE(found.counts.rows.empty());
  EXPECT_EQ(found.lost, 6);
}

}  // namespace
}  // namespace waymark::exports

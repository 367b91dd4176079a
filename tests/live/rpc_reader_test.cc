#include "waymark/live/rpc_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace waymark::live {
namespace {

using Data = std::vector<std::uint8_t>;
using Found = RpcReader::Found;

struct Seen {
  Data trace;
  std::vector<std::string> replies;
  unsigned others = 0;
  unsigned damages = 0;
};

void read_into(Seen& seen, RpcReader& reader, std::string_view text, std::size_t size) {
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, size);
    text.remove_prefix(piece.size());
    Bytes bytes(reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size());
    while (!bytes.empty()) {
      switch (reader.next(bytes, seen.trace)) {
        case Found::kReply:
          seen.replies.push_back(reader.reply());
          break;
        case Found::kOther:
          ++seen.others;
          break;
        case Found::kDamage:
          ++seen.damages;
          break;
        default:
          break;
      }
    }
  }
}

TEST(RpcReader, records_of_all_kinds_in_any_pieces) {
  const std::string text =
      "type target_state state halted\r\n\x1a"
      "\x1a"
      "type target_trace data 0141\r\n\x1a"
      "Target trace output  is enabled\n\x1a"
      "type target_trace data 0142C0\r\n\x1a"
      "type target_event event gdb-start\r\n\x1a";
  for (const std::size_t size : {1U, 2U, 5U, 1000U}) {
    RpcReader reader;
    Seen seen;
    read_into(seen, reader, text, size);
    EXPECT_EQ(seen.trace, (Data{0x01, 0x41, 0x01, 0x42, 0xC0})) << size;
    EXPECT_EQ(seen.replies, (std::vector<std::string>{"", "Target trace output  is enabled\n"}));
    EXPECT_EQ(seen.others, 2U);
    EXPECT_EQ(reader.counts().trace_records, 2U);
  }
}

TEST(RpcReader, trace_that_is_not_whole_bytes_is_damage) {
  RpcReader reader;
  Seen seen;
  read_into(seen, reader,
            "type target_trace data 014\r\n\x1atype target_trace data 01xy\r\n\x1a"
            "type target_trace data 55\r\n\x1a",
            7);
  EXPECT_EQ(seen.damages, 2U);
  EXPECT_EQ(seen.trace, Data{0x55});
  EXPECT_EQ(reader.counts().bad_records, 2U);
}

TEST(RpcReader, record_without_trace_is_good) {
  RpcReader reader;
  Seen seen;
  read_into(seen, reader, "type target_trace data \r\n\x1a", 3);
  EXPECT_EQ(seen.damages, 0U);
  EXPECT_TRUE(seen.trace.empty());
}

TEST(RpcReader, endless_record_is_bounded) {
  RpcReader reader;
  Seen seen;
  const std::string part(std::size_t{1} << 16, '0');
  read_into(seen, reader, "type target_trace data ", 100);
  for (int i = 0; i < 160; ++i) read_into(seen, reader, part, part.size());
  EXPECT_TRUE(reader.too_long());
  EXPECT_LE(reader.reply().size(), RpcReader::kMostRecord);
  read_into(seen, reader, "\x1atype target_trace data 77\x1a", 100);
  EXPECT_EQ(seen.damages, 1U);
  EXPECT_EQ(seen.trace, Data{0x77});
  EXPECT_FALSE(reader.too_long());
}

TEST(RpcReader, restart_forgets_half_a_record) {
  RpcReader reader;
  Seen seen;
  read_into(seen, reader, "type target_trace da", 100);
  reader.restart();
  read_into(seen, reader, "type target_trace data 88\x1a", 100);
  EXPECT_EQ(seen.trace, Data{0x88});
  EXPECT_EQ(seen.damages, 0U);
}

}  // namespace
}  // namespace waymark::live

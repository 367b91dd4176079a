#include "waymark/etmv4/unsynced_search.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace waymark::etmv4 {
namespace {

/// The result for the bytes, such as "0+8 8*12": chunks and A-syncs with their index and size.
class Etmv4UnsyncedSearch : public testing::Test {
 protected:
  void give(char kind) {
    if (!given_.empty()) given_ += ' ';
    given_ += std::to_string(chunk_.index) + kind + std::to_string(chunk_.bytes.size());
  }
  void take(std::initializer_list<std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) {
      if (search_.due()) {
        search_.give_due(chunk_);
        give(chunk_.type == PacketType::kAsync ? '0' : '+');
      }
      if (!search_.take(byte, index_++)) continue;
      search_.give_all(chunk_);
      give(byte == 0x80 ? '*' : '!');
    }
  }

  UnsyncedSearch search_;
  UnsyncedSearch::Chunk chunk_;
  TraceIndex index_ = 0;
  std::string given_;
};

TEST_F(Etmv4UnsyncedSearch, eight_bytes_are_a_chunk) {
  take({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(given_, "0+8");
}

TEST_F(Etmv4UnsyncedSearch, an_async_begins_its_own_chunk) {
  take({1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80});
  EXPECT_EQ(given_, "0+2 2*12");
  EXPECT_TRUE(search_.empty());
}

TEST_F(Etmv4UnsyncedSearch, a_wrong_end_is_reported) {
  take({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81});
  EXPECT_EQ(given_, "0!12");
}

TEST_F(Etmv4UnsyncedSearch, surplus_zeros_are_given_one_by_one) {
  take({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80});
  EXPECT_EQ(given_, "0+1 1*12");
}

TEST_F(Etmv4UnsyncedSearch, quirk_surplus_zeros_are_asyncs) {
  search_ = UnsyncedSearch(true);
  take({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80});
  EXPECT_EQ(given_, "001 0*12");
}

TEST_F(Etmv4UnsyncedSearch, the_rest_is_given_at_the_end) {
  take({0, 0, 0});
  EXPECT_TRUE(search_.in_async());
  search_.give_all(chunk_);
  EXPECT_EQ(chunk_.bytes.size(), 3U);
  EXPECT_TRUE(search_.empty());
}

TEST_F(Etmv4UnsyncedSearch, chunks_after_a_jump_do_not_count) {
  EXPECT_TRUE(search_.is_first_chunk());
  EXPECT_FALSE(search_.is_first_chunk());
  UnsyncedSearch other;
  other.jump();
  EXPECT_TRUE(other.is_first_chunk());
  other.jump();
  EXPECT_FALSE(other.is_first_chunk());
  other.end();
  EXPECT_TRUE(other == UnsyncedSearch());
}

TEST_F(Etmv4UnsyncedSearch, reset_begins_again) {
  take({1, 2, 0});
  (void)search_.is_first_chunk();
  search_.reset();
  EXPECT_TRUE(search_ == UnsyncedSearch());
}

}  // namespace
}  // namespace waymark::etmv4

#include "waymark/ptm/indexed_bytes.h"

#include <gtest/gtest.h>

namespace waymark::ptm {
namespace {

TEST(PtmIndexedBytes, bytes_keep_their_indexes) {
  IndexedBytes<4> bytes;
  EXPECT_TRUE(bytes.empty());
  for (std::uint8_t byte = 1; byte <= 4; ++byte) bytes.push(byte, 10U + byte);
  bytes.drop(3);
  ASSERT_EQ(bytes.size(), 1U);
  EXPECT_EQ(bytes.bytes()[0], 4);
  EXPECT_EQ(bytes.index(), 14U);
}

TEST(PtmIndexedBytes, what_was_dropped_does_not_count) {
  IndexedBytes<4> a;
  IndexedBytes<4> b;
  a.push(1, 1);
  a.push(2, 2);
  a.drop(1);
  b.push(2, 2);
  EXPECT_TRUE(a == b);
  b.push(3, 3);
  EXPECT_FALSE(a == b);
  b.reset();
  const IndexedBytes<4> fresh;
  EXPECT_TRUE(b == fresh);
}

}  // namespace
}  // namespace waymark::ptm

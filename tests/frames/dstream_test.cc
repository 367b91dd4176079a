#include "waymark/frames/dstream.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::frames {
namespace {

std::vector<std::uint8_t> numbered(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i / 512 * 16 + i % 7);
  return bytes;
}

TEST(DstreamReader, index_counts_payload_only) {
  const auto file = numbered(1024);
  DstreamReader reader(file);
  const auto first = reader.next();
  const auto second = reader.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->payload.size(), 504U);
  EXPECT_EQ(first->footer.data(), file.data() + 504);
  EXPECT_EQ(first->footer.size(), 8U);
  EXPECT_EQ(second->index, 504U);
  EXPECT_EQ(second->payload.data(), file.data() + 512);
  EXPECT_FALSE(reader.next());
}

TEST(DstreamReader, file_that_ends_inside_a_record) {
  const auto file = numbered(512 + 506);
  DstreamReader reader(file);
  reader.next();
  const auto last = reader.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->payload.size(), 504U);
  EXPECT_EQ(last->footer.size(), 2U);
  DstreamReader shorter(Bytes(file).first(100));
  EXPECT_EQ(shorter.next()->payload.size(), 100U);
  EXPECT_FALSE(shorter.next());
}

}  // namespace
}  // namespace waymark::frames

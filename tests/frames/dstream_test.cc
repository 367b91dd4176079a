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

// The next record; at the end of the file an empty one.
DstreamRecord next(DstreamReader& reader) { return reader.next().value_or(DstreamRecord{}); }

TEST(DstreamReader, index_counts_payload_only) {
  const auto file = numbered(1024);
  DstreamReader reader(file);
  const DstreamRecord first = next(reader);
  EXPECT_EQ(first.payload.size(), 504U);
  EXPECT_EQ(first.footer.data(), file.data() + 504);
  EXPECT_EQ(first.footer.size(), 8U);
  const DstreamRecord second = next(reader);
  EXPECT_EQ(second.index, 504U);
  EXPECT_EQ(second.payload.data(), file.data() + 512);
  EXPECT_FALSE(reader.next());
}

TEST(DstreamReader, file_that_ends_inside_a_record) {
  const auto file = numbered(512 + 506);
  DstreamReader reader(file);
  next(reader);
  const DstreamRecord last = next(reader);
  EXPECT_EQ(last.payload.size(), 504U);
  EXPECT_EQ(last.footer.size(), 2U);
  EXPECT_FALSE(reader.next());
  DstreamReader shorter(Bytes(file).first(100));
  EXPECT_EQ(next(shorter).payload.size(), 100U);
  EXPECT_FALSE(shorter.next());
}

}  // namespace
}  // namespace waymark::frames

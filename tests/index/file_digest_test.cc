// Digests of files: continued, and sensitive to every byte.
#include "waymark/index/file_digest.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "index_bench.h"

namespace waymark::index {
namespace {

std::vector<std::uint8_t> bytes_of(std::size_t size) {
  support::Random random(size);
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = random.byte();
  return bytes;
}

std::uint64_t digest_of(Bytes file) {
  FileDigest digest;
  digest.read(file, file.size());
  return digest.value(file, file.size());
}

TEST(FileDigest, every_changed_byte_shows) {
  for (const std::size_t size : {1U, 31U, 4096U, 9000U}) {
    std::vector<std::uint8_t> bytes = bytes_of(size);
    std::set<std::uint64_t> seen = {digest_of(bytes)};
    for (std::size_t at = 0; at < size; at += 7) {
      bytes[at] ^= 1;
      EXPECT_TRUE(seen.insert(digest_of(bytes)).second) << at;
      bytes[at] ^= 1;
    }
    EXPECT_EQ(digest_of(bytes), *seen.find(digest_of(bytes)));
  }
}

TEST(FileDigest, zeros_have_a_length_and_pieces_have_an_order) {
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 10000; size += 100)
    EXPECT_TRUE(seen.insert(digest_of(std::vector<std::uint8_t>(size))).second) << size;
  std::vector<std::uint8_t> bytes = bytes_of(2 * FileDigest::kPiece);
  const std::uint64_t before = digest_of(bytes);
  std::ranges::rotate(bytes, bytes.begin() + FileDigest::kPiece);
  EXPECT_NE(digest_of(bytes), before);
}

TEST(FileDigest, it_is_continued_after_whole_pieces) {
  const std::vector<std::uint8_t> bytes = bytes_of(5 * FileDigest::kPiece + 17);
  FileDigest slow;
  for (std::uint64_t end = 0; end <= bytes.size(); end += 1000) slow.read(bytes, end);
  slow.read(bytes, bytes.size());
  EXPECT_EQ(slow.value(bytes, bytes.size()), digest_of(bytes));
  const std::uint64_t half = 2 * FileDigest::kPiece;
  FileDigest rest(half, digest_of(Bytes(bytes).first(half)));
  rest.read(bytes, bytes.size());
  EXPECT_EQ(rest.value(bytes, bytes.size()), digest_of(bytes));
}

TEST(FileDigest, reading_can_be_stopped) {
  const std::vector<std::uint8_t> bytes(std::size_t{9} << 20);
  unsigned asked = 0;
  FileDigest digest;
  EXPECT_FALSE(digest.read(bytes, bytes.size(), [&] { return ++asked == 2; }));
  EXPECT_EQ(asked, 2U);
}

TEST(FileTimes, a_file_that_was_just_written_has_none) {
  const TemporaryFolder folder;
  write_file(folder / "file", "text");
  EXPECT_FALSE(file_times(folder / "file").known());
  EXPECT_FALSE(file_times(folder / "nothing").known());
  EXPECT_TRUE(file_times("/bin/sh").known());
}

}  // namespace
}  // namespace waymark::index

#include "waymark/logic/zip.h"

#include <gmock/gmock.h>

#include "archive.h"

namespace waymark::logic {
namespace {

using testing::HasSubstr;
using testing_archive::Archive;
using testing_archive::crc_of;

std::string refusal(const std::vector<std::uint8_t>& bytes) {
  const auto zip = Zip::open(bytes);
  return zip ? "" : zip.error().detail;
}

Result<std::string> text_of(const std::vector<std::uint8_t>& bytes, std::string_view name) {
  const auto zip = Zip::open(bytes);
  if (!zip) return std::unexpected(zip.error());
  return zip->read_text(*zip->find(name), 1000);
}

// The raw deflate form of 1000 times 'a'.
const std::string kPacked("\x4b\x4c\x1c\x05\xa3\x60\x14\x0c\x77\x00\x00", 11);

TEST(Zip, stored_and_deflated_files) {
  Archive archive;
  archive.add("a", "hello");
  archive.add("empty", "");
  archive.add("packed", kPacked, 8, 1000, crc_of(std::string(1000, 'a')));
  const auto bytes = archive.bytes();
  EXPECT_TRUE(Zip::is_zip(bytes));
  EXPECT_EQ(*text_of(bytes, "a"), "hello");
  EXPECT_EQ(*text_of(bytes, "empty"), "");
  EXPECT_EQ(*text_of(bytes, "packed"), std::string(1000, 'a'));
  EXPECT_EQ(Zip::open(bytes)->find("b"), nullptr);
}

TEST(Zip, a_file_never_gives_more_than_it_states) {
  Archive archive;
  archive.add("packed", kPacked, 8, 999, 0);
  std::size_t given = 0;
  const auto bytes = archive.bytes();
  const auto zip = Zip::open(bytes);
  const auto read = zip->read(zip->entries().front(), [&](Bytes piece) {
    given += piece.size();
    return true;
  });
  EXPECT_THAT(read.error().detail, HasSubstr("cannot be unpacked"));
  EXPECT_EQ(given, 0U);
}

TEST(Zip, damage) {
  Archive archive;
  archive.add("a", "hello", 0, 5, 1);
  EXPECT_THAT(text_of(archive.bytes(), "a").error().detail, HasSubstr("a wrong checksum"));
  Archive cut;
  cut.add("packed", kPacked.substr(0, 5), 8, 1000, 0);
  EXPECT_THAT(text_of(cut.bytes(), "packed").error().detail, HasSubstr("cannot be unpacked"));
  Archive other;
  other.add("a", "hello", 12, 5, 1);
  EXPECT_THAT(text_of(other.bytes(), "a").error().detail, HasSubstr("method 12"));
}

TEST(Zip, every_shortened_archive_is_refused) {
  Archive archive;
  archive.add("a", "hello");
  archive.add("b", "world");
  auto bytes = archive.bytes();
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_THAT(refusal(bytes), HasSubstr("damaged or cut short")) << bytes.size();
  }
}

TEST(Zip, files_that_share_bytes_are_refused) {
  Archive archive;
  archive.add("a", "hello");
  archive.repeat_directory();
  EXPECT_THAT(refusal(archive.bytes()), HasSubstr("bytes of another file in its file a"));
}

TEST(Zip, text_is_bounded) {
  Archive archive;
  archive.add("a", std::string(1001, 'x'));
  EXPECT_THAT(text_of(archive.bytes(), "a").error().detail, HasSubstr("1001 bytes"));
}

}  // namespace
}  // namespace waymark::logic

#include "waymark/logic/session.h"

#include <gmock/gmock.h>

#include "archive.h"

namespace waymark::logic {
namespace {

using testing::HasSubstr;
using testing_archive::Archive;

const std::string kMetadata =
    "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\n"
    "samplerate=24 MHz\ntotal analog=0\nprobe1=SWO\nprobe12=D11\nunitsize=2\n";

std::vector<std::uint8_t> session(const std::string& metadata, std::string_view version = "2") {
  Archive archive;
  archive.add("version", version);
  archive.add("metadata", metadata);
  archive.add("logic-1-10", "xx");
  for (int part = 9; part != 0; --part)
    archive.add("logic-1-" + std::to_string(part), part == 1 ? "abc" : part == 2 ? "d" : "ef");
  return archive.bytes();
}

std::string refusal(const std::vector<std::uint8_t>& bytes) {
  const auto opened = Session::open(bytes);
  return opened ? "" : opened.error().detail;
}

std::string edited(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Session, metadata_and_samples_in_order) {
  const auto bytes = session(kMetadata);
  const auto opened = Session::open(bytes);
  ASSERT_TRUE(opened) << opened.error().detail;
  EXPECT_EQ(opened->rate(), 24e6);
  EXPECT_EQ(opened->unit(), 2U);
  EXPECT_EQ(opened->samples(), 10U);
  ASSERT_EQ(opened->channels().size(), 2U);
  EXPECT_EQ(opened->channels()[1].name, "D11");
  EXPECT_EQ(opened->channels()[1].bit, 11U);
  std::string text;
  ASSERT_TRUE(opened->read([&](Bytes samples) {
    EXPECT_EQ(samples.size() % 2, 0U);
    text.append(samples.begin(), samples.end());
    return true;
  }));
  EXPECT_EQ(text, "abcdefefefefefefefxx");
}

TEST(Session, bad_metadata_names_its_line) {
  EXPECT_THAT(refusal(session(edited(kMetadata, "24 MHz", "fast"))),
              HasSubstr("Line 7 of the file metadata in the session: its rate"));
  EXPECT_THAT(refusal(session(edited(kMetadata, "unitsize=2", "unitsize=9"))),
              HasSubstr("its unit size is not a number from 1 to 8"));
  EXPECT_THAT(refusal(session(edited(kMetadata, "unitsize=2", "unitsize=1"))),
              HasSubstr("name channel 12, but a sample has 1 bytes"));
  EXPECT_THAT(refusal(session(edited(kMetadata, "probe1=", "probe65="))),
              HasSubstr("its channel has no number from 1 to 64"));
  EXPECT_THAT(refusal(session(edited(kMetadata, "total analog=0", "what"))),
              HasSubstr("it has no `=`"));
  EXPECT_THAT(refusal(session("[global]\n")), HasSubstr("no logic channels"));
  EXPECT_THAT(refusal(session(kMetadata, "3")),
              HasSubstr("version of the session is not supported"));
  EXPECT_THAT(refusal(session(edited(kMetadata, "logic-1", "logic-2"))), HasSubstr("no samples"));
}

TEST(Session, a_missing_part_is_named) {
  Archive archive;
  archive.add("version", "2");
  archive.add("metadata", kMetadata);
  archive.add("logic-1-1", "ab");
  archive.add("logic-1-3", "ab");
  EXPECT_THAT(refusal(archive.bytes()), HasSubstr("no file logic-1-2, although it has logic-1-3"));
}

TEST(Session, another_archive) {
  Archive archive;
  archive.add("readme", "hello");
  EXPECT_THAT(refusal(archive.bytes()), HasSubstr("not a session of sigrok"));
}

}  // namespace
}  // namespace waymark::logic

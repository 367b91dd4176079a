// Linked programs: parts, symbols, refusals.
#include "waymark/image/elf_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace waymark::image {
namespace {

using testing::HasSubstr;

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

class ElfFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  /// The sample, changed, in a file of this test's own.
  std::string changed(const std::function<void(std::string&)>& change) {
    std::ifstream in(kSample, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    change(bytes);
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

 private:
  const std::string path_ = testing::TempDir() + "waymark_elf_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ElfFileTest, parts_and_symbols_are_told) {
  const auto file = ElfFile::open(kSample);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->machine(), ElfFile::kAarch64);
  EXPECT_FALSE(file->big_endian());
  EXPECT_EQ(file->path(), kSample);
  ASSERT_FALSE(file->segments().empty());
  const ElfSegment& first = file->segments().front();
  EXPECT_EQ(file->contents(first).size(), first.size);
  bool code = false;
  for (const ElfSegment& segment : file->segments()) {
    code = code || (segment.executable && file->entry() >= segment.address &&
                    file->entry() < segment.address + segment.size);
  }
  EXPECT_TRUE(code) << "the entry point lies in code";
  EXPECT_EQ(file->find("no such name"), nullptr);
  ASSERT_FALSE(file->symbols().empty());
  for (const ElfSymbol& symbol : file->symbols()) {
    ASSERT_NE(file->find(symbol.name), nullptr);
    EXPECT_NE(symbol.name.front(), '$');
  }
}

TEST_F(ElfFileTest, a_bias_moves_everything) {
  const auto file = ElfFile::open(kSample);
  const auto moved = ElfFile::open(kSample, 0x10000);
  ASSERT_TRUE(file && moved);
  EXPECT_EQ(moved->entry(), file->entry() + 0x10000);
  EXPECT_EQ(moved->segments().at(0).address, file->segments().at(0).address + 0x10000);
  EXPECT_EQ(moved->symbols().at(0).address, file->symbols().at(0).address + 0x10000);
  EXPECT_EQ(moved->segments().at(0).offset, file->segments().at(0).offset);
}

TEST_F(ElfFileTest, what_is_no_whole_elf_file_is_refused) {
  const auto detail = [](const std::string& path) {
    const auto file = ElfFile::open(path);
    EXPECT_FALSE(file);
    return file ? std::string() : file.error().detail;
  };
  EXPECT_THAT(detail("/no/such/file"), HasSubstr("/no/such/file"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes.clear(); })), HasSubstr("empty"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes = "text"; })), HasSubstr("ELF header"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes.resize(100); })), HasSubstr("damaged"));
}

TEST_F(ElfFileTest, damage_anywhere_in_the_headers_is_survived) {
  for (std::size_t at = 4; at < 240; ++at) {
    for (const char value : {'\xff'}) {
      const auto file = ElfFile::open(changed([&](std::string& bytes) { bytes.at(at) = value; }));
      if (!file) continue;
      for (const ElfSegment& segment : file->segments())
        ASSERT_EQ(file->contents(segment).size(), segment.size) << at;
    }
  }
}

}  // namespace
}  // namespace waymark::image

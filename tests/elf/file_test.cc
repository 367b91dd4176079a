// Linked programs: parts, symbols, and files that are refused.
#include "waymark/elf/file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "waymark/base/cut_text.h"

namespace waymark::elf {
namespace {

using testing::HasSubstr;

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

class FileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  /// A changed copy of the sample, in a file that belongs to this test.
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

TEST_F(FileTest, parts_and_symbols_are_listed) {
  const auto file = File::open(kSample);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->machine(), File::kAarch64);
  EXPECT_FALSE(file->big_endian());
  EXPECT_EQ(file->path(), kSample);
  ASSERT_FALSE(file->segments().empty());
  const Segment& first = file->segments().front();
  EXPECT_EQ(file->contents(first).size(), first.size);
  bool code = false;
  for (const Segment& segment : file->segments()) {
    code = code || (segment.executable && file->entry() >= segment.address &&
                    file->entry() < segment.address + segment.size);
  }
  EXPECT_TRUE(code) << "the entry point lies in code";
  EXPECT_EQ(file->find("no such name"), nullptr);
  ASSERT_FALSE(file->symbols().empty());
  for (const Symbol& symbol : file->symbols()) {
    ASSERT_NE(file->find(symbol.name), nullptr);
    EXPECT_NE(symbol.name.front(), '$');
  }
}

TEST_F(FileTest, a_bias_moves_everything) {
  const auto file = File::open(kSample);
  const auto moved = File::open(kSample, 0x10000);
  ASSERT_TRUE(file && moved);
  EXPECT_EQ(moved->entry(), file->entry() + 0x10000);
  EXPECT_EQ(moved->segments().at(0).address, file->segments().at(0).address + 0x10000);
  EXPECT_EQ(moved->symbols().at(0).address, file->symbols().at(0).address + 0x10000);
  EXPECT_EQ(moved->segments().at(0).offset, file->segments().at(0).offset);
}

TEST_F(FileTest, truncated_elf_files_are_refused) {
  const auto detail = [](const std::string& path) {
    const auto file = File::open(path);
    EXPECT_FALSE(file);
    return file ? std::string() : file.error().detail;
  };
  EXPECT_THAT(detail("/no/such/file"), HasSubstr("/no/such/file"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes.clear(); })), HasSubstr("empty"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes = "text"; })), HasSubstr("ELF header"));
  EXPECT_THAT(detail(changed([](std::string& bytes) { bytes.resize(100); })), HasSubstr("damaged"));
}

/// Every symbol gets the name `strings` + 1, in a string table at the end of the file.
void rename_all(std::string& bytes, const std::string& strings) {
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    return static_cast<std::size_t>(value);
  };
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    std::memcpy(bytes.data() + at, &value, size);
  };
  constexpr std::size_t kHeader = 64;
  constexpr std::size_t kSymbol = 24;
  constexpr std::size_t kSymbols = 2;
  const std::size_t headers = number(0x28, 8);
  const std::size_t count = number(0x3C, 2);
  const std::size_t end = bytes.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t header = headers + i * kHeader;
    if (number(header + 4, 4) != kSymbols) continue;
    const std::size_t first = number(header + 0x18, 8);
    for (std::size_t at = 0; at < number(header + 0x20, 8); at += kSymbol) put(first + at, 1, 4);
    const std::size_t names = headers + number(header + 0x28, 4) * kHeader;
    put(names + 0x18, end, 8);
    put(names + 0x20, strings.size(), 8);
  }
  bytes += strings;
}

TEST_F(FileTest, long_names_are_cut) {
  using namespace std::string_literals;
  std::string strings = "\0"s;
  strings.append(50'000'000, 'n') += "\0"s;
  const auto file = File::open(changed([&](std::string& b) { rename_all(b, strings); }));
  ASSERT_TRUE(file);
  ASSERT_FALSE(file->symbols().empty());
  for (const Symbol& symbol : file->symbols()) {
    EXPECT_LE(symbol.name.size(), kLongestName + 16);
    EXPECT_TRUE(symbol.name.ends_with("n...[cut]"));
  }
}

TEST_F(FileTest, a_name_without_an_end_is_none) {
  using namespace std::string_literals;
  const auto file = File::open(changed([&](std::string& b) { rename_all(b, "\0name"s); }));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->find("name"), nullptr);
}

TEST_F(FileTest, damage_anywhere_in_the_headers_is_survived) {
  for (std::size_t at = 4; at < 240; ++at) {
    for (const char value : {'\xff'}) {
      const auto file = File::open(changed([&](std::string& bytes) { bytes.at(at) = value; }));
      if (!file) continue;
      for (const Segment& segment : file->segments())
        ASSERT_EQ(file->contents(segment).size(), segment.size) << at;
    }
  }
}

}  // namespace
}  // namespace waymark::elf

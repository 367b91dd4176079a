#include "waymark/perf/program_files.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/small_elf.h"

namespace waymark::perf {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

const std::vector<std::uint8_t> kId = {0xAA, 2,  3,  4,  5,  6,  7,  8,  9,  10,
                                       11,   12, 13, 14, 15, 16, 17, 18, 19, 20};
const std::vector<std::uint8_t> kOther = {0xBB, 2, 3, 4, 5, 6, 7, 8};

class ProgramFilesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_ / "opt" / "app"); }
  void TearDown() override { fs::remove_all(root_); }

  std::string put(const std::string& path, const std::vector<std::uint8_t>& id) const {
    const std::string whole = (root_ / path).string();
    support::write_file(whole, support::small_elf(id, {0xD65F03C0}));
    return whole;
  }

  const fs::path root_ =
      fs::path(testing::TempDir()) /
      ("waymark_program_files_" +
       std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(ProgramFilesTest, a_path_is_looked_for_below_the_root) {
  const std::string path = put("opt/app/alpha", kId);
  ProgramFiles files(ProgramSearch{.roots = {root_.string()}});
  const ProgramFile* const found = files.find("/opt/app/alpha", kId);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->path(), path);
  EXPECT_EQ(found->build_id(), kId);
  EXPECT_EQ(files.find("/opt/app/alpha", {}), found) << "an empty build ID matches any file";
  EXPECT_TRUE(files.missing().empty());
  EXPECT_EQ(found->program()->address_of(support::kSmallElfCode),
            0x400000 + support::kSmallElfCode);
  EXPECT_EQ(found->program()->address_of(0x10000), std::nullopt);
}

TEST_F(ProgramFilesTest, a_file_of_any_name_is_found_by_its_build_id) {
  const std::string path = put("renamed", kId);
  put("opt/app/alpha", kOther);
  ProgramFiles files(ProgramSearch{.roots = {root_.string()}});
  const ProgramFile* const found = files.find("/opt/app/alpha", kId);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->path(), path);
}

TEST_F(ProgramFilesTest, a_file_with_another_build_id_is_not_used) {
  put("opt/app/alpha", kOther);
  ProgramFiles files(ProgramSearch{.roots = {root_.string()}});
  EXPECT_EQ(files.find("/opt/app/alpha", kId), nullptr);
  ASSERT_THAT(files.missing(), SizeIs(1));
  EXPECT_EQ(files.missing()[0].path, "/opt/app/alpha");
  EXPECT_THAT(files.missing()[0].reason, HasSubstr("bb02030405060708"));
  EXPECT_THAT(files.missing()[0].reason, HasSubstr("aa02030405060708090a0b0c0d0e0f1011121314"));
}

TEST_F(ProgramFilesTest, given_programs_come_first) {
  put("opt/app/alpha", kId);
  const std::string given = put("given", kId);
  const std::string same_name = put("beta", {});
  ProgramFiles files(ProgramSearch{.roots = {root_.string()}, .given = {given, same_name}});
  ASSERT_NE(files.find("/opt/app/alpha", kId), nullptr);
  EXPECT_EQ(files.find("/opt/app/alpha", kId)->path(), given);
  ASSERT_NE(files.find("/any/where/beta", {}), nullptr);
  EXPECT_EQ(files.find("/any/where/beta", {})->path(), same_name);
  EXPECT_EQ(files.find("/any/where/gamma", {}), nullptr);
}

TEST_F(ProgramFilesTest, what_is_missing_has_a_reason) {
  ProgramFiles with_root(ProgramSearch{.roots = {root_.string()}});
  ProgramFiles without{ProgramSearch{}};
  for (ProgramFiles* files : {&with_root, &without}) {
    EXPECT_EQ(files->find("/no/such/file/anywhere", kId), nullptr);
    EXPECT_EQ(files->find("[vdso]", {}), nullptr);
    EXPECT_THAT(files->missing(), SizeIs(2));
  }
  EXPECT_THAT(with_root.missing()[0].reason, HasSubstr("No --symfs folder has"));
  EXPECT_THAT(without.missing()[0].reason, HasSubstr("--symfs"));
}

TEST_F(ProgramFilesTest, files_that_are_not_programs_are_not_used_by_build_id) {
  support::write_file((root_ / "opt/app/alpha").string(), {1, 2, 3});
  fs::create_directories(root_ / "opt/app/folder");
  ProgramFiles files(ProgramSearch{.roots = {root_.string()}});
  EXPECT_EQ(files.find("/opt/app/alpha", kId), nullptr);
  EXPECT_EQ(files.find("/opt/app/folder", {}), nullptr);
  EXPECT_THAT(files.missing()[0].reason, HasSubstr("has the build ID none"));
}

}  // namespace
}  // namespace waymark::perf

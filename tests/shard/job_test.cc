#include "waymark/shard/job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace waymark::shard {
namespace {

std::string error_of(const std::string& text) {
  const auto job = read_job(text, "job.toml");
  return job ? std::string() : job.error().detail;
}

class JobTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto job = read_job("what = 'counts'\ninputs = 'a'\n", "job.toml"); !job)
      GTEST_SKIP() << job.error().detail;
  }
};

TEST_F(JobTest, all_keys) {
  const auto job = read_job(
      "what = 'coverage'\nformat = 'cobertura'\ninputs = ['a*', 'b']\nlists = 'list.txt'\n"
      "bytes_per_shard = 500_000\ncheck = 'times'\n[options]\nsymfs = ['x', 'y']\n"
      "debuginfod = true\ncompress = false\ntid = 12\n",
      "job.toml");
  ASSERT_TRUE(job) << job.error().detail;
  EXPECT_EQ(job->format, "cobertura");
  EXPECT_EQ(job->inputs, (std::vector<std::string>{"a*", "b"}));
  EXPECT_EQ(job->lists, std::vector<std::string>{"list.txt"});
  EXPECT_EQ(job->bytes_per_shard, 500'000U);
  EXPECT_EQ(job->check, Check::kTimes);
  const std::vector<std::pair<std::string, std::vector<std::string>>> options = {
      {"debuginfod", {}}, {"symfs", {"x", "y"}}, {"tid", {"12"}}};
  EXPECT_EQ(job->options, options);
}

TEST_F(JobTest, the_usual_format) {
  EXPECT_EQ(read_job("what = 'stacks'\ninputs = 'a'\n", "job.toml")->format, "folded");
  EXPECT_EQ(read_job("format = 'bolt'\ninputs = 'a'\n", "job.toml")->what, "profile");
}

TEST_F(JobTest, errors_name_the_line) {
  EXPECT_EQ(error_of("what = 'counts'\nimputs = ['a']\n"),
            "job.toml:2: 'imputs' is not a key of a job; did you mean `inputs`?");
  EXPECT_EQ(error_of("what = 'counts'\ninputs = [1]\n"), "job.toml:2: inputs takes texts only.");
  EXPECT_EQ(error_of("what = 'counts'\ninputs = 'a'\nshards = 0\n"),
            "job.toml:3: shards takes a whole number above 0.");
  EXPECT_EQ(error_of("what = 'counts'\ninputs = 'a'\ncheck = 'never'\n"),
            "job.toml:3: check takes \"content\" or \"times\".");
  EXPECT_TRUE(error_of("what = \n").starts_with("job.toml:1: this is not TOML: "));
}

TEST_F(JobTest, what_is_missing_or_unknown) {
  EXPECT_NE(error_of("inputs = 'a'\n").find("does not state what to compute"), std::string::npos);
  EXPECT_NE(error_of("what = 'counts'\n").find("no captures are named"), std::string::npos);
  EXPECT_NE(error_of("what = 'sums'\ninputs = 'a'\n").find("what = \"sums\" is not known"),
            std::string::npos);
  EXPECT_NE(error_of("format = 'vcd'\ninputs = 'a'\n").find("cannot be written in parts"),
            std::string::npos);
  EXPECT_NE(error_of("what = 'counts'\ninputs = 'a'\nshards = 1\ninputs_per_shard = 1\n")
                .find("exclude each other"),
            std::string::npos);
}

TEST_F(JobTest, nesting_is_bounded) {
  EXPECT_NE(error_of("inputs = " + std::string(100'000, '[')).find("too many brackets"),
            std::string::npos);
}

class InputsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "waymark_inputs_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + "[1]";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const char* name : {"b", "a", "c.data"}) std::ofstream(folder_ + "/" + name) << name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(InputsTest, patterns_are_sorted_and_each_path_is_there_once) {
  const auto found = find_inputs({.inputs = {"b", "?", "*.data"}}, folder_);
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(*found, (std::vector<std::string>{"b", "a", "c.data"}));
}

TEST_F(InputsTest, lists_have_comments) {
  std::ofstream(folder_ + "/list") << "# all\r\nb\r\n\na";
  const auto found = find_inputs({.lists = {"list"}}, folder_);
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(*found, (std::vector<std::string>{"b", "a"}));
}

TEST_F(InputsTest, what_is_not_there_is_named) {
  EXPECT_NE(find_inputs({.inputs = {"x*"}}, folder_).error().detail.find("nothing matches x*"),
            std::string::npos);
  std::ofstream(folder_ + "/list") << "a\nx\n";
  EXPECT_NE(find_inputs({.lists = {"list"}}, folder_).error().detail.find("list:2: there is no"),
            std::string::npos);
  EXPECT_EQ(find_inputs({.lists = {"none"}}, folder_).error().code, ErrorCode::kNotFound);
}

TEST_F(JobTest, characters_that_are_not_ascii_are_only_in_strings_and_comments) {
  for (const std::string letter : {"\xC3\xA4", "\xE3\x81\x82", "\xEF\xBB\xBC"}) {
    for (const std::string before :
         {"", "what = ", "what = 'counts'", "what = \"\\", "what = 0.p\""})
      EXPECT_TRUE(error_of(fmt::format("\n{}{}\n", before, letter))
                      .starts_with("job.toml:2: this is not TOML: "));
    const std::string job = "\xEF\xBB\xBFwhat = 'counts'\ninputs = ";
    for (const std::string& text :
         {"'" + letter + "'", "\"\"\"a\\\n" + letter + R"(""")", "'a' # " + letter})
      EXPECT_EQ(error_of(job + text + "\n"), "");
  }
}

TEST_F(JobTest, blanks_before_a_bad_name_hide_nothing) {
  for (const std::string blanks : {"\xEF\xBB\xBF", "\xEF\xBB\xBF\xEF\xBB\xBF", " \xC2\xA0\t"})
    EXPECT_TRUE(error_of(blanks + "[=]\n")
                    .starts_with("job.toml:1: this is not TOML: the name of a table is invalid;"));
}

TEST_F(JobTest, brackets_that_do_not_match) {
  for (const std::string text : {"inputs = [}", "inputs = {]", "]", "}", "inputs = ['['\n# ]\n}"}) {
    const auto line = 1 + std::ranges::count(text, '\n');
    EXPECT_TRUE(error_of(text + "\n")
                    .starts_with("job.toml:" + std::to_string(line) + ": this is not TOML: "))
        << text;
  }
  EXPECT_TRUE(read_job("what = 'counts'\ninputs = [']', \"}\"] # }\n", "job.toml"));
}

TEST_F(JobTest, tables_with_bad_names) {
  for (const std::string name : {"[*]", "[[[a]]]", "[", "[[", "[ \x01", "[\ra]", "[[\xff]]"}) {
    EXPECT_EQ(error_of("what = 'counts'\n" + name + "\n"),
              "job.toml:2: this is not TOML: the name of a table is invalid; a job has only "
              "[options].")
        << name;
  }
  EXPECT_EQ(error_of("what = 'counts'\ninputs = [\n  'a',\n]\n [ options ]\n"), "");
}

TEST_F(JobTest, slices) {
  EXPECT_EQ(read_job("what='counts'\ninputs='a'\nslices=64\n", "j")->slices, 64U);
  EXPECT_EQ(read_job("what='coverage'\ninputs='a'\nslice_bytes=4096\n", "j")->slice_bytes, 4096U);
  EXPECT_EQ(read_job("what='coverage'\ninputs='a'\nslice_bytes='2M'\n", "j")->slice_bytes,
            2U << 20);
  EXPECT_EQ(read_job("what='counts'\ninputs='a'\nbytes_per_shard='1GiB'\n", "j")->bytes_per_shard,
            1U << 30);
  EXPECT_EQ(error_of("what='counts'\ninputs='a'\nslice_bytes='2 M'\n"),
            "job.toml:3: slice_bytes takes a size in bytes above 0, such as 4096 or \"64M\".");
  EXPECT_EQ(error_of("what='counts'\ninputs='a'\nslices=1\nslice_bytes=1\n"),
            "job.toml: slices and slice_bytes exclude each other; keep one of them.");
  EXPECT_EQ(read_job("what='branches'\ninputs='a'\nslices=3\n", "j")->slices, 3U);
  EXPECT_EQ(read_job("what='stacks'\ninputs='a'\nslices=3\n", "j")->slices, 3U);
  EXPECT_EQ(read_job("what='events'\ninputs='a'\nslices=3\n", "j")->slices, 3U);
  EXPECT_EQ(error_of("what='findings'\ninputs='a'\nslices=2\n"),
            "job.toml: what = \"findings\" cannot be computed in slices, because it needs whole "
            "captures; remove slices.");
}

}  // namespace
}  // namespace waymark::shard

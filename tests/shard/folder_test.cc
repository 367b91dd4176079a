#include "waymark/shard/folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "waymark/shard/scripts.h"

namespace waymark::shard {
namespace {

namespace fs = std::filesystem;

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "waymark_folder_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(path_);
  }
  void TearDown() override { fs::remove_all(path_); }

  static Plan plan(std::size_t shards = 3) {
    Plan plan{.version = "1", .what = "counts", .format = "counts", .folder = "/"};
    for (std::size_t i = 0; i < shards; ++i) {
      plan.inputs.push_back({"in" + std::to_string(i), 10, i});
      plan.shards.push_back({i, 1});
    }
    return plan;
  }
  [[nodiscard]] Folder make() const { return *Folder::create(path_, plan()); }
  static Part part_of(const Folder& folder, std::size_t shard) {
    return {.job = folder.job(), .shard = shard, .codes = {0}, .content = std::string(1000, 'x')};
  }
  static bool finish(const Folder& folder, std::size_t shard) {
    auto attempt = Attempt::begin(folder, shard);
    const auto is_new = attempt->finish(part_of(folder, shard));
    return is_new && *is_new;
  }
  std::string path_;
};

TEST_F(FolderTest, a_part_is_made_once) {
  const Folder folder = make();
  EXPECT_FALSE(*folder.part(1));
  EXPECT_TRUE(finish(folder, 1));
  EXPECT_FALSE(finish(folder, 1));
  EXPECT_EQ(**folder.part(1), part_of(folder, 1));
  EXPECT_EQ(folder.status().missing, (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(fs::is_empty(path_ + "/attempts"));
}

TEST_F(FolderTest, one_of_many_attempts_wins) {
  const Folder folder = make();
  for (int round = 0; round < 20; ++round) {
    fs::remove(folder.part_path(0));
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(::fork());
      if (children.back() == 0) ::_exit(finish(folder, 0) ? 1 : 0);
    }
    int winners = 0;
    for (const pid_t child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      winners += WEXITSTATUS(status);
    }
    ASSERT_EQ(winners, 1);
    ASSERT_TRUE(*folder.part(0));
  }
}

TEST_F(FolderTest, another_plan_is_refused) {
  (void)make();
  EXPECT_TRUE(Folder::create(path_, plan()));
  const auto other = Folder::create(path_, plan(4));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kConflict);
}

TEST_F(FolderTest, another_version_is_refused) {
  (void)make();
  const auto opened = Folder::open(path_, "2");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find("was planned by Waymark 1, and this is 2"),
            std::string::npos);
  EXPECT_EQ(Folder::open(path_ + "/parts", "1").error().code, ErrorCode::kNotFound);
}

TEST_F(FolderTest, a_damaged_part_is_named_and_can_be_done_again) {
  const Folder folder = make();
  ASSERT_TRUE(finish(folder, 0));
  {
    std::fstream file(folder.part_path(0), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('!');
  }
  const auto damaged = folder.part(0);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kBadData);
  EXPECT_NE(damaged.error().detail.find(folder.part_path(0)), std::string::npos);
  ASSERT_TRUE(folder.set_aside(0));
  EXPECT_TRUE(finish(folder, 0));
  EXPECT_TRUE(*folder.part(0));
}

TEST_F(FolderTest, parts_of_other_shards_and_jobs_are_refused) {
  const Folder folder = make();
  ASSERT_TRUE(finish(folder, 0));
  fs::create_directories(fs::path(folder.part_path(1)).parent_path());
  fs::copy_file(folder.part_path(0), folder.part_path(1));
  EXPECT_NE(folder.part(1).error().detail.find("part of another shard"), std::string::npos);
  Part foreign = part_of(folder, 2);
  foreign.job[0] ^= 1;
  ASSERT_TRUE(Attempt::begin(folder, 2)->finish(foreign));
  EXPECT_NE(folder.part(2).error().detail.find("part of another job"), std::string::npos);
}

TEST_F(FolderTest, a_full_disk_leaves_no_part) {
  const Folder folder = make();
  const pid_t child = ::fork();
  if (child == 0) {
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto attempt = Attempt::begin(folder, 0);
    const auto made = attempt->finish(part_of(folder, 0));
    ::_exit(!made && made.error().code == ErrorCode::kIo ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(*folder.part(0));
  EXPECT_TRUE(finish(folder, 0));
}

TEST_F(FolderTest, kills_leave_a_whole_part_or_none) {
  const Folder folder = make();
  int whole = 0;
  for (int round = 0; round < 40; ++round) {
    fs::remove(folder.part_path(0));
    const pid_t child = ::fork();
    if (child == 0) {
      Part part = part_of(folder, 0);
      part.content.resize(4 << 20);
      (void)Attempt::begin(folder, 0)->finish(part);
      ::pause();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1 + round * 1500));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto part = folder.part(0);
    ASSERT_TRUE(part) << part.error().detail;
    whole += *part ? 1 : 0;
    // A dead process is not running.
    EXPECT_TRUE(folder.status().running.empty());
  }
  // The first are too early for a part.
  EXPECT_LT(whole, 40);
}

TEST_F(FolderTest, status_shows_attempts_and_failures) {
  const Folder folder = make();
  auto attempt = Attempt::begin(folder, 2);
  ASSERT_TRUE(attempt);
  EXPECT_EQ(folder.status().running, std::vector<std::size_t>{2});
  attempt->fail_with("no luck");
  ASSERT_EQ(folder.status().failures.size(), 1U);
  EXPECT_EQ(folder.status().failures[0].sentence, "no luck");
  ASSERT_TRUE(attempt->finish(part_of(folder, 2)));
  const Status status = folder.status();
  EXPECT_TRUE(status.failures.empty());
  EXPECT_EQ(status.done_bytes, 10U);
  EXPECT_EQ(status.all_bytes, 30U);
}

TEST_F(FolderTest, scripts_have_what_is_missing) {
  const Folder folder = make();
  ASSERT_TRUE(finish(folder, 1));
  for (const char* engine : {"slurm", "parallel", "kubernetes", "make", "ninja"})
    ASSERT_TRUE(write_scripts(folder, engine, {.program = "waymark", .result = "/r", .tasks = 1}));
  std::ifstream list(path_ + "/scripts/shards.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(list), {}), "0\n2\n");
  EXPECT_FALSE(write_scripts(folder, "make", {.program = "way mark", .result = "/r"}));
}

}  // namespace
}  // namespace waymark::shard

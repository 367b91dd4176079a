#include "waymark/base/same_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

namespace waymark {
namespace {

class SameFile : public testing::Test {
 public:
  SameFile(const SameFile&) = delete;
  SameFile& operator=(const SameFile&) = delete;

 protected:
  SameFile() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "a") << "a";
    std::ofstream(folder_ / "b") << "b";
    std::filesystem::create_hard_link(folder_ / "a", folder_ / "hard");
    std::filesystem::create_symlink("a", folder_ / "soft");
  }
  ~SameFile() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("waymark_same_file." + std::to_string(::getpid()));
};

TEST_F(SameFile, links_are_the_file_that_they_lead_to) {
  const std::vector<std::string> files{path("b"), path("missing"), path("a")};
  for (const char* const name : {"a", "./a", "hard", "soft"}) {
    EXPECT_EQ(find_same_file(path(name), files), &files[2]) << name;
  }
  EXPECT_EQ(find_same_file(path("b"), files), files.data());
}

TEST_F(SameFile, only_regular_files_are_compared) {
  const std::vector<std::string> files{"/dev/null", path("missing"), folder_.string()};
  for (const std::string& name : files) EXPECT_EQ(find_same_file(name, files), nullptr) << name;
}

TEST_F(SameFile, descriptor) {
  const std::vector<std::string> files{path("a")};
  const int descriptor = ::open(path("hard").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(find_same_file(descriptor, files), files.data());
  ::close(descriptor);
  EXPECT_EQ(find_same_file(-1, files), nullptr);
}

}  // namespace
}  // namespace waymark

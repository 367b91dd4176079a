// Coverage by source line, as tracefile and as XML.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "waymark/exports/cobertura.h"
#include "waymark/exports/lcov.h"

namespace waymark::exports {
namespace {

count::Row executed_block(std::uint64_t start, std::uint64_t end, std::uint64_t taken,
                          std::uint64_t not_taken, bool conditional) {
  return {.range = {.start = start,
                    .end = end,
                    .count = static_cast<std::uint32_t>((end - start) / 4),
                    .isa = isa::Isa::kA64,
                    .last_type = isa::InstrType::kBranch,
                    .last_size = 4,
                    .conditional = conditional},
          .executed = taken,
          .not_executed = not_taken,
          .target = start};
}

/// A program whose function, of an awkward name, is a loop to its own start.
class CoverageReports : public testing::Test {
 protected:
  void SetUp() override {
    program_ = program::Program::of({{.start = 0x100, .last = 0x10F, .name = "odd,\nname<x>"},
                                     {.start = 0x110, .last = 0x113, .name = "never"}},
                                    "app",
                                    {.files = {"/src/./a.c", "/src/lib/b&\n.h"},
                                     .lines = {{.address = 0x100, .file = 0, .line = 7},
                                               {.address = 0x104, .file = 1, .line = 2},
                                               {.address = 0x108, .file = 0, .line = 8},
                                               {.address = 0x110, .file = 0, .line = 20}}});
    count::Counts counts;
    counts.rows = {executed_block(0x100, 0x108, 9, 1, true),
                   executed_block(0x108, 0x110, 1, 0, false)};
    profile_.add(counts, [this](TaskId /*task*/, std::uint64_t address) -> profile::Place {
      return {program_.get(), "/bin/app", address};
    });
  }
  std::string write(WriteProfile writer, const Options& options = {}) {
    std::vector<const profile::ProgramProfile*> programs;
    for (const profile::ProgramProfile& program : profile_.programs()) programs.push_back(&program);
    TextBuffer out;
    const auto written = writer(profile_, programs, options, out);
    return written ? std::string(out.view()) : written.error().detail;
  }

  std::shared_ptr<const program::Program> program_;
  profile::Profile profile_;
};

TEST_F(CoverageReports, lcov) {
  EXPECT_EQ(write(write_lcov),
            "TN:\nSF:/src/a.c\n"
            "FN:20,never\nFN:7,odd_\\x0aname<x>\n"
            "FNDA:0,never\nFNDA:1,odd_\\x0aname<x>\n"
            "FNF:2\nFNH:1\n"
            "BRF:0\nBRH:0\n"
            "DA:7,10\nDA:8,1\nDA:20,0\n"
            "LF:3\nLH:2\nend_of_record\n"
            "TN:\nSF:/src/lib/b&\\x0a.h\n"
            "FNF:0\nFNH:0\n"
            "BRDA:2,0,0,9\nBRDA:2,0,1,1\n"
            "BRF:2\nBRH:2\n"
            "DA:2,10\n"
            "LF:1\nLH:1\nend_of_record\n");
}

TEST_F(CoverageReports, lcov_with_other_paths) {
  const std::string text = write(
      write_lcov, {.source_path = [](const std::string& path) { return "." + path.substr(4); }});
  EXPECT_NE(text.find("SF:a.c\n"), std::string::npos) << text;
  EXPECT_NE(text.find("SF:lib/b&"), std::string::npos) << text;
}

TEST_F(CoverageReports, cobertura) {
  const std::string text = write(write_cobertura, {.seconds = 5});
  for (const char* const part : {
           "<source>/src/</source>",
           R"(lines-covered="3" lines-valid="4" branches-covered="2" branches-valid="2")",
           R"(timestamp="5")",
           R"(<package name="." line-rate="0.6667" branch-rate="1.0000")",
           R"(<class name="b&amp;\x0a.h" filename="lib/b&amp;\x0a.h")",
           R"(<method name="odd,\x0aname&lt;x&gt;")",
           R"(<line number="20" hits="0" branch="false"/>)",
           R"x(condition-coverage="100% (2/2)")x",
           R"(<condition number="0" type="jump" coverage="100%"/>)",
       })
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(CoverageReports, a_program_without_lines_is_refused_by_name) {
  const auto bare = program::Program::of({{.start = 0x100, .last = 0x10F, .name = "f"}}, "bare");
  profile_ = {};
  count::Counts counts;
  counts.rows = {executed_block(0x100, 0x108, 1, 0, false)};
  profile_.add(counts, [&](TaskId /*task*/, std::uint64_t address) -> profile::Place {
    return {bare.get(), "/bin/bare", address};
  });
  EXPECT_TRUE(write(write_lcov).starts_with("/bin/bare: coverage needs source lines"));
  EXPECT_TRUE(write(write_cobertura).starts_with("/bin/bare: coverage needs source lines"));
}

}  // namespace
}  // namespace waymark::exports

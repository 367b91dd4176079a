#include "waymark/base/shell_word.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

TEST(ShellWord, quotes_only_what_a_shell_would_read) {
  EXPECT_EQ(shell_word("build/app.elf@0x1000"), "build/app.elf@0x1000");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("-x"), "'-x'");
}

}  // namespace
}  // namespace waymark

#include "waymark/outputs/function_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

using program::Program;
using testing::AllOf;
using testing::HasSubstr;

/// Without the library that makes names readable, the tests of such names say nothing.
bool makes_readable() { return readable_name("_Z1fv") == "f()"; }

TEST(ShortName, has_no_parameters) {
  EXPECT_EQ(short_name("f"), "f");
  EXPECT_EQ(short_name("a::f(int, char const*)"), "a::f");
  EXPECT_EQ(short_name("a::f(void (*)(int)) const"), "a::f");
  EXPECT_EQ(short_name("a::f() const &"), "a::f");
  EXPECT_EQ(short_name("a::operator()(int) const"), "a::operator()");
  EXPECT_EQ(short_name("a::(anonymous namespace)::f(int)"), "a::(anonymous namespace)::f");
  EXPECT_EQ(short_name("(anonymous namespace)"), "(anonymous namespace)");
  EXPECT_EQ(short_name("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda(int)#1}::operator()");
  EXPECT_EQ(short_name("<core::fmt::Error as core::fmt::Debug>::fmt"),
            "<core::fmt::Error as core::fmt::Debug>::fmt");
}

TEST(ShortName, has_no_type) {
  EXPECT_EQ(short_name("void f<int>(int)"), "f<int>");
  EXPECT_EQ(short_name("std::pair<int, long> a::f<char const*>(int)"), "a::f<char const*>");
  EXPECT_EQ(short_name("bool operator< <int>(int, int)"), "operator< <int>");
  EXPECT_EQ(short_name("a::operator unsigned long() const"), "a::operator unsigned long");
  EXPECT_EQ(short_name("operator new(unsigned long)"), "operator new");
  EXPECT_EQ(short_name("int (anonymous namespace)::f<int>(int)"), "(anonymous namespace)::f<int>");
}

class FunctionQueries : public testing::Test {
 protected:
  /// The linker's names of what is found, or the message.
  std::set<std::string> names(const std::string& text) const {
    const auto found = find_functions(programs, text);
    if (!found) return {found.error().detail};
    std::set<std::string> all;
    for (const NamedFunction& each : *found) all.insert(each.function->name);
    return all;
  }
  std::optional<ErrorCode> code(const std::string& text) const {
    const auto found = find_functions(programs, text);
    return found ? std::nullopt : std::optional(found.error().code);
  }

  std::shared_ptr<const Program> one = Program::of({{0x00, 0x0F, "f"},
                                                    {0x10, 0x1F, "f.cold"},
                                                    {0x20, 0x2F, "g.constprop.0"},
                                                    {0x30, 0x3F, "h.part.0"},
                                                    {0x40, 0x4F, "h.isra.1"},
                                                    {0x50, 0x5F, "_ZN1a1sEi"},
                                                    {0x60, 0x6F, "_ZN1a1tEi"},
                                                    {0x70, 0x7F, "_ZN1a1tEl"},
                                                    {0x80, 0x8F, "_ZN1a1uEi.part.0"},
                                                    {0x90, 0x9F, "again"},
                                                    {0xA0, 0xAF, "again"}},
                                                   "/bin/one");
  std::shared_ptr<const Program> two =
      Program::of({{0x00, 0x0F, "f"}, {0x10, 0x1F, "other"}}, "/lib/two");
  std::vector<const Program*> programs{one.get()};
};

using Names = std::set<std::string>;

TEST_F(FunctionQueries, exact_forms_come_first) {
  EXPECT_EQ(names("f"), Names{"f"});
  EXPECT_EQ(names("f.cold"), Names{"f.cold"});
  EXPECT_EQ(names("_ZN1a1sEi"), Names{"_ZN1a1sEi"});
}

TEST_F(FunctionQueries, parts_have_the_name_of_their_function) {
  EXPECT_EQ(names("g"), Names{"g.constprop.0"});
  EXPECT_EQ(names("h"), (Names{"h.part.0", "h.isra.1"}));
}

TEST_F(FunctionQueries, names_of_the_source) {
  if (!makes_readable()) {
    // Without a library that reads them, only the linker's names are known.
    EXPECT_EQ(code("a::s"), ErrorCode::kNotFound);
    EXPECT_EQ(code("a::s(int)"), ErrorCode::kNotFound);
    return;
  }
  EXPECT_EQ(names("a::s"), Names{"_ZN1a1sEi"});
  EXPECT_EQ(names("a::s(int)"), Names{"_ZN1a1sEi"});
  EXPECT_EQ(names("a::t(long)"), Names{"_ZN1a1tEl"});
  EXPECT_EQ(names("a::u"), Names{"_ZN1a1uEi.part.0"});
  EXPECT_EQ(names("a::u(int)"), Names{"_ZN1a1uEi.part.0"});
  EXPECT_EQ(code("a::t"), ErrorCode::kConflict);
  EXPECT_THAT(*names("a::t").begin(), AllOf(HasSubstr("a::t(int) at 0x60 in /bin/one"),
                                            HasSubstr("a::t(long) at 0x70 in /bin/one")));
}

TEST_F(FunctionQueries, several_functions_of_one_name_are_listed) {
  EXPECT_EQ(code("again"), ErrorCode::kConflict);
  EXPECT_THAT(*names("again").begin(), AllOf(HasSubstr("0x90"), HasSubstr("0xa0")));
  EXPECT_EQ(names("one:0xa4"), Names{"again"});
}

TEST_F(FunctionQueries, programs_tell_functions_apart) {
  programs.push_back(two.get());
  EXPECT_EQ(code("f"), ErrorCode::kConflict);
  EXPECT_THAT(*names("f").begin(), AllOf(HasSubstr("/bin/one"), HasSubstr("/lib/two")));
  const auto found = find_functions(programs, "two:f");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().program, two.get());
  EXPECT_EQ(names("/bin/one:f"), Names{"f"});
  EXPECT_EQ(code("three:f"), ErrorCode::kNotFound);
  EXPECT_EQ(code("0x4"), ErrorCode::kConflict);
  EXPECT_EQ(names("/lib/two:20"), Names{"other"});
}

TEST_F(FunctionQueries, one_program_in_several_copies_is_one) {
  const auto copy = Program::of({{0x00, 0x0F, "f"}}, "/bin/one");
  programs.push_back(copy.get());
  const auto found = find_functions(programs, "f");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 2U);
}

TEST_F(FunctionQueries, unknown_names_have_suggestions) {
  EXPECT_EQ(names("agian"), Names{"no function is called 'agian'; did you mean 'again'?"});
  EXPECT_EQ(names("nothing"), Names{"no function is called 'nothing'."});
  EXPECT_EQ(code("a::z"), ErrorCode::kNotFound);
  if (makes_readable()) {
    EXPECT_EQ(names("a::z"), Names{"no function is called 'a::z'; did you mean 'a::s'?"});
  }
}

TEST_F(FunctionQueries, codes_of_a_tree) {
  stacks::Tree tree;
  const auto add = [&](std::uint64_t address) {
    const auto [whole, name] = one->whole(*one->function(address));
    return tree.code({.kind = stacks::CodeKind::kFunction,
                      .name = std::string(name),
                      .program = one->path(),
                      .start = whole->start,
                      .source = one.get()});
  };
  const stacks::CodeId f = add(0x10);
  const stacks::CodeId g = add(0x20);
  const stacks::CodeId h = add(0x40);
  const stacks::CodeId exception = tree.code({.kind = stacks::CodeKind::kException, .name = "IRQ"});
  const auto find = [&](const std::string& text) { return find_functions(tree, text); };
  using Codes = std::vector<stacks::CodeId>;
  for (const char* text : {"f", "f.cold", "one:f", "0x14"}) EXPECT_EQ(find(text), Codes{f}) << text;
  for (const char* text : {"g", "g.constprop.0"}) EXPECT_EQ(find(text), Codes{g}) << text;
  for (const char* text : {"h", "h.part.0", "h.isra.1", "/bin/one:h"})
    EXPECT_EQ(find(text), Codes{h}) << text;
  EXPECT_EQ(find(stacks::name_of(tree.code(exception))), Codes{exception});
  // It was not executed.
  EXPECT_EQ(find("again").error().code, ErrorCode::kNotFound);
}

TEST_F(FunctionQueries, functions_that_come_later) {
  EXPECT_FALSE(FunctionMatch::find(programs, "other", false));
  auto match = FunctionMatch::find(programs, "other", true);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->unknown(), "no function is called 'other'.");
  EXPECT_TRUE(match->matches(*two, *two->function(0x10)));
  EXPECT_FALSE(match->matches(*two, *two->function(0x00)));
  auto known = FunctionMatch::find(programs, "f", true);
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->unknown().empty());
  EXPECT_TRUE(known->matches(*one, *one->function(0x00)));
  EXPECT_FALSE(known->matches(*one, *one->function(0x10)));
  EXPECT_FALSE(known->matches(*two, *two->function(0x00)));
}

}  // namespace
}  // namespace waymark::outputs

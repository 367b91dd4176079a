// Which code a kernel changes in memory, and what its two forms are.
#include "waymark/program/code_switches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>

#include "support/kernel_elf.h"

namespace waymark::program {
namespace {

using support::ChangedCode;
using support::ElfFile;
using support::a64::adrp;
using support::a64::b;
using support::a64::cbz;
using support::a64::kAdd;
using support::a64::kNop;
using support::a64::kRet;
using support::a64::tbz;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kRelative64 = 260;
constexpr std::uint32_t kRelative32 = 261;

constexpr std::uint64_t text(std::uint64_t word) { return ChangedCode::kText + 4 * word; }
constexpr std::uint64_t replacement(std::uint64_t word) {
  return ChangedCode::kReplacements + 4 * word;
}

const CodeSwitch* named(const std::vector<CodeSwitch>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &CodeSwitch::name);
  return found == all.end() ? nullptr : &*found;
}

/// The sites of a switch as (number of the word in the code, off, on).
using Site = std::tuple<std::uint64_t, Words, Words>;
std::vector<Site> sites(const std::vector<CodeSwitch>& all, std::string_view name,
                        std::uint64_t code) {
  const CodeSwitch* const found = named(all, name);
  std::vector<Site> sites;
  if (found == nullptr) return sites;
  for (const CodeSite& site : found->sites)
    sites.emplace_back((site.file_offset - code) / 4, site.off, site.on);
  return sites;
}

class Kernel : public testing::Test {
 protected:
  /// Where the code is in the file, if it has sections for its tables.
  static constexpr std::uint64_t kCode = 64 + 5 * 56;

  [[nodiscard]] std::vector<CodeSwitch> read() const { return code_switches(code_.kernel(true)); }

  ChangedCode code_;
};

TEST_F(Kernel, static_keys_in_either_form_of_the_table) {
  code_.text = {kNop, kAdd, b(3), kNop, kRet, kRet, kRet};
  code_.keys = {{text(3), text(6), ChangedCode::kKeys},
                {text(0), text(4), ChangedCode::kKeys},
                {text(2), text(5), (ChangedCode::kKeys + 16) | 1}};
  const auto by_sections = read();
  EXPECT_EQ(sites(by_sections, "first_key", kCode),
            (std::vector<Site>{{0, {kNop}, {b(4)}}, {3, {kNop}, {b(3)}}}));
  EXPECT_EQ(sites(by_sections, "second_key", kCode), (std::vector<Site>{{2, {b(3)}, {kNop}}}));
  constexpr std::uint64_t kOneSectionLess = kCode - 56;
  const auto by_symbols = code_switches(code_.kernel(false));
  for (const std::string_view key : {"first_key", "second_key"})
    EXPECT_EQ(sites(by_symbols, key, kOneSectionLess), sites(by_sections, key, kCode)) << key;
}

TEST_F(Kernel, a_key_has_the_name_of_the_symbol_before_it) {
  code_.text = {kNop, kNop, kRet};
  code_.keys = {{text(0), text(2), ChangedCode::kKeys + 8},
                {text(1), text(2), ChangedCode::kKeys + 0x10000}};
  const auto all = read();
  EXPECT_NE(named(all, "first_key+0x8"), nullptr);
  EXPECT_NE(named(all, "0x50000"), nullptr);
}

TEST_F(Kernel, entries_that_cannot_be_right_are_left_out) {
  code_.text = {kNop, kAdd, kRet};
  code_.keys = {{text(1), text(2), ChangedCode::kKeys},                // Neither NOP nor branch.
                {text(0) + 2, text(2), ChangedCode::kKeys},            // Not aligned.
                {text(100), text(2), ChangedCode::kKeys},              // Not in the file.
                {text(0), text(0) + 0x40000000, ChangedCode::kKeys}};  // Out of reach.
  code_.replacements = {kNop};
  code_.alternatives = {{text(2), replacement(0), 1, 6, 6},
                        {text(2), replacement(0), 1, 0, 0},
                        {text(2), replacement(0), 1, 4, 0},
                        {text(2), replacement(9), 1},
                        {text(2), replacement(0), 1, 8, 8}};
  EXPECT_TRUE(read().empty());
}

TEST_F(Kernel, an_alternative_replaces_code_where_the_cpu_has_the_feature) {
  code_.text = {b(2), kAdd, kRet};
  code_.replacements = {kAdd, kNop};
  code_.alternatives = {{text(0), replacement(1), 6}, {text(1), replacement(1), 7}};
  const auto all = read();
  EXPECT_EQ(sites(all, "capability 6", kCode), (std::vector<Site>{{0, {b(2)}, {kNop}}}));
  EXPECT_EQ(named(all, "capability 7"), nullptr) << "it changes no waypoint";
}

TEST_F(Kernel, what_a_replacement_refers_to_stays_where_it_was) {
  code_.text = {kAdd, kAdd, kNop, kNop, kAdd, kRet};
  // To the code's last instruction; within the replacement, then out of it; to another page.
  const auto back = [](std::uint64_t from) {
    return static_cast<std::int32_t>(text(5) - replacement(from)) / 4;
  };
  code_.replacements = {b(back(0)), cbz(1), b(back(2)), adrp(0x10)};
  code_.alternatives = {{text(0), replacement(0), 3},
                        {text(2), replacement(1), 3, 8, 8},
                        {text(4), replacement(3), 3}};
  EXPECT_EQ(
      sites(read(), "capability 3", kCode),
      (std::vector<Site>{
          {0, {kAdd}, {b(5)}}, {2, {kNop, kNop}, {cbz(1), b(2)}}, {4, {kAdd}, {adrp(0x20)}}}));
}

TEST_F(Kernel, conditional_branches_of_replacements_keep_their_targets) {
  code_.text = {kAdd, kRet};
  // b.eq, cbz: to an instruction after the replacement.
  code_.replacements = {0x54000000U | 3U << 5, kNop, cbz(2), kNop, kNop};
  code_.alternatives = {{text(0), replacement(0), 3}};
  constexpr std::uint32_t kDistance = (ChangedCode::kReplacements - ChangedCode::kText) / 4 + 3;
  EXPECT_EQ(sites(read(), "capability 3", kCode),
            (std::vector<Site>{{0, {kAdd}, {0x54000000U | kDistance << 5}}}));
  code_.alternatives = {{text(0), replacement(2), 3}};
  EXPECT_EQ(sites(read(), "capability 3", kCode),
            (std::vector<Site>{{0, {kAdd}, {cbz(static_cast<std::int32_t>(kDistance + 1))}}}));
}

TEST_F(Kernel, a_replacement_that_would_not_reach_its_target_is_left_out) {
  code_.text = {kAdd, kRet};
  code_.replacements = {tbz(2), kNop, kNop};
  code_.alternatives = {{text(0), replacement(0), 3}};
  EXPECT_TRUE(read().empty());
}

TEST_F(Kernel, of_callbacks_only_the_one_that_writes_nops_is_known) {
  code_.text = Words(0x11, kRet);
  code_.text[0] = code_.text[1] = b(2);
  code_.alternatives = {{text(0), ChangedCode::kCallbacks, 0x8005, 4, 0},
                        {text(1), ChangedCode::kCallbacks - 4, 0x8005, 4, 0}};
  EXPECT_EQ(sites(read(), "capability 5", kCode), (std::vector<Site>{{0, {b(2)}, {kNop}}}));
}

TEST_F(Kernel, a_copy_is_switched_and_switched_back) {
  code_.text = {kNop, kNop, kRet};
  code_.keys = {{text(0), text(2), ChangedCode::kKeys},
                {text(1), text(2), (ChangedCode::kKeys + 16) | 1}};
  const auto file = code_.kernel(true);
  const auto copy = SwitchedCode::make(file);
  ASSERT_NE(copy, nullptr);
  const auto words = [&] {
    Words all(3);
    std::memcpy(all.data(), copy->from(kCode).data(), 12);
    return all;
  };
  ASSERT_EQ(copy->switches().size(), 2U);
  const std::size_t second = copy->switches()[0].name == "second_key" ? 0 : 1;
  EXPECT_TRUE(copy->would_change(second, SwitchedCode::Setting::kOff));
  EXPECT_FALSE(copy->would_change(second, SwitchedCode::Setting::kOn));
  copy->set(second, SwitchedCode::Setting::kOff);
  EXPECT_EQ(words(), (Words{kNop, b(1), kRet}));
  std::vector<std::size_t> found;
  copy->switches_in(kCode + 4, 4, found);
  EXPECT_EQ(found, (std::vector<std::size_t>{second}));
  copy->set(second, SwitchedCode::Setting::kAsInFile);
  EXPECT_EQ(words(), (Words{kNop, kNop, kRet}));
}

/// A kernel module: its tables are empty, and relocations say what their fields refer to.
class Module : public testing::Test {
 protected:
  Module() {
    code_ = file_.section(".text", ElfFile::kCode, 0,
                          ElfFile::words({kNop, b(3), kNop, b(2), b(2), kRet, b(1), b(1)}));
    keys_ = file_.section("__jump_table", ElfFile::kData, 0, std::vector<std::uint8_t>(48));
    patches_ = file_.section(".altinstructions", ElfFile::kData, 0, patches());
    replacements_ =
        file_.section(".altinstr_replacement", ElfFile::kCode, 0, ElfFile::words({kNop, b(1)}));
    data_ = file_.section(".data", ElfFile::kData, 0, std::vector<std::uint8_t>(32));
    file_.symbol("own_key", data_, 16);
    in_code_ = file_.symbol("", code_, 0);
    in_data_ = file_.symbol("", data_, 0);
    in_replacements_ = file_.symbol("", replacements_, 0);
  }

  static std::vector<std::uint8_t> patches() {
    std::vector<std::uint8_t> table;
    for (const unsigned capability : {4U, 4U, 0x8004U, 0x8004U}) {
      ElfFile::put(table, 0, 8);
      ElfFile::put(table, capability, 2);
      ElfFile::put(table, 4, 1);
      ElfFile::put(table, capability < 0x8000 ? 4 : 0, 1);
    }
    return table;
  }

  void key(std::uint64_t entry, std::uint64_t code, std::uint64_t target, std::uint32_t symbol,
           std::uint64_t addend) {
    file_.relocate(keys_, 16 * entry, kRelative32, in_code_, 4 * code);
    file_.relocate(keys_, 16 * entry + 4, kRelative32, in_code_, 4 * target);
    file_.relocate(keys_, 16 * entry + 8, kRelative64, symbol, addend);
  }
  void patch(std::uint64_t entry, std::uint64_t code, std::uint32_t symbol, std::uint64_t addend) {
    file_.relocate(patches_, 12 * entry, kRelative32, in_code_, 4 * code);
    file_.relocate(patches_, 12 * entry + 4, kRelative32, symbol, addend);
  }
  [[nodiscard]] std::vector<CodeSwitch> read() const { return code_switches(file_.bytes(true)); }
  [[nodiscard]] std::uint64_t code_at() const { return file_.offset_of(code_, true); }

  ElfFile file_;
  std::uint32_t code_ = 0;
  std::uint32_t keys_ = 0;
  std::uint32_t patches_ = 0;
  std::uint32_t replacements_ = 0;
  std::uint32_t data_ = 0;
  std::uint32_t in_code_ = 0;
  std::uint32_t in_data_ = 0;
  std::uint32_t in_replacements_ = 0;
};

TEST_F(Module, static_keys_of_its_own_and_of_the_kernel) {
  const std::uint32_t other = file_.symbol("kernel_key", 0, 0);
  key(0, 0, 5, in_data_, 16);
  key(1, 1, 4, other, 1);
  const auto all = read();
  EXPECT_EQ(sites(all, "own_key", code_at()), (std::vector<Site>{{0, {kNop}, {b(5)}}}));
  EXPECT_EQ(sites(all, "kernel_key", code_at()), (std::vector<Site>{{1, {b(3)}, {kNop}}}));
  EXPECT_EQ(all.size(), 2U) << "the third entry has no relocations";
}

TEST_F(Module, keys_of_code_outside_of_its_text_are_left_out) {
  file_.relocate(keys_, 0, kRelative32, in_replacements_, 0);
  file_.relocate(keys_, 4, kRelative32, in_code_, 0);
  file_.relocate(keys_, 8, kRelative64, in_data_, 16);
  key(1, 2, 5, file_.symbol("", 99, 0), 0);
  EXPECT_TRUE(read().empty());
}

TEST_F(Module, alternatives_whose_replacements_need_no_relocation_and_callbacks) {
  patch(0, 3, in_replacements_, 0);
  patch(1, 4, in_replacements_, 4);  // Only a relocation knows where this branch leads.
  patch(2, 6, file_.symbol("alt_cb_patch_nops", 0, 0), 0);
  patch(3, 7, file_.symbol("another_callback", 0, 0), 0);
  EXPECT_EQ(sites(read(), "capability 4", code_at()),
            (std::vector<Site>{{3, {b(2)}, {kNop}}, {6, {b(1)}, {kNop}}}));
}

TEST_F(Module, its_code_is_switched) {
  key(0, 0, 5, in_data_, 16);
  const auto file = file_.bytes(true);
  const auto copy = SwitchedCode::make(file);
  ASSERT_NE(copy, nullptr);
  copy->set(0, SwitchedCode::Setting::kOn);
  std::uint32_t word = 0;
  std::memcpy(&word, copy->from(code_at()).data(), 4);
  EXPECT_EQ(word, b(5));
}

TEST(CodeSwitches, other_files_have_none) {
  EXPECT_TRUE(code_switches({}).empty());
  EXPECT_EQ(SwitchedCode::make(ElfFile().bytes(true)), nullptr);
  EXPECT_EQ(SwitchedCode::make(ElfFile().bytes(false)), nullptr);
}

}  // namespace
}  // namespace waymark::program

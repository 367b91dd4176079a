#include "waymark/outputs/readable_name.h"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "support/random.h"
#include "waymark/base/cut_text.h"

namespace waymark::outputs {
namespace {

/// Each pair contains the previous pair twice.
std::string nested_pairs(unsigned levels) {
  std::string name = "_Z1fSt4pairIiiE";
  for (unsigned level = 0; level < levels; ++level) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::string last = std::string("S") + kDigits[level] + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text == nullptr ? std::string() : std::string(text.get());
}

constexpr const char* kNames[] = {
    "_Z1fv",
    "_ZN3app3runEi",
    "_ZNSt6vectorIiSaIiEE9push_backERKi",
    "_ZNSt8_Rb_treeIPvSt4pairIKS0_mESt10_Select1stIS3_ESt4lessIS0_ESaIS3_EE8_M_eraseEPSt13_Rb_tree_"
    "nodeIS3_E",
    "_ZNKSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIS5_SaIS5_"
    "EESt4lessIS5_"
    "ESaISt4pairIKS5_S8_EEE4findERSC_",
    "_ZZN12_GLOBAL__N_14mainEvENKUliPKcE_clEiS1_",
    "_ZSt4moveIRSsEONSt16remove_referenceIT_E4typeEOS2_",
    "_ZSt10make_tupleIJiRKcdEESt5tupleIJDpNSt25__strip_reference_wrapperINSt5decayIT_E4typeEE6__"
    "typeEEEDpOS4_",
    "_ZN1AcvT_IiEEv",
    "_ZTVN10__cxxabiv117__class_type_infoE",
    "_ZGVZ1fvE1x",
    "_ZThn16_N1B1gEv",
    "_ZplRK1AS1_",
    "_ZN1A1fILi3EEEvRA3_KcPFivEM1AFivE",
    "_ZSs4nameB5cxx11v",
    "_ZN1AC2ERKS_",
    "_ZNSsD1Ev",
    "_Z1fIXadL_Z1gvEEEvv.constprop.0",
};

// The demangler of libstdc++ is another build of the same source.
TEST(ReadableName, names_are_those_of_libstdcxx) {
#ifndef __GLIBCXX__
  GTEST_SKIP() << "another library has a demangler of its own";
#endif
  for (const std::string name : kNames) EXPECT_EQ(readable_name(name), demangled(name));
}

/// Whatever the names are; a hang shows in the time limit of the test.
TEST(ReadableName, changed_names_are_short) {
  constexpr std::string_view kLetters = "_0123ABCDEIJNPRSTXZacdilnprstuv";
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    support::Random random(seed);
    std::string name = kNames[random.below(std::size(kNames))];
    for (unsigned i = random.between(1, 4); i > 0; --i) {
      const auto at = 2 + random.below(static_cast<std::uint32_t>(name.size() - 2));
      const char letter = kLetters[random.below(static_cast<std::uint32_t>(kLetters.size()))];
      switch (random.below(3)) {
        case 0:
          name[at] = letter;
          break;
        case 1:
          name.insert(at, 1, letter);
          break;
        default:
          name.insert(at, name.substr(2 + random.below(at - 1), random.between(1, 12)));
          break;
      }
    }
    EXPECT_LE(readable_name(name).size(), kLongestName + 16) << name;
  }
}

TEST(ReadableName, cpp_names_are_written_as_in_cpp) {
  EXPECT_EQ(readable_name("_ZN3app3runEi"), "app::run(int)");
  EXPECT_EQ(readable_name("main"), "main");
  EXPECT_EQ(readable_name("_Znonsense"), "_Znonsense");
  EXPECT_NE(readable_name(nested_pairs(3)).find("std::pair<int, int>"), std::string::npos);
}

TEST(ReadableName, a_name_that_would_be_enormous_is_cut) {
  const std::string text = readable_name(nested_pairs(30));
  EXPECT_TRUE(text.starts_with("f(std::pair<int, int>, std::pair<std::pair<")) << text;
  EXPECT_TRUE(text.ends_with("...[cut]"));
  EXPECT_LE(text.size(), kLongestName + 16);
  // One pattern for each element of a pack, nested.
  std::string packs = "_Z1fIJ";
  for (int i = 0; i < 60; ++i) packs += "iii";
  packs += "EEvDp1AIJDp1BIJDp1CIJDpT_EEEEEEE";
  EXPECT_LE(readable_name(packs).size(), kLongestName + 16);
}

// The demangler would look for a pack in 2^26 places before it writes anything.
TEST(ReadableName, a_pattern_that_repeats_much_stays_as_it_is) {
  std::string name = "_Z1fIJiEEvDp1CI1BIiiE";
  for (char last = '3'; last <= '9'; ++last)
    name += std::string("S1_IS") + last + "_S" + last + "_E";
  for (char last = 'A'; last <= 'S'; ++last)
    name += std::string("S1_IS") + last + "_S" + last + "_E";
  EXPECT_EQ(readable_name(name + "E"), name + "E");
}

TEST(ReadableName, long_names_are_cut) {
  const std::string text = readable_name(nested_pairs(10));
  EXPECT_LE(text.size(), kLongestName + 16);
  EXPECT_TRUE(text.ends_with("...[cut]")) << text;
  EXPECT_TRUE(readable_name(std::string(5000, 'a')).ends_with("a...[cut]"));
}

TEST(ReadableName, names_of_rust) {
  EXPECT_EQ(readable_name("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt");
  EXPECT_EQ(readable_name("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  std::string nested = "_RNvC1a1b";
  for (int i = 0; i < 1000; ++i) nested += "TB2_B2_E";
  EXPECT_LE(readable_name(nested).size(), kLongestName + 16);
}

}  // namespace
}  // namespace waymark::outputs

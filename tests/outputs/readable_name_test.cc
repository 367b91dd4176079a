#include "waymark/outputs/readable_name.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>

#include "support/random.h"
#include "waymark/base/cut_text.h"

namespace waymark::outputs {
namespace {

/// Each pair contains the previous pair twice.
std::string nested_pairs(unsigned levels) {
  std::string name = "_Z1fSt4pairIiiE";
  for (unsigned level = 0; level < levels; ++level) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const std::string last{'S', kDigits[level], '_'};
    name.append("S_I").append(last).append(last).append("E");
  }
  return name;
}

struct Name {
  std::string_view mangled;
  std::string_view shown;  ///< As __cxa_demangle() of libstdc++ 12 writes it.
};

constexpr Name kNames[] = {
    {"_Z1fv", "f()"},
    {"_ZN3app3runEi", "app::run(int)"},
    {"_ZNSt6vectorIiSaIiEE9push_backERKi",
     "std::vector<int, std::allocator<int> >::push_back(int const&)"},
    {("_ZNSt8_Rb_treeIPvSt4pairIKS0_mESt10_Select1stIS3_ESt4lessIS0_ESaIS3_EE8_M_eraseEPSt1"
      "3_Rb_tree_nodeIS3_E"),
     ("std::_Rb_tree<void*, std::pair<void* const, unsigned long>, std::_Select1st<std::pai"
      "r<void* const, unsigned long> >, std::less<void*>, std::allocator<std::pair<void* co"
      "nst, unsigned long> > >::_M_erase(std::_Rb_tree_node<std::pair<void* const, unsigned"
      " long> >*)")},
    {("_ZNKSt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIS5_SaIS5_EE"
      "St4lessIS5_ESaISt4pairIKS5_S8_EEE4findERSC_"),
     ("std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<cha"
      "r> >, std::vector<std::__cxx11::basic_string<char, std::char_traits<char>, std::allo"
      "cator<char> >, std::allocator<std::__cxx11::basic_string<char, std::char_traits<char"
      ">, std::allocator<char> > > >, std::less<std::__cxx11::basic_string<char, std::char_"
      "traits<char>, std::allocator<char> > >, std::allocator<std::pair<std::__cxx11::basic"
      "_string<char, std::char_traits<char>, std::allocator<char> > const, std::vector<std:"
      ":__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::al"
      "locator<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char"
      "> > > > > > >::find(std::__cxx11::basic_string<char, std::char_traits<char>, std::al"
      "locator<char> > const&) const")},
    {"_ZZN12_GLOBAL__N_14mainEvENKUliPKcE_clEiS1_",
     ("(anonymous namespace)::main()::{lambda(int, char const*)#1}::operator()(int, char co"
      "nst*) const")},
    {"_ZSt4moveIRSsEONSt16remove_referenceIT_E4typeEOS2_",
     "std::remove_reference<std::string&>::type&& std::move<std::string&>(std::string&)"},
    {("_ZSt10make_tupleIJiRKcdEESt5tupleIJDpNSt25__strip_reference_wrapperINSt5decayIT_E4ty"
      "peEE6__typeEEEDpOS4_"),
     ("std::tuple<std::__strip_reference_wrapper<std::decay<int>::type>::__type, std::__str"
      "ip_reference_wrapper<std::decay<char const&>::type>::__type, std::__strip_reference_"
      "wrapper<std::decay<double>::type>::__type> std::make_tuple<int, char const&, double>"
      "((std::decay&&)...)")},
    {"_ZN1AcvT_IiEEv", "A::operator int<int>()"},
    {"_ZTVN10__cxxabiv117__class_type_infoE", "vtable for __cxxabiv1::__class_type_info"},
    {"_ZGVZ1fvE1x", "guard variable for f()::x"},
    {"_ZThn16_N1B1gEv", "non-virtual thunk to B::g()"},
    {"_ZplRK1AS1_", "operator+(A const&, A const&)"},
    {"_ZN1A1fILi3EEEvRA3_KcPFivEM1AFivE",
     "void A::f<3>(char const (&) [3], int (*)(), int (A::*)())"},
    {"_ZSs4nameB5cxx11v", "std::string(name[abi:cxx11], void)"},
    {"_ZN1AC2ERKS_", "A::A(A const&)"},
    {"_ZNSsD1Ev",
     ("std::basic_string<char, std::char_traits<char>, std::allocator<char> >::~basic_strin"
      "g()")},
    {"_Z1fIXadL_Z1gvEEEvv.constprop.0", "void f<&(g())>() [clone .constprop.0]"},
};

// That of libstdc++ is another build of the same demangler.
TEST(ReadableName, names_are_those_of_libstdcxx) {
  for (const Name& name : kNames)
    EXPECT_EQ(readable_name(std::string(name.mangled)), name.shown) << name.mangled;
}

/// Whatever the names are; a hang shows in the time limit of the test.
TEST(ReadableName, changed_names_are_short) {
  constexpr std::string_view kLetters = "_0123ABCDEIJNPRSTXZacdilnprstuv";
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    support::Random random(seed);
    std::string name(kNames[random.below(std::size(kNames))].mangled);
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

#include "waymark/syst/printf_format.h"

#include <gtest/gtest.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <limits>

#include "support.h"
#include "support/random.h"

namespace waymark::syst {
namespace {

std::string formatted(std::string_view text, std::string_view arguments, bool is_64bit = true,
                      const Quirks& quirks = {}) {
  const std::vector<std::uint8_t> bytes = hex(arguments);
  TextBuffer out;
  write_printf(out, text, {.bytes = bytes, .is_64bit = is_64bit}, quirks);
  return std::string(out.view());
}

std::string reference(std::string_view text, std::string_view arguments, bool is_64bit = false) {
  return formatted(text, arguments, is_64bit, Quirks::reference());
}

std::string host(const char* text, auto value) {
  char room[512];
  const int size = std::snprintf(room, sizeof room, text, value);
  return {room, static_cast<std::size_t>(size)};
}

TEST(SystPrintf, integers_as_the_host_writes_them) {
  support::Random random(3);
  for (int round = 0; round < 4000; ++round) {
    std::string text = "%";
    for (const char flag : {'-', '+', ' ', '#', '0'})
      if (random.one_in(4)) text += flag;
    if (random.coin()) text += std::to_string(random.below(12));
    if (random.coin()) text += "." + (random.coin() ? std::to_string(random.below(12)) : "");
    const bool wide = random.coin();
    text += wide ? "ll" : random.pick({"", "h", "hh"});
    text += random.pick({'d', 'i', 'u', 'o', 'x', 'X'});
    const std::uint64_t value = random.value(64);
    std::vector<std::uint8_t> bytes(8);
    std::memcpy(bytes.data(), &value, 8);
    bytes.resize(wide ? 8 : 4);
    const std::string expected =
        wide ? host(text.c_str(), value) : host(text.c_str(), static_cast<unsigned>(value));
    EXPECT_EQ(formatted(text, to_hex(bytes)), expected) << text << ' ' << value;
  }
}

TEST(SystPrintf, pointers_as_the_host_writes_them) {
  EXPECT_EQ(formatted("%p|%10p|%-8p|", "1f00000000000000 1f00000000000000 1f00000000000000"),
            "0x1f|      0x1f|0x1f    |");
  EXPECT_EQ(formatted("%p %8p", "00000000 00000000", false), "(nil)    (nil)");
}

TEST(SystPrintf, sizes_of_the_sender) {
  EXPECT_EQ(formatted("%ld %d", "feffffff 05000000", false), "-2 5");
  EXPECT_EQ(formatted("%ld %d", "feffffffffffffff 05000000", true), "-2 5");
  EXPECT_EQ(formatted("%td %zu", "feffffffffffffff 0500000000000000", true), "-2 5");
  EXPECT_EQ(formatted("%hhd %hu", "80ffffff 01000100"), "-128 1");
}

TEST(SystPrintf, quirks_of_narrow_integers) {
  EXPECT_EQ(reference("%ld", "feffffff"), "4294967294");
  EXPECT_EQ(reference("%td %d", "feffffffffffffff 05000000", true), "4294967294 -1");
}

TEST(SystPrintf, texts_and_characters) {
  EXPECT_EQ(formatted("<%s> <%5s> <%-5s> <%.2s>", "6100 6200 6300 61626300"),
            "<a> <    b> <c    > <ab>");
  EXPECT_EQ(formatted("a%cb%5cc", "00000000 00000000"), "ab    c");
  EXPECT_EQ(formatted("%lc", "e9000000"), "\xC3\xA9");
  EXPECT_EQ(reference("x%lc", "e9000000"), "x - invalid format '%lc' in printf");
  EXPECT_EQ(formatted("%ls", "610000"), " - invalid format '%ls' in printf");
}

TEST(SystPrintf, floating_point) {
  EXPECT_EQ(formatted("%.2f %g %e", "000000000000f83f 000000000000e03f 0000000000000000"),
            "1.50 0.5 0.000000e+00");
  EXPECT_EQ(formatted("%f %F", "000000000000f07f 000000000000f8ff"), "inf -NAN");
  // A long double is sent as a double.
  EXPECT_EQ(formatted("%Lf", "000000000000f83f"), "1.500000");
}

TEST(SystPrintf, stars_take_arguments) {
  EXPECT_EQ(formatted("[%*d]", "faffffff 2a000000"), "[42    ]");
  EXPECT_EQ(formatted("[%.*f]", "01000000 000000000000f83f"), "[1.5]");
  EXPECT_EQ(formatted("[%.*d]", "ffffffff 07000000"), "[7]");
  EXPECT_EQ(formatted("[%*d]", "00000080 07000000"), "[ - invalid format '%*d' in printf");
}

TEST(SystPrintf, percent_signs) {
  EXPECT_EQ(formatted("100%% of %d%%", "07000000"), "100% of 7%");
  EXPECT_EQ(formatted("%%%%", ""), "%%");
  EXPECT_EQ(reference("[%%%%]", ""), "[%]");
}

TEST(SystPrintf, formats_that_are_none) {
  for (const char* text : {"50%", "v=%k", "%5%", "x%-08", "%'d", "%1$d", "%hhhd", "%*5d"})
    EXPECT_EQ(formatted(text, ""), "invalid format string '" + std::string(text) + "'");
}

TEST(SystPrintf, missing_arguments) {
  EXPECT_EQ(formatted("v=%d, %s", "0700"), "v=[no argument is left for '%d']");
  EXPECT_EQ(formatted("v=%s", ""), "v=[no argument is left for '%s']");
  EXPECT_EQ(formatted("v=%s!", "6162"), "v=ab[the text of the argument has no end]");
  EXPECT_EQ(reference("v=%d", ""), "v=- insufficient argument bytes for format 'v=%d'");
  EXPECT_EQ(reference("v=%s", "6162"),
            " - corrupt printf payload, missing argument string termination");
}

TEST(SystPrintf, surplus_arguments_are_ignored) { EXPECT_EQ(formatted("%d", "0700000008"), "7"); }

TEST(SystPrintf, no_conversion_writes_without_end) {
  for (const char* text : {"%2000000000d", "%.2000000000x", "%.70000f", "%#.70000g", "%2000000000s",
                           "%70000c", "%.2000000000a"}) {
    EXPECT_EQ(formatted(text, "0100000000000000"),
              " - printf result using format '" + std::string(text) + "' is too large");
  }
  EXPECT_EQ(formatted("%99999999999d", "01000000"), " - invalid format '%99999999999d' in printf");
  EXPECT_EQ(formatted("%.2000000000g", "000000000000e03f"), "0.5");
  EXPECT_EQ(formatted("%.2000000000s", "6100"), "a");
}

TEST(SystPrintf, the_one_value_of_short_messages) {
  const auto value = [](std::string_view text, std::uint64_t number, bool wide) {
    TextBuffer out;
    write_value_format(out, text, number, wide);
    return std::string(out.view());
  };
  EXPECT_EQ(value("code %d", 9, false), "code 9");
  EXPECT_EQ(value("%ld", ~std::uint64_t{0}, true), "-1");
  EXPECT_EQ(value("%ld", 0xFFFFFFFF, false), "4294967295");
  EXPECT_EQ(value("%%%%", 0, false), "%%");
  EXPECT_EQ(value("%s", 9, false), "[no argument is left for '%s']");
  EXPECT_EQ(value("%d %d", 9, false), "9 [no argument is left for '%d']");
}

TEST(SystPrintf, a_text_without_bound_is_cut) {
  std::string format;
  for (int i = 0; i < 8000; ++i) format += "%65535s";
  const std::vector<std::uint8_t> nothing(8000);
  TextBuffer out;
  write_printf(out, format, {.bytes = nothing});
  EXPECT_LE(out.size(), kMaxText + kMaxConversion + 100);
  EXPECT_TRUE(out.view().ends_with("and its rest is cut]"));
}

TEST(SystPrintf, the_byte_after_the_arguments_may_end_a_text) {
  const auto text = hex("6162");
  TextBuffer out;
  write_printf(out, "%s", {.bytes = text, .byte_after = std::uint8_t{0}});
  EXPECT_TRUE(out.view().starts_with("ab"));
}

}  // namespace
}  // namespace waymark::syst

// Addresses as users write them: every form, and every error with its reason.
#include "waymark/image/address_text.h"

#include <gtest/gtest.h>

#include <vector>

#include "waymark/image/symbols.h"

namespace waymark::image {
namespace {

constexpr std::uint64_t kTop = ~std::uint64_t{0};

Symbols some_symbols() {
  Symbols symbols;
  symbols.add(std::vector<Function>{{0x1000, 0x10FF, "main"},
                                    {0x1100, 0x11FF, "a..b"},
                                    {0x1200, 0x12FF, "operator+"},
                                    {0x1300, 0x13FF, "twice"},
                                    {0x1400, 0x14FF, "twice"},
                                    {0x1500, 0x15FF, "dead"}});
  return symbols;
}

/// The names of functions; a name that is not unique is an error.
NameLookup lookup_in(const Symbols& symbols) {
  return [&symbols](std::string_view name) -> Result<AddressRange> {
    const Function* found = nullptr;
    for (const Function& function : symbols.functions()) {
      if (function.name != name) continue;
      if (found != nullptr) return fail(ErrorCode::kConflict, "There are two.");
      found = &function;
    }
    if (found == nullptr) return fail(ErrorCode::kNotFound, "There is none.");
    return AddressRange{found->start, found->last};
  };
}

struct Form {
  const char* text;
  AddressRange range;
};

class AddressForms : public testing::TestWithParam<Form> {};

TEST_P(AddressForms, is_read) {
  const Symbols symbols = some_symbols();
  const auto range = parse_address_range(GetParam().text, lookup_in(symbols));
  ASSERT_TRUE(range) << range.error().detail;
  EXPECT_EQ(*range, GetParam().range);
}

INSTANTIATE_TEST_SUITE_P(
    All, AddressForms,
    testing::Values(Form{"0x1000", {0x1000, 0x1000}}, Form{"4096", {4096, 4096}},
                    Form{"0x1000..0x1010", {0x1000, 0x100F}}, Form{"16..17", {16, 16}},
                    Form{"0x1000+16", {0x1000, 0x100F}}, Form{"0x1000+0x10", {0x1000, 0x100F}},
                    Form{"main", {0x1000, 0x10FF}}, Form{"main+8", {0x1008, 0x1008}},
                    Form{"main+8+4", {0x1008, 0x100B}}, Form{"main+8..main+0x10", {0x1008, 0x100F}},
                    Form{"main..dead", {0x1000, 0x14FF}}, Form{"dead", {0x1500, 0x15FF}},
                    Form{"a..b", {0x1100, 0x11FF}}, Form{"a..b+4", {0x1104, 0x1104}},
                    Form{"a..b..dead", {0x1100, 0x14FF}}, Form{"main..a..b", {0x1000, 0x10FF}},
                    Form{"operator+", {0x1200, 0x12FF}}, Form{"operator++4", {0x1204, 0x1204}},
                    Form{"0xffffffffffffffff", {kTop, kTop}},
                    Form{"0xfffffffffffffff0+16", {kTop - 15, kTop}}));

struct Refused {
  const char* text;
  ErrorCode code;
  const char* reason;
};

class RefusedAddresses : public testing::TestWithParam<Refused> {};

TEST_P(RefusedAddresses, names_the_text_and_the_reason) {
  const Symbols symbols = some_symbols();
  const auto range = parse_address_range(GetParam().text, lookup_in(symbols));
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().code, GetParam().code);
  EXPECT_EQ(range.error().detail, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedAddresses,
    testing::Values(
        Refused{"", ErrorCode::kInvalidArgument,
                "'' is not an address. Addresses are decimal, or hexadecimal after 0x, or symbol "
                "names."},
        Refused{"12zz", ErrorCode::kInvalidArgument,
                "'12zz' is not an address. Addresses are decimal, or hexadecimal after 0x, or "
                "symbol names."},
        Refused{"0x10..", ErrorCode::kInvalidArgument,
                "'0x10..' is not valid: '' is not an address. Addresses are decimal, or "
                "hexadecimal after 0x, or symbol names."},
        Refused{"0x1000..0x1000", ErrorCode::kInvalidArgument,
                "'0x1000..0x1000' is an empty range: 0x1000 is not below 0x1000."},
        Refused{"0x1000+0", ErrorCode::kInvalidArgument,
                "'0x1000+0' is an empty range: its length is 0."},
        Refused{"0xffffffffffffffff+2", ErrorCode::kInvalidArgument,
                "'0xffffffffffffffff+2' reaches beyond the top of memory."},
        Refused{"main+0xffffffffffffffff", ErrorCode::kInvalidArgument,
                "'main+0xffffffffffffffff' reaches beyond the top of memory."},
        Refused{"nobody", ErrorCode::kNotFound, "There is none."},
        Refused{"nobody+4", ErrorCode::kNotFound, "'nobody+4' is not valid: There is none."},
        Refused{"main..nobody", ErrorCode::kNotFound,
                "'main..nobody' is not valid: There is none."},
        Refused{"twice+4", ErrorCode::kConflict, "There are two."}));

TEST(AddressText, there_are_no_names_without_a_lookup) {
  EXPECT_EQ(parse_address_range("12"), (AddressRange{12, 12}));
  const auto name = parse_address_range("main");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().detail,
            "'main' is not an address. Addresses are decimal, or hexadecimal after 0x.");
}

TEST(AddressText, a_range_is_written_as_it_is_read) {
  for (const AddressRange range : {AddressRange{0x1000, 0x1000}, AddressRange{0x1000, 0x100F},
                                   AddressRange{kTop - 15, kTop}, AddressRange{kTop, kTop}}) {
    const auto read = parse_address_range(address_range_text(range));
    ASSERT_TRUE(read) << address_range_text(range);
    EXPECT_EQ(*read, range);
  }
}

TEST(AddressText, ranges_touch_where_they_share_a_byte) {
  const AddressRange range{0x1000, 0x100F};
  EXPECT_TRUE(range.touches(0xFFF, 0x1001));
  EXPECT_TRUE(range.touches(0x100F, 0x1020));
  EXPECT_FALSE(range.touches(0xF00, 0x1000));
  EXPECT_FALSE(range.touches(0x1010, 0x1020));
  EXPECT_FALSE(range.touches(0x1000, 0x1000));
  EXPECT_TRUE(range.contains(0x100F));
  EXPECT_FALSE(range.contains(0x1010));
}

}  // namespace
}  // namespace waymark::image

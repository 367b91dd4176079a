// The named quirks, for a client of the C API: all on, none, or by name.
#include "waymark/etmv3/quirks.h"

#include <algorithm>
#include <cstdlib>

#include "capi_fixture.h"
#include "core/quirk_choice.h"
#include "opencsd/itm/trc_pkt_types_itm.h"
#include "opencsd/waymark_level.h"
#include "quirk_traces.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/ptm/quirks.h"
#include "waymark/stm/quirks.h"

namespace waymark::compat {
namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): this program tests in one thread.
void set_variable(const char* name, const char* value) {
  if (value == nullptr) {
    unsetenv(name);
  } else {
    setenv(name, value, 1);
  }
}
// NOLINTEND(concurrency-mt-unsafe)

void choose(const char* value) { set_variable(kQuirksVariable, value); }

std::string listing_with(const QuirkRow& row, const std::string& quirks) {
  choose(quirks.c_str());
  std::string text = quirk_listing(row);
  choose(nullptr);
  return text;
}

/// The first line that differs; "" where one text ends.
std::pair<std::string, std::string> first_difference(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::string_view one = a.substr(0, a.find('\n'));
    const std::string_view other = b.substr(0, b.find('\n'));
    if (one != other) return {std::string(one), std::string(other)};
    a.remove_prefix(std::min(a.size(), one.size() + 1));
    b.remove_prefix(std::min(b.size(), other.size() + 1));
  }
  return {};
}

// ---- By name ------------------------------------------------------------------------------------

class QuirkByName : public testing::TestWithParam<QuirkRow> {
 protected:
  // For the quirk of the range limit; no other trace has such long ranges.
  QuirkByName() { set_variable("OPENCSD_INSTR_RANGE_LIMIT", "2"); }
  ~QuirkByName() override { set_variable("OPENCSD_INSTR_RANGE_LIMIT", nullptr); }
};

TEST_P(QuirkByName, is_switched_alone) {
  const QuirkRow& row = GetParam();
  const bool limited = row.quirk == "etmv4.range_limit_repeats";
  if (!limited) set_variable("OPENCSD_INSTR_RANGE_LIMIT", nullptr);
  // Older levels have quirks that are not in "all".
  const std::string with = listing_with(row, "all," + std::string(row.quirk));
  const std::string without = listing_with(row, "-" + std::string(row.quirk));
  const auto [line, other] = first_difference(with, without);
  EXPECT_EQ(line, row.with) << with << "--- without\n" << without;
  EXPECT_EQ(other, row.without) << with << "--- without\n" << without;
  // The structures cannot show that a time is incomplete.
  if (row.quirk == "etmv3.timestamps_count_as_whole") {
    EXPECT_EQ(with, without);
  } else {
    EXPECT_NE(with, without);
  }
  // Switched off and on again.
  EXPECT_EQ(listing_with(row, "none,all,-" + std::string(row.quirk) + "," + std::string(row.quirk)),
            with);
}

std::string name_of(const testing::TestParamInfo<QuirkRow>& row) {
  std::string name(row.param.quirk);
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, QuirkByName,
                         testing::ValuesIn(quirk_rows().begin(), quirk_rows().end()), name_of);

TEST(QuirkNames, have_a_row_each) {
  std::vector<std::string> rows;
  for (const QuirkRow& row : quirk_rows()) rows.emplace_back(row.quirk);
  EXPECT_EQ(rows, quirk_names());
}

// ---- The variable -------------------------------------------------------------------------------

SourceOptions options_of(std::string_view text, Protocol protocol) {
  std::vector<std::string> unknown;
  SourceOptions options;
  options.quirks = QuirkChoice::parse(text, unknown).on(protocol);
  EXPECT_TRUE(unknown.empty()) << text;
  return options;
}

TEST(QuirkChoice, is_all_or_none_or_a_list) {
  for (const char* all : {"", "all", " all ", ",", "none,all", "-ptm,ptm", "all,-itm,+itm"}) {
    EXPECT_EQ(options_of(all, Protocol::kPtm).quirks, (1U << ptm::kQuirks.size()) - 1) << all;
  }
  for (const char* none : {"none", "all,none", "-ptm", "etmv3", "all, -ptm"})
    EXPECT_EQ(options_of(none, Protocol::kPtm).quirks, 0U) << none;
  const auto bits = (std::uint64_t{1} << etmv4::kQuirks.size()) - 1;
  EXPECT_EQ(options_of("-etmv4.pe_reset_is_bad", Protocol::kEte).quirks, bits - 1);
  EXPECT_EQ(options_of("-etmv4.pe_reset_is_bad", Protocol::kPtm).quirks,
            (1U << ptm::kQuirks.size()) - 1);
  EXPECT_EQ(options_of("etmv4.pe_reset_is_bad", Protocol::kEtmV4).quirks, 1U);
  EXPECT_EQ(options_of("-stm,stm.stale_error_type", Protocol::kStm).quirks, 4U);
}

TEST(QuirkChoice, for_etmv3_those_of_the_parser_precede_those_of_the_decoder) {
  const SourceOptions options =
      options_of("-etmv3.timestamps_count_as_whole,-etmv3.keeps_sync", Protocol::kEtmV3);
  constexpr std::size_t kParser = etmv3::kParserQuirks.size();
  EXPECT_FALSE(etmv3::ParserQuirks::of(options.quirks).keeps_sync);
  EXPECT_TRUE(etmv3::ParserQuirks::of(options.quirks).lsip_hidden);
  const auto decoder = etmv3::DecoderQuirks::of(options.quirks >> kParser);
  EXPECT_FALSE(decoder.timestamps_count_as_whole);
  EXPECT_TRUE(decoder.hides_frequency_change);
}

TEST(QuirkChoice, of_frames_is_like_the_others) {
  std::vector<std::string> unknown;
  EXPECT_TRUE(QuirkChoice::parse("", unknown).frames().fsync_after_hsync_fails);
  EXPECT_FALSE(QuirkChoice::parse("none", unknown).frames().fsync_after_hsync_fails);
  const frames::Quirks one = QuirkChoice::parse("frames.fsync_after_hsync_fails", unknown).frames();
  EXPECT_TRUE(one.fsync_after_hsync_fails);
  EXPECT_FALSE(one.block_end_moves_index);
  EXPECT_FALSE(one.empty_segment_fails);
}

TEST(QuirkChoice, a_misspelt_name_is_reported_and_changes_nothing) {
  std::vector<std::string> unknown;
  const QuirkChoice choice =
      QuirkChoice::parse("pe_reset,-etmv4.pe_reset,etmv5,-ptm.,.x,-etmv4.pe_reset_is_bad", unknown);
  EXPECT_EQ(unknown,
            (std::vector<std::string>{"pe_reset", "-etmv4.pe_reset", "etmv5", "-ptm.", ".x"}));
  EXPECT_EQ(choice.on(Protocol::kEtmV4), (std::uint64_t{1} << etmv4::kQuirks.size()) - 2);
  EXPECT_EQ(choice.on(Protocol::kPtm), (1U << ptm::kQuirks.size()) - 1);
}

// ---- The level ----------------------------------------------------------------------------------

TEST(Levels, each_switches_existing_quirks_off) {
  for (const Level& level : kLevels) {
    std::vector<std::string> unknown;
    const auto quirks =
        etmv4::Quirks::of(QuirkChoice::parse("", unknown, level).on(Protocol::kEtmV4));
    EXPECT_TRUE(unknown.empty()) << level.version;
    const bool is_1_3_3 = level.version == "1.3.3";
    const bool before_1_8_0 = is_1_3_3 || level.version == "1.5.5";
    EXPECT_EQ(quirks.cycle_counts_do_not_commit, before_1_8_0);
    EXPECT_EQ(quirks.exception_walk_goes_back, is_1_3_3);
    EXPECT_EQ(quirks.newer_branches_unknown, before_1_8_0);
    EXPECT_EQ(quirks.it_blocks_ignored, before_1_8_0);
    EXPECT_EQ(quirks.unseen_elements_missing, before_1_8_0);
    EXPECT_TRUE(quirks.max_speculation_is_signed);
    EXPECT_EQ(quirks.pauth_lr_unknown, is_1_3_3);
    EXPECT_EQ(quirks.trace_info_is_not_queued, before_1_8_0);
    EXPECT_EQ(stm::Quirks::of(QuirkChoice::parse("", unknown, level).on(Protocol::kStm))
                  .version_keeps_ids,
              is_1_3_3);
    EXPECT_EQ(quirks.exception_walk_runs_over, level.version != "1.8.3");
    EXPECT_EQ(level_by_version(level.version)->quirks, level.quirks);
  }
}

TEST(Levels, all_quirks_are_those_of_the_level) {
  const Level later = *level_by_version("1.8.3");
  const auto off = [&](std::string_view text) {
    std::vector<std::string> unknown;
    const auto quirks =
        etmv4::Quirks::of(QuirkChoice::parse(text, unknown, later).on(Protocol::kEtmV4));
    return std::pair(!quirks.v8m_exception_return_is_not_p0, !quirks.pe_reset_is_bad);
  };
  EXPECT_EQ(off(""), std::pair(true, false));
  EXPECT_EQ(off("none,all"), std::pair(true, false));
  EXPECT_EQ(off("-etmv4.pe_reset_is_bad"), std::pair(true, true));
  EXPECT_EQ(off("all,etmv4.v8m_exception_return_is_not_p0"), std::pair(false, false));
}

TEST(Levels, an_unknown_one_is_an_error_that_names_the_known_ones) {
  const auto level = level_by_version("1.8");
  ASSERT_FALSE(level);
  EXPECT_EQ(level.error().detail,
            "WAYMARK_OPENCSD_LEVEL=1.8 is not a level of compatibility; the levels are 1.3.3, "
            "1.5.5, 1.8.0, 1.8.3.");
}

class QuirksCApi : public CApi {
 protected:
  ~QuirksCApi() override {
    choose(nullptr);
    set_variable(kLevelVariable, nullptr);
    waymark_opencsd_set_level(nullptr);
  }
};

TEST_F(QuirksCApi, an_unknown_level_makes_no_tree) {
  single();
  set_variable(kLevelVariable, "1.9");
  notes.log.clear();
  EXPECT_EQ(ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0), C_API_INVALID_TREE_HANDLE);
  EXPECT_NE(notes.log.find("WAYMARK_OPENCSD_LEVEL=1.9 is not a level"), std::string::npos)
      << notes.log;
}

TEST_F(QuirksCApi, a_level_changes_what_is_decoded) {
  const auto row =
      std::ranges::find(quirk_rows(), "etmv4.exception_walk_runs_over", &QuirkRow::quirk);
  const std::string first = quirk_listing(*row);
  set_variable(kLevelVariable, "1.8.0");
  EXPECT_EQ(quirk_listing(*row), first);
  set_variable(kLevelVariable, "1.8.3");
  EXPECT_NE(quirk_listing(*row).find(std::string(row->without)), std::string::npos);
}

TEST_F(QuirksCApi, a_client_chooses_the_level_before_the_environment) {
  set_variable(kLevelVariable, "1.8.3");
  single();
  EXPECT_STREQ(waymark_opencsd_level(), "1.8.3");
  EXPECT_EQ(waymark_opencsd_set_level("2.0"), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(waymark_opencsd_set_level("1.3.3"), OCSD_OK);
  EXPECT_STREQ(waymark_opencsd_level(), "1.3.3");
  EXPECT_EQ(waymark_opencsd_set_level(nullptr), OCSD_OK);
  EXPECT_STREQ(waymark_opencsd_level(), "1.8.3");
  set_variable(kLevelVariable, nullptr);
  EXPECT_EQ(waymark_opencsd_set_level(""), OCSD_OK);
  EXPECT_EQ(default_level().version, waymark_opencsd_level());
}

TEST_F(QuirksCApi, at_1_3_3_texts_are_shorter_and_itm_is_not_known) {
  ASSERT_EQ(waymark_opencsd_set_level("1.3.3"), OCSD_OK);
  single();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  note_elements();
  add_code(0x4000, loop);
  ASSERT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_gen_elem_printer(tree), OCSD_OK);
  feed(start(kLoopAddress, 7) + taken());
  EXPECT_NE(notes.log.find("INFO=0x0 { CC.0 }\n"), std::string::npos) << notes.log;
  EXPECT_NE(notes.log.find("OCSD_GEN_TRC_ELEM_ADDR_NACC( 0x1000 )\n"), std::string::npos)
      << notes.log;
  std::array<char, 128> text{};
  ocsd_err_str(OCSD_ERR_MEM_ACC_RANGE_INVALID, text.data(), text.size());
  EXPECT_EQ(std::string_view(text.data()).substr(0, 33), "0x0021 (OCSD_ERR_MEM_ACC_BAD_LEN)");
  ocsd_err_str(OCSD_ERR_DCD_INTERFACE_UNUSED, text.data(), text.size());
  EXPECT_EQ(std::string_view(text.data()).substr(0, 22), "0x002b (OCSD_ERR_LAST)");
  ocsd_err_str(OCSD_ERR_BAD_DECODE_IMAGE, text.data(), text.size());
  EXPECT_STREQ(text.data(), "0x002e (unknown); ");
  single();
  const ocsd_itm_cfg itm{};
  EXPECT_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ITM, 2, &itm, nullptr),
            OCSD_ERR_DCDREG_NAME_UNKNOWN);
}

TEST_F(QuirksCApi, at_1_5_5_some_quirks_of_1_3_3_are_left) {
  set_variable(kLevelVariable, "1.5.5");
  const auto row_of = [](std::string_view name) {
    return *std::ranges::find(quirk_rows(), name, &QuirkRow::quirk);
  };
  for (const std::string name :
       {"etmv4.cycle_counts_do_not_commit", "etmv4.newer_branches_unknown",
        "etmv4.it_blocks_ignored", "etmv4.unseen_elements_missing",
        "etmv4.max_speculation_is_signed", "etmv4.trace_info_is_not_queued"}) {
    const QuirkRow row = row_of(name);
    const auto [line, other] =
        first_difference(listing_with(row, ""), listing_with(row, "-" + name));
    EXPECT_EQ(line, row.with) << name;
    EXPECT_EQ(other, row.without) << name;
  }
  for (const std::string name :
       {"etmv4.exception_walk_goes_back", "etmv4.pauth_lr_unknown", "stm.version_keeps_ids"}) {
    const QuirkRow row = row_of(name);
    EXPECT_EQ(listing_with(row, ""), listing_with(row, "-" + name)) << name;
    EXPECT_NE(listing_with(row, "").find(std::string(row.without)), std::string::npos) << name;
  }
}

// 01 00 2d 01: the index of the error is that of the last element.
TEST_F(QuirksCApi, at_1_5_5_an_error_after_a_trace_info_has_no_index_of_it) {
  const QuirkRow row{.quirk = "",
                     .trace = QuirkTrace::kEtmV4,
                     .registers = {0, 0, 8},
                     .code = "D503201F",
                     .bytes = "000000000000000000000080 0100 2d01"};
  set_variable(kLevelVariable, "1.5.5");
  EXPECT_NE(quirk_listing(row).find("TrcIdx=0; CS ID=01; Not enough elements to commit"),
            std::string::npos);
  set_variable(kLevelVariable, "1.8.0");
  EXPECT_NE(quirk_listing(row).find("TrcIdx=12; CS ID=01; Not enough elements to commit"),
            std::string::npos);
}

TEST_F(QuirksCApi, at_1_5_5_instrumentation_is_known_and_itm_is_not) {
  set_variable(kLevelVariable, "1.5.5");
  const QuirkRow row{.quirk = "",
                     .trace = QuirkTrace::kEte,
                     .registers = {0, 0, 0, 0x30000},
                     .code = "D503201F",
                     .bytes = "000000000000000000000080 0100 0901ffff0f0000000000 f7"};
  EXPECT_NE(quirk_listing(row).find("I_ITE : Instrumentation; EL1; Payload=0xfffff"),
            std::string::npos);
  single();
  const ocsd_itm_cfg itm{};
  EXPECT_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ITM, 2, &itm, nullptr),
            OCSD_ERR_DCDREG_NAME_UNKNOWN);
}

TEST_F(QuirksCApi, at_1_5_5_texts_of_packets_are_old_and_those_of_elements_and_errors_new) {
  ASSERT_EQ(waymark_opencsd_set_level("1.5.5"), OCSD_OK);
  EXPECT_STREQ(waymark_opencsd_level(), "1.5.5");
  single();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  note_elements();
  add_code(0x4000, loop);
  ASSERT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_gen_elem_printer(tree), OCSD_OK);
  feed(start(kLoopAddress, 7) + taken() + ByteVector{0x0C, 0x01});
  EXPECT_NE(notes.log.find("INFO=0x0 { CC.0 }\n"), std::string::npos) << notes.log;
  EXPECT_NE(notes.log.find("I_CCNT_F2 : Cycle Count format 2.; Count=0x1\n"), std::string::npos)
      << notes.log;
  EXPECT_NE(notes.log.find("OCSD_GEN_TRC_ELEM_ADDR_NACC( 0x1000; Memspace ["), std::string::npos)
      << notes.log;
  // With a speculation depth.
  notes.log.clear();
  feed(ByteVector(11) + ByteVector{0x80, 0x01, 0x05, 0x00, 0x01});
  EXPECT_EQ(notes.log.find("INIT SPEC DEPTH"), std::string::npos) << notes.log;
  std::array<char, 128> text{};
  ocsd_err_str(OCSD_ERR_MEM_ACC_RANGE_INVALID, text.data(), text.size());
  EXPECT_EQ(std::string_view(text.data()).substr(0, 39), "0x0021 (OCSD_ERR_MEM_ACC_RANGE_INVALID)");
  ocsd_err_str(OCSD_ERR_BAD_DECODE_IMAGE, text.data(), text.size());
  EXPECT_EQ(std::string_view(text.data()).substr(0, 34), "0x002e (OCSD_ERR_BAD_DECODE_IMAGE)");
}

// ---- The log ------------------------------------------------------------------------------------

// With all quirks: the error comes with the packet.
TEST(QuirkLog, second_addresses_of_etmv3_isyncs) {
  const auto log_of = [](std::string_view bytes) {
    QuirkRow row{.trace = QuirkTrace::kEtmV3, .bytes = bytes, .packets_only = true};
    std::string text = quirk_listing(row);
    const std::size_t at = text.find("CS ID=01; ");
    return at == std::string::npos ? "" : text.substr(at + 10, text.find('\n', at) - at - 10);
  };
  // One must follow where bit 7 of the information byte is set.
  EXPECT_EQ(log_of("A 08a110000040 0c"), "Malformed Packet - oversized packet.");
  EXPECT_EQ(log_of("A 082110000040 0c"), "");
  EXPECT_EQ(log_of("A 08a1100000c001 0c"), "");
  // Its fifth byte.
  EXPECT_EQ(log_of("A 08a1100000808080808000 0c"), "Malformed Packet - Unknown ISA.");
  EXPECT_EQ(log_of("A 08a1100000808080808040 0c"), "Malformed Packet - oversized packet.");
}

TEST(QuirkLog, a_packet_of_the_wrong_mode_is_an_invalid_header_after_a_bad_sequence_too) {
  const QuirkRow row{.trace = QuirkTrace::kEtmV3, .bytes = "AS 006c", .packets_only = true};
  EXPECT_NE(quirk_listing(row).find("0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; "
                                    "TrcIdx=13; CS ID=01; Invalid data trace header"),
            std::string::npos)
      << quirk_listing(row);
}

TEST_F(QuirksCApi, a_misspelt_name_is_in_the_log) {
  single();
  choose("-ptm.vmid");
  notes.log.clear();
  ocsd_destroy_dcd_tree(ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0));
  EXPECT_EQ(notes.log,
            "WAYMARK_OPENCSD_QUIRKS : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value parameter "
            "passed to component.]; No quirk is named '-ptm.vmid': write group.quirk as in "
            "docs/opencsd-compatibility.md.\n");
}

}  // namespace
}  // namespace waymark::compat

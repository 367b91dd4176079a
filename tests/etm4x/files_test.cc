// Every row of the file table: what it stores, what it shows, and each of its errors.
#include "waymark/etm4x/files.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "etm4x/units.h"

namespace waymark::etm4x {
namespace {

enum class On { kMiddle, kFull, kBare };

Unit make(On which, Quirks quirks = kAllQuirks) {
  Environment environment;
  environment.sscsr = {0x9, 0x9, 1, 1, 1, 1, 1, 1};
  switch (which) {
    case On::kFull:
      return Unit(full_unit(), environment, quirks);
    case On::kBare:
      return Unit(bare_unit(), environment, quirks);
    case On::kMiddle:
      break;
  }
  IdRegisters id = middle_unit();
  id.idr8 = {0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x8D};
  id.mgmt = {.pdsr = 0x23, .lsr = 1, .authstatus = 0xCC, .devid = 2, .pidr = {0x5D, 0xB9, 0x4B, 7}};
  return Unit(id, environment, quirks);
}

struct Step {
  std::string_view file;
  std::string_view bytes;
};

struct StoreCase {
  On on;
  std::vector<Step> before;
  std::string_view file;
  std::string_view bytes;
  std::string_view answer;
  std::string_view shown;  ///< What reading gives after the write.
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name.
void PrintTo(const StoreCase& c, std::ostream* out) { *out << c.file << " <- " << c.bytes; }

// Rows in the order of etm4x-programming.md 4.  Successes first, then each error.
const std::vector<StoreCase> kStoreCases = {
    {On::kFull, {}, "mode", "ffffffffffffffff", "ok", "0xcfffffff"},
    {On::kMiddle, {}, "mode", "zz", "-EINVAL", "0x8000000"},
    {On::kMiddle, {}, "mode", "10000000000000000", "-EINVAL", "0x8000000"},
    {On::kMiddle, {}, "reset", "0", "ok", "-EACCES"},
    {On::kMiddle, {}, "reset", "x", "-EINVAL", "-EACCES"},
    {On::kMiddle, {}, "pe", "0", "ok", "0x0"},
    {On::kMiddle, {}, "pe", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "pe", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cpu", "0", "-EACCES", "0"},
    {On::kMiddle, {}, "ts_source", "0", "-EACCES", "-1"},
    {On::kMiddle, {}, "enable_source", "1\n", "ok", "1"},
    {On::kMiddle, {}, "enable_source", "0", "ok", "0"},
    {On::kMiddle, {}, "enable_source", "0x1", "-EINVAL", "0"},
    {On::kMiddle, {}, "enable_source", "99999999999999999999", "-ERANGE", "0"},

    {On::kFull, {}, "nr_pe_cmp", "0", "-EACCES", "0x4"},
    {On::kFull, {}, "nr_addr_cmp", "0", "-EACCES", "0x8"},
    {On::kFull, {}, "nr_cntr", "0", "-EACCES", "0x4"},
    {On::kFull, {}, "nr_ext_inp", "0", "-EACCES", "0x20"},
    {On::kFull, {}, "numcidc", "0", "-EACCES", "0x8"},
    {On::kFull, {}, "numvmidc", "0", "-EACCES", "0x8"},
    {On::kFull, {}, "nrseqstate", "0", "-EACCES", "0x4"},
    {On::kFull, {}, "nr_resource", "0", "-EACCES", "0x10"},
    {On::kFull, {}, "nr_ss_cmp", "0", "-EACCES", "0x8"},

    {On::kMiddle, {}, "event", "1234567812", "ok", "0x34567812"},
    {On::kMiddle, {}, "event", "-1", "-EINVAL", "0x0"},
    {On::kBare, {}, "event", "1234", "ok", "0x34"},
    {On::kMiddle, {}, "event_instren", "1f", "ok", "0xf"},
    {On::kMiddle, {}, "event_instren", "q", "-EINVAL", "0x0"},
    {On::kBare, {}, "event_instren", "f", "ok", "0x2"},
    {On::kMiddle, {}, "event_ts", "1ff", "ok", "0xff"},
    {On::kMiddle, {}, "event_ts", " 1", "-EINVAL", "0x0"},
    {On::kBare, {}, "event_ts", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "syncfreq", "3f", "ok", "0x1f"},
    {On::kMiddle, {}, "syncfreq", "", "-EINVAL", "0xc"},
    {On::kBare, {}, "syncfreq", "8", "-EINVAL", "0xc"},
    {On::kMiddle, {}, "cyc_threshold", "1004", "ok", "0x4"},
    {On::kMiddle, {}, "cyc_threshold", "3", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cyc_threshold", "g", "-EINVAL", "0x0"},
    {On::kBare, {}, "cyc_threshold", "5", "ok", "0x5"},
    {On::kMiddle, {}, "bb_ctrl", "f101", "ok", "0x101"},
    {On::kMiddle, {}, "bb_ctrl", "ff", "ok", "0xff"},
    {On::kMiddle, {}, "bb_ctrl", "100", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "bb_ctrl", "!", "-EINVAL", "0x0"},
    {On::kBare, {}, "bb_ctrl", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "event_vinst", "182", "ok", "0x82"},
    {On::kMiddle, {}, "event_vinst", "", "-EINVAL", "0x1"},
    {On::kMiddle, {}, "s_exlevel_vinst", "ff", "ok", "0xb"},
    {On::kMiddle, {}, "s_exlevel_vinst", "", "-EINVAL", "0xb"},
    {On::kMiddle, {}, "ns_exlevel_vinst", "ff", "ok", "0x7"},
    {On::kMiddle, {}, "ns_exlevel_vinst", "", "-EINVAL", "0x4"},
    {On::kFull, {}, "vinst_pe_cmp_start_stop", "1ffffffff", "ok", "0xffffffff"},
    {On::kFull, {}, "vinst_pe_cmp_start_stop", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "vinst_pe_cmp_start_stop", "1", "-EINVAL", "-EINVAL"},

    {On::kMiddle, {}, "addr_idx", "7", "ok", "0x7"},
    {On::kMiddle, {}, "addr_idx", "8", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_idx", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "addr_idx", "0", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_single", "ffff000012345678", "ok", "0xffff000012345678"},
    {On::kMiddle, {{"addr_single", "1"}}, "addr_single", "2", "ok", "0x2"},
    {On::kMiddle, {}, "addr_single", "", "-EINVAL", "0x0"},
    {On::kMiddle, {{"addr_start", "1"}}, "addr_single", "2", "-EPERM", "-EPERM"},
    {On::kMiddle, {{"addr_stop", "1"}}, "addr_single", "2", "-EPERM", "-EPERM"},
    {On::kMiddle, {{"addr_range", "1 2"}}, "addr_single", "2", "-EPERM", "-EPERM"},
    {On::kBare, {}, "addr_single", "2", "ok", "0x2"},
    {On::kMiddle, {}, "addr_range", "1000 2000", "ok", "0x1000 0x2000"},
    {On::kMiddle, {}, "addr_range", "1000 1000", "ok", "0x1000 0x1000"},
    {On::kMiddle, {{"addr_range", "1 2"}}, "addr_range", "3 4 1", "ok", "0x3 0x4"},
    {On::kMiddle, {}, "addr_range", "1000", "-EINVAL", "0x0 0x0"},
    {On::kMiddle, {}, "addr_range", "", "-EINVAL", "0x0 0x0"},
    {On::kMiddle, {}, "addr_range", "2 1", "-EINVAL", "0x0 0x0"},
    {On::kMiddle, {{"addr_idx", "1"}}, "addr_range", "1 2", "-EPERM", "-EPERM"},
    {On::kMiddle, {{"addr_idx", "1"}}, "addr_range", "2 1", "-EINVAL", "-EPERM"},
    {On::kMiddle, {{"addr_single", "1"}}, "addr_range", "1 2", "-EPERM", "-EPERM"},
    {On::kMiddle,
     {{"addr_idx", "1"}, {"addr_single", "1"}, {"addr_idx", "0"}},
     "addr_range",
     "1 2",
     "-EPERM",
     "-EPERM"},
    {On::kBare, {}, "addr_range", "1 2", "ok", "0x1 0x2"},
    {On::kMiddle, {}, "addr_start", "40", "ok", "0x40"},
    {On::kMiddle, {}, "addr_start", "", "-EINVAL", "0x0"},
    {On::kMiddle, {{"addr_stop", "1"}}, "addr_start", "2", "-EPERM", "-EPERM"},
    {On::kMiddle, {{"addr_range", "1 2"}}, "addr_start", "2", "-EPERM", "-EPERM"},
    {On::kBare, {}, "addr_start", "2", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_stop", "40", "ok", "0x40"},
    {On::kMiddle, {}, "addr_stop", "", "-EINVAL", "0x0"},
    {On::kMiddle, {{"addr_start", "1"}}, "addr_stop", "2", "-EPERM", "-EPERM"},
    {On::kMiddle, {{"addr_single", "1"}}, "addr_stop", "2", "-EPERM", "-EPERM"},
    {On::kBare, {}, "addr_stop", "2", "-EINVAL", "0x0"},
    {On::kFull, {}, "addr_context", "7", "ok", "0x7"},
    {On::kFull, {}, "addr_context", "8", "-EINVAL", "0x0"},
    {On::kFull, {}, "addr_context", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_context", "0", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_ctxtype", "ctxid\n", "ok", "ctxid"},
    {On::kMiddle, {}, "addr_ctxtype", " vmid", "ok", "vmid"},
    {On::kMiddle, {}, "addr_ctxtype", "all", "ok", "all"},
    {On::kMiddle, {{"addr_ctxtype", "all"}}, "addr_ctxtype", "none", "ok", "none"},
    {On::kMiddle, {{"addr_ctxtype", "all"}}, "addr_ctxtype", "vmid", "ok", "vmid"},
    {On::kMiddle, {}, "addr_ctxtype", "CTXID", "ok", "none"},
    {On::kBare, {}, "addr_ctxtype", "all", "ok", "none"},
    {On::kMiddle, {}, "addr_ctxtype", "ctxid    \n", "-EINVAL", "none"},
    {On::kMiddle, {}, "addr_ctxtype", "", "-EINVAL", "none"},
    {On::kMiddle, {}, "addr_ctxtype", " \n", "-EINVAL", "none"},
    {On::kMiddle, {}, "addr_exlevel_s_ns", "79", "ok", "0x4f"},
    {On::kMiddle, {}, "addr_exlevel_s_ns", "0x7f", "ok", "0x7f"},
    {On::kMiddle, {}, "addr_exlevel_s_ns", "128", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_exlevel_s_ns", "4f", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "addr_instdatatype", "instr", "ok", "instr"},
    {On::kMiddle, {}, "addr_instdatatype", "data_load", "ok", "instr"},
    {On::kMiddle, {}, "addr_instdatatype", "instr              \n", "-EINVAL", "instr"},
    {On::kMiddle, {}, "addr_instdatatype", "\n", "-EINVAL", "instr"},
    {On::kMiddle, {}, "addr_cmp_view", "0", "-EACCES", "addr_cmp[0] unused"},

    {On::kFull, {}, "sshot_idx", "7", "ok", "0x7"},
    {On::kMiddle, {}, "sshot_idx", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "sshot_idx", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "sshot_ctrl", "ffffffff", "ok", "0x1ffffff"},
    {On::kMiddle, {}, "sshot_ctrl", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "sshot_pe_ctrl", "1ff", "ok", "0xff"},
    {On::kMiddle, {}, "sshot_pe_ctrl", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "sshot_status", "0", "-EACCES", "0x9"},
    {On::kMiddle, {}, "cntr_idx", "1", "ok", "0x1"},
    {On::kMiddle, {}, "cntr_idx", "2", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cntr_idx", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cntrldvr", "ffff", "ok", "0xffff"},
    {On::kMiddle, {}, "cntrldvr", "10000", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cntrldvr", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "cntrldvr", "1", "ok", "0x1"},
    {On::kMiddle, {}, "cntr_val", "ffff", "ok", "0xffff"},
    {On::kMiddle, {}, "cntr_val", "10000", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cntr_val", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "cntr_ctrl", "1ffffffff", "ok", "0xffffffff"},
    {On::kMiddle, {}, "cntr_ctrl", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "res_idx", "f", "ok", "0xf"},
    {On::kMiddle, {}, "res_idx", "0", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "res_idx", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "res_idx", "10", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "res_idx", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "res_ctrl", "ffffffff", "ok", "0x3fffff"},
    {On::kMiddle, {{"res_idx", "3"}}, "res_ctrl", "ffffffff", "ok", "0x1fffff"},
    {On::kMiddle, {}, "res_ctrl", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "seq_idx", "2", "ok", "0x2"},
    {On::kMiddle, {}, "seq_idx", "3", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "seq_idx", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "seq_idx", "zz", "-ENOTSUPP", "0x0"},
    {On::kMiddle, {}, "seq_event", "12345", "ok", "0x2345"},
    {On::kMiddle, {}, "seq_event", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "seq_state", "3", "ok", "0x3"},
    {On::kMiddle, {}, "seq_state", "4", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "seq_state", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "seq_state", "0", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "seq_reset_event", "1ff", "ok", "0xff"},
    {On::kMiddle, {}, "seq_reset_event", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "seq_reset_event", "0", "-EINVAL", "0x0"},

    {On::kFull, {}, "ctxid_idx", "7", "ok", "0x7"},
    {On::kMiddle, {}, "ctxid_idx", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "ctxid_idx", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "ctxid_pid", "123456789abcdef0", "ok", "0x123456789abcdef0"},
    {On::kMiddle, {}, "ctxid_pid", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "ctxid_pid", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "ctxid_masks", "12ff", "ok", "0xff 0x0"},
    {On::kFull, {}, "ctxid_masks", "1 80000000", "ok", "0x1 0x80000000"},
    {On::kFull, {}, "ctxid_masks", "1", "-EINVAL", "0x0 0x0"},
    {On::kMiddle, {}, "ctxid_masks", "", "-EINVAL", "0x0 0x0"},
    {On::kBare, {}, "ctxid_masks", "1", "-EINVAL", "0x0 0x0"},
    {On::kFull, {}, "vmid_idx", "7", "ok", "0x7"},
    {On::kMiddle, {}, "vmid_idx", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "vmid_idx", "", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "vmid_val", "42", "ok", "0x42"},
    {On::kMiddle, {}, "vmid_val", "", "-EINVAL", "0x0"},
    {On::kBare, {}, "vmid_val", "1", "-EINVAL", "0x0"},
    {On::kMiddle, {}, "vmid_masks", "f", "ok", "0xf 0x0"},
    {On::kFull, {}, "vmid_masks", "f", "-EINVAL", "0x0 0x0"},
    {On::kBare, {}, "vmid_masks", "1", "-EINVAL", "0x0 0x0"},

    {On::kMiddle, {}, "trcidr/trcidr0", "0", "-EACCES", "0x28000ea1"},
    {On::kMiddle, {}, "trcidr/trcidr1", "0", "-EACCES", "0x4100f403"},
    {On::kMiddle, {}, "trcidr/trcidr2", "0", "-EACCES", "0x488"},
    {On::kMiddle, {}, "trcidr/trcidr3", "0", "-EACCES", "0xd7b0004"},
    {On::kMiddle, {}, "trcidr/trcidr4", "0", "-EACCES", "0x11170004"},
    {On::kMiddle, {}, "trcidr/trcidr5", "0", "-EACCES", "0x28c7081e"},
    {On::kMiddle, {}, "trcidr/trcidr8", "0", "-EACCES", "0x88"},
    {On::kMiddle, {}, "trcidr/trcidr9", "0", "-EACCES", "0x89"},
    {On::kMiddle, {}, "trcidr/trcidr10", "0", "-EACCES", "0x8a"},
    {On::kMiddle, {}, "trcidr/trcidr11", "0", "-EACCES", "0x8b"},
    {On::kMiddle, {}, "trcidr/trcidr12", "0", "-EACCES", "0x8c"},
    {On::kMiddle, {}, "trcidr/trcidr13", "0", "-EACCES", "0x8d"},
    {On::kMiddle, {}, "mgmt/trcdevarch", "0", "-EACCES", "0x47704a13"},
    {On::kMiddle, {}, "mgmt/trctraceid", "0", "-EACCES", "0x10"},
    {On::kMiddle, {}, "mgmt/trcconfig", "0", "-EACCES", "0x0"},
    {On::kMiddle,
     {{"mode", "10"}, {"enable_source", "1"}},
     "mgmt/trcconfig",
     "0",
     "-EACCES",
     "0x8"},

    {On::kMiddle, {}, "mgmt/trcpdcr", "0", "-EACCES", "0x0"},
    {On::kMiddle, {{"enable_source", "1"}}, "mgmt/trcpdcr", "0", "-EACCES", "0x8"},
    {On::kMiddle,
     {{"enable_source", "1"}, {"enable_source", "0"}},
     "mgmt/trcpdcr",
     "0",
     "-EACCES",
     "0x0"},
    {On::kMiddle, {}, "mgmt/trcpdsr", "0", "-EACCES", "0x23"},
    {On::kMiddle, {}, "mgmt/trclsr", "0", "-EACCES", "0x1"},
    {On::kMiddle, {}, "mgmt/trcauthstatus", "0", "-EACCES", "0xcc"},
    {On::kMiddle, {}, "mgmt/trcdevid", "0", "-EACCES", "0x2"},
    {On::kMiddle, {}, "mgmt/trcdevtype", "0", "-EACCES", "0x13"},
    {On::kMiddle, {}, "mgmt/trcoslsr", "0", "-EACCES", "0x8"},
    {On::kMiddle, {}, "mgmt/trcpidr0", "0", "-EACCES", "0x5d"},
    {On::kMiddle, {}, "mgmt/trcpidr1", "0", "-EACCES", "0xb9"},
    {On::kMiddle, {}, "mgmt/trcpidr2", "0", "-EACCES", "0x4b"},
    {On::kMiddle, {}, "mgmt/trcpidr3", "0", "-EACCES", "0x7"},

    {On::kMiddle, {}, "configurations/autofdo/enable", "yes", "ok", "1"},
    {On::kMiddle, {}, "configurations/autofdo/enable", "maybe", "-EINVAL", "0"},
    {On::kMiddle, {{"enable_source", "1"}}, "configurations/autofdo/enable", "1", "-EBUSY", "0"},
    {On::kMiddle, {}, "configurations/autofdo/preset", "9", "ok", "9"},
    {On::kMiddle, {}, "configurations/autofdo/preset", "0", "-EINVAL", "0"},
    {On::kMiddle, {}, "configurations/autofdo/preset", "10", "-EINVAL", "0"},
    {On::kMiddle, {}, "configurations/autofdo/preset", "x", "-EINVAL", "0"},
    {On::kMiddle, {}, "features/strobing/params/window/value", "100", "ok", "0x64"},
    {On::kMiddle, {}, "features/strobing/params/window/value", "x", "-EINVAL", "0x1388"},
    {On::kMiddle, {}, "features/strobing/params/period/value", "0x10", "ok", "0x10"},
    {On::kMiddle, {}, "features/strobing/params/period/value", "", "-EINVAL", "0x2710"},
    {On::kMiddle,
     {{"enable_source", "1"}},
     "features/strobing/params/period/value",
     "1",
     "-EBUSY",
     "0x2710"},
};

class FileStore : public testing::TestWithParam<StoreCase> {};

TEST_P(FileStore, answers_and_shows) {
  const StoreCase& c = GetParam();
  Unit unit = make(c.on);
  for (const Step& step : c.before) ASSERT_EQ(write(unit, step.file, step.bytes), "ok");
  const State before = unit.state;
  EXPECT_EQ(write(unit, c.file, c.bytes), c.answer);
  if (c.answer != "ok") {
    EXPECT_EQ(unit.state, before) << "a refused write changes nothing";
    EXPECT_FALSE(unit.write(c.file, c.bytes).error().rule.empty());
  }
  EXPECT_EQ(read(unit, c.file), c.shown);
}

INSTANTIATE_TEST_SUITE_P(Rows, FileStore, testing::ValuesIn(kStoreCases));

TEST(FileTable, every_row_is_tested_with_a_success_and_an_error) {
  std::set<std::string_view> stored;
  std::set<std::string_view> refused;
  for (const StoreCase& c : kStoreCases) (c.answer == "ok" ? stored : refused).insert(c.file);
  for (const FileRow& row : file_table()) {
    EXPECT_TRUE(refused.contains(row.name)) << row.name;
    EXPECT_EQ(row.store != nullptr, stored.contains(row.name)) << row.name;
  }
}

TEST(FileTable, rows_are_whole) {
  std::set<std::string_view> names;
  for (const FileRow& row : file_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.store == nullptr, row.access == FileAccess::kReadOnly) << row.name;
    EXPECT_EQ(row.show == nullptr, row.access == FileAccess::kWriteOnly) << row.name;
    EXPECT_EQ(row.grammar == Grammar::kNone, row.store == nullptr) << row.name;
    EXPECT_EQ(row.accepts.empty(), row.store == nullptr) << row.name;
    const std::string_view index = index_file_name(row.index);
    EXPECT_TRUE(index.empty() || find_file(index) != nullptr) << row.name;
  }
}

TEST(FileTable, unknown_file) {
  Unit unit = make(On::kMiddle);
  EXPECT_EQ(write(unit, "none", "1"), "-ENOENT");
  EXPECT_EQ(read(unit, "none"), "-ENOENT");
}

TEST(FileTable, units_of_system_registers_show_a_part_of_mgmt) {
  Environment environment;
  environment.access = RegisterAccess::kSystemRegisters;
  Unit unit(middle_unit(), environment);
  std::set<std::string> shown;
  for (const FileRow& row : file_table()) {
    if (!row.name.starts_with("mgmt/")) continue;
    if (read(unit, row.name) == "-ENOENT") {
      EXPECT_EQ(write(unit, row.name, "0"), "-ENOENT") << row.name;
    } else {
      shown.emplace(row.name);
    }
  }
  EXPECT_EQ(shown, (std::set<std::string>{"mgmt/trcauthstatus", "mgmt/trcconfig", "mgmt/trcdevarch",
                                          "mgmt/trcdevid", "mgmt/trcoslsr", "mgmt/trctraceid"}));
}

TEST(FileStoreEffects, levels_leave_the_rest_of_victlr) {
  Unit unit = make(On::kMiddle);
  EXPECT_EQ(write(unit, "s_exlevel_vinst", "0"), "ok");
  EXPECT_EQ(unit.state.victlr, 0x00400201);
  EXPECT_EQ(write(unit, "ns_exlevel_vinst", "3"), "ok");
  EXPECT_EQ(write(unit, "event_vinst", "82"), "ok");
  EXPECT_EQ(unit.state.victlr, 0x00300282);
}

TEST(FileStoreEffects, range_toggles_include_and_exclude) {
  Unit unit = make(On::kMiddle);
  EXPECT_EQ(write(unit, "addr_idx", "2"), "ok");
  EXPECT_EQ(write(unit, "addr_range", "1000 2000"), "ok");
  EXPECT_EQ(unit.state.viiectlr, 0x00000002);
  EXPECT_EQ(write(unit, "addr_range", "1000 2000 100000000"), "ok");
  EXPECT_EQ(unit.state.viiectlr, 0x00000002) << "32 bits of the third number count";
  EXPECT_EQ(write(unit, "addr_range", "1000 2000 1"), "ok");
  EXPECT_EQ(unit.state.viiectlr, 0x00020000);
}

TEST(FileStoreEffects, range_of_data_addresses_does_not_filter) {
  Unit unit = make(On::kMiddle);
  unit.state.acatr[0] = 1;
  EXPECT_EQ(write(unit, "addr_range", "1000 2000"), "ok");
  EXPECT_EQ(unit.state.viiectlr, 0);
}

TEST(FileStoreEffects, start_and_stop_bits_are_only_ever_set) {
  Unit unit = make(On::kMiddle);
  EXPECT_EQ(write(unit, "addr_start", "1"), "ok");
  EXPECT_EQ(write(unit, "addr_idx", "5"), "ok");
  EXPECT_EQ(write(unit, "addr_stop", "1"), "ok");
  EXPECT_EQ(unit.state.vissctlr, 0x00200001);
}

TEST(FileStoreEffects, context_masks_clear_masked_bytes) {
  Unit unit = make(On::kFull);
  EXPECT_EQ(write(unit, "ctxid_idx", "5"), "ok");
  EXPECT_EQ(write(unit, "ctxid_pid", "1122334455667788"), "ok");
  EXPECT_EQ(write(unit, "ctxid_masks", "0 8100"), "ok");
  EXPECT_EQ(read(unit, "ctxid_pid"), "0x22334455667700");
}

TEST(FileStoreEffects, single_shot_is_made_ready_again) {
  Unit unit = make(On::kMiddle);
  unit.state.sscsr[0] |= kShotDone;
  EXPECT_EQ(write(unit, "sshot_ctrl", "0"), "ok");
  EXPECT_EQ(read(unit, "sshot_status"), "0x9");
  unit.state.sscsr[0] |= kShotDone;
  EXPECT_EQ(write(unit, "sshot_pe_ctrl", "0"), "ok");
  EXPECT_EQ(read(unit, "sshot_status"), "0x9");
}

TEST(Namespace, all_six_files_refuse_outside) {
  Environment environment;
  environment.init_pid_namespace = false;
  Unit unit(full_unit(), environment);
  for (const char* const file : {"ctxid_pid", "ctxid_masks", "vmid_val", "vmid_masks"}) {
    EXPECT_EQ(write(unit, file, "1 1"), "-EINVAL") << file;
    EXPECT_EQ(read(unit, file), "-EINVAL") << file;
  }
  EXPECT_EQ(write(unit, "ctxid_idx", "1"), "ok");
  EXPECT_EQ(write(unit, "vmid_idx", "1"), "ok");
}

TEST(ComparatorView, one_text_for_each_tag) {
  Unit unit = make(On::kMiddle);
  EXPECT_EQ(comparator_view(unit, 0), "addr_cmp[0] unused\n");
  EXPECT_EQ(write(unit, "addr_single", "10"), "ok");
  EXPECT_EQ(comparator_view(unit, 0), "addr_cmp[0] single 0x10 ctrl(0x0)\n");
  EXPECT_EQ(write(unit, "addr_idx", "1"), "ok");
  EXPECT_EQ(write(unit, "addr_start", "20"), "ok");
  EXPECT_EQ(comparator_view(unit, 1), "addr_cmp[1] start 0x20 ctrl(0x0)\n");
  EXPECT_EQ(write(unit, "addr_idx", "2"), "ok");
  EXPECT_EQ(write(unit, "addr_stop", "30"), "ok");
  EXPECT_EQ(comparator_view(unit, 2), "addr_cmp[2] stop 0x30 ctrl(0x0)\n");
  EXPECT_EQ(write(unit, "addr_idx", "4"), "ok");
  EXPECT_EQ(write(unit, "addr_range", "40 50 1"), "ok");
  EXPECT_EQ(comparator_view(unit, 4), "addr_cmp[4] range 0x40 0x50 exclude ctrl(0x0)\n");
}

TEST(ComparatorView, odd_half_of_a_range_shows_its_own_control) {
  for (const bool quirk : {true, false}) {
    Unit unit = make(On::kMiddle, quirk ? kAllQuirks : kNoQuirks);
    EXPECT_EQ(write(unit, "addr_range", "40 50"), "ok");
    EXPECT_EQ(write(unit, "addr_exlevel_s_ns", "1"), "ok");
    EXPECT_EQ(write(unit, "addr_idx", "1"), "ok");
    EXPECT_EQ(comparator_view(unit, 1), std::string("addr_cmp[0] range 0x40 0x50 include ctrl(") +
                                            (quirk ? "0x0)\n" : "0x100)\n"));
  }
}

TEST(FixedDriver, refuses_what_has_no_effect) {
  Unit bare = make(On::kBare, kNoQuirks);
  EXPECT_EQ(write(bare, "cntrldvr", "1"), "-EINVAL");
  EXPECT_EQ(write(bare, "addr_single", "1"), "-EINVAL");
  EXPECT_EQ(write(bare, "seq_event", "1"), "-EINVAL");
  EXPECT_EQ(write(bare, "cyc_threshold", "5"), "-EINVAL");
  EXPECT_EQ(write(bare, "event_instren", "3"), "ok");
  EXPECT_EQ(read(bare, "event_instren"), "0x1");
  Unit middle = make(On::kMiddle, kNoQuirks);
  EXPECT_EQ(write(middle, "syncfreq", "15"), "-EINVAL");
  EXPECT_EQ(write(middle, "syncfreq", "14"), "ok");
  EXPECT_EQ(write(middle, "addr_range", "10 10"), "-EINVAL");
  EXPECT_EQ(write(middle, "configurations/autofdo/preset", "0"), "ok");
}

}  // namespace
}  // namespace waymark::etm4x

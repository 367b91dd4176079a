#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/memory_store.h"

namespace waymark::inputs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The sound snapshot with `text` as the file of its core.
MemoryStore with_core(const std::string& text) {
  MemoryStore store = sound_store();
  store.texts["cpu_0.ini"] = text;
  return store;
}

Device core_of(MemoryStore& store) {
  const Result<Snapshot> snapshot = store.read();
  EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().detail);
  if (!snapshot || snapshot->find_device("cpu_0") == nullptr) return {};
  return *snapshot->find_device("cpu_0");
}

constexpr const char* kHead = "[device]\nname=cpu_0\ntype=Cortex-A53\n";  // Three lines.

TEST(DeviceIni, key_before_the_first_section_is_an_error) {
  EXPECT_THAT(with_core("name=cpu_0\n").error(), StartsWith("s/cpu_0.ini:1: `name` is before"));
}

TEST(DeviceIni, unknown_sections_and_keys_of_the_device_are_ignored) {
  MemoryStore store = with_core("[device]\nname=cpu_0\nlocation=a:b\n[Regs]\nany thing\n");
  EXPECT_TRUE(core_of(store).registers.empty());
  EXPECT_THAT(store.find(ProblemKind::kUnknownSection)->values, ElementsAre("Regs"));
}

TEST(DeviceIni, duplicate_name_class_type_are_errors) {
  for (const char* key : {"name", "class", "type"}) {
    const std::string part = std::string("[device]\n") + key + "=a\n";
    EXPECT_THAT(with_core(part + part).error(),
                StartsWith("s/cpu_0.ini:4: `" + std::string(key) + "` is given twice"));
  }
}

TEST(DeviceIni, nameless_device_is_a_problem) {
  MemoryStore store = with_core("[device]\ntype=Cortex-A53\n");
  ASSERT_TRUE(store.read());
  EXPECT_EQ(store.find(ProblemKind::kDeviceNameMissing)->file, "s/cpu_0.ini");
}

TEST(DeviceIni, registers_are_found_by_their_name_before_the_bracket) {
  MemoryStore store = with_core(std::string(kHead) +
                                "[regs]\nTRCIDR0(0x078)='0x28000EA1'\nETMCR(id:0x0)=0x20000400\n"
                                "PC(size:64)=0xFFFFFFC000081000\nplain=7\n");
  const Device core = core_of(store);
  EXPECT_EQ(core.value("TRCIDR0"), 0x28000EA1U);
  EXPECT_EQ(core.find("TRCIDR0")->text, "0x28000EA1");
  EXPECT_EQ(core.find("TRCIDR0")->line, 5U);
  EXPECT_EQ(core.value("ETMCR"), 0x20000400U);
  EXPECT_EQ(core.value("PC"), 0x00081000U);
  EXPECT_EQ(core.value("plain"), 7U);
  EXPECT_EQ(core.value("trcidr0"), std::nullopt);
  EXPECT_EQ(core.value("TRCIDR"), std::nullopt);
  EXPECT_TRUE(store.problems.empty());
}

TEST(DeviceIni, first_match_counts_in_an_order_that_ignores_case) {
  MemoryStore store = with_core(std::string(kHead) + "[regs]\nR(b)=2\nR(A)=1\nr(0)=3\n");
  const Device core = core_of(store);
  EXPECT_EQ(core.value("R"), 1U);
  EXPECT_EQ(core.value("r"), 3U);
}

TEST(DeviceIni, registers_that_differ_only_in_case_are_an_error) {
  EXPECT_THAT(with_core(std::string(kHead) + "[regs]\nAbc(1)=0\naBC(1)=0\n").error(),
              StartsWith("s/cpu_0.ini:6: Register `aBC(1)` is given twice, first in line 5"));
}

TEST(DeviceIni, odd_register_values_are_read_as_far_as_they_go) {
  MemoryStore store = with_core(std::string(kHead) + "[regs]\nA=0x12zz\nB=\nC=none\n");
  const Device core = core_of(store);
  EXPECT_EQ(core.value("A"), 0x12U);
  EXPECT_EQ(core.value("B"), 0U);
  EXPECT_EQ(core.value("C"), 0U);
  EXPECT_THAT(store.find(ProblemKind::kRegisterNotNumber)->values, ElementsAre("A", "0x12zz"));
}

TEST(DeviceIni, blank_before_the_bracket_hides_a_register) {
  MemoryStore store = with_core(std::string(kHead) + "[regs]\nTRCIDR0 (0x078)=1\n");
  EXPECT_EQ(core_of(store).value("TRCIDR0"), std::nullopt);
  EXPECT_EQ(store.find(ProblemKind::kRegisterNameBlank)->line, 5U);
}

TEST(DeviceIni, every_section_that_starts_with_dump_is_one) {
  MemoryStore store = with_core(std::string(kHead) +
                                "[dump]\nfile=\"code.bin\"\naddress=0x1000\nspace='EL1N'\n"
                                "[dumpster]\nfile=code.bin\naddress=010\noffset=4\nlength=8\n");
  const Device core = core_of(store);
  ASSERT_EQ(core.dumps.size(), 2U);
  EXPECT_EQ(core.dumps[0], (Dump{"dump", "code.bin", "EL1N", 0x1000, 0, 0, 4}));
  EXPECT_EQ(core.dumps[1], (Dump{"dumpster", "code.bin", "", 8, 8, 4, 8}));
  EXPECT_TRUE(store.problems.empty());
}

TEST(DeviceIni, dump_needs_file_and_address) {
  EXPECT_THAT(with_core(std::string(kHead) + "[dump]\nfile=a\n[regs]\n").error(),
              StartsWith("s/cpu_0.ini:4: The dump section has no `address`; add `address=0x"));
  EXPECT_THAT(with_core(std::string(kHead) + "[dump]\naddress=0").error(),
              StartsWith("s/cpu_0.ini:4: The dump section has no `file`"));
}

TEST(DeviceIni, bad_number_unknown_key_and_duplicate_in_a_dump_are_errors) {
  const std::string head = std::string(kHead) + "[dump]\n";
  EXPECT_THAT(with_core(head + "address=12k\n").error(),
              StartsWith("s/cpu_0.ini:5: `12k` is not a number"));
  EXPECT_THAT(with_core(head + "size=1\n").error(), HasSubstr("no key `size`"));
  EXPECT_THAT(with_core(head + "length=1\nlength=1\n").error(),
              StartsWith("s/cpu_0.ini:6: `length` is given twice"));
}

TEST(DeviceIni, same_keys_in_two_dumps_are_fine) {
  MemoryStore store =
      with_core(std::string(kHead) +
                "[dump]\nfile=code.bin\naddress=0\n[dump]\nfile=code.bin\naddress=0x1000\n");
  EXPECT_EQ(core_of(store).dumps.size(), 2U);
}

TEST(DeviceIni, global_section_has_one_key_and_comes_once) {
  MemoryStore store = with_core(std::string(kHead) + "[global]\ncore=7\n");
  EXPECT_EQ(core_of(store).global_core, "7");
  EXPECT_THAT(with_core(std::string(kHead) + "[global]\nother=1\n").error(),
              HasSubstr("no key `other`"));
  EXPECT_THAT(with_core(std::string(kHead) + "[global]\n[global]\n").error(),
              StartsWith("s/cpu_0.ini:5: There is a second section"));
}

TEST(DeviceIni, extended_registers_are_pairs_of_numbers) {
  MemoryStore store = with_core(std::string(kHead) + "[extendregs]\n0x10=5\n2=0x20\n");
  EXPECT_THAT(core_of(store).extended_registers,
              ElementsAre(std::pair(2U, 0x20U), std::pair(0x10U, 5U)));
  EXPECT_THAT(with_core(std::string(kHead) + "[extendregs]\nR0=5\n").error(),
              HasSubstr("`R0` is not a number"));
  EXPECT_THAT(with_core(std::string(kHead) + "[extendregs]\n16=1\n0x10=2\n").error(),
              HasSubstr("given twice"));
}

TEST(DeviceIni, paths_that_leave_the_folder_are_noted) {
  MemoryStore store =
      with_core(std::string(kHead) +
                "[dump]\nfile=../code.bin\naddress=0\n[dump]\nfile=/code.bin\naddress=0\n");
  store.sizes = {{"../code.bin", 4}, {"/code.bin", 4}, {"t.bin", 64}};
  ASSERT_TRUE(store.read());
  EXPECT_EQ(store.find(ProblemKind::kPathLeavesFolder)->severity, Severity::kInfo);
  EXPECT_THAT(store.find(ProblemKind::kPathAbsolute)->values, ElementsAre("/code.bin"));
  EXPECT_EQ(store.find(ProblemKind::kDumpFileMissing), nullptr);
}

TEST(DeviceIni, doubtful_syntax_is_noted) {
  MemoryStore store = with_core(std::string("[device]\nname=cpu_0\x01\ntype=a[0]\n[]\nx\n"));
  ASSERT_TRUE(store.read());
  EXPECT_NE(store.find(ProblemKind::kBinaryText), nullptr);
  EXPECT_EQ(store.find(ProblemKind::kHeaderInsideLine)->line, 3U);
  EXPECT_EQ(store.find(ProblemKind::kSectionWithoutName)->line, 4U);
}

TEST(DeviceIni, crlf_is_as_good_as_lf) {
  MemoryStore store = with_core("[device]\r\nname=cpu_0\r\n[regs]\r\nA=1\r\n");
  EXPECT_EQ(core_of(store).value("A"), 1U);
  EXPECT_TRUE(store.problems.empty());
}

}  // namespace
}  // namespace waymark::inputs

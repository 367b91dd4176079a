// jitdump files: whole, cut and damaged.
#include "waymark/perf/jitdump.h"

#include <gmock/gmock.h>

#include <string_view>

#include "waymark/perf/writer.h"

namespace waymark::perf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kAddress = 0x7F12'3400'0000;

/// Writes a file as a JIT compiler does.
class Dump {
 public:
  explicit Dump(ByteOrder order = ByteOrder::kLittle, std::uint32_t version = 1,
                std::uint64_t flags = 0)
      : out_(order) {
    out_.u32(0x4A695444).u32(version).u32(40).u32(183).u32(0).u32(321).words({1000, flags});
  }
  Dump& record(std::uint32_t kind, std::uint64_t time, const std::vector<std::uint8_t>& body) {
    out_.u32(kind).u32(16 + body.size()).u64(time).raw(body);
    return *this;
  }
  Dump& load(std::uint64_t time, std::uint64_t address, std::uint64_t number, std::string_view name,
             const std::vector<std::uint8_t>& code) {
    ByteWriter body(out_.order());
    body.u32(321).u32(322).words({address, address, code.size(), number});
    return record(0, time, text(body, name).raw(code).bytes);
  }
  Dump& move(std::uint64_t time, std::uint64_t from, std::uint64_t to, std::uint64_t number,
             std::uint64_t size) {
    ByteWriter body(out_.order());
    return record(1, time, body.u32(321).u32(322).words({to, from, to, size, number}).bytes);
  }
  struct Line {
    std::uint64_t address;
    std::uint32_t line;
    std::string_view file;
  };
  Dump& lines(std::uint64_t address, const std::vector<Line>& lines) {
    ByteWriter body(out_.order());
    body.words({address, lines.size()});
    for (const Line& line : lines) text(body.u64(line.address).u32(line.line).u32(5), line.file);
    return record(2, 1, body.bytes);
  }
  /// A name, which is not padded.
  static ByteWriter& text(ByteWriter& body, std::string_view name) {
    body.raw({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()});
    body.bytes.push_back(0);
    return body;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return out_.bytes; }

 private:
  ByteWriter out_;
};

JitDump read(const std::vector<std::uint8_t>& bytes) {
  auto dump = JitDump::read(bytes);
  EXPECT_TRUE(dump) << dump.error().detail;
  return dump ? *std::move(dump) : JitDump{};
}

std::string refusal(const std::vector<std::uint8_t>& bytes) {
  const auto dump = JitDump::read(bytes);
  return dump ? std::string() : dump.error().detail;
}

class JitDumpOrders : public testing::TestWithParam<ByteOrder> {};

TEST_P(JitDumpOrders, loads_moves_and_lines_are_read) {
  const Dump bytes =
      Dump(GetParam(), 1, 1)
          .lines(kAddress,
                 {{kAddress, 7, "/a.js"}, {kAddress + 4, 9, "\xFF"}, {kAddress + 8, 1, "b"}})
          .load(10, kAddress, 5, "compute in loop", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
          .record(4, 11, {0, 0})   // Unwinding.
          .record(77, 11, {1, 2})  // Unknown.
          .load(12, kAddress + 64, 6, "other", {4, 3, 2, 1})
          .load(13, kAddress + 64, 7, "no code", {})
          .move(20, kAddress, kAddress + 128, 5, 12)
          .record(3, 30, {})
          .load(40, kAddress, 9, "after the end", {1, 2, 3, 4});
  const JitDump dump = read(bytes.bytes());
  EXPECT_EQ(dump.order, GetParam());
  EXPECT_EQ(dump.machine, 183U);
  EXPECT_EQ(dump.pid, 321);
  EXPECT_TRUE(dump.counter_times);
  EXPECT_TRUE(dump.notes.empty());
  ASSERT_EQ(dump.functions.size(), 2U);
  const JitFunction& function = dump.functions[0];
  EXPECT_EQ(function.name, "compute in loop");
  EXPECT_EQ(function.address, kAddress);
  EXPECT_EQ(function.code[11], 12);
  EXPECT_THAT(function.lines.files, ElementsAre("/a.js", "b"));
  ASSERT_EQ(function.lines.lines.size(), 3U);
  EXPECT_EQ(function.lines.lines[1].file, 0U);
  EXPECT_EQ(function.lines.lines[1].line, 9U);
  EXPECT_EQ(function.lines.lines[2].file, 1U);
  EXPECT_EQ(function.lines.lines[2].column, 5U);
  EXPECT_TRUE(dump.functions[1].lines.lines.empty()) << "lines are of the next function only";
  EXPECT_THAT(dump.placements,
              ElementsAre(JitPlacement{10, 0, kAddress}, JitPlacement{12, 1, kAddress + 64},
                          JitPlacement{20, 0, kAddress + 128}));
}

INSTANTIATE_TEST_SUITE_P(Orders, JitDumpOrders,
                         testing::Values(ByteOrder::kLittle, ByteOrder::kBig));

TEST(JitDump, a_file_that_is_cut_anywhere_keeps_what_comes_before) {
  const Dump bytes = Dump().load(1, kAddress, 1, "f", {1, 2, 3, 4}).load(2, kAddress, 2, "g", {5});
  const std::size_t size = bytes.bytes().size();
  for (std::size_t cut = 0; cut < size; ++cut) {
    const std::vector<std::uint8_t> part(bytes.bytes().begin(),
                                         bytes.bytes().begin() + static_cast<std::ptrdiff_t>(cut));
    if (cut < 40) {
      EXPECT_THAT(refusal(part), HasSubstr("cut inside its header")) << cut;
      continue;
    }
    const JitDump dump = read(part);
    const bool at_record = cut == 40 || cut == 40 + 62;
    EXPECT_EQ(dump.functions.size(), cut < 40 + 62 ? 0U : 1U) << cut;
    ASSERT_EQ(dump.notes.size(), at_record ? 0U : 1U) << cut;
    if (at_record) continue;
    EXPECT_THAT(dump.notes[0].text,
                HasSubstr(cut < 40 + 62 ? "record at byte 40" : "record at byte 102"));
  }
}

TEST(JitDump, a_damaged_record_is_skipped_by_its_size) {
  const Dump bytes = Dump()
                         .record(0, 1, {1, 2, 3})
                         .move(2, kAddress, kAddress + 4, 99, 4)
                         .load(3, kAddress, 1, "f", {1, 2, 3, 4})
                         .move(4, kAddress, kAddress + 4, 1, 8)
                         .load(5, ~std::uint64_t{0}, 2, "at the end of memory", {1, 2})
                         .lines(kAddress, {{kAddress, 1, "\xFF"}})
                         .load(6, kAddress, 3, "g", {1, 2, 3, 4});
  const JitDump dump = read(bytes.bytes());
  ASSERT_EQ(dump.functions.size(), 2U);
  EXPECT_EQ(dump.functions[1].name, "g");
  ASSERT_EQ(dump.notes.size(), 1U);
  EXPECT_THAT(dump.notes[0].text, HasSubstr("5 records are damaged"));
  EXPECT_THAT(dump.notes[0].text, HasSubstr("at byte 40"));
}

TEST(JitDump, code_that_is_larger_than_its_record_is_damaged) {
  ByteWriter body;
  body.u32(1).u32(1).words({kAddress, kAddress, 1000, 1});
  Dump bytes;
  bytes.record(0, 1, Dump::text(body, "f").bytes);
  const JitDump dump = read(bytes.bytes());
  EXPECT_TRUE(dump.functions.empty());
  ASSERT_EQ(dump.notes.size(), 1U);
  EXPECT_THAT(dump.notes[0].text, HasSubstr("A record is damaged and is not used"));
}

TEST(JitDump, a_size_that_cannot_be_ends_the_file) {
  Dump bytes;
  bytes.load(1, kAddress, 1, "f", {1, 2, 3, 4});
  std::vector<std::uint8_t> content = bytes.bytes();
  content.resize(content.size() + 64);  // Zeros.
  const JitDump dump = read(content);
  EXPECT_EQ(dump.functions.size(), 1U);
  ASSERT_EQ(dump.notes.size(), 1U);
  EXPECT_THAT(dump.notes[0].text, HasSubstr("record at byte 102 is damaged: its size is 0"));
}

TEST(JitDump, lines_that_count_from_an_elf_header_are_moved) {
  const Dump bytes =
      Dump()
          .lines(kAddress, {{kAddress + 0x40, 1, "v8.js"}, {kAddress + 0x44, 2, "v8.js"}})
          .load(1, kAddress, 1, "f", {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(read(bytes.bytes()).functions[0].lines.lines[1].address, kAddress + 4);
}

TEST(JitDump, other_files_are_refused) {
  EXPECT_THAT(refusal(std::vector<std::uint8_t>(100)), HasSubstr("does not begin with \"JiTD\""));
  EXPECT_THAT(refusal(Dump(ByteOrder::kBig, 2).bytes()), HasSubstr("has the version 2"));
  std::vector<std::uint8_t> bytes = Dump().bytes();
  bytes[8] = 200;
  EXPECT_THAT(refusal(bytes), HasSubstr("its size is 200"));
}

TEST(JitDump, names_of_files) {
  for (const char* const path : {"/tmp/jit-1.dump", "jit-12-worker.dump", "/a/b/jit-7x.dump"})
    EXPECT_TRUE(is_jitdump(path)) << path;
  for (const char* const path : {"", "/tmp/jit-.dump", "/jit-1.dump/x", "/tmp/jit-1.dumps",
                                 "/tmp/xjit-1.dump", "jit-", "/tmp/jit-x.dump"})
    EXPECT_FALSE(is_jitdump(path)) << path;
}

}  // namespace
}  // namespace waymark::perf

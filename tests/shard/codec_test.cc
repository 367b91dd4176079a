#include <gtest/gtest.h>

#include <filesystem>

#include "waymark/exports/call_trees.h"
#include "waymark/shard/branch_slice_codec.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/findings_codec.h"
#include "waymark/shard/part.h"
#include "waymark/shard/profile_codec.h"
#include "waymark/shard/slice_codec.h"
#include "waymark/shard/tree_codec.h"

namespace waymark::shard {
namespace {

Bytes bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

profile::Profile example_profile() {
  count::Counts counts;
  const auto add = [&](std::uint64_t start, std::uint64_t executed, std::uint64_t target) {
    counts.rows.push_back({.range = {.start = start,
                                     .end = start + 8,
                                     .count = 2,
                                     .isa = isa::Isa::kA64,
                                     .last_type = isa::InstrType::kBranch,
                                     .last_size = 4,
                                     .conditional = true},
                           .executed = executed,
                           .not_executed = 3,
                           .cycles = 7,
                           .target = target});
  };
  add(0x1000, 5, 0xFFFF'FFFF'FFFF'0000);
  add(0xFFFF'FFFF'FFFF'0000, ~std::uint64_t{0} - 5, 0x1000);
  counts.pathless_instructions = 11;
  profile::Profile profile;
  profile.add(counts, [](TaskId /*task*/, std::uint64_t address) -> profile::Place {
    return {.path = address < 0x8000 ? "/bin/low" : "high", .address = address};
  });
  return profile;
}

TEST(ProfileCodec, there_and_back) {
  const profile::Profile profile = example_profile();
  const std::string content = encode(profile);
  profile::Profile sum;
  ProgramOpener opener(true);
  ASSERT_TRUE(add_profile(bytes(content), opener, sum));
  EXPECT_EQ(encode(sum), content);
  ASSERT_EQ(sum.programs().size(), 2U);
  EXPECT_EQ(sum.programs()[1].counts.rows, profile.programs()[1].counts.rows);
  EXPECT_EQ(sum.programs()[0].branches, profile.programs()[0].branches);
  EXPECT_EQ(sum.other_instructions(), 11U);
}

TEST(ProfileCodec, any_grouping_gives_the_same_sum) {
  const profile::Profile one = example_profile();
  profile::Profile left;
  for (int i = 0; i < 3; ++i) left.add(one);
  profile::Profile two;
  two.add(one);
  two.add(one);
  profile::Profile right;
  right.add(one);
  right.add(two);
  EXPECT_EQ(encode(left), encode(right));
}

TEST(ProfileCodec, content_that_is_cut_is_refused) {
  const std::string content = encode(example_profile());
  for (std::size_t size = 0; size < content.size(); ++size) {
    profile::Profile sum;
    ProgramOpener opener(true);
    EXPECT_FALSE(add_profile(bytes(content).first(size), opener, sum)) << size;
    EXPECT_TRUE(sum.programs().empty());
  }
}

TEST(ProfileCodec, a_program_that_is_gone_or_changed_is_named) {
  ProgramOpener opener(false);
  EXPECT_EQ(opener.open("/nowhere/app", 1, 2, "app").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(opener.open("/proc/self/exe", 1, 2, "app").error().code, ErrorCode::kConflict);
  EXPECT_EQ(opener.open("", 0, 0, "jit").error().code, ErrorCode::kUnsupported);
  ProgramOpener lenient(true);
  EXPECT_NE(*lenient.open("", 0, 0, "jit"), nullptr);
}

TEST(ProfileCodec, equal_programs_stay_open_once) {
  const std::string folder = testing::TempDir() + "waymark_equal_programs";
  std::filesystem::create_directories(folder);
  for (const char* const name : {"/one", "/two"}) {
    std::error_code failed;
    std::filesystem::copy_file("/bin/true", folder + name,
                               std::filesystem::copy_options::overwrite_existing, failed);
    ASSERT_FALSE(failed) << failed.message();
  }
  const auto file = look_at("one", folder, Check::kContent);
  ASSERT_TRUE(file);
  const auto open = [&](ProgramOpener& opener, const std::string& path, const std::string& name) {
    return *opener.open(folder + path, file->bytes, file->digest, name, {});
  };
  ProgramOpener same(false);
  EXPECT_EQ(open(same, "/one", "app"), open(same, "/two", "app"));
  ProgramOpener apart(false);
  EXPECT_NE(open(apart, "/one", "app"), open(apart, "/two", "other"));
  std::filesystem::resize_file(folder + "/two", 100);
  ProgramOpener later(false);
  EXPECT_TRUE(later.open(folder + "/one", file->bytes, file->digest, "app"));
  EXPECT_FALSE(later.open(folder + "/two", file->bytes, file->digest, "app"));
  std::filesystem::remove_all(folder);
}

count::Part example_part(std::uint32_t seed) {
  const count::PartRange range{
      .context = {.context_id = seed,
                  .vmid = 3,
                  .trace_id = 0x10,
                  .security = Security::kRealm,
                  .task = {.thread = -1, .moment = seed}},
      .range = {
          .start = std::uint64_t{0x8000'0000'0000} + seed, .end = 0x8000'0000'0010, .count = 4}};
  count::Part part;
  for (std::uint64_t i = 0; i < 3; ++i) {
    count::Row row{.context = range.context, .range = range.range, .executed = i, .cycles = 1};
    row.context.context_id += static_cast<std::uint32_t>(i / 2);
    row.range.start += i * 4;
    row.target = i == 1 ? 0x1000 : kNoAddress;
    part.counts.rows.push_back(row);
    part.counts.edges.push_back(
        {.context = range.context, .from = 0x4000, .to = i, .times = ~std::uint64_t{0}});
  }
  part.counts.rest = {1, 2, 3, 4, 5, 6};
  part.counts.lost_edges = 7;
  part.counts.others[2] = 8;
  part.counts.pathless_instructions = 9;
  part.counts.unread[{{.thread = -1, .moment = 1}, 0x1000}] = 10;
  part.counts.other_cycles = 11;
  part.reaches_through = false;
  part.first = 0x8000;
  part.group = count::Part::Group::kClosed;
  part.first_cycles = 12;
  part.more_cycles = 13;
  part.begun = {range, range};
  part.closing = 14;
  part.branch = range;
  part.waiting = {range};
  part.waiting_lost = true;
  part.waiting_cycles = 15;
  return part;
}

SliceCounts example_slice() {
  return {.seam = {.framing = true,
                   .sources = {{.id = 0x10, .active = true, .holds = false},
                               {.id = 0x12, .active = false}}},
          .parts = {example_part(1), {}},
          .ends = {{}, example_part(2)},
          .files = {{"/bin/app", 100, ~std::uint64_t{0}}}};
}

TEST(SliceCodec, there_and_back) {
  const SliceCounts slice = example_slice();
  const std::string content = encode(slice);
  const auto got = read_slice(bytes(content));
  ASSERT_TRUE(got) << got.error().detail;
  EXPECT_EQ(encode(*got), content);
  EXPECT_EQ(got->seam, slice.seam);
  EXPECT_EQ(got->files, slice.files);
  const count::Part& part = got->parts[0];
  EXPECT_EQ(part.counts, slice.parts[0].counts);
  EXPECT_EQ(got->ends[1].counts, slice.ends[1].counts);
  EXPECT_EQ(part.first, 0x8000U);
  EXPECT_FALSE(part.reaches_through);
  EXPECT_EQ(part.begun.size(), 2U);
  EXPECT_EQ(part.branch->range, slice.parts[0].branch->range);
  EXPECT_EQ(part.branch->context, slice.parts[0].branch->context);
  EXPECT_FALSE(part.direct);
  EXPECT_EQ(part.waiting_cycles, 15U);
}

TEST(SliceCodec, a_task_that_the_recording_does_not_have_is_found_wherever_it_is) {
  static constexpr TaskId kForeign = {.thread = 5, .moment = 99};
  const auto is_known = [](TaskId task) { return task != kForeign; };
  EXPECT_TRUE(has_only(example_slice(), is_known));
  const auto has_foreign = [&](auto&& put) {
    SliceCounts slice = example_slice();
    put(slice.ends[1]);
    return !has_only(slice, is_known);
  };
  using count::Part;
  EXPECT_TRUE(has_foreign([](Part& part) { part.counts.rows[1].context.task = kForeign; }));
  EXPECT_TRUE(has_foreign([](Part& part) { part.counts.edges[2].context.task = kForeign; }));
  EXPECT_TRUE(has_foreign([](Part& part) { part.counts.unread[{kForeign, 0}] = 1; }));
  EXPECT_TRUE(has_foreign([](Part& part) { part.begun[0].context.task = kForeign; }));
  EXPECT_TRUE(has_foreign([](Part& part) { part.waiting[0].context.task = kForeign; }));
  EXPECT_TRUE(has_foreign([](Part& part) { part.branch->context.task = kForeign; }));
  EXPECT_TRUE(has_foreign([](Part& part) {
    part.direct = part.branch;
    part.direct->context.task = kForeign;
  }));
}

TEST(SliceCodec, content_that_is_cut_is_refused) {
  const std::string content = encode(example_slice());
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_slice(bytes(content).first(size))) << size;
  EXPECT_FALSE(read_slice(bytes(content + '\0')));
}

TEST(SliceCodec, rows_that_do_not_ascend_are_refused) {
  SliceCounts slice = example_slice();
  std::swap(slice.parts[0].counts.rows[0], slice.parts[0].counts.rows[2]);
  EXPECT_FALSE(read_slice(bytes(encode(slice))));
  slice = example_slice();
  slice.parts[0].counts.edges[1] = slice.parts[0].counts.edges[0];
  EXPECT_FALSE(read_slice(bytes(encode(slice))));
}

TEST(BranchSliceCodec, there_and_back_and_content_that_is_cut_is_refused) {
  exports::BranchBits bits;
  bits.add(true);
  bits.add(false);
  const exports::BinaryName name = {
      .path = "/bin/p", .build_id = "00ff", .kind = exports::BinaryKind::kModule};
  SliceBranches slice{.seam = {.framing = true, .sources = {{.active = true, .holds = false}}},
                      .begin = {{TraceId{0x10}, {.address = ~std::uint64_t{0}, .waits = true}}},
                      .end = {{TraceId{0x10},
                               {.address = 5,
                                .context = 7,
                                .drops = false,
                                .place = {.name = name, .address = 9},
                                .bits = bits}}},
                      .found = {.lost = 3, .cancelled = 4, .saw_packets = true},
                      .files = {{.path = "a", .bytes = 1, .digest = 2}}};
  slice.found.list[name][0x100][bits] = 6;
  const auto content = encode(slice);
  ASSERT_TRUE(content);
  const auto read = read_branch_slice(bytes(*content));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->seam, slice.seam);
  EXPECT_EQ(read->begin, slice.begin);
  EXPECT_EQ(read->end, slice.end);
  EXPECT_EQ(read->found.list, slice.found.list);
  EXPECT_EQ(read->files, slice.files);
  const auto again = encode(*read);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *content);
  for (std::size_t size = 0; size < content->size(); ++size)
    EXPECT_FALSE(read_branch_slice(bytes(*content).first(size))) << size;
}

stacks::Tree example_tree() {
  stacks::Tree tree;
  const auto main = tree.code({.kind = stacks::CodeKind::kFunction, .name = "main"});
  const auto leaf = tree.code({.kind = stacks::CodeKind::kAddress, .start = 0x8000});
  const auto outer = tree.child(stacks::kRootNode, main);
  const auto inner = tree.child(outer, leaf, 0x44);
  tree.node(outer).instructions = 3;
  tree.node(inner).cycles = ~std::uint64_t{0};
  tree.node(inner).instructions = 4;
  tree.node(inner).calls = 2;
  tree.fold_call();
  return tree;
}

TEST(TreeCodec, there_and_back) {
  const std::string content = encode(example_tree());
  stacks::Tree sum;
  ASSERT_TRUE(add_tree(bytes(content), sum));
  EXPECT_EQ(sum.whole().instructions, 7U);
  EXPECT_EQ(sum.folded_calls(), 1U);
  // An empty tree has a code of its own, so the numbers may differ, but not what is written.
  TextBuffer before;
  TextBuffer after;
  ASSERT_TRUE(exports::write_folded(example_tree(), {}, before));
  ASSERT_TRUE(exports::write_folded(sum, {}, after));
  EXPECT_EQ(before.view(), after.view());
  EXPECT_EQ(encode(sum), content);
}

TEST(TreeCodec, content_that_is_cut_is_refused) {
  const std::string content = encode(example_tree());
  for (std::size_t size = 0; size < content.size(); ++size) {
    stacks::Tree sum;
    EXPECT_FALSE(add_tree(bytes(content).first(size), sum)) << size;
  }
}

TEST(FindingsCodec, there_and_back_and_content_that_is_cut_is_refused) {
  const std::vector<exports::CaptureFindings> captures = {
      {.input = "runs/\n",
       .code = 255,
       .kind = "a kind",
       .framing = "pieces",
       .bytes = ~std::uint64_t{0},
       .findings = {{.kind = "no_bytes", .id = TraceId{0}, .text = "Idle."},
                    {.kind = "loss", .count = 3, .bytes = 4, .text = "Lost."}}},
      {.input = "b"}};
  const std::string content = encode(captures);
  const auto read = read_findings(bytes(content));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(*read, captures);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_findings(bytes(content).first(size))) << size;
}

TEST(FindingsCodec, words_that_would_break_a_table_are_refused) {
  EXPECT_FALSE(read_findings(bytes(encode(std::vector<exports::CaptureFindings>{
      {.input = "a", .findings = {{.kind = "no,bytes", .text = "Idle."}}}}))));
  EXPECT_FALSE(read_findings(
      bytes(encode(std::vector<exports::CaptureFindings>{{.input = "a", .framing = "\n"}}))));
}

TEST(DataFiles, there_and_back_and_content_that_is_cut_is_refused) {
  const std::vector<DataFile> files = {
      {.table = "calls", .input = 3, .bytes = 1000, .digest = sha256({})},
      {.table = "counts", .input = 300, .bytes = 0, .digest = {}},
  };
  const std::string content = encode(files);
  const auto read = read_data_files(bytes(content));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(*read, files);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_data_files(bytes(content).first(size))) << size;
  EXPECT_FALSE(read_data_files(bytes(content + 'x')));
}

TEST(DataFiles, names_that_lead_elsewhere_are_refused) {
  for (const std::string name : {"", "..", "../calls", "/calls", "a/b", "Calls"}) {
    const std::vector<DataFile> files = {{.table = name}};
    const std::string content = encode(files);
    EXPECT_FALSE(read_data_files(bytes(content))) << name;
  }
}

TEST(Part, there_and_back_and_every_changed_byte_is_noticed) {
  const Part part{.job = sha256({}),
                  .shard = 300,
                  .payload = Payload::kTree,
                  .codes = {0, 3},
                  .content = "content"};
  const std::string written = bytes_of(part);
  const auto read = read_part(bytes(written));
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(*read, part);
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::string changed = written;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_FALSE(read_part(bytes(changed))) << i;
    EXPECT_FALSE(read_part(bytes(written).first(i))) << i;
  }
}

}  // namespace
}  // namespace waymark::shard

// The complete raw listings of real captures, compared with those of the reference.  The captures
// are not part of the repository: WAYMARK_SHARED names their folder (default: next to the source).
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "frames/listing.h"
#include "waymark/frames/dstream.h"
#include "waymark/frames/splitter.h"

namespace waymark::frames {
namespace {

std::string shared_folder() {
  const char* set = std::getenv("WAYMARK_SHARED");
  return set != nullptr ? set : WAYMARK_SOURCE_DIR "/../shared";
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The raw frame lines and footers of a listing, without the packets and elements between them.
std::string golden_raw_lines(const std::string& path) {
  const std::string command = "zstdcat '" + path + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): no library for .zst here
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 65536> piece{};
  while (const std::size_t count = fread(piece.data(), 1, piece.size(), pipe))
    text.append(piece.data(), count);
  if (pclose(pipe) != 0) return {};
  std::string result;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.empty() ? rest.size() : line.size());
    const bool more_bytes = line.size() >= 4 && line.size() <= 49 && line[2] == ' ' &&
                            line.find_first_not_of("0123456789abcdef \n") == std::string_view::npos;
    if (more_bytes || line.starts_with("Frame Data") || line.starts_with("DSTREAM footer"))
      result += line;
  }
  return result;
}

/// The place where two texts differ, for a readable failure.
std::string first_difference(std::string_view ours, std::string_view theirs) {
  std::size_t at = 0;
  while (at < ours.size() && at < theirs.size() && ours[at] == theirs[at]) ++at;
  const std::size_t from = at < 100 ? 0 : at - 100;
  return "ours: " + std::string(ours.substr(from, 300)) +
         "\ntheirs: " + std::string(theirs.substr(from, 300));
}

struct Capture {
  const char* listing;
  const char* file;
};

class AlignedGolden : public testing::TestWithParam<Capture> {};

TEST_P(AlignedGolden, raw_listing_equals_the_reference) {
  const std::string shared = shared_folder();
  const auto bytes = read_file(shared + "/data/snapshots/" + GetParam().file);
  const std::string golden = golden_raw_lines(shared + "/data/golden/" + GetParam().listing);
  if (bytes.empty() || golden.empty()) GTEST_SKIP() << "no captures, or no zstdcat: " << shared;

  Demux demux(kAligned);
  TextMonitor monitor;
  demux.set_monitor(&monitor, true);
  for (std::size_t at = 0; at < bytes.size(); at += 1024)
    write_raw(demux, monitor, at,
              Bytes(bytes).subspan(at, std::min<std::size_t>(1024, bytes.size() - at)));
  EXPECT_TRUE(monitor.text.view() == golden) << first_difference(monitor.text.view(), golden);

  StreamSplitter splitter(kAligned);
  ASSERT_TRUE(splitter.feed(0, bytes));
  EXPECT_EQ(splitter.step(), Step::kNeedInput);
  EXPECT_EQ(splitter.statistics(source_ids()).total(), bytes.size());
}

INSTANTIATE_TEST_SUITE_P(
    Captures, AlignedGolden,
    testing::Values(Capture{"stm_only.raw_mem.ppl.zst", "stm_only/cstraceitm.bin"},
                    Capture{"TC2.raw_mem.ppl.zst", "TC2/cstrace.bin"},
                    Capture{"juno_r1_1.raw_mem.ppl.zst", "juno_r1_1/cstrace.bin"}),
    [](const auto& capture) {
      const std::string listing = capture.param.listing;
      return listing.substr(0, listing.find('.'));
    });

TEST(DstreamGolden, raw_listing_equals_the_reference) {
  const std::string shared = shared_folder();
  const auto file = read_file(shared + "/data/snapshots/a55-test-tpiu/DSTREAM_0.bin");
  const std::string golden = golden_raw_lines(shared + "/data/golden/a55-test-tpiu.raw.ppl.zst");
  if (file.empty() || golden.empty()) GTEST_SKIP() << "no captures, or no zstdcat: " << shared;

  Demux demux(kFsyncs);
  TextMonitor monitor;
  demux.set_monitor(&monitor, true);
  DstreamReader reader(file);
  Bytes footer;
  while (const auto record = reader.next()) {
    write_raw(demux, monitor, record->index, record->payload);
    footer = record->footer;
    write_dstream_footer(monitor.text, footer);
  }
  write_dstream_footer(monitor.text, footer);  // The lister's loop repeats the last one.
  EXPECT_TRUE(monitor.text.view() == golden) << first_difference(monitor.text.view(), golden);
  EXPECT_EQ(demux.statistics().frame_bytes, 11897U);
  EXPECT_EQ(demux.held(), 12U);
}

// The counts that the reference gives for this capture (frames.md 5).
TEST(DstreamGolden, statistics_equal_the_reference) {
  const auto file = read_file(shared_folder() + "/data/snapshots/a55-test-tpiu/DSTREAM_0.bin");
  if (file.empty()) GTEST_SKIP() << "no captures: " << shared_folder();
  StreamSplitter splitter(kFsyncs);
  DstreamReader reader(file);
  while (const auto record = reader.next()) {
    ASSERT_TRUE(splitter.feed(record->index, record->payload));
    EXPECT_EQ(splitter.step(), Step::kNeedInput);
  }
  IdSet attached;
  attached.set(1);
  EXPECT_EQ(splitter.statistics(attached),
            (Statistics{.valid_id_bytes = 34371, .reserved_id_bytes = 2104, .frame_bytes = 11897}));
}

}  // namespace
}  // namespace waymark::frames

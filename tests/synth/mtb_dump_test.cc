// Dumps of the buffer of an MTB: the records of random programs, put into a buffer as the hardware
// puts them there, are read in their order.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "waymark/inputs/capture.h"
#include "waymark/mtb/packet.h"
#include "waymark/synth/workload.h"

namespace waymark::synth {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using inputs::Capture;
using inputs::ImageFile;
using Registers = std::vector<std::pair<std::string, std::uint32_t>>;

/// A buffer of 2^(mask + 4) bytes at `offset` of the SRAM, as the hardware fills it.
class Buffer {
 public:
  explicit Buffer(std::uint32_t mask, std::uint32_t offset)
      : mask_(mask), bytes_(std::size_t{1} << (mask + 4)), pointer_(offset) {}

  void write(Bytes record) {
    std::copy(record.begin(), record.end(), bytes_.begin() + pointer_ % bytes_.size());
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    const std::uint32_t next = (pointer_ + mtb::kRecordBytes) % size;
    pointer_ = pointer_ / size * size + next;
    if (next == 0) wrap_ = 4;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  [[nodiscard]] Registers registers() const {
    return {{"POSITION", pointer_ | wrap_}, {"MASTER", 0x8000'0000 | mask_}};
  }
  [[nodiscard]] bool wrapped() const { return wrap_ != 0; }

 private:
  std::uint32_t mask_;
  std::vector<std::uint8_t> bytes_;
  std::uint32_t pointer_;
  std::uint32_t wrap_ = 0;
};

class MtbCapture : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / fmt::format("mtb_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string put(const std::string& name, Bytes bytes) const {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }

  /// The memory of the program as files for --image.
  std::vector<ImageFile> images(const Program& program) const {
    std::vector<ImageFile> files;
    for (const Segment& segment : program.segments())
      files.push_back({segment.address,
                       put(fmt::format("memory{}", files.size()), segment.bytes)});
    return files;
  }

  Result<Capture> open(Bytes dump, Registers registers, std::vector<ImageFile> files) const {
    inputs::CaptureOptions options;
    options.protocol = "mtb";
    options.registers = std::move(registers);
    options.images = std::move(files);
    return Capture::open(put(fmt::format("dump_{}", dump.size()), dump), options);
  }

  fs::path folder_;
};

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint32_t count = 0;
  bool taken = false;
  friend bool operator==(const Range&, const Range&) = default;
};

/// The ranges after the first `records` records.
std::vector<Range> ranges(Capture& capture, std::size_t records) {
  std::vector<Range> found;
  std::vector<Element> elements(256);
  const auto drain = [&] {
    while (const std::size_t count = capture.tree().next(elements))
      for (const Element& element : std::span(elements).first(count))
        if (element.kind == ElementKind::kInstrRange &&
            element.index >= records * mtb::kRecordBytes)
          found.push_back({element.start, element.end, element.count,
                           (element.flags & kElementExecuted) != 0});
  };
  while (const auto block = capture.next_block()) {
    EXPECT_TRUE(capture.tree().feed(block->index, block->bytes));
    drain();
  }
  capture.tree().finish();
  drain();
  return found;
}

std::vector<std::uint8_t> records_of(const MemoryCapture& made) {
  return {made.bytes.begin(), made.bytes.end()};
}

TEST_F(MtbCapture, records_of_random_programs_are_read_in_their_order) {
  unsigned wrapped = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto workload = Workload::random({.seed = seed, .protocols = {Protocol::kMtb}});
    ASSERT_TRUE(workload);
    const auto made = make_in_memory(*workload, false);
    ASSERT_TRUE(made);
    const std::vector<std::uint8_t> records = records_of(*made);
    const std::size_t count = records.size() / mtb::kRecordBytes;
    const auto mask = static_cast<std::uint32_t>(seed % 10);
    Buffer buffer(mask, static_cast<std::uint32_t>(seed % 3) << (mask + 4));
    for (std::size_t i = 0; i < count; ++i)
      buffer.write(Bytes(records).subspan(i * mtb::kRecordBytes, mtb::kRecordBytes));
    const std::size_t kept =
        buffer.wrapped() ? buffer.bytes().size() / mtb::kRecordBytes : count;
    wrapped += buffer.wrapped() ? 1 : 0;
    const std::vector<ImageFile> files = images(workload->program);
    auto whole = open(records, {}, files);
    ASSERT_TRUE(whole) << whole.error().detail;
    auto dump = open(buffer.bytes(), buffer.registers(), files);
    ASSERT_TRUE(dump) << dump.error().detail;
    EXPECT_EQ(dump->trace_bytes(), kept * mtb::kRecordBytes) << "seed " << seed;
    // What the first record of the buffer comes from is lost.
    EXPECT_EQ(ranges(*dump, 1), ranges(*whole, count - kept + 1)) << "seed " << seed;
  }
  EXPECT_GT(wrapped, 20U);
}

const std::vector<std::uint8_t> kEight = [] {
  std::vector<std::uint8_t> bytes;
  for (std::uint8_t i = 0; i < 8; ++i)
    bytes.insert(bytes.end(), {static_cast<std::uint8_t>(2 * i), 1, 0, 0, 0, 2, 0, 0});
  return bytes;
}();

std::string first_bytes(Capture& capture) {
  const auto block = capture.rest();
  return block ? fmt::format("{} bytes, {:02x}", block->bytes.size(), block->bytes[0]) : "none";
}

TEST_F(MtbCapture, the_order_is_noted) {
  auto capture = open(kEight, {{"POSITION", 0x1C}, {"MASTER", 2}}, {});
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "64 bytes, 06");
  ASSERT_FALSE(capture->notes().empty());
  EXPECT_THAT(capture->notes().front().text,
              HasSubstr("8 records wrap around the end of the buffer and are read from offset "
                        "0x18 on, the oldest first."));
  capture = open(kEight, {{"POSITION", 0x18}, {"MASTER", 2}}, {});
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "24 bytes, 00");
  EXPECT_THAT(capture->notes().front().text, HasSubstr("3 records are read from offset 0x0 on."));
}

TEST_F(MtbCapture, without_position_the_bytes_are_in_order) {
  auto capture = open(kEight, {}, {});
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "64 bytes, 00");
  EXPECT_THAT(capture->notes().front().text, HasSubstr("--reg POSITION=VALUE"));
  EXPECT_EQ(capture->sources().front().core_type, "ARMv8-M");
}

TEST_F(MtbCapture, wrong_registers_are_refused) {
  auto capture = open(kEight, {{"POSITION", 0x1C}}, {});
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().detail, HasSubstr("--reg MASTER=VALUE"));
  capture = open(kEight, {{"POSITION", 0x1C}, {"MASTER", 6}}, {});
  ASSERT_TRUE(capture) << "a buffer of all the SRAM";
  capture = open(Bytes(kEight).first(40), {{"POSITION", 0x1C}, {"MASTER", 2}}, {});
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().detail, HasSubstr("The dump has 40 bytes"));
  capture = open(kEight, {{"POSITION", 0}, {"MASTER", 2}}, {});
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::kBadData);
}

TEST_F(MtbCapture, is_never_in_frames) {
  inputs::CaptureOptions options;
  options.protocol = "mtb";
  options.framing = inputs::Framing::kMemoryAligned;
  const auto capture = Capture::open(put("dump", kEight), options);
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().detail, HasSubstr("--framing none"));
}

}  // namespace
}  // namespace waymark::synth

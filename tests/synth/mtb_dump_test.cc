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
using inputs::Capture;
using inputs::ImageFile;
using ::testing::HasSubstr;
using Registers = std::vector<std::pair<std::string, std::uint32_t>>;

/// A buffer of 2^(mask + 4) bytes at `offset` of the SRAM, as the hardware fills it.
class Buffer {
 public:
  explicit Buffer(std::uint32_t mask, std::uint32_t offset)
      : mask_(mask), bytes_(std::size_t{1} << (mask + 4)), pointer_(offset) {}

  void write(Bytes record) {
    std::ranges::copy(record, std::span(bytes_).subspan(pointer_ % bytes_.size()).begin());
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    const auto next = static_cast<std::uint32_t>((pointer_ + mtb::kRecordBytes) % size);
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
      files.push_back({segment.address, put(fmt::format("memory{}", files.size()), segment.bytes)});
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
          found.push_back(
              {element.start, element.end, element.count, (element.flags & kElementExecuted) != 0});
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
    const std::size_t kept = buffer.wrapped() ? buffer.bytes().size() / mtb::kRecordBytes : count;
    wrapped += buffer.wrapped() ? 1 : 0;
    const std::vector<ImageFile> files = images(workload->program);
    auto whole = open(records, {}, files);
    ASSERT_TRUE(whole) << whole.error().detail;
    auto dump = open(buffer.bytes(), buffer.registers(), files);
    ASSERT_TRUE(dump) << dump.error().detail;
    EXPECT_EQ(dump->trace_bytes(), kept * mtb::kRecordBytes) << "seed " << seed;
    // The source of the first record of the buffer is lost.
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
  EXPECT_THAT(capture->notes().front().text, HasSubstr("state POSITION and MASTER with --reg"));
  EXPECT_EQ(capture->sources().front().core_type, "ARMv8-M");
}

TEST_F(MtbCapture, wrong_registers_are_refused) {
  auto capture = open(kEight, {{"POSITION", 0x1C}}, {});
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().detail, HasSubstr("state MASTER with --reg"));
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

/// As OpenOCD prints them, four words in a line.
std::string printed(std::uint64_t address, Bytes bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    if (at % 16 == 0) text += fmt::format("{}{:#010x}:", at == 0 ? "" : " \n", address + at);
    text += fmt::format(" {:02x}{:02x}{:02x}{:02x}", bytes[at + 3], bytes[at + 2], bytes[at + 1],
                        bytes[at]);
  }
  return text + " \n";
}

/// The buffer is at 0x20000100, and the SRAM begins at 0x20000000.
constexpr std::string_view kRegisters = "0x41006000: 0000011c 80000002 00000000 20000000 \n";

TEST_F(MtbCapture, the_text_of_a_session_has_all_that_is_needed) {
  const std::string session =
      "> halt\n" + std::string("xPSR: 0x61000000 pc: 0x0000010c msp: 0x20001fe0\n") +
      "> mdw 0x20000000 256\n" + printed(0x2000'0000, std::vector<std::uint8_t>(0x100)) +
      printed(0x2000'0100, kEight) + "> mdw 0x41006000 4\n" + std::string(kRegisters);
  const Bytes text(reinterpret_cast<const std::uint8_t*>(session.data()), session.size());
  auto capture = Capture::open(put("session.txt", text), {});
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "64 bytes, 06") << "the order is that of POSITION";
  EXPECT_EQ(capture->sources().front().type, "MTB");
  EXPECT_THAT(capture->notes().front().text, HasSubstr("64 bytes from 0x20000100 on"));
  EXPECT_THAT(capture->notes()[1].text, HasSubstr("halted at 0x0000010c"));
}

TEST_F(MtbCapture, registers_may_be_in_a_text_of_their_own) {
  const Bytes text(reinterpret_cast<const std::uint8_t*>(kRegisters.data()), kRegisters.size());
  inputs::CaptureOptions options;
  options.register_text = put("registers.txt", text);
  auto capture = Capture::open(put("dump", kEight), options);
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "64 bytes, 06");
  options.registers = {{"POSITION", 0x118}};
  capture = Capture::open(put("dump", kEight), options);
  ASSERT_TRUE(capture) << capture.error().detail;
  EXPECT_EQ(first_bytes(*capture), "24 bytes, 00") << "the command line comes first";
}

TEST_F(MtbCapture, a_session_that_lacks_something_is_refused) {
  const auto refusal = [&](const std::string& session) {
    const Bytes text(reinterpret_cast<const std::uint8_t*>(session.data()), session.size());
    const auto capture = Capture::open(put("session.txt", text), {});
    return capture ? "" : capture.error().detail;
  };
  EXPECT_THAT(refusal(std::string(kRegisters)), HasSubstr("but not the buffer"));
  EXPECT_THAT(refusal(printed(0x2000'0000, kEight) + std::string(kRegisters)),
              HasSubstr("The records are at 0x20000100..0x20000140"));
  EXPECT_THAT(refusal(printed(0x2000'0100, kEight) + "0x41006000: 00000100 80000002 0 20000000\n"),
              HasSubstr("Line 5"));
  EXPECT_THAT(
      refusal(printed(0x2000'0100, kEight) + "0x41006000: 00000100 80000002 00000000 20000000\n"),
      HasSubstr("has no record"));
  EXPECT_THAT(refusal(printed(0x2000'0100, kEight) + printed(0x2000'0200, kEight)),
              HasSubstr("keep only the trace"));
  inputs::CaptureOptions options;
  options.register_text = put("registers.txt", kEight);
  const auto capture = Capture::open(put("dump", kEight), options);
  ASSERT_FALSE(capture);
  EXPECT_THAT(capture.error().detail, HasSubstr("does not show the registers of an MTB"));
}

}  // namespace
}  // namespace waymark::synth

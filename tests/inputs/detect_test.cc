#include "waymark/inputs/detect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include "waymark/itm/encoder.h"
#include "waymark/ptm/encoder.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Data = std::vector<std::uint8_t>;

InputKind kind_of(const Data& content) { return detect(Bytes(content)).kind; }
InputKind kind_of(std::string_view text) { return kind_of(Data(text.begin(), text.end())); }

void append(Data& out, const Data& more) { out.insert(out.end(), more.begin(), more.end()); }

// A frame of source `id` with even, hence unremarkable, data.
Data frame(std::uint8_t id, std::uint8_t seed) {
  Data out{static_cast<std::uint8_t>(id << 1 | 1)};
  for (unsigned i = 1; i < 16; ++i)
    out.push_back(static_cast<std::uint8_t>((seed * 7 + i * 30) & 0xFE));
  return out;
}

Data frames(std::size_t count) {
  Data out;
  for (std::size_t i = 0; i < count; ++i)
    append(out, frame(static_cast<std::uint8_t>(0x10 + i % 3), static_cast<std::uint8_t>(i)));
  return out;
}

Data noise(std::size_t size) {
  Data out(size);
  std::uint32_t state = 12345;
  for (std::uint8_t& byte : out) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return out;
}

const Data kSync{0xFF, 0xFF, 0xFF, 0x7F};
const Data kAsync{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x00};

TEST(Detect, magic_numbers) {
  EXPECT_EQ(kind_of("PERFILE2rest"), InputKind::kPerfData);
  EXPECT_EQ(kind_of("2ELIFREP"), InputKind::kPerfData);
  EXPECT_EQ(kind_of("PERFFILE"), InputKind::kPerfData);
  EXPECT_EQ(kind_of("\x7F"
                    "ELF\x02"),
            InputKind::kElf);
  EXPECT_EQ(kind_of(Data{}), InputKind::kEmpty);
}

TEST(Detect, trace_script_needs_the_whole_word) {
  EXPECT_EQ(kind_of("waymark-trace 1\n"), InputKind::kTraceScript);
  EXPECT_EQ(kind_of("waymark-trace"), InputKind::kTraceScript);
  EXPECT_EQ(kind_of("waymark-trace\r\n"), InputKind::kTraceScript);
  EXPECT_EQ(kind_of("waymark-traces\n"), InputKind::kUnknown);
}

TEST(Detect, aligned_frames) {
  EXPECT_EQ(kind_of(frames(64)), InputKind::kAlignedFrames);
  EXPECT_THAT(detect(Bytes(frames(64))).why, HasSubstr("3 trace sources"));
}

TEST(Detect, blank_frames_and_barriers_between_aligned_frames) {
  Data data = frames(32);
  data.resize(data.size() + 1024);
  for (int i = 0; i < 4; ++i) append(data, kSync);
  append(data, frames(32));
  const Detection found = detect(Bytes(data));
  EXPECT_EQ(found.kind, InputKind::kAlignedFrames);
  EXPECT_THAT(found.why, HasSubstr("1 barrier"));
}

TEST(Detect, too_few_frames_are_not_guessed) { EXPECT_EQ(kind_of(frames(4)), InputKind::kUnknown); }

TEST(Detect, synchronisation_in_a_short_piece_of_frames_decides_nothing) {
  // Frames of ID 0x16 with the start of an ETMv4 stream.
  Data data{0x2D};
  append(data, kAsync);
  data.push_back(0x80);
  EXPECT_EQ(kind_of(data), InputKind::kUnknown);
  // The same after too few frame syncs.
  Data synced = kSync;
  append(synced, data);
  append(synced, kSync);
  EXPECT_EQ(kind_of(synced), InputKind::kUnknown);
  // Without the ID byte, it is a stream.
  EXPECT_EQ(kind_of(Data(data.begin() + 1, data.end())), InputKind::kEtmv4Stream);
}

TEST(Detect, many_sources_in_few_frames_are_not_guessed) {
  Data data;
  for (std::uint8_t i = 0; i < 24; ++i)
    append(data, frame(static_cast<std::uint8_t>(0x10 + i % 8), i));
  EXPECT_EQ(kind_of(data), InputKind::kUnknown);
}

TEST(Detect, frames_with_a_cut_at_the_end) {
  Data data = frames(64);
  data.pop_back();
  EXPECT_EQ(kind_of(data), InputKind::kAlignedFrames);
  data = frames(64);
  append(data, {1, 2, 3});
  EXPECT_EQ(kind_of(data), InputKind::kAlignedFrames);
}

TEST(Detect, noise_and_zeros_are_unknown) {
  EXPECT_EQ(kind_of(noise(65536)), InputKind::kUnknown);
  EXPECT_THAT(detect(Bytes(Data(4096))).why, HasSubstr("All its bytes are zero"));
}

TEST(Detect, frames_with_syncs) {
  Data data{0x12, 0x34};
  for (std::uint8_t i = 0; i < 20; ++i) {
    append(data, kSync);
    append(data, frame(0x10, i));
  }
  EXPECT_EQ(kind_of(data), InputKind::kTpiuFrames);
}

TEST(Detect, half_syncs_between_syncs_do_not_count_as_frame_bytes) {
  Data data;
  for (std::uint8_t i = 0; i < 20; ++i) {
    append(data, kSync);
    append(data, {0xFF, 0x7F});
    append(data, frame(0x10, i));
  }
  EXPECT_EQ(kind_of(data), InputKind::kTpiuFrames);
}

TEST(Detect, dstream_records) {
  Data stream;
  for (std::size_t i = 0; stream.size() < 504 * 8; ++i) {
    append(stream, kSync);
    append(stream, frame(0x10, static_cast<std::uint8_t>(i)));
  }
  Data data;
  for (std::size_t record = 0; record < 8; ++record) {
    const auto at = stream.begin() + static_cast<std::ptrdiff_t>(record * 504);
    data.insert(data.end(), at, at + 504);
    append(data, {0, 0, 0, 0, 0x7E, 0, 0xFE, 0x0F});
  }
  EXPECT_EQ(kind_of(data), InputKind::kDstreamFrames);
}

TEST(Detect, etmv4_stream_from_its_start) { EXPECT_EQ(kind_of(kAsync), InputKind::kEtmv4Stream); }

TEST(Detect, etmv4_stream_that_wrapped) {
  Data data = noise(200);
  append(data, kAsync);
  append(data, noise(300));
  const Detection found = detect(Bytes(data));
  EXPECT_EQ(found.kind, InputKind::kEtmv4Stream);
  EXPECT_THAT(found.why, HasSubstr("Offset 200"));
}

TEST(Detect, ptm_stream_from_its_start) {
  EXPECT_EQ(kind_of({0, 0, 0, 0, 0, 0x80, 0x08, 0x58, 0x05, 0x00, 0x80, 0x61, 0x84}),
            InputKind::kPtmStream);
}

TEST(Detect, ptm_stream_that_wrapped) {
  Data data = noise(200);
  for (int i = 0; i < 2; ++i) {
    append(data, {0, 0, 0, 0, 0, 0x80, 0x08, 0x83, 0x8D, 0x01, 0xC0, 0x01});
    append(data, noise(101));
  }
  const Detection found = detect(Bytes(data));
  EXPECT_EQ(found.kind, InputKind::kPtmStream);
  EXPECT_THAT(found.why, HasSubstr("Offset 200"));
}

TEST(Detect, an_isync_with_its_information_first_is_not_that_of_ptm) {
  EXPECT_EQ(kind_of({0, 0, 0, 0, 0, 0x80, 0x08, 0x61, 0x58, 0x05, 0x00, 0x80, 0x84}),
            InputKind::kUnknown);
}

TEST(Detect, memory_with_long_runs_of_zeros_is_not_taken_for_a_stream) {
  Data data = noise(100);
  for (int i = 0; i < 8; ++i) {
    data.resize(data.size() + 40);
    append(data, {0x80, 0x55, 0x66});
  }
  EXPECT_EQ(kind_of(data), InputKind::kUnknown);
}

// "Hello" and a local timestamp, repeated.
Data swo(std::size_t times, std::uint8_t header = 0x01) {
  Data data;
  for (std::size_t i = 0; i < times; ++i) {
    for (const char c : {'H', 'e', 'l', 'l', 'o'})
      append(data, {header, static_cast<std::uint8_t>(c)});
    append(data, {0xC0, 0x90, 0x21});
  }
  return data;
}

TEST(Detect, itm_stream_without_synchronisation) {
  const Detection found = detect(Bytes(swo(20)));
  EXPECT_EQ(found.kind, InputKind::kItmStream);
  EXPECT_THAT(found.why, HasSubstr("120 ITM packets"));
}

TEST(Detect, itm_stream_that_looks_like_frames) {
  // Port 1 alone: each header is an ID byte of the same source.
  Data data;
  for (unsigned i = 0; i < 512; ++i) append(data, {0x09, static_cast<std::uint8_t>('a' + i % 26)});
  EXPECT_EQ(kind_of(data), InputKind::kItmStream);
}

TEST(Detect, itm_stream_from_a_synchronisation_on) {
  Data data = noise(40);
  append(data, {0, 0, 0, 0, 0, 0x80});
  append(data, swo(8));
  EXPECT_EQ(kind_of(data), InputKind::kItmStream);
  EXPECT_THAT(detect(Bytes(data)).why, HasSubstr("Offset 40"));
}

// A short SWO capture: one synchronisation, then `packets` packets.
enum class Swo : std::uint8_t { kText, kTextWithTime, kSamples, kDataTrace, kWords };
constexpr Swo kSwoKinds[] = {Swo::kText, Swo::kTextWithTime, Swo::kSamples, Swo::kDataTrace,
                             Swo::kWords};

class SwoWriter {
 public:
  explicit SwoWriter(unsigned seed) : random_(seed) { put({.type = itm::PacketType::kAsync}); }

  const Data& write(Swo kind, int packets) {
    for (int i = 0; i < packets; ++i) packet(kind);
    return data_;
  }

 private:
  void packet(Swo kind) {
    switch (kind) {
      case Swo::kText:
        return software(0, 1, ' ' + pick(94));
      case Swo::kTextWithTime:
        return pick(2) == 0 ? local_time() : software(0, 1, ' ' + pick(94));
      case Swo::kSamples:
        return pick(4) == 0 ? local_time() : hardware(2, 4, 0x08000000 + 2 * pick(0x8000));
      case Swo::kDataTrace:
        // A PC and a value for each access, as comparator 0 makes them.
        if (pick(3) == 0) return local_time();
        return pick(2) == 0 ? hardware(8, 4, 0x08000000 + 2 * pick(0x8000))
                            : hardware(17, 4, pick(1000));
      case Swo::kWords:
        return software(static_cast<std::uint8_t>(pick(4)), 4, random_());
    }
  }
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  void local_time() {
    put({.value = 1000 + pick(5000), .type = itm::PacketType::kLocalTimestamp, .size = 2});
  }
  void software(std::uint8_t port, std::uint8_t size, std::uint64_t value) {
    put({.value = value, .type = itm::PacketType::kSoftware, .source = port, .size = size});
  }
  void hardware(std::uint8_t source, std::uint8_t size, std::uint64_t value) {
    put({.value = value, .type = itm::PacketType::kHardware, .source = source, .size = size});
  }
  void put(const itm::Packet& packet) { ASSERT_TRUE(itm::encode(packet, data_)); }

  std::mt19937 random_;
  Data data_;
};

TEST(Detect, short_swo_is_itm) {
  for (const Swo kind : kSwoKinds) {
    for (const int packets : {30, 60, 100, 200, 300}) {
      for (unsigned seed = 0; seed < 40; ++seed) {
        const Detection found = detect(Bytes(SwoWriter(seed).write(kind, packets)));
        ASSERT_EQ(found.kind, InputKind::kItmStream)
            << "kind " << static_cast<int>(kind) << ", " << packets << " packets, seed " << seed
            << ": " << found.why;
      }
    }
  }
}

TEST(Detect, swo_whose_payload_looks_like_an_isync) {
  // PC samples in 0x080xxxxx: a byte 0x08, and four bytes later a byte that may be its information
  // byte.
  Data data{0, 0, 0, 0, 0, 0x80};
  for (int i = 0; i < 40; ++i) append(data, {0x17, 0x44, 0x01, 0x00, 0x08, 0x8F, 0x10, 0, 0, 0x21});
  EXPECT_EQ(kind_of(data), InputKind::kItmStream);
}

// Synchronisations with I-syncs, and branches and atoms between them.
Data ptm_trace(unsigned seed, int packets) {
  std::mt19937 random(seed);
  const ptm::Config config;
  Data data;
  const auto put = [&](const ptm::Packet& packet) {
    ASSERT_TRUE(ptm::encode(packet, config, data));
  };
  for (int i = 0; i < packets; ++i) {
    ptm::Packet packet;
    if (i % 50 == 0) {
      packet.type = ptm::PacketType::kAsync;
      put(packet);
      packet.type = ptm::PacketType::kIsync;
      packet.isa = isa::Isa::kA32;
      packet.address.value = 0x80000000U + static_cast<std::uint32_t>(random() % 0x10000) * 4;
    } else if (random() % 3 == 0) {
      packet.type = ptm::PacketType::kBranchAddress;
      packet.isa = isa::Isa::kA32;
      packet.address.value = static_cast<std::uint32_t>(random() % 0x800) * 4;
      packet.address.update_bits = 14;
    } else {
      packet.type = ptm::PacketType::kAtom;
      packet.atom_count = static_cast<std::uint8_t>(1 + random() % 5);
      packet.atoms = static_cast<std::uint32_t>(random() % (1U << packet.atom_count));
    }
    put(packet);
  }
  return data;
}

TEST(Detect, short_ptm_is_not_swo) {
  for (const int packets : {30, 100, 300}) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      const Detection found = detect(Bytes(ptm_trace(seed, packets)));
      ASSERT_EQ(found.kind, InputKind::kPtmStream) << packets << ' ' << seed << ": " << found.why;
    }
  }
}

TEST(Detect, text_and_little_itm_are_not_guessed) {
  const std::string_view text =
      "The quick brown fox jumps over the lazy dog, and does so every day until dusk.\n";
  Data data;
  for (int i = 0; i < 20; ++i) data.insert(data.end(), text.begin(), text.end());
  EXPECT_EQ(kind_of(data), InputKind::kUnknown);
  EXPECT_EQ(kind_of(swo(1)), InputKind::kUnknown);
  EXPECT_EQ(kind_of(Data(4095, 0x55)), InputKind::kUnknown);
}

const Data kStmStart{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x0F, 0x30};

TEST(Detect, stm_stream) {
  Data data = kStmStart;
  append(data, {0x41, 0x40, 0x21});
  EXPECT_EQ(kind_of(data), InputKind::kStmStream);
  EXPECT_THAT(detect(Bytes(data)).why, HasSubstr("Offset 0 "));
  Data late = noise(100);
  for (int i = 0; i < 4; ++i) append(late, data);
  EXPECT_EQ(kind_of(late), InputKind::kStmStream);
  EXPECT_THAT(detect(Bytes(late)).why, HasSubstr("Offset 100 "));
}

TEST(Detect, f_nibbles_alone_are_not_taken_for_stm) {
  EXPECT_EQ(kind_of(Data(4095, 0xFF)), InputKind::kUnknown);
  Data data(20, 0xFF);
  append(data, {0x00, 0x12, 0x34});
  EXPECT_NE(kind_of(data), InputKind::kStmStream);
}

TEST(Detect, every_kind_has_a_name_of_its_own) {
  std::vector<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(InputKind::kPtmStream); ++i)
    names.push_back(input_kind_name(static_cast<InputKind>(i)));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Detect, paths) {
  const std::string folder = testing::TempDir() + "waymark_detect";
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_EQ(detect(folder).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(detect(folder + "/none").error().code, ErrorCode::kNotFound);
  std::ofstream(folder + "/snapshot.ini") << "[snapshot]\n";
  std::ofstream(folder + "/trace.ini") << "[trace_buffers]\n";
  EXPECT_EQ(detect(folder)->kind, InputKind::kSnapshotFolder);
  EXPECT_EQ(detect(folder + "/snapshot.ini")->kind, InputKind::kSnapshotIni);
  EXPECT_THAT(detect(folder + "/trace.ini")->why, HasSubstr("give the folder"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace waymark::inputs

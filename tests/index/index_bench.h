// Small captures of several ETMv4 sources in a temporary folder, and everything that an index says
// about them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/random.h"
#include "waymark/frames/mux.h"
#include "waymark/index/builder.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"
#include "waymark/inputs/capture.h"

namespace waymark::index {

struct BenchOptions {
  std::uint64_t seed = 1;
  std::size_t sources = 2;  ///< With IDs from 0x10 on.
  std::size_t units = 60;   ///< Stretches from one synchronisation point to the next.
  bool fsync = false;
  bool raw = false;     ///< One source without frames.
  unsigned damage = 0;  ///< The mean distance between changed bytes; 0: none.
};

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() /
            ("waymark-index-" + std::to_string(random()) + std::to_string(random()));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}
inline void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  write_file(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// The bytes of one source.  Every unit begins with a synchronisation point, states where the core
/// is, and continues with atoms, timestamps, events, exceptions, overflows and gaps of silence.
inline std::vector<std::uint8_t> unit_bytes(support::Random& random, std::uint64_t& time) {
  std::vector<std::uint8_t> out = {0,    0,    0, 0,    0, 0, 0, 0, 0, 0, 0, 0x80, 0x01,
                                   0x01, 0x00, 4, 0x85, 0, 0, 8, 0, 0, 0, 0, 0,    0x31};
  const std::size_t packets = random.between(3, 400);
  for (std::size_t i = 0; i < packets; ++i) {
    switch (random.between(0, 19)) {
      case 0:
        time += random.between(1, 300);
        out.insert(out.end(), {0x02, static_cast<std::uint8_t>(time | 0x80),
                               static_cast<std::uint8_t>(time >> 7 | 0x80),
                               static_cast<std::uint8_t>(time >> 14 & 0x7F)});
        break;
      case 1:
        out.push_back(static_cast<std::uint8_t>(0x70 + random.between(1, 15)));
        break;
      case 2:
        if (random.one_in(20)) out.insert(out.end(), {0x00, 0x05});
        break;
      default:
        out.push_back(0xF7);
        break;
    }
  }
  return out;
}

inline std::vector<std::uint8_t> trace_of(const BenchOptions& options) {
  support::Random random(options.seed);
  std::vector<std::uint64_t> times(options.sources, 0);
  std::vector<std::uint8_t> bytes;
  if (options.raw) {
    for (std::size_t i = 0; i < options.units; ++i) {
      const auto unit = unit_bytes(random, times[0]);
      bytes.insert(bytes.end(), unit.begin(), unit.end());
    }
  } else {
    frames::Mux mux({.fsync_period = options.fsync ? 7U : 0U});
    std::vector<std::vector<std::uint8_t>> waiting(options.sources);
    for (std::size_t i = 0; i < options.units * 8; ++i) {
      const std::size_t source = random.below(static_cast<std::uint32_t>(options.sources));
      if (waiting[source].empty() && random.one_in(4))
        waiting[source] = unit_bytes(random, times[source]);
      std::vector<std::uint8_t>& rest = waiting[source];
      const std::size_t size = std::min<std::size_t>(rest.size(), random.between(1, 200));
      EXPECT_TRUE(mux.write(static_cast<TraceId>(0x10 + source), Bytes(rest).first(size)));
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
      if (random.one_in(50)) {
        const std::array<std::uint8_t, 1> value = {7};
        EXPECT_TRUE(mux.write(kTriggerId, value));
      }
    }
    mux.finish();
    bytes = mux.take();
  }
  if (options.damage != 0) {
    for (std::uint8_t& byte : bytes)
      if (random.one_in(options.damage)) byte = random.byte();
  }
  return bytes;
}

/// Writes a snapshot of `bytes` as trace.bin.
inline void write_capture(const TemporaryFolder& folder, const BenchOptions& options,
                          const std::vector<std::uint8_t>& bytes) {
  std::string devices = "[snapshot]\nversion=1.0\n[device_list]\nc=cpu.ini\n";
  std::string buffers = "[source_buffers]\n";
  std::string cores = "[core_trace_sources]\n";
  for (std::size_t i = 0; i < options.sources; ++i) {
    const std::string name = "ETM_" + std::to_string(i);
    devices += "d" + std::to_string(i) + "=" + name + ".ini\n";
    buffers += name + "=B\n";
    cores += "cpu_0=" + name + "\n";
    write_file(folder / (name + ".ini"),
               "[device]\nname=" + name +
                   "\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0x801\nTRCTRACEIDR=" +
                   std::to_string(0x10 + i) +
                   "\nTRCIDR0=0x28000EA1\nTRCIDR1=0x4100F403\nTRCIDR2=0x488\n");
  }
  write_file(folder / "snapshot.ini", devices + "[trace]\nmetadata=trace.ini\n");
  write_file(folder / "trace.ini",
             std::string("[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=trace.bin\nformat=") +
                 (options.raw     ? "source_data"
                  : options.fsync ? "dstream_coresight"
                                  : "coresight") +
                 "\n" + buffers + cores);
  write_file(folder / "cpu.ini",
             "[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump]\nfile=program.bin\n"
             "address=0x80000\nlength=8\n");
  write_file(folder / "program.bin",
             std::vector<std::uint8_t>{0x1F, 0x20, 0x03, 0xD5, 0xFF, 0xFF, 0xFF, 0x17});
  write_file(folder / "trace.bin", bytes);
}

inline inputs::Capture open_bench(const TemporaryFolder& folder, bool decode) {
  inputs::CaptureOptions options;
  options.source.decode = decode;
  auto capture = inputs::Capture::open(folder.path(), options);
  EXPECT_TRUE(capture) << capture.error().detail;
  return std::move(*capture);
}

/// All that an index says.
struct Contents {
  Header header;
  std::vector<SourceBlock> blocks;
  std::vector<std::pair<TraceId, StreamBlock>> streams;
  friend bool operator==(const Contents&, const Contents&) = default;
};

/// If damage produced a context ID, only an index whose builder read the damage has it.
inline Contents without_context_ids(Contents contents) {
  for (auto& [id, block] : contents.streams) {
    for (Landmark& landmark : block.landmarks) {
      if (landmark.kind != LandmarkKind::kContext) continue;
      landmark.value = 0;
      landmark.vmid = 0;
    }
  }
  return contents;
}

inline Contents contents_of(Index& index) {
  Contents all{.header = index.header(), .blocks = {}, .streams = {}};
  for (std::uint64_t number = 0; number < index.header().blocks(); ++number) {
    const auto block = index.source_block(number);
    EXPECT_TRUE(block);
    if (block && *block) all.blocks.push_back(**block);
  }
  for (const Stream& stream : index.header().streams) {
    for (std::uint64_t number = 0;;) {
      const auto block = index.find(stream.id, number, Walk::kForward, {});
      EXPECT_TRUE(block);
      if (!block || !*block) break;
      StreamBlock kept = **block;
      const auto landmarks = index.landmarks(stream.id, kept.number);
      EXPECT_TRUE(landmarks);
      if (landmarks) kept.landmarks = *landmarks;
      number = kept.number + 1;
      all.streams.emplace_back(stream.id, std::move(kept));
    }
  }
  return all;
}

inline std::string text_of(const StreamBlock& block) {
  std::string text = "block " + std::to_string(block.number) + ": bytes " +
                     std::to_string(block.tally.bytes) + " packets " +
                     std::to_string(block.tally.packets) + " unsynced " +
                     std::to_string(block.tally.unsynced_bytes) + " bad " +
                     std::to_string(block.tally.bad_headers) + "+" +
                     std::to_string(block.tally.bad_sequences) + " counts";
  for (const std::uint64_t count : block.counts) text += " " + std::to_string(count);
  for (const Landmark& landmark : block.landmarks)
    text += " " + std::string(landmark_name(landmark.kind)) + "@" + std::to_string(landmark.index) +
            "=" + std::to_string(landmark.value);
  return text;
}

inline void expect_equal(const Contents& got, const Contents& want, std::uint64_t seed) {
  EXPECT_TRUE(got.header == want.header) << "seed " << seed;
  EXPECT_TRUE(got.blocks == want.blocks) << "seed " << seed;
  ASSERT_EQ(got.streams.size(), want.streams.size()) << "seed " << seed;
  for (std::size_t i = 0; i < got.streams.size(); ++i) {
    ASSERT_TRUE(got.streams[i] == want.streams[i])
        << "seed " << seed << " ID " << +want.streams[i].first << "\n"
        << text_of(got.streams[i].second) << "\n"
        << text_of(want.streams[i].second);
  }
}

}  // namespace waymark::index

// SyS-T frames: any bytes as plain messages, as console text and as the packets of STM channels.
// Invariants: plain frames cover the input without gap or overlap, chunks make no difference,
// nothing is given twice, and the work is bounded by the size.  One in 16 inputs, because they take
// long, states which bytes are repeated how often, so that a few bytes reach the look-ahead of a
// splitter.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "require.h"
#include "support/random.h"
#include "waymark/syst/byte_reader.h"
#include "waymark/syst/channels.h"
#include "waymark/syst/lines.h"
#include "waymark/syst/ports.h"
#include "waymark/syst/splitter.h"

namespace {

using namespace waymark;
using namespace waymark::syst;
using fuzz::require;

struct Kept {
  std::vector<std::uint8_t> bytes;
  TraceIndex index;
  FrameEnd end;
  bool operator==(const Kept&) const = default;
};

template <class Reader>
std::vector<Kept> split(Bytes content, std::size_t chunk) {
  Reader reader;
  std::vector<Kept> frames;
  Frame frame;
  const auto keep = [&] {
    frames.push_back({{frame.bytes.begin(), frame.bytes.end()}, frame.index, frame.end});
  };
  for (std::size_t at = 0; at < content.size(); at += chunk) {
    const Bytes part = content.subspan(at, std::min(chunk, content.size() - at));
    const auto block = std::make_unique<std::uint8_t[]>(part.size());
    std::ranges::copy(part, block.get());
    reader.feed(Bytes(block.get(), part.size()));
    while (reader.next(frame)) keep();
  }
  while (reader.finish(frame)) keep();
  return frames;
}

/// Pieces of the input, each repeated as the input states.
std::vector<std::uint8_t> repeated(Bytes input) {
  constexpr std::size_t kMost = 3 * StreamSplitter::kLookAhead;
  std::vector<std::uint8_t> all;
  while (input.size() > 3 && all.size() < kMost) {
    const std::size_t size = std::min<std::size_t>(input[0] % 40 + 1U, input.size() - 3);
    // A few times or many thousand times.
    const std::size_t many = input[1] | std::size_t{input[2]} << 8;
    std::size_t count = (input[0] & 0x80) != 0 ? many : many % 8 + 1;
    for (const Bytes piece = input.subspan(3, size); count > 0 && all.size() < kMost; --count)
      all.insert(all.end(), piece.begin(), piece.end());
    input = input.subspan(3 + size);
  }
  return all;
}

/// The frames of a splitter that gets everything at once.
std::uint64_t work(Bytes content) {
  StreamSplitter splitter;
  Frame frame;
  splitter.feed(content);
  while (splitter.next(frame)) continue;
  while (splitter.finish(frame)) continue;
  return splitter.work();
}

void check_plain(Bytes content, std::size_t chunk) {
  const std::vector<Kept> plain = split<StreamSplitter>(content, content.size());
  TraceIndex at = 0;
  for (const Kept& frame : plain) {
    require(frame.index == at && !frame.bytes.empty(), "a gap between plain frames");
    require(std::equal(frame.bytes.begin(), frame.bytes.end(),
                       content.begin() + static_cast<std::ptrdiff_t>(at)),
            "a plain frame with other bytes");
    at += frame.bytes.size();
  }
  require(at == content.size(), "plain frames do not cover the input");
  require(plain == split<StreamSplitter>(content, chunk), "plain: chunks make a difference");
  require(work(content) <= SearchCredit::kFirst + SearchCredit::kPerByte * content.size(),
          "more work than the input may take");
}

/// Elements made of the input.
void channels(Bytes content) {
  support::Random random(content);
  ChannelAssembler assembler;
  std::size_t given = 0;
  std::size_t sent = 0;
  const auto take = [&](std::span<const Frame> frames) {
    for (const Frame& frame : frames) given += frame.bytes.size();
  };
  for (std::size_t i = 0; i < content.size() / 4; ++i) {
    Element element;
    element.kind = random.one_in(32) ? ElementKind::kNoSync : ElementKind::kSwTrace;
    element.sw_id = {.master = static_cast<std::uint16_t>(random.below(2)),
                     .channel = static_cast<std::uint16_t>(random.below(3))};
    element.extra = random.byte() | kSwIdValid;
    element.extra_value = random.pick({0U, 4U, 8U, 16U, 32U, 64U});
    element.start = random.bits(16);
    sent += element.extra_value / 8;
    take(assembler.add(element));
  }
  take(assembler.finish());
  require(given <= sent, "more bytes in frames than were sent");
}

struct Count final : FrameSink {
  std::size_t bytes = 0;
  void on_frame(const Frame& frame) override { bytes += frame.bytes.size(); }
};

void ports(Bytes content) {
  Count count;
  PortReader reader(count);
  for (const std::uint8_t byte : content) {
    Element element;
    element.kind = ElementKind::kItmTrace;
    element.number = byte >> 7;
    element.start = byte;
    element.extra_value = 1;
    reader.add(element);
  }
  reader.finish();
  require(count.bytes <= content.size(), "more bytes in frames than were sent");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 8192) return 0;
  const std::size_t chunk = data[0] % 64 + 1U;
  const Bytes content(data + 1, size - 1);
  if (data[0] >> 4 == 0xF) {
    const std::vector<std::uint8_t> large = repeated(content);
    if (large.empty()) return 0;
    check_plain(large, 97 * chunk + 1000);
    require(split<ByteReader>(large, large.size()) == split<ByteReader>(large, 4096 * chunk + 5),
            "bytes: chunks make a difference");
    return 0;
  }
  check_plain(content, chunk);
  require(split<LineReader>(content, content.size()) == split<LineReader>(content, chunk),
          "lines: chunks make a difference");
  require(split<ByteReader>(content, content.size()) == split<ByteReader>(content, chunk),
          "bytes: chunks make a difference");
  channels(content);
  ports(content);
  return 0;
}

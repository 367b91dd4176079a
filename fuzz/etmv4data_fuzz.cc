// The ETMv4 data stream: chunk size and layouts come from the first bytes of the input, the stream
// from the rest.  Invariants: packets cover the bytes in order, without gap or overlap and within
// the bound, any chunking gives the same, what was parsed can be printed, and the decoder gives
// only the allowed elements.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "waymark/element/text.h"
#include "waymark/etmv4data/parser.h"
#include "waymark/etmv4data/source.h"
#include "waymark/etmv4data/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv4data;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  std::abort();
}

struct Parsed {
  std::string text;
  std::vector<std::uint8_t> bytes;
};

Parsed parse(const Config& config, Bytes stream, std::size_t chunk) {
  Parsed parsed;
  Parser parser(config);
  Packet packet;
  const auto take = [&] {
    const Bytes bytes = parser.packet_bytes();
    require(packet.length == bytes.size() && !bytes.empty(), "the length is not that of the bytes");
    require(bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
    require(packet.index == parsed.bytes.size(), "an index out of place");
    TextBuffer text;
    write_packet(text, packet);
    require(text.view().starts_with(packet_name(packet.type)), "text without a name");
    parsed.text += text.view();
    parsed.text += packet.monitor_only ? "*\n" : "\n";
    parsed.bytes.insert(parsed.bytes.end(), bytes.begin(), bytes.end());
  };
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    const frames::Run run{0, at};
    parser.feed({stream.subspan(at, std::min(chunk, stream.size() - at)), {&run, 1}});
    while (parser.next(packet)) take();
  }
  if (parser.finish(packet)) take();
  require(!parser.finish(packet), "two unfinished packets");
  return parsed;
}

void decode(const Config& config, Bytes stream) {
  const auto source = *make_source(config, {});
  const frames::Run run{0, 0};
  source->feed({stream, {&run, 1}});
  source->finish();
  std::vector<Element> out(7);
  TextBuffer text;
  while (const std::size_t count = source->next(out)) {
    for (std::size_t i = 0; i < count; ++i) {
      require(out[i].kind == ElementKind::kNoSync || out[i].kind == ElementKind::kTimestamp ||
                  out[i].kind == ElementKind::kSyncMarker ||
                  out[i].kind == ElementKind::kDataEvent || out[i].kind == ElementKind::kEndOfTrace,
              "an element that no data stream gives");
      text.clear();
      write_element_line(text, out[i]);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 2 + 2 * Layouts::kCount;
  if (size < kSettings || size > 65536) return 0;
  Config config;
  for (std::size_t i = 0; i < Layouts::kCount; ++i) {
    const std::uint8_t* at = data + 2 + 2 * i;
    if ((at[0] & 0x80) != 0)
      config.layouts.set_row(i, {static_cast<std::uint8_t>(at[0] & 0x7F), at[1]});
  }
  std::vector<std::uint8_t> stream;
  if ((data[0] & 1) != 0) {
    stream.assign(11, 0x00);
    stream.push_back(0x80);
  }
  stream.insert(stream.end(), data + kSettings, data + size);
  const Parsed whole = parse(config, stream, std::max<std::size_t>(stream.size(), 1));
  require(std::ranges::equal(whole.bytes, stream), "packets are not the bytes of the stream");
  require(parse(config, stream, data[1] + 1U).text == whole.text, "the size of chunks matters");
  decode(config, stream);
  return 0;
}

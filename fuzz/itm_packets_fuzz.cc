// ITM packets: quirks and chunk size come from the first bytes of the input, the stream from the
// rest.  Invariants: packets cover the bytes without gap or overlap and in order, any chunking
// gives the same packets and the batch interface the same as one at a time, what was parsed can be
// printed, and whole packets encode to the bytes that they came from, or to ones that mean the
// same.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "waymark/itm/encoder.h"
#include "waymark/itm/fields.h"
#include "waymark/itm/parser.h"
#include "waymark/itm/text.h"

namespace {

using namespace waymark;
using namespace waymark::itm;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  std::abort();
}

struct Parsed {
  std::string text;
  std::vector<std::uint8_t> bytes;
  std::vector<PacketType> types;
  TraceIndex last = 0;
};

void check_encoding(const Packet& packet, Bytes bytes) {
  if (is_bad(packet.type) || packet.type < PacketType::kAsync) return;
  if (packet.in_packet) return;  // Too short, because the previous packet took a part of it.
  std::vector<std::uint8_t> encoded;
  require(encode(packet, encoded).has_value(), "a packet that was read cannot be written");
  // Unused bits are written as 0, and reserved headers as the others.
  require(encoded.size() == bytes.size(), "a packet is written in another length");
}

void take(const Parser& parser, const Packet& packet, const Config& config, Parsed& into) {
  const Bytes bytes = parser.packet_bytes();
  require(packet.length == bytes.size(), "the length is not that of the bytes");
  require(bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
  require(!bytes.empty() || config.quirks.empty_unsynchronised, "an empty packet");
  require(packet.index >= into.last, "indexes go back");
  into.last = packet.index;
  TextBuffer text;
  write_packet(text, packet, config.quirks);
  require(text.view().starts_with(packet_name(packet.type)), "text without a name");
  for_each_field(packet, [&](const FieldValue& field) {
    text.put(' ');
    write_field(text, field);
  });
  check_encoding(packet, bytes);
  into.text += text.view();
  into.text += packet.monitor_only ? "*\n" : "\n";
  into.bytes.insert(into.bytes.end(), bytes.begin(), bytes.end());
  into.types.push_back(packet.type);
}

Parsed parse(const Config& config, Bytes stream, std::size_t chunk) {
  Parsed parsed;
  Parser parser(config);
  Packet packet;
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    const Bytes part = stream.subspan(at, std::min(chunk, stream.size() - at));
    const frames::Run run{0, at};
    parser.feed({part, {&run, 1}});
    while (parser.next(packet)) take(parser, packet, config, parsed);
    require(parser.position() == part.size(), "the block is not used up");
  }
  if (parser.finish(packet)) take(parser, packet, config, parsed);
  require(!parser.finish(packet), "two unfinished packets");
  require(parser.statistics().total_bytes == stream.size(), "bytes counted wrongly");
  return parsed;
}

std::vector<PacketType> parse_batches(const Config& config, Bytes stream, std::size_t batch) {
  std::vector<PacketType> types;
  Parser parser(config);
  const frames::Run run{0, 0};
  parser.feed({stream, {&run, 1}});
  std::vector<Packet> packets(batch);
  std::size_t count = 0;
  do {
    count = parser.next(std::span(packets));
    for (std::size_t i = 0; i < count; ++i) types.push_back(packets[i].type);
  } while (count == batch);
  if (parser.finish(packets[0])) types.push_back(packets[0].type);
  return types;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 3;
  if (size < kSettings || size > (std::size_t{1} << 18)) return 0;
  Config config;
  config.starts_in_sync = (data[0] & 1) != 0;
  const bool reference = (data[0] & 2) != 0;
  if (reference) config.quirks = Quirks::reference();
  const std::size_t chunk = data[1] + 1U;
  const std::size_t batch = data[2] % 17U + 1;
  std::vector<std::uint8_t> stream;
  if ((data[0] & 4) != 0) stream = {0, 0, 0, 0, 0, 0x80};
  stream.insert(stream.end(), data + kSettings, data + size);

  const Parsed whole = parse(config, stream, std::max<std::size_t>(stream.size(), 1));
  require(parse_batches(config, stream, batch) == whole.types,
          "batches differ from single packets");
  if (reference) {
    parse(config, stream, chunk);  // Chunks have an effect there.
    return 0;
  }
  require(std::ranges::equal(whole.bytes, stream), "packets are not the bytes of the stream");
  const Parsed cut = parse(config, stream, chunk);
  require(whole.text == cut.text && whole.bytes == cut.bytes, "the size of chunks matters");
  return 0;
}

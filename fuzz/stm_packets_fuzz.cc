// STM packets: quirks, nibble order, chunk and batch size come from the first bytes of the input,
// the stream from the rest.  Invariants: natively, packets cover the nibbles without gap or overlap
// and in order, and any chunking gives the same; always, their types are known, the batch interface
// and the visitor give the same as one at a time, and what was parsed can be printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/random.h"
#include "waymark/stm/fields.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/text.h"

namespace {

using namespace waymark;
using namespace waymark::stm;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  std::abort();
}

struct Settings {
  Config config;
  Quirks quirks;
};

struct Parsed {
  std::string text;
  std::size_t nibbles = 0;
  std::vector<PacketType> types;
};

void take(const Parser& parser, const Packet& packet, bool native, Parsed& into) {
  const Bytes bytes = parser.packet_bytes();
  require(bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
  if (native) {
    require(packet.nibbles != 0, "a packet of nothing");
    require(packet.length() == bytes.size(), "the length is not that of the bytes");
    require(packet.upper == ((into.nibbles & 1) != 0), "a gap or an overlap of one nibble");
    require(packet.index == into.nibbles / 2, "the index is not that of the first nibble");
  }
  require(packet.payload_bits <= 64 && packet.timestamp_bits <= 64, "a field out of bounds");
  require(packet_keyword(packet) != "unknown", "a packet of no known type");
  into.nibbles += packet.nibbles;
  TextBuffer text;
  text.dec(packet.index);
  text.put(' ');
  for (const std::uint8_t byte : bytes) text.hex(byte, 2);
  text.put(' ');
  const std::size_t name = text.size();
  write_packet(text, packet);
  require(text.view().substr(name).starts_with(packet_name(packet.type)), "text without a name");
  for_each_field(packet, [&](const FieldValue& value) {
    text.put(' ');
    write_field(text, value);
  });
  into.text += text.view();
  into.text += '\n';
  into.types.push_back(packet.type);
}

Parsed parse(const Settings& settings, Bytes stream, std::size_t chunk) {
  const bool native = !settings.quirks.unsynced_by_block;
  Parsed parsed;
  Parser parser(settings.config, settings.quirks);
  Packet packet;
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    // A separate block, so that a read beyond it is detected.
    const Bytes part = stream.subspan(at, std::min(chunk, stream.size() - at));
    const std::vector<std::uint8_t> block(part.begin(), part.end());
    const frames::Run run{0, at};
    parser.feed({block, {&run, 1}});
    while (parser.next(packet)) {
      take(parser, packet, native, parsed);
      if (native) require(parsed.nibbles <= 2 * (at + parser.position()), "more than was read");
    }
    require(parser.position() == block.size(), "the block is not used up");
  }
  if (parser.finish(packet)) take(parser, packet, native, parsed);
  require(!parser.finish(packet), "two unfinished packets");
  require(parser.statistics().total_bytes == stream.size(), "bytes counted wrongly");
  return parsed;
}

std::vector<PacketType> parse_batches(const Settings& settings, Bytes stream, std::size_t batch) {
  std::vector<PacketType> types;
  Parser parser(settings.config, settings.quirks);
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

/// The visitor takes `few` packets at a time; the texts must be those of single packets.
std::string parse_visits(const Settings& settings, Bytes stream, std::size_t few) {
  struct Visitor {
    std::string& text;
    std::size_t left;
    bool on_packet(const Packet& packet) {
      TextBuffer line;
      write_packet(line, packet);
      text += line.view();
      text += '\n';
      return --left != 0;
    }
  };
  std::string text;
  Parser parser(settings.config, settings.quirks);
  const frames::Run run{0, 0};
  parser.feed({stream, {&run, 1}});
  while (parser.parse(Visitor{text, few})) {
  }
  return text;
}

std::string parse_singly(const Settings& settings, Bytes stream) {
  std::string text;
  Parser parser(settings.config, settings.quirks);
  Packet packet;
  const frames::Run run{0, 0};
  parser.feed({stream, {&run, 1}});
  while (parser.next(packet)) {
    TextBuffer line;
    write_packet(line, packet);
    text += line.view();
    text += '\n';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 4;
  if (size < kSettings || size > 65536) return 0;
  support::Random random(Bytes(data, kSettings));
  Settings settings;
  settings.quirks = random.coin() ? Quirks::reference() : Quirks{};
  settings.config.order =
      random.pick({NibbleOrder::kMostFirst, NibbleOrder::kLeastFirst, NibbleOrder::kAuto});
  const std::size_t chunk = random.byte() + 1U;
  const std::size_t batch = random.byte() % 17 + 1U;
  // Half of the inputs begin synchronised, after a nibble or none.
  std::vector<std::uint8_t> stream;
  if ((data[0] & 0x80) != 0) {
    stream.assign(10, 0xFF);
    stream.insert(stream.end(),
                  {0x0F, 0x0F, static_cast<std::uint8_t>(data[0] & 0x40 ? 0x30 : 0x40)});
    if ((data[0] & 0x20) != 0) stream.insert(stream.begin(), 0x00);
  }
  stream.insert(stream.end(), data + kSettings, data + size);

  const std::size_t all = std::max<std::size_t>(stream.size(), 1);
  const Parsed whole = parse(settings, stream, all);
  require(parse_batches(settings, stream, batch) == whole.types,
          "batches differ from single packets");
  require(parse_visits(settings, stream, batch) == parse_singly(settings, stream),
          "visits differ from single packets");
  if (settings.quirks.unsynced_by_block) {
    parse(settings, stream, chunk);
    return 0;
  }
  require(whole.nibbles == 2 * stream.size(), "packets are not the nibbles of the stream");
  require(whole.text == parse(settings, stream, chunk).text, "the size of chunks matters");
  return 0;
}

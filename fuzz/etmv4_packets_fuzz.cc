// ETMv4 and ETE packets: registers and chunk size come from the first bytes of the input, the
// stream from the rest.  Invariants: packets cover the bytes without gap or overlap and in order,
// their types are known, any chunking gives the same packets and the batch interface the same as
// one at a time, and what was parsed can be printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/random.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv4;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  std::abort();
}

// Any registers, legal or not.
Config any_config(support::Random& random) {
  Config config;
  const unsigned mode = random.byte();
  config.ete = (mode & 1) != 0;
  config.core.arch = (mode & 2) != 0 ? isa::Arch::kV8 : isa::Arch::kV7;
  config.core.profile = (mode & 4) != 0 ? isa::Profile::kM : isa::Profile::kA;
  config.trcdevarch = static_cast<std::uint32_t>(random.bits(32));
  config.trcidr0 = static_cast<std::uint32_t>(random.bits(32));
  config.trcidr1 = static_cast<std::uint32_t>(random.bits(32));
  config.trcidr2 = static_cast<std::uint32_t>(random.bits(32));
  config.trcidr8 = static_cast<std::uint32_t>(random.bits(32));
  config.trcconfigr = static_cast<std::uint32_t>(random.bits(32));
  if ((mode & 8) != 0) {
    // A usual version instead of any.
    config.trcdevarch = (config.trcdevarch & ~0xFF000U) | 0x5000U | (mode >> 4 & 3U) << 16;
    config.trcidr1 = (config.trcidr1 & ~0xFF0U) | 0x400U | (mode >> 4 & 7U) << 4;
  }
  return config;
}

struct Parsed {
  std::string text;
  std::vector<std::uint8_t> bytes;
  std::vector<TraceIndex> indexes;
  std::vector<PacketType> types;
};

void take(const Parser& parser, const Packet& packet, const Config& config, Parsed& into) {
  const Bytes bytes = parser.packet_bytes();
  require(packet.length == bytes.size(), "the length is not that of the bytes");
  require(!bytes.empty() && bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
  require(packet_keyword(packet.type) != "unknown", "a packet of no known type");
  require(packet.atom_count <= 24 && packet.address.is <= 1, "a field out of bounds");
  require(
      packet.atom_count == 24 || packet.atoms >> packet.atom_count == 0 || packet.atom_count == 0,
      "more atoms than counted");
  // Equal at the zeros dropped before an async; see etmv4-ete.md 2.2.
  require(into.indexes.empty() || packet.index >= into.indexes.back(), "indexes go back");
  TextBuffer text;
  write_packet(text, packet, config);
  require(text.view().starts_with(packet_name(packet.type)), "text without a name");
  for_each_field(packet, [&](const FieldValue& field) {
    text.put(' ');
    write_field(text, field);
  });
  into.text += text.view();
  into.text += packet.monitor_only ? "*\n" : "\n";
  into.bytes.insert(into.bytes.end(), bytes.begin(), bytes.end());
  into.indexes.push_back(packet.index);
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
    while (parser.next(packet)) {
      take(parser, packet, config, parsed);
      require(parsed.bytes.size() <= at + parser.position(), "more bytes given than read");
    }
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
  constexpr std::size_t kSettings = 27;
  if (size < kSettings || size > 65536) return 0;
  support::Random random(Bytes(data, kSettings));
  const Config config = any_config(random);
  const std::size_t chunk = random.byte() + 1U;
  const std::size_t batch = random.byte() % 17 + 1U;
  // Half of the inputs begin synchronised.
  std::vector<std::uint8_t> stream;
  if ((data[0] & 0x80) != 0) {
    stream.assign(11, 0x00);
    stream.push_back(0x80);
  }
  stream.insert(stream.end(), data + kSettings, data + size);

  const Parsed whole = parse(config, stream, std::max<std::size_t>(stream.size(), 1));
  require(std::ranges::equal(whole.bytes, stream), "packets are not the bytes of the stream");
  const Parsed cut = parse(config, stream, chunk);
  require(whole.text == cut.text && whole.bytes == cut.bytes && whole.indexes == cut.indexes,
          "the size of chunks matters");
  require(parse_batches(config, stream, batch) == whole.types,
          "batches differ from single packets");
  return 0;
}

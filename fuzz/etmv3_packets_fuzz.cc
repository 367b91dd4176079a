// ETMv3 packets: registers, quirks and chunk size come from the first bytes of the input, the
// stream from the rest.  Invariants: packets cover the bytes without gap or overlap and in order,
// their types are known, any chunking gives the same packets, a visitor gets the same packets as
// single calls, and every packet can be printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/random.h"
#include "waymark/etmv3/fields.h"
#include "waymark/etmv3/parser.h"
#include "waymark/etmv3/text.h"

namespace {

using namespace waymark;
using namespace waymark::etmv3;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fputs(what, stderr);
  std::abort();
}

// Any registers, legal or not.
Config any_config(support::Random& random) {
  Config config;
  const unsigned mode = random.byte();
  if ((mode & 4) != 0) config.core.profile = isa::Profile::kM;
  config.etmcr = static_cast<std::uint32_t>(random.bits(32));
  config.etmidr = static_cast<std::uint32_t>(random.bits(32));
  config.etmccer = static_cast<std::uint32_t>(random.bits(32));
  return config;
}

struct Parsed {
  std::string text;
  std::vector<std::uint8_t> bytes;
  std::vector<TraceIndex> indexes;
  std::vector<PacketType> types;
};

void take(const Parser& parser, const Packet& packet, const Config& config,
          const ParserQuirks& quirks, Parsed& into) {
  const Bytes bytes = parser.packet_bytes();
  require(packet.length == bytes.size(), "the length is not that of the bytes");
  require(!bytes.empty() && bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
  require(packet_keyword(packet.type) != "unknown", "a packet of no known type");
  require(packet.atom_count <= 16 && packet.address.valid_bits <= 32, "a field out of bounds");
  require(packet.atoms >> packet.atom_count == 0 || packet.atom_count == 0,
          "more atoms than counted");
  require(into.indexes.empty() || packet.index > into.indexes.back(), "indexes do not go up");
  TextBuffer text;
  write_packet(text, packet, config, quirks);
  require(text.view().starts_with(packet_name(packet.type)), "text without a name");
  for_each_field(packet, [&](const FieldValue& field) {
    text.put(' ');
    write_field(text, field);
  });
  into.text += text.view();
  into.text += '\n';
  into.bytes.insert(into.bytes.end(), bytes.begin(), bytes.end());
  into.indexes.push_back(packet.index);
  into.types.push_back(packet.type);
}

Parsed parse(const Config& config, const ParserQuirks& quirks, Bytes stream, std::size_t chunk) {
  Parsed parsed;
  Parser parser(config, quirks);
  Packet packet;
  for (std::size_t at = 0; at < stream.size(); at += chunk) {
    const Bytes part = stream.subspan(at, std::min(chunk, stream.size() - at));
    const frames::Run run{0, at};
    parser.feed({part, {&run, 1}});
    while (parser.next(packet)) {
      take(parser, packet, config, quirks, parsed);
      require(parsed.bytes.size() <= at + parser.position(), "more bytes given than read");
    }
    require(parser.position() == part.size(), "the block is not used up");
  }
  if (parser.finish(packet)) take(parser, packet, config, quirks, parsed);
  require(!parser.finish(packet), "two unfinished packets");
  require(parser.statistics().total_bytes == stream.size(), "bytes counted wrongly");
  return parsed;
}

/// The packets that the fast path of a visitor gives.
struct Visitor {
  std::vector<PacketType>& types;
  template <class Fast>
  bool on_atoms(TraceIndex index, const Fast& fast) {
    Packet packet;
    packet.index = index;
    copy_atoms(fast, packet);
    types.push_back(packet.type);
    return types.size() % 5 != 0;
  }
  bool on_packet(const Packet& packet) {
    types.push_back(packet.type);
    return types.size() % 3 != 0;
  }
};

std::vector<PacketType> parse_visiting(const Config& config, const ParserQuirks& quirks,
                                       Bytes stream) {
  std::vector<PacketType> types;
  Parser parser(config, quirks);
  const frames::Run run{0, 0};
  parser.feed({stream, {&run, 1}});
  while (parser.parse(Visitor{types})) {
  }
  Packet packet;
  if (parser.finish(packet)) types.push_back(packet.type);
  return types;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kSettings = 15;
  if (size < kSettings || size > 65536) return 0;
  support::Random random(Bytes(data, kSettings));
  const unsigned mode = random.byte();
  const Config config = any_config(random);
  const std::size_t chunk = random.byte() + 1U;
  const bool reference = (mode & 1) != 0;
  const ParserQuirks quirks = reference ? ParserQuirks::reference() : ParserQuirks{};
  // Half of the inputs begin synchronised, and all inputs for the reference: before that, its
  // packets depend on the chunks.
  std::vector<std::uint8_t> stream;
  if (reference || (mode & 2) != 0) stream = {0, 0, 0, 0, 0, 0x80};
  stream.insert(stream.end(), data + kSettings, data + size);

  const Parsed whole = parse(config, quirks, stream, std::max<std::size_t>(stream.size(), 1));
  require(std::ranges::equal(whole.bytes, stream), "packets are not the bytes of the stream");
  const Parsed cut = parse(config, quirks, stream, chunk);
  require(whole.text == cut.text && whole.bytes == cut.bytes && whole.indexes == cut.indexes,
          "the size of chunks matters");
  require(parse_visiting(config, quirks, stream) == whole.types,
          "a visitor is given other packets");
  return 0;
}

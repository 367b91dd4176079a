// The common part of the fuzz targets of packet parsers.  Configuration and chunk size come from
// the first bytes of the input, the stream from the rest.  Invariants: packets cover the stream
// without gap or overlap, any chunking gives the same packets, batches and visitors get the same as
// single calls, and every packet and its fields can be printed.
//
// A target states its protocol as a type, which is made from the first bytes:
//   using Parser, Packet;
//   static constexpr std::size_t kSettings;     // bytes that its constructor takes
//   static constexpr bool kNibbles;             // packets begin and end at nibbles, not at bytes
//   static constexpr bool kBatches, kVisitors;  // the parser has next(span), parse(visitor)
//   explicit Protocol(support::Random&);
//   Parser parser() const;
//   std::vector<std::uint8_t> beginning() const;   // what is before the input's stream
//   bool exact() const;      // the packets cover the stream and do not depend on chunks
//   void check(const Parser&, const Packet&, const Parsed& before) const;
//   void write(TextBuffer&, const Packet&) const;  // the line of the packet, its name first
//   std::span<const BasicField<Packet>> fields(const Packet&) const;
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "support/random.h"
#include "waymark/base/text_buffer.h"
#include "waymark/frames/stream.h"
#include "waymark/protocol/fields.h"
#include "waymark/protocol/visitor.h"

namespace waymark::fuzz {

struct Parsed {
  std::string lines;
  std::string details;              ///< The same with indexes, bytes and fields.
  std::vector<std::uint8_t> bytes;  ///< Of all packets.
  std::size_t nibbles = 0;          ///< Of all packets.
  std::optional<TraceIndex> last;   ///< The index of the last packet.
};

template <class Protocol>
class PacketsTarget {
 public:
  PacketsTarget(const Protocol& protocol, Bytes stream) : protocol_(protocol), stream_(stream) {}

  void run(std::size_t chunk, std::size_t batch) const {
    const Parsed whole = parse(std::max<std::size_t>(stream_.size(), 1));
    if constexpr (Protocol::kBatches)
      require(batches(batch) == whole.lines, "batches differ from single packets");
    if constexpr (Protocol::kVisitors)
      require(visits(batch) == whole.lines, "a visitor is given other packets");
    const Parsed cut = parse(chunk);
    if (!protocol_.exact()) return;
    if constexpr (Protocol::kNibbles) {
      require(whole.nibbles == 2 * stream_.size(), "packets are not the nibbles of the stream");
    } else {
      require(std::ranges::equal(whole.bytes, stream_), "packets are not the bytes of the stream");
    }
    require(whole.details == cut.details, "the size of chunks matters");
  }

 private:
  using Parser = typename Protocol::Parser;
  using Packet = typename Protocol::Packet;

  void put_line(std::string& lines, const Packet& packet) const {
    TextBuffer line;
    protocol_.write(line, packet);
    require(line.view().starts_with(packet_name(packet.type)), "text without a name");
    lines += line.view();
    lines += '\n';
  }

  void take(const Parser& parser, const Packet& packet, Parsed& into) const {
    const Bytes bytes = parser.packet_bytes();
    require(bytes.size() <= Parser::kMaxPacketBytes, "a length out of bounds");
    require(!bytes.empty() || !protocol_.exact(), "an empty packet");
    if constexpr (!Protocol::kNibbles)
      require(packet.length == bytes.size(), "the length is not that of the bytes");
    protocol_.check(parser, packet, into);
    TextBuffer details;
    details.dec(packet.index);
    details.put(' ');
    for (const std::uint8_t byte : bytes) details.hex(byte, 2);
    waymark::for_each_field<Packet>(protocol_.fields(packet), packet, [&](const FieldValue& field) {
      details.put(' ');
      write_field(details, field);
    });
    details.put(' ');
    into.details += details.view();
    const std::size_t line = into.lines.size();
    put_line(into.lines, packet);
    into.details += std::string_view(into.lines).substr(line);
    into.bytes.insert(into.bytes.end(), bytes.begin(), bytes.end());
    if constexpr (Protocol::kNibbles) into.nibbles += packet.nibbles;
    into.last = packet.index;
  }

  [[nodiscard]] bool more_than(const Parsed& parsed, std::size_t read) const {
    if (!protocol_.exact()) return false;
    return Protocol::kNibbles ? parsed.nibbles > 2 * read : parsed.bytes.size() > read;
  }

  [[nodiscard]] Parsed parse(std::size_t chunk) const {
    Parsed parsed;
    Parser parser = protocol_.parser();
    Packet packet;
    for (std::size_t at = 0; at < stream_.size(); at += chunk) {
      // A separate block, so that a read beyond it is detected.
      const Bytes part = stream_.subspan(at, std::min(chunk, stream_.size() - at));
      const std::vector<std::uint8_t> block(part.begin(), part.end());
      const frames::Run run{0, at};
      parser.feed({block, {&run, 1}});
      while (parser.next(packet)) {
        take(parser, packet, parsed);
        require(!more_than(parsed, at + parser.position()), "more given than read");
      }
      require(parser.position() == block.size(), "the block is not used up");
    }
    if (parser.finish(packet)) take(parser, packet, parsed);
    require(!parser.finish(packet), "two unfinished packets");
    require(parser.statistics().total_bytes == stream_.size(), "bytes counted wrongly");
    return parsed;
  }

  /// The lines of the packets that `read(parser, lines)` takes, and of the unfinished one.
  template <class Read>
  [[nodiscard]] std::string lines_of(Read read) const {
    std::string lines;
    Parser parser = protocol_.parser();
    const frames::Run run{0, 0};
    parser.feed({stream_, {&run, 1}});
    read(parser, lines);
    Packet packet;
    if (parser.finish(packet)) put_line(lines, packet);
    return lines;
  }

  [[nodiscard]] std::string batches(std::size_t batch) const {
    return lines_of([&](Parser& parser, std::string& lines) {
      std::vector<Packet> packets(batch);
      std::size_t count = 0;
      do {
        count = parser.next(std::span(packets));
        for (std::size_t i = 0; i < count; ++i) put_line(lines, packets[i]);
      } while (count == batch);
    });
  }

  /// Stops after every `few` packets.
  struct Visitor {
    static consteval protocol::VisitorTakes takes() { return {}; }
    const PacketsTarget& target;
    std::string& lines;
    std::size_t few;
    std::size_t taken = 0;

    template <class Fast>
    bool on_atoms(TraceIndex index, const Fast& fast) {
      Packet packet;
      packet.index = index;
      copy_atoms(fast, packet);
      return on_packet(packet);
    }
    bool on_packet(const Packet& packet) {
      target.put_line(lines, packet);
      return ++taken % few != 0;
    }
  };
  [[nodiscard]] std::string visits(std::size_t few) const {
    return lines_of([&](Parser& parser, std::string& lines) {
      Visitor visitor{*this, lines, few};
      while (parser.parse(visitor)) {
      }
    });
  }

  const Protocol& protocol_;
  Bytes stream_;
};

/// An input of a target: the settings, then the stream.
template <class Protocol>
struct PacketsInput {
  /// The protocol's settings, the chunk and the batch size.
  static constexpr std::size_t kSettings = Protocol::kSettings + 2;

  PacketsInput(const std::uint8_t* data, std::size_t size) {
    if (size < kSettings || size > 65536) return;
    support::Random random(Bytes(data, kSettings));
    protocol.emplace(random);
    chunk = random.byte() + 1U;
    batch = random.byte() % 17 + 1U;
    stream = protocol->beginning();
    stream.insert(stream.end(), data + kSettings, data + size);
  }
  int run() const {
    if (protocol) PacketsTarget<Protocol>(*protocol, stream).run(chunk, batch);
    return 0;
  }

  std::optional<Protocol> protocol;  ///< Nothing: the input is too short or too long.
  std::vector<std::uint8_t> stream;
  std::size_t chunk = 1;
  std::size_t batch = 1;
};

}  // namespace waymark::fuzz

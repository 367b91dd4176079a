// The parser reads what the encoder writes: every type, every field.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "waymark/base/bits.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/parser.h"

namespace waymark::etmv4 {
namespace {

/// Everything legal: ETM 4.6 on a v8-M core for its packets, ETE 1.3 for the others.
Config config(bool ete, bool conditional) {
  Config c = ete ? Config::ete_default() : Config{};
  c.trcidr1 = 0x4100F463;
  c.trcdevarch = 0x47735A13;
  c.trcidr0 = 1U << 6 | 3U << 3 | 3U << 15;
  c.trcidr2 = 4U << 10 | 4U << 5 | 8U << 25;
  c.trcconfigr = conditional ? 7U << 8 : 1U << 1 | 1U << 16;
  if (!ete) c.core = {isa::Arch::kV8, isa::Profile::kM};
  return c;
}

std::string fields_of_packet(const Packet& packet) {
  TextBuffer out;
  out.put(packet_keyword(packet.type));
  for_each_field(packet, [&](const FieldValue& field) {
    out.put(' ');
    out.put(field.name);
    out.put('=');
    write_field(out, field);
  });
  return std::string(out.view());
}

class Reader {
 public:
  explicit Reader(const Config& c) : parser_(c), config_(c) {
    Packet async;
    async.type = PacketType::kAsync;
    EXPECT_TRUE(encode(async, c, bytes_));
    Packet info;
    info.type = PacketType::kTraceInfo;
    EXPECT_TRUE(encode(info, c, bytes_));
  }

  /// The only packet in these bytes, read after a sync point.
  Packet read(Bytes bytes) {
    std::vector<std::uint8_t> all = bytes_;
    all.insert(all.end(), bytes.begin(), bytes.end());
    Parser parser(config_);
    const frames::Run run{0, 0};
    parser.feed({all, {&run, 1}});
    Packet packet;
    EXPECT_TRUE(parser.next(packet));
    EXPECT_TRUE(parser.next(packet));
    packet = Packet{};
    EXPECT_TRUE(parser.next(packet));
    EXPECT_EQ(packet.length, bytes.size());
    return packet;
  }

 private:
  Parser parser_;
  Config config_;
  std::vector<std::uint8_t> bytes_;
};

/// A value that the parser returns unchanged: what the field's width and the form allow.
std::uint64_t draw(const Packet& packet, const Field& field, std::mt19937_64& random) {
  std::uint64_t value = random() & low_mask(static_cast<unsigned>(1 + random() % field.bits));
  const std::string_view name = field.name;
  switch (packet.type) {
    case PacketType::kTraceInfo:
      if (name == "info") value &= 0xFFFF;
      break;
    case PacketType::kTimestamp:
      if (name == "bits") value = 0;
      if (name == "cycle_count") value &= low_mask(20);
      break;
    case PacketType::kCycleCountF1:
      if (name == "cycle_count") value &= low_mask(21);
      break;
    case PacketType::kCycleCountF2:
      if (name == "cycle_count") value &= 15;
      if (name == "commit") value = 1 + value % 16;
      break;
    case PacketType::kCycleCountF3:
      if (name == "cycle_count") value &= 3;
      if (name == "commit") value = 1 + value % 4;
      break;
    case PacketType::kCancelF2:
      if (name == "cancel") value = 1;
      break;
    case PacketType::kCancelF3:
      if (name == "cancel") value = 2 + value % 4;
      break;
    case PacketType::kEvent:
      value = value == 0 ? 1 : value;
      break;
    case PacketType::kUnnumberedDataSync:
      value %= 5;
      break;
    case PacketType::kCondInstrF2:
    case PacketType::kCondResultF4:
    case PacketType::kAddressMatch:
    case PacketType::kSourceMatch:
      value %= 3;
      break;
    case PacketType::kCondResultF2:
      value = value % 7 == 3 ? 2 : value % 7;
      break;
    case PacketType::kCondResultF1:
      if (name == "form") value = value % 6 < 4 ? value % 6 : value % 6 + 2;
      break;
    case PacketType::kException:
      if (name == "type" && (value == 0 || value == 0x18)) value = 1;
      break;
    default:
      break;
  }
  return value;
}

std::string atoms_for(const Packet& packet, std::mt19937_64& random) {
  switch (packet.type) {
    case PacketType::kAtomF1:
      return random() % 2 == 0 ? "E" : "N";
    case PacketType::kAtomF2:
      return random() % 2 == 0 ? "EN" : "NE";
    case PacketType::kAtomF3:
      return "ENN";
    case PacketType::kAtomF4:
      return "NENE";
    case PacketType::kAtomF5:
      return "NEEEE";
    case PacketType::kAtomF6:
      return std::string(3 + random() % 21, 'E') + (random() % 2 == 0 ? 'E' : 'N');
    default:
      return "E";
  }
}

TEST(RoundTrip, fields_survive_encoding_and_parsing) {
  std::mt19937_64 random(42);
  for (const std::string_view keyword : packet_keywords()) {
    const bool conditional = keyword.starts_with("cond");
    for (unsigned round = 0; round < 300; ++round) {
      Packet packet = packet_of_keyword(keyword).value();
      const bool etm_only =
          packet.type == PacketType::kExceptionReturn || packet.type == PacketType::kFunctionReturn;
      const Config c = config(!etm_only, conditional);
      for (const Field& field : fields_of(packet.type)) {
        if (field.set == nullptr || field.name == "threshold") continue;
        if (field.kind == FieldKind::kAtoms) {
          ASSERT_TRUE(set_field(packet, "atoms", atoms_for(packet, random)));
        } else {
          field.set(packet, draw(packet, field, random));
        }
      }
      // Forms whose other bits come from the history, or do not exist in the packet.
      const unsigned is = packet.address.is;
      if (packet.type == PacketType::kQ) {
        constexpr std::uint8_t kTypes[] = {0, 1, 2, 5, 6, 0xA, 0xB, 0xC, 0xF};
        const std::uint64_t type = kTypes[random() % 9];
        for (const Field& field : fields_of(packet.type))
          if (field.name == "type") field.set(packet, type);
        const bool is0 = type == 5 || type == 0xA;
        const bool is_short = type == 5 || type == 6;
        packet.address.update_bits = type >= 0xA ? 32 : 0;
        if (is_short)
          packet.address.update_bits =
              static_cast<std::uint8_t>((is0 ? 9 : 8) + (random() % 2) * 8);
        packet.address.value &= low_mask(packet.address.update_bits) & ~low_mask(is0 ? 2 : 1);
        if (type <= 2) packet.address.value = 0;
        if (type == 0xC || type == 0xF) packet.address.update_bits = 0;
        if (type == 0xF) packet.q.count = 0;
      } else if (keyword.ends_with("_short")) {
        packet.address.update_bits =
            static_cast<std::uint8_t>((is == 0 ? 9 : 8) + (random() % 2) * 8);
        packet.address.value &= low_mask(packet.address.update_bits) & ~low_mask(is == 0 ? 2 : 1);
      } else if (keyword.ends_with("_match")) {
        packet.address.value = 0;
      } else if (keyword.starts_with("address") || keyword.starts_with("source")) {
        packet.address.value &= ~low_mask(is == 0 ? 2 : 1);
        if (keyword.ends_with("32")) packet.address.value &= low_mask(32);
      }
      if (packet.type == PacketType::kCondResultF1 && packet.conditional.form > 3) {
        packet.conditional.second_key = 0;
        packet.conditional.results &= 0xF;
      }
      std::vector<std::uint8_t> bytes;
      const auto encoded = encode(packet, c, bytes);
      ASSERT_TRUE(encoded) << fields_of_packet(packet) << ": " << encoded.error().detail;
      Packet read = Reader(c).read(bytes);
      if (packet.type == PacketType::kTimestamp) read.timestamp_bits = 0;
      if (packet.type == PacketType::kQ && !packet.q.has_address()) read.address.update_bits = 0;
      ASSERT_EQ(fields_of_packet(read), fields_of_packet(packet));
    }
  }
}

}  // namespace
}  // namespace waymark::etmv4

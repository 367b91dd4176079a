// What must hold for any stream, tried on random ones.
#include <gtest/gtest.h>

#include <bit>

#include "support/decoded.h"
#include "support/etmv4_stream.h"
#include "waymark/etmv4/encoder.h"
#include "waymark/etmv4/fields.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/source.h"
#include "waymark/etmv4/text.h"

namespace waymark::etmv4 {
namespace {

using support::Decoded;
using support::difference;
using support::Program;
using support::Random;

constexpr TraceIndex kStart = 1000;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  explicit Case(std::uint64_t seed) : random(seed), config(support::random_config(random)) {
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    options.reference_quirks = random.coin();
    for (const std::uint32_t flag :
         {kNoForwardBadPackets, kCheckDirectBranchN, kCheckStrictBranchN, kCheckRangeContinuity,
          kCheckBranchNotThumb, kA64OpcodeCheck, kHaltOnBadPackets})
      if (random.one_in(8)) options.flags |= flag;
    if (random.coin()) options.flags |= kSourceAddressNRanges;
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    bytes = support::StreamMaker(random, config)
                .make(random.between(50, 250), random.pick({0U, 0U, 60U, 10U}));
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    auto made = make_source(config, image.get(), with);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] std::unique_ptr<Source> source() const { return source(options); }

  Random random;
  Config config;
  std::unique_ptr<image::Image> image;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

enum class Watch : std::uint8_t { kNothing, kDiagnostics, kPackets };

Decoded decode(std::unique_ptr<Source> source, Bytes bytes, std::size_t chunk, std::size_t span,
               Watch watch) {
  Decoded decoded;
  if (watch == Watch::kPackets) decoded.source = source.get();
  if (watch != Watch::kNothing) source->set_observer(&decoded, 0x33);
  support::feed(*source, kStart, bytes, chunk, span, decoded.elements);
  source->finish();
  support::take(*source, span, decoded.elements);
  decoded.source = nullptr;
  return decoded;
}

class Stream : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint64_t kSeedsEach = 40;

  /// `check(case)` gives the text of a difference, or nothing.
  template <class Check>
  static void for_each_case(Check check) {
    for (std::uint64_t seed = GetParam() * kSeedsEach; seed < (GetParam() + 1) * kSeedsEach;
         ++seed) {
      const Case one(seed);
      const std::string text = check(one);
      ASSERT_TRUE(text.empty()) << "seed " << seed << ": " << text;
    }
  }
};

TEST_P(Stream, gives_the_same_in_any_chunks) {
  for_each_case([](const Case& one) {
    const Decoded whole = decode(one.source(), one.bytes, 0, 1024, Watch::kPackets);
    for (const std::size_t chunk : {1, 2, 3, 7, 16, 4096}) {
      const Decoded cut = decode(one.source(), one.bytes, chunk, 1024, Watch::kPackets);
      if (auto text = difference(whole, cut); !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
    }
    return std::string();
  });
}

TEST_P(Stream, gives_the_same_packets_in_any_chunks_without_a_decoder) {
  for_each_case([](const Case& one) {
    SourceOptions packets_only = one.options;
    packets_only.decode = false;
    const Decoded whole = decode(one.source(packets_only), one.bytes, 0, 1, Watch::kPackets);
    for (const std::size_t chunk : {1, 2, 3, 7, 16, 4096}) {
      const Decoded cut = decode(one.source(packets_only), one.bytes, chunk, 1, Watch::kPackets);
      if (auto text = difference(whole, cut); !text.empty())
        return "chunks of " + std::to_string(chunk) + ", " + text;
    }
    return std::string();
  });
}

TEST_P(Stream, gives_the_same_in_spans_of_any_size) {
  for_each_case([](const Case& one) {
    for (const Watch watch : {Watch::kPackets, Watch::kDiagnostics, Watch::kNothing}) {
      const Decoded many = decode(one.source(), one.bytes, 0, 1024, watch);
      for (const std::size_t span : {1, 2, 7}) {
        const Decoded few = decode(one.source(), one.bytes, 0, span, watch);
        if (auto text = difference(many, few); !text.empty())
          return "spans of " + std::to_string(span) + ", " + text;
      }
    }
    return std::string();
  });
}

TEST_P(Stream, gives_the_same_with_and_without_the_block_cache) {
  for_each_case([](const Case& one) {
    SourceOptions uncached = one.options;
    uncached.block_cache = false;
    return difference(decode(one.source(), one.bytes, 0, 256, Watch::kPackets),
                      decode(one.source(uncached), one.bytes, 0, 256, Watch::kPackets));
  });
}

TEST_P(Stream, gives_the_same_elements_and_records_whoever_looks_on) {
  for_each_case([](const Case& one) {
    Decoded watched = decode(one.source(), one.bytes, 0, 64, Watch::kPackets);
    const Decoded alone = decode(one.source(), one.bytes, 0, 64, Watch::kNothing);
    if (auto text = difference(watched.elements, alone.elements); !text.empty()) return text;
    watched.packets.clear();
    return difference(watched, decode(one.source(), one.bytes, 0, 64, Watch::kDiagnostics));
  });
}

TEST_P(Stream, goes_on_alike_in_a_clone_whose_original_is_gone) {
  for_each_case([](const Case& one) {
    const std::size_t half = one.bytes.size() / 2;
    auto original = one.source();
    std::vector<Element> before;
    support::feed(*original, kStart, Bytes(one.bytes).first(half), 0, 64, before);
    const frames::Run run{0, kStart + half};
    original->feed({Bytes(one.bytes).subspan(half), {&run, 1}});
    std::vector<Element> out(3);
    out.resize(original->next(out));  // The clone starts amid the elements of a packet.
    before.insert(before.end(), out.begin(), out.end());
    auto clone = original->clone();
    original.reset();
    support::take(*clone, 5, before);
    clone->finish();
    support::take(*clone, 5, before);
    return difference(decode(one.source(), one.bytes, 0, 64, Watch::kNothing).elements, before);
  });
}

TEST_P(Stream, gives_the_same_again_after_a_reset) {
  for_each_case([](const Case& one) {
    // Values of contexts and the listing's sticky threshold outlive a reset: start from the same.
    auto source = one.source();
    std::vector<Element> ignored;
    support::feed(*source, kStart, one.bytes, 0, 64, ignored);
    source->reset();
    auto clone = source->clone();
    std::vector<Element> first;
    std::vector<Element> second;
    support::feed(*source, kStart, one.bytes, 0, 64, first);
    support::feed(*clone, kStart, one.bytes, 3, 1, second);
    return difference(first, second);
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, Stream, testing::Range<std::uint64_t>(0, 8));

// ---- Packets --------------------------------------------------------------------------------

std::string fields_text(const Packet& packet) {
  TextBuffer text;
  for_each_field(packet, [&](const Field& field, std::uint64_t) {
    // What depends on the address history and the timestamps before, and derived fields.
    if (field.name == "value" || field.name == "bits" || field.name == "initial") return;
    text.put(field.name);
    text.put("=");
    write_field(text, packet, field);
    text.put(" ");
  });
  return std::string(text.view());
}

bool carries_address(const Packet& packet) {
  switch (packet.type) {
    case PacketType::kQ:
      return packet.address.update_bits != 0 && packet.q_type > 2 && packet.q_type < 0xC;
    case PacketType::kAddressMatch:
    case PacketType::kSourceMatch:
      return false;
    default:
      return packet.address.update_bits != 0;
  }
}

// All gates open: a packet of any type is legal under one of these.
Config open_config(PacketType type, Random& random) {
  const auto number = static_cast<unsigned>(type);
  Config config = support::random_config(random);
  config.trcidr0 |= 3U << 15;
  const bool conditional = (number >= 0x40 && number < 0x50) || (number & ~0xFU) == 0x50 ||
                           (number >= 0x68 && number < 0x70);
  if (type == PacketType::kExceptionReturn || type == PacketType::kFunctionReturn) {
    config.ete = false;
    config.trcidr1 = 0x4100F463;
    config.core = {isa::Arch::kV8, isa::Profile::kM};
  } else if (!conditional) {
    config.ete = true;
    config.trcdevarch = 0x47735A13;
  }
  if (conditional) {
    config.trcidr0 |= 1U << 6;
    config.trcconfigr |= 7U << 8;
  }
  if (type == PacketType::kNumberedDataSync || type == PacketType::kUnnumberedDataSync) {
    config.trcidr0 |= 3U << 3;
    config.trcconfigr |= 1U << 1 | 1U << 16;
  }
  return config;
}

std::string round_trip(PacketType type, Random& random) {
  const Config config = open_config(type, random);
  const Packet sent = support::random_packet(random, config, type);
  std::vector<std::uint8_t> bytes(11, 0x00);
  bytes.push_back(0x80);
  const Result<void> encoded = encode(sent, config, bytes);
  if (!encoded) return encoded.error().detail;
  Parser parser(config);
  const frames::Run run{0, 0};
  parser.feed({bytes, {&run, 1}});
  Packet got;
  if (!parser.next(got) || got.type != PacketType::kAsync) return "no synchronisation";
  if (!parser.next(got)) return "the packet is incomplete";
  if (got.type != type) return std::string("parsed as ") + std::string(packet_name(got.type));
  if (got.length != bytes.size() - 12) return "parsed with another length";
  if (fields_text(sent) != fields_text(got)) return fields_text(sent) + "/ " + fields_text(got);
  if (carries_address(sent)) {
    const std::uint64_t mask = low_mask(sent.address.update_bits);
    if (got.address.update_bits != sent.address.update_bits) return "another address width";
    if ((sent.address.value & mask) != (got.address.value & mask)) return "another address";
  }
  if (type == PacketType::kTimestamp && sent.timestamp != got.timestamp) return "another timestamp";
  return {};
}

TEST(PacketRoundTrip, every_type_comes_back_as_it_was_encoded) {
  for (const PacketType type : support::kAllPacketTypes) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Random random(seed);
      ASSERT_EQ(round_trip(type, random), "") << packet_name(type) << ", seed " << seed;
    }
  }
}

TEST(PacketRoundTrip, covers_every_header_row_of_the_sheet) {
  // Types with a header byte of their own: each appears in the list of all types.
  for (unsigned number = 1; number < 0x100; ++number) {
    const auto type = static_cast<PacketType>(number);
    if (fields_of(type).empty() && packet_keyword(type) == "unknown") continue;
    EXPECT_NE(std::ranges::find(support::kAllPacketTypes, type), std::end(support::kAllPacketTypes))
        << number;
  }
}

}  // namespace
}  // namespace waymark::etmv4

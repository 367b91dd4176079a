// Properties that hold for any stream, tested on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/etmv4_stream.h"
#include "support/stream_properties.h"
#include "waymark/etmv4/parser_inl.h"
#include "waymark/etmv4/source.h"

namespace waymark::etmv4 {
namespace {

using support::Program;
using support::Random;

/// A configuration, a program and a stream, all from one seed.
struct Case {
  /// `straight`: without anything that keeps atoms from the fast path.
  explicit Case(std::uint64_t seed, bool straight = false)
      : random(seed), config(support::random_config(random)) {
    if (straight) config.trcidr8 = 0;
    const auto kind = random.pick({Program::Kind::kBuffers, Program::Kind::kBuffers,
                                   Program::Kind::kSpaces, Program::Kind::kCallback});
    image = Program(random).image(kind);
    if (random.coin()) options.quirks = kReferenceQuirks;
    if (options.quirks != 0 && random.one_in(3)) options.quirks &= ~random.bits(13);
    for (const std::uint32_t flag :
         {kNoForwardBadPackets, kCheckDirectBranchN, kCheckStrictBranchN, kCheckRangeContinuity,
          kCheckBranchNotThumb, kA64OpcodeCheck, kHaltOnBadPackets})
      if (random.one_in(8)) options.flags |= flag;
    if (random.coin()) options.flags |= kSourceAddressNRanges;
    if (random.one_in(6)) options.range_limit = random.between(2, 12);
    if (straight) options = {};
    bytes = support::StreamMaker(random, config)
                .make(random.between(50, 250), random.pick({0U, 0U, 60U, 10U}));
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& with) const {
    auto made = make_source(config, image.get(), with);
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  [[nodiscard]] static support::PlainCounter plain_counter() { return support::PlainCounter(true); }
  /// Without cycle counting, only a damaged trace has cycle counts.
  [[nodiscard]] count::Counts comparable(count::Counts counts) const {
    if (config.cycle_count_enabled()) return counts;
    for (count::Row& row : counts.rows) row.cycles = 0;
    counts.other_cycles = 0;
    return counts;
  }

  Random random;
  Config config;
  std::unique_ptr<image::Image> image;
  SourceOptions options;
  std::vector<std::uint8_t> bytes;
};

struct StraightCase : Case {
  explicit StraightCase(std::uint64_t seed) : Case(seed, true) {}
};

INSTANTIATE_TYPED_TEST_SUITE_P(Etmv4, StreamProperties, support::Shares<Case>);
INSTANTIATE_TYPED_TEST_SUITE_P(Etmv4, CodeProperties, support::Shares<Case>);
INSTANTIATE_TYPED_TEST_SUITE_P(StraightEtmv4, CodeProperties, support::Shares<StraightCase>);

/// A short form of every packet, whether it comes alone or in a row of atoms.
struct Digest {
  static consteval protocol::VisitorTakes takes() { return {}; }

  std::vector<std::pair<PacketType, std::uint64_t>> packets;

  bool on_atoms(TraceIndex /*index*/, const AtomPacket& atoms) {
    packets.emplace_back(atoms.type, atoms.atoms);
    return true;
  }
  bool on_packet(const Packet& packet) {
    const bool atoms = packet.type >= PacketType::kAtomF6 && packet.type < PacketType::kAsync;
    const bool address =
        packet.type >= PacketType::kAddressMatch && packet.type <= PacketType::kAddress64Is1;
    std::uint64_t told = packet.length;
    if (atoms) told = packet.atoms;
    if (address) told = packet.address.value;
    packets.emplace_back(packet.type, told);
    return true;
  }
};

struct RowDigest : Digest {
  static consteval protocol::VisitorTakes takes() { return {.atom_rows = true}; }

  bool on_atom_row(Bytes headers) {
    for (const std::uint8_t header : headers) on_atoms(0, atom_packet(header));
    return true;
  }
};

std::string rows_differ(const Case& one) {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{16}, one.bytes.size()}) {
    Parser by_rows(one.config);
    Parser one_by_one(one.config);
    RowDigest rows;
    Digest single;
    for (std::size_t at = 0; at < one.bytes.size(); at += chunk) {
      const frames::Run run{0, support::kStreamStart + at};
      const Bytes bytes = Bytes(one.bytes).subspan(at, std::min(chunk, one.bytes.size() - at));
      by_rows.feed({bytes, {&run, 1}});
      by_rows.parse(rows);
      one_by_one.feed({bytes, {&run, 1}});
      Packet packet{};
      while (one_by_one.next(packet)) single.on_packet(packet);
      if (by_rows.position() != bytes.size()) return "bytes left";
    }
    if (rows.packets.size() < 20) return "too few packets to tell";
    const auto [a, b] = std::ranges::mismatch(rows.packets, single.packets);
    if (a != rows.packets.end() || b != single.packets.end())
      return "packet " + std::to_string(a - rows.packets.begin()) + " in chunks of " +
             std::to_string(chunk);
  }
  return {};
}

TEST(Etmv4Stream, gives_rows_of_atoms_the_packets_that_come_one_by_one) {
  for (std::uint64_t seed = 0; seed < 320; ++seed)
    ASSERT_EQ(rows_differ(Case(seed)), "") << "seed " << seed;
}

}  // namespace
}  // namespace waymark::etmv4

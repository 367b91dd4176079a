#include "detect_itm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "waymark/itm/parser.h"

namespace waymark::inputs {
namespace {

constexpr std::size_t kSyncZeros = 5;
/// Software uses few ports and sizes, and few kinds of hardware packets are on at a time.
constexpr std::size_t kCommonHeaders = 8;
constexpr std::size_t kMinPackets = 16;
/// Without a synchronisation, a part of another stream may have some good packets by chance.
constexpr std::size_t kMinUnsyncedPackets = 40;
constexpr std::size_t kManyPackets = 64;

}  // namespace

std::optional<std::size_t> find_itm_sync(Bytes content) {
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == 0) {
      ++zeros;
      continue;
    }
    if (content[at] == 0x80 && zeros >= kSyncZeros) return at - kSyncZeros;
    zeros = 0;
  }
  return std::nullopt;
}

ItmFacts itm_facts(Bytes content) {
  ItmFacts facts;
  facts.size = content.size();
  facts.sync = find_itm_sync(content);
  facts.one_value = std::ranges::adjacent_find(content, std::not_equal_to{}) == content.end();

  itm::Config config;
  config.starts_in_sync = !facts.sync;
  itm::Parser parser(config);
  const frames::Run run{};
  parser.feed({content, {&run, 1}});
  std::array<std::size_t, 256> headers{};
  itm::Packet packet;
  while (parser.next(packet)) {
    if (packet.type == itm::PacketType::kNotSync) continue;
    ++facts.packets;
    if (itm::is_bad(packet.type)) {
      ++facts.bad;
      continue;
    }
    facts.read += packet.length;
    if (packet.type == itm::PacketType::kAsync && packet.length != kSyncZeros + 1 &&
        facts.packets != 1)
      ++facts.odd_syncs;
    if (packet.type != itm::PacketType::kSoftware && packet.type != itm::PacketType::kHardware)
      continue;
    ++facts.data;
    ++headers[content[in_memory(packet.index)]];
  }
  std::ranges::sort(headers, std::greater{});
  facts.common = std::accumulate(headers.begin(), headers.begin() + kCommonHeaders, std::size_t{0});
  return facts;
}

bool ItmFacts::certain() const {
  return bad == 0 && packets >= kManyPackets && data * 4 >= packets && common * 20 >= data * 19 &&
         read * 4 >= size && !one_value;
}

bool ItmFacts::clean() const { return sync && bad == 0 && odd_syncs == 0 && plausible(); }

bool ItmFacts::plausible() const {
  if (packets < (sync ? kMinPackets : kMinUnsyncedPackets) || bad * 50 > packets || one_value ||
      data * 8 < packets)
    return false;
  if (odd_syncs * 50 > packets) return false;
  // Noise has about one bad packet in fifteen.
  return sync ? read * 4 >= size : common * 20 >= data * 19;
}

std::string itm_sentence(const ItmFacts& facts) {
  const std::string bad = facts.bad == 0 ? "none is bad" : fmt::format("{} are bad", facts.bad);
  if (!facts.sync) {
    return fmt::format("Read from its first byte, it has {} ITM packets, of which {}.",
                       facts.packets, bad);
  }
  return fmt::format(
      "Offset {} holds the alignment synchronisation of an ITM stream; of the {} packets after it, "
      "{}.",
      *facts.sync, facts.packets, bad);
}

}  // namespace waymark::inputs

// The wrapping of live servers around trace: any bytes.  The first byte says in which pieces the
// rest comes. Invariants: the pieces do not matter; ORBFLOW and OpenOCD's records give no more
// bytes than they have; what is kept is bounded.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "waymark/live/address.h"
#include "waymark/live/orbflow.h"
#include "waymark/live/rpc_reader.h"

namespace {

using namespace waymark;
using namespace waymark::live;
using fuzz::require;
using Data = std::vector<std::uint8_t>;

/// Trace, and where it is missing.
struct Unpacked {
  Data trace{};
  std::vector<std::size_t> gaps{};
  std::size_t replies = 0;
  friend bool operator==(const Unpacked&, const Unpacked&) = default;
};

Unpacked read_orbflow(Bytes wire, std::size_t size) {
  OrbflowReader reader(kItmTag);
  Unpacked result;
  while (!wire.empty()) {
    Bytes piece = wire.first(std::min(size, wire.size()));
    wire = wire.subspan(piece.size());
    while (!piece.empty()) {
      const std::size_t used = reader.read(piece, result.trace);
      require(used != 0 && used <= piece.size(), "the reader does not go on");
      piece = piece.subspan(used);
      if (reader.damaged()) result.gaps.push_back(result.trace.size());
    }
  }
  require(result.gaps.size() == reader.counts().bad_frames + reader.counts().bad_sums,
          "a damaged packet that is not a gap");
  return result;
}

Unpacked read_records(Bytes wire, std::size_t size) {
  RpcReader reader;
  Unpacked result;
  while (!wire.empty()) {
    Bytes piece = wire.first(std::min(size, wire.size()));
    wire = wire.subspan(piece.size());
    while (!piece.empty()) {
      const std::size_t before = piece.size();
      const RpcReader::Found found = reader.next(piece, result.trace);
      require(piece.size() < before, "the reader does not go on");
      require(reader.reply().size() <= RpcReader::kMostRecord, "a record that is too long");
      if (found == RpcReader::Found::kDamage) result.gaps.push_back(result.trace.size());
      result.replies += found == RpcReader::Found::kReply ? 1 : 0;
    }
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] % 17 + std::size_t{1};
  const Bytes wire(data + 1, size - 1);
  const Unpacked packets = read_orbflow(wire, std::max<std::size_t>(wire.size(), 1));
  require(packets == read_orbflow(wire, piece), "ORBFLOW depends on the pieces");
  require(packets.trace.size() <= wire.size(), "more trace than ORBFLOW has");
  const Unpacked records = read_records(wire, std::max<std::size_t>(wire.size(), 1));
  require(records == read_records(wire, piece), "records depend on the pieces");
  require(2 * records.trace.size() <= wire.size(), "more trace than there are digits");
  const std::string text = std::string(wire.begin(), wire.end()).substr(0, 300);
  for (const std::string_view scheme : {"tcp://", "openocd://", "orbuculum://", "serial://", ""}) {
    const std::string whole = std::string(scheme) + text;
    const auto address = live::parse_address(whole);
    if (!address) {
      require(!address.error().detail.empty(), "an error without a sentence");
    } else if (address->transport == live::Transport::kSerial) {
      require(address->path.starts_with('/') || address->path == whole,
              "a serial device without its whole path");
    } else {
      require(address->port != 0, "an address without a port");
    }
  }
  return 0;
}

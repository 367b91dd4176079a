// Random MTB configurations and streams.
#pragma once

#include <cstdint>
#include <vector>

#include "support/program.h"
#include "support/random.h"
#include "waymark/flow/follower.h"
#include "waymark/image/image.h"
#include "waymark/mtb/config.h"
#include "waymark/mtb/encoder.h"
#include "waymark/mtb/packet.h"

namespace waymark::support {

inline mtb::Config random_mtb_config(Random& random) {
  mtb::Config config;
  if (random.coin()) config.core.arch = isa::Arch::kV7;
  if (random.coin()) config.vtor = static_cast<std::uint32_t>(Program::kT32 + 0x80);
  if (random.coin()) config.pc = static_cast<std::uint32_t>(Program::address(random, false, 1));
  return config;
}

/// A record of any type with values that its bytes hold; addresses point into a Program.
inline mtb::Packet random_mtb_packet(Random& random, mtb::PacketType type) {
  const auto address = [&] {
    if (random.one_in(16)) return static_cast<std::uint32_t>(random.bits(32)) & 0x7FFF'FFFE;
    return static_cast<std::uint32_t>(Program::address(random, false, 1));
  };
  mtb::Packet packet;
  packet.type = type;
  packet.length = mtb::kRecordBytes;
  if (type == mtb::PacketType::kUnused) {
    packet.ones = random.coin();
    return packet;
  }
  packet.source = address();
  packet.destination = address();
  packet.start = random.one_in(8);
  if (type == mtb::PacketType::kExceptionReturn)
    packet.source = random.pick({0xFFFF'FFF1U, 0xFFFF'FFF9U, 0xFFFF'FFFDU, 0xFFFF'FFBCU | 1});
  if (type == mtb::PacketType::kFunctionReturn) packet.source = 0xFEFF'FFFF;
  return packet;
}

/// Makes the records of a way through the T32 area of a Program, now and then with others.
class MtbStreamMaker {
 public:
  MtbStreamMaker(Random& random, const image::Image& image)
      : random_(random), follower_(image, {.arch = isa::Arch::kV8, .track_it_block = true}, 0) {
    follower_.select(image::kSpaceAny, 0);
  }

  /// `odd`: one record in this number has nothing to do with the way; 0: none.
  std::vector<std::uint8_t> make(unsigned records, unsigned odd) {
    std::uint32_t at = place();
    while (records-- != 0) {
      if (odd != 0 && random_.one_in(odd)) {
        const auto type = static_cast<mtb::PacketType>(random_.below(5));
        add(random_mtb_packet(random_, type));
        continue;
      }
      at = advance(at);
    }
    if (random_.one_in(4)) bytes_.resize(bytes_.size() - random_.below(8));
    return bytes_;
  }

 private:
  std::uint32_t place() { return static_cast<std::uint32_t>(Program::address(random_, false, 1)); }
  void add(const mtb::Packet& packet) { (void)mtb::encode(packet, bytes_); }

  void exception(std::uint32_t at) {
    mtb::Packet packet{.source = at, .destination = place(), .type = mtb::PacketType::kException};
    add(packet);
    if (random_.coin()) return;
    // A handler of one instruction, which the image need not have.
    add({.source = packet.destination,
         .destination = 0xFFFF'FFF8,
         .type = mtb::PacketType::kBranch});
    add({.source = 0xFFFF'FFF9, .destination = at, .type = mtb::PacketType::kExceptionReturn});
  }

  /// Adds the records up to the next taken branch, and returns where it goes.
  std::uint32_t advance(std::uint32_t at) {
    for (unsigned blocks = 0; blocks != 16; ++blocks) {
      const flow::Block block = follower_.block(at, isa::Isa::kT32, 0);
      if (random_.one_in(10)) exception(at);
      if (block.ended != flow::BlockEnd::kWaypoint) break;
      at = static_cast<std::uint32_t>(block.end);
      if (!block.is_branch() || (block.conditional && random_.coin())) continue;
      const auto to = block.is_direct_branch() ? static_cast<std::uint32_t>(block.target) : place();
      add({.source = at - block.last_size,
           .destination = to,
           .type = mtb::PacketType::kBranch,
           .start = random_.one_in(20)});
      return to;
    }
    const std::uint32_t to = place();
    add({.source = at, .destination = to, .type = mtb::PacketType::kBranch, .start = true});
    return to;
  }

  Random& random_;
  flow::Follower follower_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace waymark::support

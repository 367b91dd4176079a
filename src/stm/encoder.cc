#include "waymark/stm/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "opcodes.h"
#include "waymark/base/bits.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/text.h"

namespace waymark::stm {
namespace {

std::unexpected<Error> refuse(const Packet& packet, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("The STM packet {} cannot be encoded: {}",
                                                       packet_name(packet.type), why));
}

const Opcode* opcode_of(const Packet& packet) {
  const auto fits = [&](const Opcode& opcode) {
    return opcode.layout != Layout::kReserved && opcode.layout != Layout::kUnknownLayout &&
           opcode.type == packet.type && opcode.marker == packet.marker &&
           opcode.timestamp == packet.has_timestamp;
  };
  const auto* found = std::ranges::find_if(kOpcodes, fits);
  return found == std::end(kOpcodes) ? nullptr : found;
}

unsigned nibbles_of(std::uint64_t value) {
  return static_cast<unsigned>(std::bit_width(value) + 3) / 4;
}

/// The length nibble for `nibbles`; 13 and 15 nibbles cannot be sent.
constexpr unsigned length_nibble(unsigned nibbles) {
  if (nibbles == 14) return 13;
  return nibbles == 16 ? 14 : nibbles;
}

}  // namespace

void Encoder::raw_nibble(unsigned nibble, std::vector<std::uint8_t>& out) {
  if (half_) {
    out.back() = static_cast<std::uint8_t>(out.back() | nibble << 4);
  } else {
    out.push_back(static_cast<std::uint8_t>(nibble));
  }
  half_ = !half_;
}

void Encoder::field(std::uint64_t value, unsigned nibbles, std::vector<std::uint8_t>& out) {
  for (unsigned i = 0; i < nibbles; ++i) {
    const unsigned place = least_first_ ? i : nibbles - 1 - i;
    raw_nibble(static_cast<unsigned>(value >> 4 * place & 0xF), out);
  }
}

Result<void> Encoder::encode(const Packet& packet, std::vector<std::uint8_t>& out) {
  if (packet.type == PacketType::kAsync) {
    for (unsigned i = 0; i < Parser::kAsyncNibbles - 1; ++i) raw_nibble(0xF, out);
    raw_nibble(0, out);
    return {};
  }
  const Opcode* opcode = opcode_of(packet);
  if (opcode == nullptr) return refuse(packet, "there is no opcode for it.");
  const bool version = opcode->layout == Layout::kVersion;
  const bool user = opcode->layout == Layout::kUser;
  const bool extended = version && packet.payload_bits == 12;
  unsigned nibbles = extended ? 3 : opcode->payload;
  if (user) nibbles = packet.payload_bits / 4U;
  if (user && (nibbles == 0 || nibbles > 16 || packet.payload_bits % 4 != 0))
    return refuse(packet, "its payload has 1 to 16 nibbles.");
  if ((packet.payload & ~low_mask(4 * nibbles)) != 0)
    return refuse(packet, fmt::format("its payload has {} nibbles.", nibbles));
  const std::size_t size = out.size();
  const bool half = half_;
  const std::uint8_t last = half ? out.back() : std::uint8_t{0};
  for (const char digit : opcode->text) raw_nibble(nibble_of(digit), out);
  if (version) {
    // An extended version states the order of what follows; the order does not apply to itself.
    for (unsigned i = nibbles; i-- > 0;)
      raw_nibble(static_cast<unsigned>(packet.payload >> 4 * i & 0xF), out);
    const auto nibble = static_cast<unsigned>(extended ? packet.payload >> 8 : packet.payload);
    encoding_ = static_cast<TimestampEncoding>(extended ? nibble & 7 : nibble);
    least_first_ = extended ? (packet.payload & 0x80) != 0 : wanted_least_first_;
  } else {
    if (user) raw_nibble(nibbles - 1, out);
    field(packet.payload, nibbles, out);
  }
  if (!packet.has_timestamp) return {};
  Result<void> done = timestamp(packet, out);
  if (!done) {
    out.resize(size);
    half_ = half;
    if (half) out.back() = last;
  }
  return done;
}

Result<void> Encoder::timestamp(const Packet& packet, std::vector<std::uint8_t>& out) {
  std::uint64_t value = packet.timestamp;
  std::uint64_t changed = value ^ timestamp_;
  std::uint64_t keeps = 0;  // The upper part that the receiver assumes if it is not sent.
  if (encoding_ == TimestampEncoding::kGray) {
    value = to_gray(packet.timestamp);
    keeps = to_gray(timestamp_);
    changed = value ^ keeps;
  } else if (encoding_ == TimestampEncoding::kNaturalDelta) {
    value = changed = packet.timestamp - timestamp_;
  } else {
    keeps = timestamp_;
  }
  unsigned nibbles = packet.timestamp_bits / 4U;
  if (packet.timestamp_bits == kFewestBits) {
    nibbles = nibbles_of(changed);
    nibbles += nibbles == 13 || nibbles == 15 ? 1 : 0;
  } else if (packet.timestamp_bits % 4 != 0 || nibbles > 16 || nibbles == 13 || nibbles == 15) {
    return refuse(packet, "a timestamp has 0 to 12, 14 or 16 nibbles.");
  }
  raw_nibble(length_nibble(nibbles), out);
  const std::uint64_t mask = low_mask(4 * nibbles);
  field(value & mask, nibbles, out);
  const std::uint64_t received = (keeps & ~mask) | (value & mask);
  if (encoding_ == TimestampEncoding::kGray) {
    timestamp_ = from_gray(received);
  } else if (encoding_ == TimestampEncoding::kNaturalDelta) {
    timestamp_ += value & mask;
  } else {
    timestamp_ = received;
  }
  return {};
}

}  // namespace waymark::stm

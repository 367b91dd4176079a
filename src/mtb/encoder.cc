#include "waymark/mtb/encoder.h"

#include <fmt/format.h>

#include "waymark/mtb/text.h"

namespace waymark::mtb {
namespace {

std::unexpected<Error> refuse(const Packet& packet, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("{} cannot be encoded: {}", packet_name(packet.type), why));
}

Result<void> check(const Packet& packet) {
  const std::uint32_t source = packet.source;
  switch (packet.type) {
    case PacketType::kBranch:
      if ((source & 1) != 0) return refuse(packet, "its source is odd.");
      if (source == 0 && packet.destination == 0 && !packet.start)
        return refuse(packet, "all its bits would be 0, as in memory that was never written.");
      break;
    case PacketType::kException:
      if ((source & 1) != 0) return refuse(packet, "its source is odd.");
      if (is_return_value(source))
        return refuse(packet, "its source is a value of EXC_RETURN or FNC_RETURN.");
      break;
    case PacketType::kExceptionReturn:
      if (!is_exception_return(source) || (source & 1) == 0)
        return refuse(packet, "EXC_RETURN is odd, and 0xff000001 or higher.");
      break;
    case PacketType::kFunctionReturn:
      if (source != 0xFEFF'FFFF) return refuse(packet, "FNC_RETURN is 0xfeffffff.");
      break;
    case PacketType::kUnused:
      return {};
    case PacketType::kIncompleteEot:
      return refuse(packet, "it is not a whole record.");
  }
  if ((packet.destination & 1) != 0) return refuse(packet, "its destination is odd.");
  const bool ones = source == ~0U && packet.destination == ~1U && packet.start;
  if (ones) return refuse(packet, "all its bits would be 1, as in memory that was erased.");
  return {};
}

void put_word(std::uint32_t word, std::vector<std::uint8_t>& out) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(word >> shift));
}

}  // namespace

Result<void> encode(const Packet& packet, std::vector<std::uint8_t>& out) {
  WAYMARK_TRY(check(packet));
  if (packet.type == PacketType::kUnused) {
    out.insert(out.end(), kRecordBytes, packet.ones ? 0xFF : 0x00);
    return {};
  }
  const bool atomic = packet.type != PacketType::kBranch;
  put_word(packet.source | (atomic ? 1U : 0U), out);
  put_word(packet.destination | (packet.start ? 1U : 0U), out);
  return {};
}

}  // namespace waymark::mtb

// Packets of STM and ITM.
#include <algorithm>

#include "packet_struct.h"
#include "payload.h"

namespace waymark::compat {

// -- STM. -----------------------------------------------------------------------------------------

namespace {

std::uint8_t payload_bits(stm::PacketType type) {
  using enum stm::PacketType;
  switch (type) {
    case kVersion:
    case kD4:
      return 4;
    case kTrig:
    case kGerr:
    case kMerr:
    case kM8:
    case kC8:
    case kD8:
      return 8;
    case kC16:
    case kD16:
      return 16;
    case kFreq:
    case kD32:
      return 32;
    case kD64:
      return 64;
    default:
      return 0;
  }
}

}  // namespace

void fill(const stm::Packet& from, ocsd_stm_pkt& to) {
  using stm::PacketType;
  // The reference does not have these types.
  const auto number = [](PacketType type) {
    return type <= PacketType::kReserved ? static_cast<ocsd_stm_pkt_type>(type) : STM_PKT_RESERVED;
  };
  to.type = number(from.type);
  to.err_type = number(from.error_type);
  to.master = static_cast<std::uint8_t>(from.master);
  to.channel = from.channel;
  to.timestamp = from.timestamp;
  to.pkt_ts_bits = from.has_timestamp ? from.timestamp_bits : 0;
  to.pkt_has_ts = from.has_timestamp;
  to.pkt_has_marker = from.marker;
  to.payload.D64 = from.payload << payload_shift(payload_bits(from.type));
  if (from.type == PacketType::kVersion) {
    constexpr std::uint64_t kNatural = 3;
    constexpr std::uint64_t kGray = 4;
    to.ts_type = from.payload == kNatural ? STM_TS_NATBINARY
                 : from.payload == kGray  ? STM_TS_GREY
                                          : STM_TS_UNKNOWN;
  }
}

void read(const ocsd_stm_pkt& from, stm::Packet& to) {
  to.type =
      static_cast<stm::PacketType>(std::clamp<int>(from.type, STM_PKT_NOTSYNC, STM_PKT_RESERVED));
  to.error_type = static_cast<stm::PacketType>(
      std::clamp<int>(from.err_type, STM_PKT_NOTSYNC, STM_PKT_RESERVED));
  to.master = from.master;
  to.channel = from.channel;
  to.timestamp = from.timestamp;
  to.timestamp_bits = std::min<std::uint8_t>(from.pkt_ts_bits, 64);
  to.has_timestamp = from.pkt_has_ts != 0;
  to.marker = from.pkt_has_marker != 0;
  to.payload_bits = payload_bits(to.type);
  switch (to.payload_bits) {
    case 4:
      to.payload = from.payload.D8 & 0xFU;
      break;
    case 8:
      to.payload = from.payload.D8;
      break;
    case 16:
      to.payload = from.payload.D16;
      break;
    case 32:
      to.payload = from.payload.D32;
      break;
    default:
      to.payload = from.payload.D64;
      break;
  }
}

// -- ITM. -----------------------------------------------------------------------------------------

void fill(const itm::Packet& from, ocsd_itm_pkt& to) {
  to.type = static_cast<ocsd_itm_pkt_type>(from.type);
  to.err_type = static_cast<ocsd_itm_pkt_type>(from.error_type);
  to.src_id = from.source;
  to.value = static_cast<std::uint32_t>(from.value);
  to.val_sz = from.size;
  to.val_ext = static_cast<std::uint8_t>(from.value >> 32);
}

void read(const ocsd_itm_pkt& from, itm::Packet& to) {
  to.type =
      static_cast<itm::PacketType>(std::clamp<int>(from.type, ITM_PKT_NOTSYNC, ITM_PKT_RESERVED));
  to.error_type = static_cast<itm::PacketType>(
      std::clamp<int>(from.err_type, ITM_PKT_NOTSYNC, ITM_PKT_RESERVED));
  to.source = from.src_id;
  to.value = from.value | std::uint64_t{from.val_ext} << 32;
  to.size = std::min<std::uint8_t>(from.val_sz, 8);
}

}  // namespace waymark::compat

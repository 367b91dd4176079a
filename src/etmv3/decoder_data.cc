// Data packets to elements.  See etmv3.md 7 and 10.
#include "waymark/etmv3/decoder.h"

namespace waymark::etmv3 {

Element& Decoder::emit_data(ElementKind kind, TraceIndex index, const Place& place, unsigned tag) {
  Element& element = emit(kind, index);
  unsigned flags = 0;
  switch (place.owner.kind) {
    case Owner::Kind::kUnknown:
      break;
    case Owner::Kind::kInstruction:
      flags = kDataOwned;
      break;
    case Owner::Kind::kStacking:
      flags = kDataStacking;
      break;
    case Owner::Kind::kUnstacking:
      flags = kDataUnstacking;
      break;
    case Owner::Kind::kAccess:
      flags = kDataAccess;
      break;
  }
  if (place.inferred) flags |= kDataInferred;
  if (place.has_endianness) flags |= kDataEndianKnown;
  if (place.big_endian) flags |= kDataBigEndian;
  element.start = place.address.value;
  element.end = place.owner.key;
  element.extra = static_cast<std::uint8_t>(flags);
  element.extra_value =
      DataPlace{place.number, place.address.valid_bits, static_cast<std::uint8_t>(tag)}.packed();
  return element;
}

void Decoder::transfer(const Packet& packet) {
  const Transfer& transfer = packet.transfer;
  const auto value = [&](const Place& place) {
    Element& element = emit_data(ElementKind::kDataValue, packet.index, place, transfer.tag);
    element.value = transfer.value;
    element.count = transfer.size;
  };
  const auto event = [&](const Place& place, DataEvent what) {
    emit_data(ElementKind::kDataEvent, packet.index, place, transfer.tag).reason =
        static_cast<std::uint8_t>(what);
  };
  data_.any = true;
  Place place;
  switch (packet.type) {
    case PacketType::kOooData:
      value(transfers_.resolve(transfer.tag).value_or(Place{}));
      return;
    case PacketType::kDataSuppressed:
    case PacketType::kStoreFailed:
      place.owner = transfers_.owner();
      emit_data(ElementKind::kDataEvent, packet.index, place, 0).reason = static_cast<std::uint8_t>(
          packet.type == PacketType::kStoreFailed ? DataEvent::kStoreFailed
                                                  : DataEvent::kSuppressed);
      if (packet.type == PacketType::kDataSuppressed) transfers_.suppressed();
      return;
    default:
      break;
  }
  place = transfers_.place(transfer);
  if (place.address.valid_bits != 0) emit_data(ElementKind::kDataAddress, packet.index, place, 0);
  if (packet.type == PacketType::kOooAddress) {
    event(place, DataEvent::kPending);
    transfers_.remember(transfer.tag, place);
  } else if (packet.type == PacketType::kNormData && transfer.has_value) {
    value(place);
  } else if (packet.type == PacketType::kValueNotTraced || place.address.valid_bits == 0) {
    event(place, DataEvent::kNotTraced);
  }
}

}  // namespace waymark::etmv3

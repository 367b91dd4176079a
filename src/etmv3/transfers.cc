#include "waymark/etmv3/transfers.h"

namespace waymark::etmv3 {

Place Transfers::place(const Transfer& transfer) {
  // A coprocessor move has no address: the A bit belongs to a load or store.
  const bool coprocessor = in_coprocessor_ && !transfer.first;
  Current& current = coprocessor ? coprocessor_owner_ : memory_;
  if (data_only_ && (transfer.first || current.owner.kind != Owner::Kind::kAccess)) {
    current = {{Owner::Kind::kAccess, accesses_}, 0, {}, false};
    ++accesses_;
  } else if (transfer.first && current.owner.kind == Owner::Kind::kUnknown) {
    current.next = 0;
  }
  Place place;
  place.owner = current.owner;
  place.number = current.next++;
  if (transfer.has_address) {
    place.address = transfer.address;
    place.has_endianness = transfer.has_endianness;
    place.big_endian = transfer.big_endian;
  } else if (current.chained && !transfer.first && place.number != 0) {
    place.address = current.last.address;
    place.address.value =
        (place.address.value + 4) & static_cast<std::uint32_t>(low_mask(place.address.valid_bits));
    place.has_endianness = current.last.has_endianness;
    place.big_endian = current.last.big_endian;
    place.inferred = true;
  }
  current.chained = place.address.valid_bits != 0;
  current.last = place;
  return place;
}

void Transfers::remember(unsigned tag, const Place& place) {
  Waiting& waiting = pending_[tag & 3];
  if (waiting.count == kMaxPending) {
    waiting.first = (waiting.first + 1) % kMaxPending;
    --waiting.count;
  }
  waiting.places[(waiting.first + waiting.count) % kMaxPending] = place;
  ++waiting.count;
}

std::optional<Place> Transfers::resolve(unsigned tag) {
  Waiting& waiting = pending_[tag & 3];
  if (waiting.count == 0) return std::nullopt;
  const Place place = waiting.places[waiting.first];
  waiting.first = (waiting.first + 1) % kMaxPending;
  --waiting.count;
  return place;
}

}  // namespace waymark::etmv3

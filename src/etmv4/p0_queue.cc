#include "waymark/etmv4/p0_queue.h"

namespace waymark::etmv4 {

std::optional<std::uint64_t> P0Queue::next_address() {
  const std::size_t place = size() > 1 && at(1).kind == EntryKind::kContext ? 2 : 1;
  if (size() <= place || at(place).kind != EntryKind::kAddress) return std::nullopt;
  return at(place).value;
}

std::optional<Arrival> P0Queue::pop_with_arrival() {
  const bool states_address = next_address().has_value();
  pop_front();
  if (!states_address) return std::nullopt;
  const bool has_context = front().kind == EntryKind::kContext;
  Arrival arrival;
  if (has_context) {
    arrival.context = front();
    pop_front();
  }
  arrival.address = front();
  pop_front();
  return arrival;
}

std::size_t P0Queue::newer_than_atoms() const {
  std::size_t count = 0;
  while (count != size()) {
    const EntryKind kind = entries_[entries_.size() - 1 - count].kind;
    if (kind == EntryKind::kAtom || kind == EntryKind::kUnseen) break;
    ++count;
  }
  return count;
}

void P0Queue::drop_newest(TraceIndex index) {
  if (holds_ && held_.index == index) drop_held();
  while (!empty() && back().index == index) pop_back();
}

void P0Queue::drop_addresses(std::size_t count) {
  const auto from = entries_.end() - static_cast<std::ptrdiff_t>(count);
  entries_.erase(
      std::remove_if(from, entries_.end(),
                     [](const Entry& entry) { return entry.kind == EntryKind::kAddress; }),
      entries_.end());
  forget_popped();
}

void P0Queue::settle_held() {
  holds_ = false;
  push_back(held_);
}

bool operator==(const P0Queue& a, const P0Queue& b) {
  const auto begin = [](const P0Queue& queue) {
    return queue.entries_.begin() + static_cast<std::ptrdiff_t>(queue.front_);
  };
  return a.depth == b.depth && a.awaits_address == b.awaits_address && a.holds_ == b.holds_ &&
         (!a.holds_ || a.held_ == b.held_) &&
         std::equal(begin(a), a.entries_.end(), begin(b), b.entries_.end());
}

}  // namespace waymark::etmv4

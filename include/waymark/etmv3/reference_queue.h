// The element queue of the reference, whose slots keep what they held before.  Only quirks need it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/flow/instruction_cache.h"

namespace waymark::etmv3 {

/// The values that the reference leaves in a slot of its element queue; quirks stale_*.
struct QueueSlot {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  std::uint32_t unused = 0;
  std::uint32_t description = static_cast<std::uint32_t>(isa::Isa::kA32);  ///< As in a Step.

  [[nodiscard]] isa::Isa isa() const { return static_cast<isa::Isa>(description & 0xFF); }
  void set_isa(isa::Isa isa) { description = (description & ~0xFFU) | static_cast<unsigned>(isa); }
};
static_assert(sizeof(QueueSlot) == sizeof(flow::Step));

/// The ring of slots.  The elements in it are those that were not sent yet.
class QueueSlots {
 public:
  QueueSlots() : slots_(1 + kFirstSize) {}
  QueueSlot& push() {
    if (count_ == size()) [[unlikely]]
      grow();
    QueueSlot& slot = slots_[1 + wrapped(first_ + count_)];
    ++count_;
    return slot;
  }
  void send(std::size_t count) {
    first_ = wrapped(first_ + count);
    count_ -= count;
  }
  void drop(std::size_t count) { count_ -= count; }
  void reset() {
    slots_.assign(1 + kFirstSize, {});
    first_ = count_ = 0;
  }

  // For loops: slot 0 takes what must not be kept; the slots are 1 to size().
  [[nodiscard]] QueueSlot* data() { return slots_.data(); }
  [[nodiscard]] std::size_t size() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next() const { return 1 + wrapped(first_ + count_); }
  /// All elements before slot `next`, except for the last `held`, are sent.
  void sent(std::size_t next, std::size_t held) {
    first_ = wrapped(next - 1 + size() - held);
    count_ = held;
  }

 private:
  static constexpr std::size_t kFirstSize = 8;

  /// `at` is less than twice the size.
  [[nodiscard]] std::size_t wrapped(std::size_t at) const {
    return at >= size() ? at - size() : at;
  }
  void grow();

  std::vector<QueueSlot> slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

/// The elements that were given last, at least as many as there are slots.
class GivenElements {
 public:
  [[nodiscard]] std::size_t size() const { return std::min(count_, ring_.size()); }
  /// The oldest has number 0.
  [[nodiscard]] const Element& operator[](std::size_t number) const {
    return ring_[(count_ - size() + number) & mask_];
  }
  void add(const Element& element) { ring_[count_++ & mask_] = element; }
  void reserve(std::size_t slots) {
    if (slots > mask_ + 1) [[unlikely]]
      grow(slots);
  }
  void clear() { count_ = 0; }

 private:
  void grow(std::size_t slots);

  std::vector<Element> ring_ = std::vector<Element>(16);  ///< The size is a power of two.
  std::size_t mask_ = 15;                                 ///< That size less 1.
  std::size_t count_ = 0;                                 ///< All that were added.
};

/// The facts that quirks know about the queue.
struct ReferenceQueue {
  /// The most elements that are held at the end: a range and the exception return after it.
  static constexpr std::size_t kMostPended = 2;

  QueueSlots slots;
  GivenElements given;
  std::size_t pended = 0;               ///< The number of held elements at the end.
  isa::Isa stale_isa = isa::Isa::kA32;  ///< After the last instruction.

  void reset() {
    slots.reset();
    given.clear();
    pended = 0;
  }
  /// The previous content of the next element's slot, if `waiting` were not given yet; nullptr:
  /// none.  The ring is full of the latest elements.
  [[nodiscard]] const Element* stale(std::span<const Element> waiting) const {
    const std::size_t all = given.size() + waiting.size();
    if (all < slots.size()) return nullptr;
    const std::size_t at = all - slots.size();
    return at < given.size() ? &given[at] : &waiting[at - given.size()];
  }
  /// Elements that were given, in order.
  void remember(std::span<const Element> elements) {
    given.reserve(slots.size());
    if (elements.size() == 1) {
      given.add(elements.front());
      return;
    }
    if (elements.size() > slots.size()) elements = elements.last(slots.size());
    for (const Element& element : elements) given.add(element);
  }
  void note(const flow::Step& step, isa::Isa next_isa) {
    QueueSlot& slot = slots.push();
    slot.start = step.address;
    slot.end = step.end;
    slot.description = step.description;
    stale_isa = next_isa;
  }
};

}  // namespace waymark::etmv3

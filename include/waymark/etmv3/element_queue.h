// The elements that a decoder has made and not given yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "waymark/element/element.h"

namespace waymark::etmv3 {

/// Elements that can be taken, and after them those that are held back.  While a caller's span is
/// written, those that are held may be at its end instead, as the tail; then the queue is empty.
class ElementQueue {
 public:
  [[nodiscard]] bool empty() const { return elements_.empty(); }
  [[nodiscard]] std::size_t size() const { return elements_.size(); }
  [[nodiscard]] Element& operator[](std::size_t number) { return elements_[number]; }
  [[nodiscard]] const Element& operator[](std::size_t number) const { return elements_[number]; }
  /// The number of elements at the front that can be taken, with those that were taken already.
  [[nodiscard]] std::size_t ready() const { return ready_; }
  /// The number of those that are held back.
  [[nodiscard]] std::size_t held() const { return elements_.size() - ready_; }
  /// Those that were not taken yet.
  [[nodiscard]] std::span<const Element> waiting() const {
    return std::span(elements_).subspan(taken_);
  }

  Element& add(const Element& element) { return elements_.emplace_back(element); }
  void add(const Element* first, const Element* last) {
    elements_.insert(elements_.end(), first, last);
  }
  /// All but the last `held` can be taken.
  void release(std::size_t held = 0) { ready_ = elements_.size() - held; }
  /// Removes elements at the end.
  void drop(std::size_t count) { elements_.resize(elements_.size() - count); }
  void drop_held() { elements_.resize(ready_); }
  /// Removes the first held element, or those from number `from` on that are of a kind.
  void erase_held() { elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(ready_)); }
  void erase_held(ElementKind kind, std::size_t from) {
    const auto begin = elements_.begin() + static_cast<std::ptrdiff_t>(from);
    elements_.erase(
        std::remove_if(begin, elements_.end(), [kind](const Element& e) { return e.kind == kind; }),
        elements_.end());
  }

  /// Takes elements from the front; returns their number.
  std::size_t drain(std::span<Element> out) {
    const std::size_t count = std::min(out.size(), ready_ - taken_);
    if (count == 1) {  // For clients that take one at a time.
      out.front() = elements_[taken_];
    } else {
      std::copy_n(elements_.begin() + static_cast<std::ptrdiff_t>(taken_), count, out.begin());
    }
    taken_ += count;
    if (taken_ == ready_) {
      if (held() == 0) {
        elements_.clear();
      } else {
        elements_.erase(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(ready_));
      }
      taken_ = ready_ = 0;
    }
    return count;
  }

  /// Forgets everything.
  void clear() {
    elements_.clear();
    taken_ = ready_ = tail_count_ = 0;
  }
  void reserve(std::size_t size) { elements_.reserve(size); }
  /// Has what another queue has still to give.
  void restore(const ElementQueue& other) {
    elements_.assign(other.waiting().begin(), other.waiting().end());
    ready_ = other.ready_ - other.taken_;
    taken_ = 0;
  }

  // -- The tail. --
  [[nodiscard]] std::size_t tail_count() const { return tail_count_; }
  /// The elements that are held are `count` in the caller's span.
  void set_tail(Element* at, std::size_t count) {
    tail_ = at;
    tail_count_ = count;
  }
  /// The tail was given.
  void give_tail() { tail_count_ = 0; }
  /// The held elements move to `out`.
  void to_tail(Element* out) {
    std::ranges::copy(elements_, out);
    set_tail(out, elements_.size());
    elements_.clear();
  }
  /// The tail moves back.
  void stash_tail() {
    if (tail_count_ == 0) return;
    elements_.insert(elements_.end(), tail_, tail_ + tail_count_);
    tail_count_ = 0;
  }

 private:
  std::vector<Element> elements_;
  std::size_t taken_ = 0;
  std::size_t ready_ = 0;  ///< At least taken_.
  Element* tail_ = nullptr;
  std::size_t tail_count_ = 0;
};

}  // namespace waymark::etmv3

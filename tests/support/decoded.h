// Everything that a source gives, for comparisons.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/element/element.h"
#include "waymark/element/text.h"
#include "waymark/protocol/source.h"

namespace waymark::support {

inline bool same(const Element& a, const Element& b) {
  return a.index == b.index && a.start == b.start && a.end == b.end && a.timestamp == b.timestamp &&
         a.count == b.count && a.cycle_count == b.cycle_count && a.context_id == b.context_id &&
         a.vmid == b.vmid && a.kind == b.kind && a.trace_id == b.trace_id && a.flags == b.flags &&
         a.isa == b.isa && a.last_type == b.last_type && a.last_subtype == b.last_subtype &&
         a.last_size == b.last_size && a.exception_level == b.exception_level &&
         a.security == b.security && a.reason == b.reason && a.extra == b.extra &&
         a.extra_value == b.extra_value;
}

inline bool same(const Diagnostic& a, const Diagnostic& b) {
  return a.fault == b.fault && a.severity == b.severity && a.stage == b.stage &&
         a.fatal == b.fatal && a.trace_id == b.trace_id && a.stream_id == b.stream_id &&
         a.index == b.index && a.finding == b.finding && a.number == b.number && a.lost == b.lost &&
         a.address == b.address;
}

inline std::string text_of(const Element& element) {
  TextBuffer text;
  write_element_line(text, element);
  return std::string(text.view());
}

/// Something other than an element, and how many elements came before it.
template <class T>
struct Placed {
  std::size_t after = 0;
  T what;
};

struct SeenPacket {
  TraceId trace_id = 0;
  TraceIndex index = 0;
  bool monitor_only = false;
  std::vector<std::uint8_t> bytes;
  std::string text;
  friend bool operator==(const SeenPacket&, const SeenPacket&) = default;
};

inline std::string describe(const Placed<SeenPacket>& packet) {
  return "after " + std::to_string(packet.after) + ", index " + std::to_string(packet.what.index) +
         ": " + packet.what.text;
}
inline std::string describe(const Placed<Diagnostic>& record) {
  return "after " + std::to_string(record.after) + ", index " + std::to_string(record.what.index) +
         ": " + std::string(waymark::describe(record.what));
}
inline std::string describe(const Placed<Operation>& operation) {
  return "after " + std::to_string(operation.after) + ", operation " +
         std::to_string(static_cast<int>(operation.what));
}

class Decoded final : public Observer {
 public:
  std::vector<Element> elements;
  std::vector<Placed<Diagnostic>> diagnostics;
  std::vector<Placed<SeenPacket>> packets;
  std::vector<Placed<Operation>> operations;
  const Source* source = nullptr;  ///< Writes the packets' text; nullptr: packets are not kept.

  void on_packet(const PacketRef& ref) override {
    if (source == nullptr) return;
    text_.clear();
    source->write_packet(text_, ref);
    packets.push_back({elements.size(),
                       {ref.trace_id,
                        ref.index,
                        ref.monitor_only,
                        {ref.bytes.begin(), ref.bytes.end()},
                        std::string(text_.view())}});
  }
  [[nodiscard]] bool wants_packets() const override { return source != nullptr; }
  void on_diagnostic(const Diagnostic& record) override {
    diagnostics.push_back({elements.size(), record});
  }
  void on_operation(Operation operation, TraceId /*trace_id*/) override {
    operations.push_back({elements.size(), operation});
  }

 private:
  TextBuffer text_;
};

/// The first difference between the elements; empty: none.
inline std::string difference(std::span<const Element> a, std::span<const Element> b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i)
    if (!same(a[i], b[i]))
      return "element " + std::to_string(i) + ":\n  " + text_of(a[i]) + "  " + text_of(b[i]);
  if (a.size() == b.size()) return {};
  const auto& longer = a.size() > b.size() ? a : b;
  return std::to_string(a.size()) + " elements and " + std::to_string(b.size()) +
         "; the first of the rest is " + text_of(longer[common]);
}

/// The first difference between everything that was seen, including its order among the elements;
/// empty: none.
inline std::string difference(const Decoded& a, const Decoded& b) {
  if (std::string text = difference(a.elements, b.elements); !text.empty()) return text;
  const auto part = [](const auto& left, const auto& right, const auto& equal, const char* what) {
    const auto [at, other] = std::ranges::mismatch(left, right, [&](const auto& x, const auto& y) {
      return x.after == y.after && equal(x.what, y.what);
    });
    if (at == left.end() && other == right.end()) return std::string();
    std::string text = std::string(what) + " " + std::to_string(at - left.begin()) + " of " +
                       std::to_string(left.size()) + " and " + std::to_string(right.size());
    if (at != left.end()) text += "\n  " + describe(*at);
    if (other != right.end()) text += "\n  " + describe(*other);
    return text;
  };
  if (auto text = part(
          a.diagnostics, b.diagnostics, [](const auto& x, const auto& y) { return same(x, y); },
          "diagnostic");
      !text.empty())
    return text;
  if (auto text = part(a.packets, b.packets, std::equal_to<>(), "packet"); !text.empty())
    return text;
  return part(a.operations, b.operations, std::equal_to<>(), "operation");
}

/// Feeds `bytes` from `start` on in chunks (0: whole) and calls `work` after each.
template <class Work>
void feed_each(Source& source, TraceIndex start, Bytes bytes, std::size_t chunk, Work work) {
  const std::size_t step = chunk == 0 ? std::max<std::size_t>(bytes.size(), 1) : chunk;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const frames::Run run{0, start + at};
    source.feed({bytes.subspan(at, std::min(step, bytes.size() - at)), {&run, 1}});
    work();
  }
}

/// Takes the available elements in spans of `span`, into `into`.
inline void take(Source& source, std::size_t span, std::vector<Element>& into) {
  std::vector<Element> out(span);
  while (const std::size_t count = source.next(out))
    into.insert(into.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
}

/// Feeds `bytes`, the first of which has `index`, in pieces of `chunk` (0: whole).
inline void feed(Source& source, TraceIndex index, Bytes bytes, std::size_t chunk, std::size_t span,
                 std::vector<Element>& into) {
  if (chunk == 0) chunk = std::max<std::size_t>(bytes.size(), 1);
  for (std::size_t at = 0; at < bytes.size(); at += chunk) {
    const frames::Run run{0, index + at};
    source.feed({bytes.subspan(at, std::min(chunk, bytes.size() - at)), {&run, 1}});
    take(source, span, into);
  }
}

}  // namespace waymark::support

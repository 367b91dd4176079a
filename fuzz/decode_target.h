// The common part of the targets that decode instruction trace: the elements do not depend on the
// size of spans and chunks, the block cache or an observer, and counting gives the sums of the
// elements.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "require.h"
#include "support/counting.h"
#include "support/decoded.h"
#include "waymark/count/counter.h"
#include "waymark/image/image.h"

namespace waymark::fuzz {

/// The settings that the first bytes of an input determine.
template <class Config>
struct DecodePlan {
  Config config;
  SourceOptions options;
  std::unique_ptr<image::Image> image;
  std::size_t chunk = 0;
  std::vector<std::uint8_t> before;  ///< Valid stream that comes before the rest of the input.
};

/// Checks that hold for every kind of element.
inline void check_fields(const Element& element, std::size_t stream_size, TraceId id) {
  require(static_cast<std::size_t>(element.kind) < kElementKindCount, "an unknown kind");
  require(element.trace_id == id, "an element of another source");
  require(element.index <= stream_size, "an index past the end");
  require(static_cast<unsigned>(element.isa) <= static_cast<unsigned>(isa::Isa::kUnknown),
          "an unknown instruction set");
  require(element.last_type <= isa::InstrType::kTstart, "an unknown instruction type");
  require(element.last_subtype <= isa::InstrSubtype::kV7ImpliedReturn, "an unknown subtype");
  require(element.security <= Security::kRealm, "an unknown world");
}

/// `P` has
///   using Config
///   static make_source(const Config&, const image::Image*, const SourceOptions&)
///   static constexpr std::size_t kMostElements;  per byte
///   static constexpr bool kTimestampsRepeatCycles;
///   static bool has_cycles(const Config&)
///   static bool chunks_matter(const Plan&);  to packets, records, and the index of losses
///   static void check(const Element&, const Plan&)
template <class P>
class DecodeTarget {
 public:
  using Config = typename P::Config;
  using Plan = DecodePlan<Config>;

  explicit DecodeTarget(const Plan& plan) : plan_(plan) {}

  void run(Bytes input) const {
    std::vector<std::uint8_t> stream = plan_.before;
    stream.insert(stream.end(), input.begin(), input.end());
    const support::Decoded whole = decode(plan_.options, stream, 0, 1024, true);
    require(whole.elements.size() <= P::kMostElements * (stream.size() + 1) + 8,
            "more elements than input");
    for (const Element& element : whole.elements) {
      check_fields(element, stream.size(), plan_.config.trace_id());
      P::check(element, plan_);
    }
    const auto equal = [](const std::string& difference, const char* what) {
      require(difference.empty(), std::string(what) + " makes a difference: " + difference);
    };
    equal(difference(whole, decode(plan_.options, stream, 0, 1, true)), "the size of spans");
    equal(cut_difference(whole, decode(plan_.options, stream, plan_.chunk, 7, true)),
          "the size of chunks");
    SourceOptions uncached = plan_.options;
    uncached.block_cache = false;
    equal(difference(whole, decode(uncached, stream, 0, 1024, true)), "the block cache");
    const support::Decoded alone = decode(plan_.options, stream, 0, 1024, false);
    equal(support::difference(whole.elements, alone.elements), "an observer");
    check_counts(whole.elements, stream);
  }

 private:
  [[nodiscard]] std::string cut_difference(const support::Decoded& whole,
                                           const support::Decoded& cut) const {
    if (!P::chunks_matter(plan_)) return difference(whole, cut);
    // The loss and the end have the index of a packet: here perhaps a chunk of unsynchronised
    // bytes.
    const auto without_chunks = [](std::vector<Element> elements) {
      for (Element& element : elements)
        if (element.kind == ElementKind::kNoSync || element.kind == ElementKind::kEndOfTrace)
          element.index = 0;
      return elements;
    };
    return support::difference(without_chunks(whole.elements), without_chunks(cut.elements));
  }

  [[nodiscard]] std::unique_ptr<Source> source(const SourceOptions& options) const {
    auto made = P::make_source(plan_.config, plan_.image.get(), options);
    require(made.has_value(), "the configuration was refused");
    return std::move(*made);
  }

  [[nodiscard]] support::Decoded decode(const SourceOptions& options, Bytes stream,
                                        std::size_t chunk, std::size_t span, bool watch) const {
    const auto from = source(options);
    support::Decoded decoded;
    if (watch) {
      decoded.source = from.get();
      from->set_observer(&decoded, 1);
    }
    support::feed(*from, 0, stream, chunk, span, decoded.elements);
    from->finish();
    support::take(*from, span, decoded.elements);
    decoded.source = nullptr;
    return decoded;
  }

  void check_counts(std::span<const Element> elements, Bytes stream) const {
    support::PlainCounter plain(P::kTimestampsRepeatCycles, P::has_cycles(plan_.config));
    plain.add(elements);
    for (const std::size_t chunk : {std::size_t{0}, plan_.chunk}) {
      const std::string text =
          support::counting_difference(plain, *source(plan_.options), 0, stream, chunk);
      require(text.empty(), "counts are not those of the elements: " + text);
    }
  }

  const Plan& plan_;
};

}  // namespace waymark::fuzz

#include "bench/own.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bench/allocations.h"
#include "bench/checksum.h"
#include "bench/stopwatch.h"
#include "waymark/base/text_buffer.h"
#include "waymark/count/counter.h"
#include "waymark/element/text.h"
#include "waymark/etmv3/parser.h"
#include "waymark/etmv3/source.h"
#include "waymark/etmv4/parser_inl.h"
#include "waymark/etmv4/source.h"
#include "waymark/frames/splitter.h"
#include "waymark/image/image.h"
#include "waymark/ptm/parser_inl.h"
#include "waymark/ptm/source.h"
#include "waymark/stm/parser.h"
#include "waymark/stm/source.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::bench {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::size_t kTextLimit = std::size_t{1} << 20;

etmv4::Config etmv4_config_of(const SourceSetup& setup) {
  etmv4::Config config =
      setup.kind == SourceKind::kEte ? etmv4::Config::ete_default() : etmv4::Config{};
  config.trcidr0 = setup.idr0;
  config.trcidr1 = setup.idr1;
  config.trcidr2 = setup.idr2;
  config.trcidr8 = setup.idr8;
  config.trcidr9 = setup.idr9;
  config.trcidr10 = setup.idr10;
  config.trcidr11 = setup.idr11;
  config.trcidr12 = setup.idr12;
  config.trcidr13 = setup.idr13;
  config.trcconfigr = setup.configr;
  config.trctraceidr = setup.traceidr;
  config.trcdevarch = setup.devarch;
  config.core.arch = static_cast<isa::Arch>(setup.arch);
  config.core.profile = static_cast<isa::Profile>(setup.profile);
  return config;
}

etmv3::Config etmv3_config_of(const SourceSetup& setup) {
  return {.etmcr = setup.etmcr,
          .etmidr = setup.etmidr,
          .etmccer = setup.etmccer,
          .etmtraceidr = setup.traceidr,
          .core = {static_cast<isa::Arch>(setup.arch), static_cast<isa::Profile>(setup.profile)}};
}

ptm::Config ptm_config_of(const SourceSetup& setup) {
  return {.etmidr = setup.etmidr,
          .etmcr = setup.etmcr,
          .etmccer = setup.etmccer,
          .etmtraceidr = setup.traceidr,
          .core = {static_cast<isa::Arch>(setup.arch), static_cast<isa::Profile>(setup.profile)}};
}

stm::Config stm_config_of(const SourceSetup& setup) {
  stm::Config config;
  config.stmtcsr = setup.traceidr << 16;
  return config;
}

TraceId trace_id_of(const SourceSetup& setup) {
  return static_cast<TraceId>(setup.traceidr & 0x7F);
}

frames::Options frame_options(Framing framing) {
  frames::Options options;
  if (framing == Framing::kFsync) {
    options.has_fsyncs = true;
    options.memory_aligned = false;
  }
  return options;
}

std::expected<void, std::string> add_memory(image::Image& image, const Capture& capture) {
  for (const MemorySetup& memory : capture.memory) {
    const auto added = image.add_file(
        memory.path, {.address = memory.address, .offset = memory.offset, .length = memory.length},
        memory.space);
    if (!added) return std::unexpected(added.error().detail);
  }
  return {};
}

/// The time and the allocations of a pass.
class Meter {
 public:
  void stop(Counts& counts) const {
    counts.seconds = stopwatch_.seconds();
    counts.allocations = allocation_count() - allocations_;
  }

 private:
  std::uint64_t allocations_ = allocation_count();
  Stopwatch stopwatch_;
};

/// The counters of a client without output; separate from Counts, so that they stay in registers.
struct Tally {
  std::uint64_t elements = 0;
  std::uint64_t ranges = 0;
  std::uint64_t instructions = 0;

  void count(std::span<const Element> seen) {
    elements += seen.size();
    // No branch on the kind, because it could not be predicted.
    for (const Element& element : seen) {
      const std::uint64_t range = element.kind == ElementKind::kInstrRange ? ~std::uint64_t{0} : 0;
      ranges -= range;
      instructions += element.count & range;
    }
  }
  void add_to(Counts& counts) const {
    counts.elements += elements;
    counts.ranges += ranges;
    counts.instructions += instructions;
  }
};

/// Source by source: `Decoder` has feed(StreamBlock), run(Counts&), finish(Counts&), reset().
template <class Decoder>
class PerSource final : public Own {
 public:
  explicit PerSource(const Capture& capture) : capture_(capture) {
    if (capture.framing != Framing::kNone) {
      frames::IdSet wanted;
      for (const SourceSetup& setup : capture.sources) wanted.set(setup.traceidr & 0x7F);
      splitter_ = std::make_unique<frames::StreamSplitter>(frame_options(capture.framing), wanted);
    }
  }

  image::Image& image() { return image_; }
  void add(TraceId id, Decoder decoder) { decoders_.emplace_back(id, std::move(decoder)); }

  std::expected<Counts, std::string> pass(bool verify) override {
    Counts counts;
    for (auto& [id, decoder] : decoders_) decoder.verify(verify);
    const Meter meter;
    const Bytes trace = capture_.trace;
    for (std::size_t at = 0; at < trace.size(); at += kBlockSize) {
      const Bytes block = trace.subspan(at, std::min(kBlockSize, trace.size() - at));
      if (!splitter_) {
        const frames::Run run{.position = 0, .index = at};
        auto& decoder = decoders_.front().second;
        decoder.feed({block, {&run, 1}});
        decoder.run(counts);
        continue;
      }
      if (const auto fed = splitter_->feed(at, block); !fed) {
        return std::unexpected(fed.error().detail);
      }
      while (true) {
        const frames::Step step = splitter_->step();
        drain(counts);
        if (step == frames::Step::kNeedInput) break;
        if (step == frames::Step::kError) {
          return std::unexpected("frame error at byte " + std::to_string(splitter_->error().index));
        }
        if (step == frames::Step::kReset) {
          for (auto& [id, decoder] : decoders_) decoder.reset();
        }
      }
    }
    for (auto& [id, decoder] : decoders_) decoder.finish(counts);
    meter.stop(counts);
    for (auto& [id, decoder] : decoders_) counts.checksum ^= decoder.checksum();
    return counts;
  }

  void reset() override {
    if (splitter_) splitter_->reset();
    for (auto& [id, decoder] : decoders_) decoder.reset();
  }

 private:
  void drain(Counts& counts) {
    for (auto& [id, decoder] : decoders_) {
      frames::StreamBuffer& stream = splitter_->stream(id);
      if (stream.empty()) continue;
      decoder.feed(stream.block());
      decoder.run(counts);
      stream.clear();
    }
  }

  const Capture& capture_;
  image::Image image_;
  std::unique_ptr<frames::StreamSplitter> splitter_;  ///< Null: unformatted.
  std::vector<std::pair<TraceId, Decoder>> decoders_;
};

template <class Parser, class Packet>
class ParserCounter {
 public:
  template <class... Settings>
  explicit ParserCounter(const Settings&... settings) : parser_(settings...) {}

  void feed(const frames::StreamBlock& block) { parser_.feed(block); }
  void run(Counts& counts) { parser_.parse(Visitor{counts}); }
  void finish(Counts& counts) {
    if (parser_.finish(packet_)) ++counts.packets;
  }
  void reset() { parser_.reset(); }

 private:
  struct Visitor {
    static consteval protocol::VisitorTakes takes() { return {.atom_rows = true}; }
    Counts& counts;
    template <class Atoms>
    bool on_atoms(TraceIndex /*index*/, const Atoms& /*atoms*/) {
      ++counts.packets;
      return true;
    }
    bool on_atom_row(Bytes headers) {
      counts.packets += headers.size();
      return true;
    }
    bool on_packet(const Packet& packet) {
      bool counted = true;
      if constexpr (requires { packet.monitor_only; }) counted = !packet.monitor_only;
      counts.packets += counted ? 1U : 0U;
      return true;
    }
  };

  Parser parser_;
  Packet packet_;
};

/// The protocol is selected once per block.
class PacketCounter {
 public:
  explicit PacketCounter(const SourceSetup& setup) : counter_(make(setup)) {}

  void verify(bool) {}
  [[nodiscard]] std::uint64_t checksum() const { return 0; }
  void feed(const frames::StreamBlock& block) {
    std::visit([&](auto& counter) { counter.feed(block); }, counter_);
  }
  void run(Counts& counts) {
    std::visit([&](auto& counter) { counter.run(counts); }, counter_);
  }
  void finish(Counts& counts) {
    std::visit([&](auto& counter) { counter.finish(counts); }, counter_);
  }
  void reset() {
    std::visit([](auto& counter) { counter.reset(); }, counter_);
  }

 private:
  using Counter = std::variant<
      ParserCounter<etmv4::Parser, etmv4::Packet>, ParserCounter<ptm::Parser, ptm::Packet>,
      ParserCounter<etmv3::Parser, etmv3::Packet>, ParserCounter<stm::Parser, stm::Packet>>;
  static Counter make(const SourceSetup& setup) {
    if (setup.kind == SourceKind::kPtm)
      return ParserCounter<ptm::Parser, ptm::Packet>(ptm_config_of(setup));
    if (setup.kind == SourceKind::kStm)
      return ParserCounter<stm::Parser, stm::Packet>(stm_config_of(setup),
                                                     stm::Quirks::reference());
    if (setup.kind == SourceKind::kEtmV3)
      return ParserCounter<etmv3::Parser, etmv3::Packet>(etmv3_config_of(setup),
                                                         etmv3::ParserQuirks::reference());
    return ParserCounter<etmv4::Parser, etmv4::Packet>(etmv4_config_of(setup));
  }

  Counter counter_;
};

template <std::size_t kSize>
class ElementCounter {
 public:
  explicit ElementCounter(std::unique_ptr<Source> source)
      : source_(std::move(source)), elements_(kSize) {}

  void verify(bool on) { verify_ = on; }
  [[nodiscard]] std::uint64_t checksum() const { return sum_; }
  void feed(const frames::StreamBlock& block) { source_->feed(block); }
  void run(Counts& counts) {
    Tally tally;
    const std::span<Element> room = elements_;
    while (const std::size_t got = source_->next(room)) {
      const std::span<const Element> elements = room.first(got);
      tally.count(elements);
      if (verify_) [[unlikely]]
        fold_all(elements);
    }
    tally.add_to(counts);
  }
  void finish(Counts& counts) {
    source_->finish();
    run(counts);
  }
  void reset() { source_->reset(); }

 private:
  void fold_all(std::span<const Element> elements) {
    for (const Element& element : elements) {
      const bool range = element.kind == ElementKind::kInstrRange;
      sum_ = fold(sum_, std::to_underlying(element.kind), range ? element.start : 0,
                  range ? element.end : 0);
    }
  }

  std::unique_ptr<Source> source_;
  std::vector<Element> elements_;
  std::uint64_t sum_ = 0;
  bool verify_ = false;
};

/// Counts without elements; their number is what decoding would have made.
class CountingClient {
 public:
  explicit CountingClient(std::unique_ptr<Source> source)
      : source_(std::move(source)), counter_(std::make_unique<count::Counter>()) {}

  void verify(bool /*on*/) {}
  [[nodiscard]] static std::uint64_t checksum() { return 0; }
  void feed(const frames::StreamBlock& block) { source_->feed(block); }
  void run(Counts& /*counts*/) { source_->count(*counter_); }
  void finish(Counts& counts) {
    source_->finish();
    source_->count(*counter_);
    const count::Counts result = counter_->take();
    const count::Totals totals = result.totals();
    counts.ranges += totals.ranges;
    counts.instructions += totals.instructions;
    counts.elements += totals.ranges;
    for (const std::uint64_t others : result.others) counts.elements += others;
  }
  void reset() { source_->reset(); }

 private:
  std::unique_ptr<Source> source_;
  std::unique_ptr<count::Counter> counter_;
};

/// The listing: packets with their bytes, and elements, in the order over all sources.
class Listing final : public Own, private Observer {
 public:
  explicit Listing(const Capture& capture)
      : capture_(capture),
        tree_(capture.framing == Framing::kNone ? std::nullopt
                                                : std::optional(frame_options(capture.framing))),
        text_(2 * kTextLimit),
        elements_(kBatch) {
    tree_.set_observer(this);
  }

  image::Image& image() { return image_; }
  std::expected<void, std::string> add(std::unique_ptr<Source> source) {
    if (const auto added = tree_.add(std::move(source)); !added) {
      return std::unexpected(added.error().detail);
    }
    return {};
  }

  std::expected<Counts, std::string> pass(bool /*verify*/) override {
    counts_ = {};
    const Meter meter;
    const Bytes trace = capture_.trace;
    for (std::size_t at = 0; at < trace.size(); at += kBlockSize) {
      const Bytes block = trace.subspan(at, std::min(kBlockSize, trace.size() - at));
      if (const auto fed = tree_.feed(at, block); !fed) return std::unexpected(fed.error().detail);
      drain();
    }
    tree_.finish();
    drain();
    drop_text();
    meter.stop(counts_);
    return counts_;
  }

  void reset() override { tree_.reset(); }

 private:
  void on_packet(const PacketRef& packet) override {
    ++counts_.packets;
    text_.put("Idx:");
    text_.dec(packet.index);
    text_.put("; ID:");
    text_.hex(packet.trace_id);
    text_.put("; [");
    for (const std::uint8_t byte : packet.bytes) {
      text_.put("0x");
      text_.hex(byte, 2);
      text_.put(' ');
    }
    text_.put("];\t");
    tree_.source(packet.trace_id)->write_packet(text_, packet);
    text_.put('\n');
    settle();
  }

  void drain() {
    while (const std::size_t got = tree_.next(elements_)) {
      const std::span<const Element> elements = std::span(elements_).first(got);
      Tally tally;
      tally.count(elements);
      tally.add_to(counts_);
      for (const Element& element : elements) {
        write_element_line(text_, element);
        settle();
      }
    }
  }

  void settle() {
    if (text_.size() >= kTextLimit) [[unlikely]]
      drop_text();
  }
  void drop_text() {
    counts_.text_bytes += text_.size();
    text_.clear();
  }

  const Capture& capture_;
  image::Image image_;
  DecodeTree tree_;
  TextBuffer text_;
  std::vector<Element> elements_;
  Counts counts_;
};

// With the reference's rules, both sides give the same elements where it deviates from the
// protocol.
std::expected<std::unique_ptr<Source>, std::string> make_source(const SourceSetup& setup,
                                                                const image::Image& image,
                                                                bool reference_quirks) {
  const SourceOptions options{.quirks = reference_quirks ? kReferenceQuirks : 0};
  const auto make = [&]() -> Result<std::unique_ptr<Source>> {
    switch (setup.kind) {
      case SourceKind::kPtm:
        return ptm::make_source(ptm_config_of(setup), &image, options);
      case SourceKind::kEtmV3:
        return etmv3::make_source(etmv3_config_of(setup), &image, options);
      case SourceKind::kStm:
        return stm::make_source(stm_config_of(setup), options);
      case SourceKind::kEtmV4:
      case SourceKind::kEte:
        break;
    }
    return etmv4::make_source(etmv4_config_of(setup), &image, options);
  };
  auto source = make();
  if (!source) return std::unexpected(source.error().detail);
  return std::move(*source);
}

/// `Client`: an ElementCounter, or a CountingClient.
template <class Client>
std::expected<std::unique_ptr<Own>, std::string> make_decoding(const Capture& capture,
                                                               bool reference_quirks) {
  auto own = std::make_unique<PerSource<Client>>(capture);
  if (auto added = add_memory(own->image(), capture); !added) {
    return std::unexpected(added.error());
  }
  for (const SourceSetup& setup : capture.sources) {
    auto source = make_source(setup, own->image(), reference_quirks);
    if (!source) return std::unexpected(source.error());
    own->add(trace_id_of(setup), Client(std::move(*source)));
  }
  return own;
}

}  // namespace

std::expected<std::unique_ptr<Own>, std::string> make_own(const Capture& capture, Work work) {
  switch (work) {
    case Work::kPackets: {
      auto own = std::make_unique<PerSource<PacketCounter>>(capture);
      for (const SourceSetup& setup : capture.sources) {
        own->add(trace_id_of(setup), PacketCounter(setup));
      }
      return own;
    }
    case Work::kElementBatches:
      return make_decoding<ElementCounter<kBatch>>(capture, true);
    case Work::kElementSingle:
      return make_decoding<ElementCounter<1>>(capture, true);
    case Work::kCounting:  // The reference cannot count.
      return make_decoding<CountingClient>(capture, false);
    case Work::kOwnElements:
      return make_decoding<ElementCounter<kBatch>>(capture, false);
    case Work::kListing:
      break;
  }
  auto own = std::make_unique<Listing>(capture);
  if (auto added = add_memory(own->image(), capture); !added) {
    return std::unexpected(added.error());
  }
  for (const SourceSetup& setup : capture.sources) {
    auto source = make_source(setup, own->image(), true);
    if (!source) return std::unexpected(source.error());
    if (auto added = own->add(std::move(*source)); !added) return std::unexpected(added.error());
  }
  return own;
}

}  // namespace waymark::bench

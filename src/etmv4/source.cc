#include "waymark/etmv4/source.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "waymark/etmv4/decoder.h"
#include "waymark/etmv4/parser.h"
#include "waymark/etmv4/text.h"

namespace waymark::etmv4 {
namespace {

class Etmv4Source final : public Source {
 public:
  Etmv4Source(const Config& config, const image::Image* image, const SourceOptions& options)
      : config_(config), options_(options), parser_(config) {
    if (options.decode) {
      decoder_.emplace(config, *image, options.flags,
                       options.reference_quirks ? Quirks::reference() : Quirks{});
      decoder_->set_range_limit(options.range_limit);
      decoder_->follower().set_cache_enabled(options.block_cache);
    }
  }

  [[nodiscard]] Protocol protocol() const override {
    return config_.ete ? Protocol::kEte : Protocol::kEtmV4;
  }
  [[nodiscard]] TraceId trace_id() const override { return config_.trace_id(); }

  void feed(const frames::StreamBlock& block) override { parser_.feed(block); }

  std::size_t next(std::span<Element> out) override {
    return decoder_ ? next_element(out) : next_packets();
  }

  void finish() override { ending_ = Ending::kPacket; }

  void reset() override {
    parser_.reset();
    if (decoder_) decoder_->reset();
    ending_ = Ending::kNone;
    if (observer_ != nullptr) observer_->on_operation(Operation::kReset, stream_id_);
  }

  [[nodiscard]] bool failed() const override { return decoder_ && decoder_->failed(); }
  [[nodiscard]] std::size_t consumed() const override { return parser_.position(); }

  std::size_t withdraw() override { return parser_.withdraw(); }

  [[nodiscard]] SourceStatistics statistics() const override {
    SourceStatistics s = statistics_;
    const ParserStatistics& parsed = parser_.statistics();
    s.total_bytes = parsed.total_bytes;
    s.unsynced_bytes = parsed.unsynced_bytes;
    s.bad_headers = parsed.bad_headers;
    s.bad_sequences = parsed.bad_sequences;
    return s;
  }

  void reset_statistics() override {
    statistics_ = {};
    parser_.reset_statistics();
  }

  void set_observer(Observer* observer, TraceId stream_id) override {
    observer_ = observer;
    shows_packets_ = observer != nullptr && observer->wants_packets();
    stream_id_ = stream_id;
  }

  void write_packet(TextBuffer& out, const PacketRef& packet) const override {
    etmv4::write_packet(out, packet.as<Packet>(), config_);
  }

  [[nodiscard]] std::unique_ptr<Source> clone() const override {
    return std::make_unique<Etmv4Source>(*this);
  }

 private:
  enum class Ending : std::uint8_t { kNone, kPacket, kElements, kReport, kDone };

  std::size_t next_element(std::span<Element> out) {
    std::size_t count = 0;
    if (decoder_->running()) {
      Element* const end = out.data() + out.size();
      count = static_cast<std::size_t>(decoder_->resume(out.data(), end) - out.data());
    }
    while (count != out.size()) {
      if (decoder_->busy()) {
        count += decoder_->drain(out.subspan(count));
        if (count == out.size()) break;
        if (decoder_->has_diagnostics()) {
          if (count != 0) break;
          report_diagnostics();
          continue;
        }
        // Memory must not be read under a context before the client has seen it.
        if (decoder_->busy() && count != 0) break;
        if (decoder_->busy()) continue;
      }
      if (failed() && ending_ == Ending::kNone) break;
      if (shows_packets_) {
        if (count != 0) break;
        if (!failed() && parser_.next(packet_)) {
          deliver();
          continue;
        }
      } else if (!failed()) {
        Straight straight{*this, out.data() + count, out.data() + out.size()};
        const bool stopped = parser_.parse(straight);
        count = static_cast<std::size_t>(straight.at - out.data());
        if (stopped) continue;
      }
      // The end is told after the last element has been given.
      if (ending_ == Ending::kReport && observer_ != nullptr && count != 0) break;
      if (!end_step()) break;
    }
    statistics_.elements += count;
    return count;
  }

  struct Counting {
    SourceStatistics& statistics;
    bool on_atoms(TraceIndex, const AtomPacket&) {
      ++statistics.packets;
      return true;
    }
    bool on_packet(const Packet& packet) {
      ++statistics.packets;
      if (packet.type == PacketType::kTraceInfo) ++statistics.sync_points;
      return true;
    }
  };

  /// Packets from the parser's loop to the decoder without a stop between them.
  struct Straight {
    Etmv4Source& source;
    Element* at;
    Element* end;

    bool on_atoms(TraceIndex index, const AtomPacket& atoms) {
      Decoder& decoder = *source.decoder_;
      ++source.statistics_.packets;
      if (decoder.straight()) [[likely]] {
        at = decoder.run(index, atoms, at, end);
        return at != end && !decoder.busy();
      }
      Packet packet;
      packet.index = index;
      copy_atoms(atoms, packet);
      decoder.accept(packet);
      return !decoder.busy();
    }

    bool on_packet(const Packet& packet) {
      source.take(packet);
      return !source.decoder_->busy();
    }
  };

  std::size_t next_packets() {
    if (shows_packets_) {
      while (parser_.next(packet_)) deliver();
    } else {
      parser_.parse(Counting{statistics_});
    }
    while (end_step()) {
    }
    return 0;
  }

  // What finish() asked for, one step at a time.  False: nothing left.
  bool end_step() {
    switch (ending_) {
      case Ending::kPacket:
        ending_ = decoder_ ? Ending::kElements : Ending::kReport;
        if (!failed() && parser_.finish(packet_)) deliver();
        return true;
      case Ending::kElements:
        ending_ = Ending::kReport;
        decoder_->end_of_trace();
        return true;
      case Ending::kReport:
        ending_ = Ending::kDone;
        if (observer_ != nullptr) observer_->on_operation(Operation::kEndOfTrace, stream_id_);
        return false;
      default:
        return false;
    }
  }

  void deliver() {
    if (shows_packets_) show(is_bad(packet_.type));
    take(packet_);
  }

  void take(const Packet& packet) {
    ++statistics_.packets;
    if (packet.type == PacketType::kTraceInfo) ++statistics_.sync_points;
    if (packet.monitor_only || !decoder_) return;
    if (is_bad(packet.type) && (options_.flags & kNoForwardBadPackets) != 0) return;
    decoder_->accept(packet);
  }

  void show(bool bad) {
    if (!decoder_ &&
        (packet_.type == PacketType::kReserved || packet_.type == PacketType::kReservedConfig)) {
      Diagnostic record;
      record.fault = Fault::kInvalidHeader;
      record.stage = Stage::kPackets;
      record.trace_id = config_.trace_id();
      record.stream_id = stream_id_;
      record.index = packet_.index;
      ++statistics_.diagnostics;
      observer_->on_diagnostic(record);
    }
    if (bad && (options_.flags & kNoMonitorBadPackets) != 0) return;
    PacketRef ref;
    ref.protocol = protocol();
    ref.trace_id = stream_id_;
    ref.index = packet_.index;
    ref.bytes = parser_.packet_bytes();
    ref.packet = &packet_;
    ref.monitor_only = packet_.monitor_only;
    ref.bad = bad;
    observer_->on_packet(ref);
  }

  void report_diagnostics() {
    for (Diagnostic record : decoder_->diagnostics()) {
      ++statistics_.diagnostics;
      if (observer_ == nullptr) continue;
      record.stream_id = stream_id_;
      observer_->on_diagnostic(record);
    }
    decoder_->clear_diagnostics();
  }

  Config config_;
  SourceOptions options_;
  Parser parser_;
  std::optional<Decoder> decoder_;
  Packet packet_;
  SourceStatistics statistics_;
  Observer* observer_ = nullptr;
  bool shows_packets_ = false;
  TraceId stream_id_ = 0;
  Ending ending_ = Ending::kNone;
};

Result<void> check_decodable(const Config& config) {
  // In this order: the first that applies is the one reported.
  if (config.data_trace())
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} switches data trace on: only packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  if (config.load_store_p0())
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} makes loads or stores P0 elements (INSTP0): only "
                            "packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  if (bits<10, 8>(config.trcconfigr) != 0)
    return fail(ErrorCode::kUnsupported,
                fmt::format("TRCCONFIGR=0x{:x} traces conditional instructions (COND): only "
                            "packets can be listed.",
                            config.trcconfigr),
                kNoIndex, config.trace_id());
  return {};
}

}  // namespace

Result<std::unique_ptr<Source>> make_source(const Config& config, const image::Image* image,
                                            const SourceOptions& options) {
  if (options.decode) {
    WAYMARK_TRY(check_decodable(config));
    if (image == nullptr)
      return fail(ErrorCode::kInvalidArgument, "Decoding to elements needs an image.", kNoIndex,
                  config.trace_id());
  }
  return std::make_unique<Etmv4Source>(config, image, options);
}

}  // namespace waymark::etmv4

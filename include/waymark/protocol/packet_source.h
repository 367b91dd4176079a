// A Source made of a protocol's parser and decoder.  Every protocol's source.cc uses it, and names
// the protocol's parts.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "waymark/count/counter.h"
#include "waymark/image/image.h"
#include "waymark/protocol/requirements.h"
#include "waymark/protocol/source.h"

namespace waymark::protocol {

/// `P` is a PacketProtocol.
template <class P>
class PacketSource final : public Source {
  static_assert(meets_requirements<P>());

 public:
  using Config = typename P::Config;
  using Packet = typename P::Packet;
  using Parser = typename P::Parser;
  using Decoder = typename P::Decoder;

  PacketSource(const Config& config, const image::Image* image, const SourceOptions& options)
      : config_(config),
        options_(options),
        parser_(P::make_parser(config, options)),
        registers_(config),
        landmarks_(config) {
    if (options.decode) decoder_.emplace(P::make_decoder(config, image, options));
    if constexpr (kCan.checks_registers)
      reports_contradictions_ = P::reports_contradictions(options);
  }

  [[nodiscard]] waymark::Protocol protocol() const override { return P::protocol(config_); }
  [[nodiscard]] TraceId trace_id() const override { return config_.trace_id(); }

  void feed(const frames::StreamBlock& block) override {
    parser_.feed(block);
    used_up_ = false;
  }
  std::size_t next(std::span<Element> out) override;
  void count(count::Counter& counter) override;

  void finish() override { begin_end(true); }
  void finish_piece() override { begin_end(false); }
  void reset() override;
  void refresh() override;

  [[nodiscard]] bool failed() const override { return decoder_ && decoder_->failed(); }
  [[nodiscard]] std::size_t consumed() const override { return parser_.position(); }
  std::size_t withdraw() override { return parser_.withdraw(); }

  [[nodiscard]] SourceStatistics statistics() const override;
  void add_statistics(const SourceStatistics& more) override { statistics_ += more; }
  void reset_statistics() override;

  void set_observer(Observer* observer, TraceId stream_id) override;
  bool mark_parts(PartMarks* marks) override;

  void write_packet(TextBuffer& out, const PacketRef& packet) const override {
    P::write_packet(out, packet.template as<Packet>(), config_, options_);
  }
  void visit_fields(const PacketRef& packet, FieldVisitor& visitor) const override {
    const auto& p = packet.template as<Packet>();
    for_each_field(P::fields_of(p), p, [&](const FieldValue& value) { visitor.on_field(value); });
  }

  [[nodiscard]] std::unique_ptr<Source> clone() const override;
  [[nodiscard]] bool can_jump() const override;
  void jump() override;
  void restore(const Source& other) override;
  [[nodiscard]] bool same_state(const Source& other) const override;

 private:
  static constexpr const Capabilities& kCan = P::kCapabilities;

  struct NoRegisters {
    explicit NoRegisters(const Config& /*config*/) {}
  };
  static consteval auto registers_type() {
    if constexpr (kCan.checks_registers) {
      return std::type_identity<typename P::Registers>{};
    } else {
      return std::type_identity<NoRegisters>{};
    }
  }
  using Registers = typename decltype(registers_type())::type;
  using Landmarks = typename P::Landmarks;

  static constexpr std::size_t kFramePitch = frames::kPlainFrameBytes + 1;  ///< In indexes.

  enum class Marking : std::uint8_t { kNone, kFrames, kBytes };

  /// How far the parser came.
  enum class Parsed : std::uint8_t {
    kAll,     ///< The block is used up.
    kPart,    ///< The decoder has more to give, or there is no more room.
    kYields,  ///< The same, and the client must see what it has before more is decoded.
  };

  /// The observer, and what it is shown besides diagnostics.
  struct Watcher {
    Observer* observer = nullptr;
    bool packets = false;
    bool landmarks = false;
    TraceId stream_id = 0;
  };

  /// The steps of the end of the trace, or of a piece of it.
  struct Ending {
    /// The one to be done next.  kNone: finish() was not called.
    enum class Step : std::uint8_t { kNone, kPacket, kElements, kReport, kDone };
    Step step = Step::kNone;
    bool last_piece = true;  ///< False: finish_piece() asked for the end.
  };

  /// The bytes before the first synchronisation point.
  struct Start {
    bool over = false;        ///< They were reported.
    std::uint64_t bytes = 0;  ///< Those that statistics() does not count any more.
    friend bool operator==(const Start&, const Start&) = default;
  };
  [[nodiscard]] Start start() const {
    return start_.over ? Start{.over = true}
                       : Start{.bytes = start_.bytes + statistics().unsynced_bytes};
  }

  // Visitors of the parser.
  template <Marking kMarking>
  struct Straight;
  struct Counting;
  struct CountingHost;

  /// Only code that runs with a decoder calls it.
  Decoder& decoder() { return *decoder_; }

  // -- With a decoder. --
  template <Marking kMarking>
  std::size_t next_element(std::span<Element> out);
  template <Marking kMarking>
  Parsed parse_into(std::span<Element> out, std::size_t& count);
  bool parse_until_busy();
  void report_diagnostics();

  // -- Without a decoder. --
  std::size_t next_packets();
  static bool passes(const Packet& packet);
  void mark(const Packet& packet);
  void report_fault(const Packet& packet);
  void report_registers(Finding finding, TraceIndex index);
  void report(const PacketFault& found, Severity severity, TraceIndex index,
              Stage stage = Stage::kPackets, std::uint64_t lost = 0);
  void end_start(Finding finding, TraceIndex index);

  // -- Each packet. --
  void deliver();
  void take(const Packet& packet);
  bool count(const Packet& packet);
  void show();

  void begin_end(bool last_piece) {
    ending_ = {.step = Ending::Step::kPacket, .last_piece = last_piece};
    used_up_ = false;
  }
  bool end_step();

  Config config_;
  SourceOptions options_;
  Parser parser_;
  std::optional<Decoder> decoder_;
  [[no_unique_address]] Registers registers_;
  bool reports_contradictions_ = false;
  [[no_unique_address]] Landmarks landmarks_;
  Packet packet_;
  SourceStatistics statistics_;
  Start start_;
  Watcher watcher_;
  PartMarks* marks_ = nullptr;
  Ending ending_;
  bool used_up_ = false;  ///< next() has nothing to give before the next block or the end.
};

}  // namespace waymark::protocol

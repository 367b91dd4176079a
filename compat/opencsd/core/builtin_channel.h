// A channel with one of the library's decoders.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "builtin.h"
#include "channel.h"
#include "waymark/base/text_buffer.h"

namespace waymark::compat {

class BuiltinChannel final : public Channel, private Observer {
 public:
  /// `slot` is the channel's ID in the tree: 0 without frames.  `named`: the names of the
  /// components contain the ID.
  BuiltinChannel(Surroundings& around, Builtin built, bool decode, std::uint32_t flags,
                 TraceId slot, bool named);

  Response data(TraceIndex index, Bytes block) override;
  [[nodiscard]] bool takes_runs() const override;
  std::span<std::uint8_t> run_room() override { return input_.bytes; }
  Response data_run(TraceIndex index, std::size_t frames, std::size_t& used) override;
  Response flush() override;
  Response end_of_trace() override;
  Response reset() override;
  [[nodiscard]] bool holds() const override { return answer_.holds; }
  std::size_t withdraw() override;

  ErrorNumber attach_sink(FnDefPktDataIn function, const void* context) override;
  ErrorNumber attach_monitor(FnDefPktDataMon function, const void* context) override;
  ErrorNumber attach_printer(TraceId shown_id, bool monitor) override;
  ErrorNumber statistics(const ocsd_demux_stats_t& frames, ocsd_decode_stats_t*& out) override;
  bool reset_statistics() override;

 private:
  void on_packet(const PacketRef& packet) override;
  [[nodiscard]] bool wants_packets() const override;
  [[nodiscard]] bool monitors_packets() const override;
  [[nodiscard]] bool pauses() const override { return answer_.paused; }
  void on_diagnostic(const Diagnostic& record) override;
  void on_operation(Operation operation, TraceId trace_id) override;

  Response feed(TraceIndex index, Bytes block);
  Response feed_source(TraceIndex index, Bytes block);
  Response feed_ahead(PartMarks::Parts parts, TraceIndex index, std::size_t count);
  Response data_again(TraceIndex index, Bytes block);
  Response pump();
  [[nodiscard]] bool follows_no_sync() const;
  Response deliver_all();
  void cut_run();
  [[nodiscard]] std::size_t end_of_part(std::size_t part) const;
  void forget_batch();
  Response stop();
  Response print(const Element& element);
  void follow_context(const Element& element);
  void refresh_if_changed();
  bool ready();
  void not_ready(std::string_view message) const;
  Response to_sink(Operation operation);
  void to_monitor(Operation operation);
  void print_packet(const Printer& printer, const PacketRef& packet, bool with_bytes);
  void print_operation(const Printer& printer, Operation operation);
  void observe() { built_.source->set_observer(this, slot_); }
  [[nodiscard]] Protocol protocol() const { return built_.source->protocol(); }

  struct Names {
    std::string packets;
    std::string elements;
  };

  /// Elements [at, ready) can be delivered; [ready, count) wait for their part of the run.
  struct Batch {
    // The segment of one frame has at most 15 bytes; if it gives more elements than this, they come
    // in several batches.
    static constexpr std::size_t kSize = 256;

    std::array<Element, kSize> elements;
    std::size_t at = 0;
    std::size_t ready = 0;
    std::size_t count = 0;
    void clear() { at = ready = count = 0; }
  };

  /// The answer to the client.
  struct Answer {
    Response response = OCSD_RESP_CONT;  ///< To the present operation.
    bool holds = false;                  ///< Elements wait for a flush.
    bool paused = false;                 ///< By the sink of packets, or a bad packet.
    bool sink_waits = false;
    void add(Response other) { response = worse(response, other); }
  };

  struct End {
    bool now = false;       ///< In end_of_trace().
    bool reported = false;  ///< The monitor has received the end.
    bool failed = false;    ///< The end came after a fatal error.
  };

  /// Without frames: how much of the client's block is used.
  struct Used {
    std::size_t bytes = 0;    ///< Without those that the source has from the block.
    bool from_source = true;  ///< The source reads the block, and knows the rest.
    /// As for frames: elements come one by one while the client may still turn out to answer WAIT.
    unsigned careful = kCareful;
    bool waits = false;  ///< The client has answered WAIT.
    static constexpr unsigned kCareful = 64;
  };

  /// The bytes that the source reads.  A run of frames or bytes is decoded in batches, before the
  /// client's answers are known.  After a WAIT the client gives the parts after that of the element
  /// again, including those that the source has already read: bytes [ahead, ahead_end) of the run,
  /// with the elements [ready, count) of the batch.
  struct Input {
    bool marks_parts = false;   ///< The source can tell the part of each element.
    std::size_t run_parts = 0;  ///< 0: no run.
    std::size_t used_parts = 0;
    std::size_t next_part = 0;  ///< The part of byte `ahead`.
    std::size_t ahead = 0;
    std::size_t ahead_end = 0;
    frames::Run run;
    PartMarks marks;
    Used used;
    /// Each frame is stored with one additional byte.
    std::array<std::uint8_t, PartMarks::kMaxFrames * frames::kPlainFrameBytes + 1> bytes;

    [[nodiscard]] std::size_t left() const { return ahead_end - ahead; }
    [[nodiscard]] bool is_ahead() const { return left() != 0; }
  };

  /// The facts that the source knows about the client's memory.
  struct Refresh {
    std::uint64_t version = 0;  ///< Memory::version().
    std::uint64_t call = 0;     ///< Surroundings::calls.
    Element context{};          ///< The last kPeContext.
  };

  struct Counts {
    ocsd_decode_stats_t shown{};
    std::uint64_t uncounted = 0;  ///< Bytes that the source has read before the client gave them.
  };

  Surroundings& around_;
  Builtin built_;
  bool decode_;
  std::uint32_t flags_;
  TraceId slot_;
  Names names_;
  PacketClient client_;
  Input input_;
  Batch batch_;
  Answer answer_;
  End end_;
  ElementStruct struct_;
  Refresh refreshed_;
  TextBuffer text_;
  Counts counts_;
};

}  // namespace waymark::compat

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
  std::span<std::uint8_t> run_room() override { return run_bytes_; }
  Response data_run(TraceIndex index, std::size_t frames, std::size_t& used) override;
  Response flush() override;
  Response end_of_trace() override;
  Response reset() override;
  [[nodiscard]] bool holds() const override { return holds_; }
  std::size_t withdraw() override { return built_.source->withdraw(); }

  ErrorNumber attach_sink(FnDefPktDataIn function, const void* context) override;
  ErrorNumber attach_monitor(FnDefPktDataMon function, const void* context) override;
  ErrorNumber attach_printer(TraceId shown_id, bool monitor) override;
  ErrorNumber statistics(const ocsd_demux_stats_t& frames, ocsd_decode_stats_t*& out) override;
  bool reset_statistics() override;

 private:
  // The segment of one frame has at most 15 bytes; if it gives more elements than this, they come
  // in several batches.
  static constexpr std::size_t kBatch = 128;

  void on_packet(const PacketRef& packet) override;
  [[nodiscard]] bool wants_packets() const override;
  [[nodiscard]] bool monitors_packets() const override;
  [[nodiscard]] bool pauses() const override { return paused_; }
  void on_diagnostic(const Diagnostic& record) override;
  void on_operation(Operation operation, TraceId trace_id) override;

  Response feed(TraceIndex index, Bytes block);
  Response data_again(TraceIndex index, Bytes block);
  Response pump();
  [[nodiscard]] bool follows_no_sync() const;
  Response deliver_ranges();
  void cut_run();
  [[nodiscard]] std::size_t end_of_frame(std::size_t frame) const;
  void forget_batch();
  [[nodiscard]] bool ahead() const { return ahead_ != ahead_end_; }
  Response stop();
  Response deliver(const Element& element);
  void follow_context(const Element& element);
  void refresh_if_changed();
  bool ready();
  void not_ready(std::string_view message);
  Response to_sink(Operation operation);
  void to_monitor(Operation operation);
  void print_packet(const Printer& printer, const PacketRef& packet, bool with_bytes);
  void print_operation(const Printer& printer, Operation operation);
  void observe() { built_.source->set_observer(this, slot_); }
  [[nodiscard]] Protocol protocol() const { return built_.source->protocol(); }

  Surroundings& around_;
  Builtin built_;
  bool decode_;
  std::uint32_t flags_;
  TraceId slot_;
  std::string packet_component_;
  std::string element_component_;
  PacketClient client_;

  frames::Run run_;
  std::array<Element, kBatch> batch_;
  std::size_t at_ = 0;
  // Elements [ready_, count_) of the batch wait for their frame.
  std::size_t ready_ = 0;
  std::size_t count_ = 0;
  Response response_ = OCSD_RESP_CONT;
  bool holds_ = false;
  bool paused_ = false;
  bool sink_waits_ = false;
  bool ending_ = false;        ///< In end_of_trace().
  bool end_told_ = false;      ///< The monitor has received the end.
  bool ended_failed_ = false;  ///< The end came after a fatal error.

  // A run of frames is decoded in batches, before the client's answers are known.  After a WAIT the
  // client gives the frames after that of the element again, including those that the source has
  // already read: bytes [ahead_, ahead_end_) of the run, with the elements [ready_, count_) of the
  // batch.
  bool marks_frames_ = false;   ///< The source can tell the frame of each element.
  std::size_t run_frames_ = 0;  ///< 0: no run.
  std::size_t used_frames_ = 0;
  std::size_t next_frame_ = 0;  ///< The frame of byte ahead_.
  std::size_t ahead_ = 0;
  std::size_t ahead_end_ = 0;
  FrameMarks marks_;
  /// Each frame is stored with one additional byte.
  std::array<std::uint8_t, FrameMarks::kMaxFrames * frames::kPlainFrameBytes + 1> run_bytes_;

  ElementStruct struct_;
  Element context_;  ///< The last kPeContext.
  std::uint64_t image_version_ = 0;
  std::uint64_t refreshed_call_ = 0;
  TextBuffer text_;
  ocsd_decode_stats_t statistics_{};
  std::uint64_t uncounted_ = 0;  ///< Bytes that the source has read before the client gave them.
};

}  // namespace waymark::compat

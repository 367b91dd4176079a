// A decode tree as the reference's interface has it: operations, answers, counts of bytes.  See
// opencsd-c-api.md 3 and frames.md 4.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "channel.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/segment_memory.h"

namespace waymark::compat {

/// One owner.  Trees are independent of each other except for the log, the register of custom
/// decoders and the rule that a memory file is mapped at only one address.
class Tree final : private frames::RawMonitor {
 public:
  /// nullptr: the flags exclude each other; the log names them.
  static std::unique_ptr<Tree> create(ocsd_dcd_tree_src_t type, std::uint32_t flags);
  ~Tree() override;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Response process(ocsd_datapath_op_t op, ocsd_trc_index_t index, std::uint32_t size,
                   const std::uint8_t* data, std::uint32_t* used);

  void set_output(const ElementOutput& output) { around_.output = output; }
  [[nodiscard]] Memory& memory() { return around_.memory; }

  /// `id` gets the trace ID of the configuration.
  ErrorNumber create_decoder(std::string_view name, int flags, const void* config,
                             unsigned char* id);
  ErrorNumber remove_decoder(TraceId id);

  /// The channel that an ID of the interface means; nullptr: none.
  [[nodiscard]] Channel* channel(TraceId id) const;

  /// If the result is nullptr, `number` is the error.
  ErrorNumber statistics(TraceId id, ocsd_decode_stats_t*& out);
  ErrorNumber reset_statistics(TraceId id);

  /// OCSD_DFRMTR_..._RAW_OUT.
  void print_raw_frames(std::uint32_t flags);

 private:
  explicit Tree(std::optional<frames::Options> framing);

  Response data(TraceIndex index, Bytes block, std::uint32_t& used);
  Response frame_data(ocsd_trc_index_t index, Bytes block, std::uint32_t& used);
  Response run_frames();
  [[nodiscard]] bool run_plain_frames(Response& response);
  Response run_segments();
  Response flush();
  Response end_of_trace();
  Response reset();
  Response reset_channels(TraceIndex index);
  Response frame_error();
  [[nodiscard]] TraceId end() const { return around_.formatted ? kTraceIdCount : TraceId{1}; }
  void on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id, Bytes bytes) override;

  Surroundings around_;
  std::unique_ptr<frames::Demux> demux_;  ///< nullptr: no frames.
  frames::SegmentMemory memory_;
  std::array<std::unique_ptr<Channel>, kTraceIdCount> channels_;
  std::uint32_t raw_flags_given_ = 0;  ///< Requested; they take effect with a printer.
  std::uint32_t raw_flags_ = 0;
  Printer raw_printer_;

  /// Frames are delivered one by one while the client may still turn out to answer WAIT; a client
  /// that does so shows it early.  What was decoded ahead would have to be kept.
  static constexpr unsigned kCarefulFrames = 64;
  unsigned careful_frames_ = kCarefulFrames;
  bool waits_ = false;  ///< The client has answered WAIT.

  TraceIndex next_index_ = 0;  ///< All 64 bits; the interface has 32.
  bool started_ = false;
  std::uint32_t last_used_ = 0;
  unsigned segment_ = 0;
  unsigned segment_count_ = 0;
  Channel* waiting_ = nullptr;
};

}  // namespace waymark::compat

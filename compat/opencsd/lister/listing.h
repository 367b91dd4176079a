// The lines of the listing: packets, elements, frames, errors, operations.  See
// trc-pkt-lister.md 2 and 4, etmv4-ete.md 4.11.
#pragma once

#include <array>
#include <span>

#include "log.h"
#include "options.h"
#include "waymark/frames/demux.h"
#include "waymark/tree/decode_tree.h"

namespace waymark::compat {

/// Prints what a decode tree gives.  A hot path: packets and elements need no allocation once the
/// buffer has its size.
class Listing final : public Observer, public frames::RawMonitor {
 public:
  Listing(const ListerOptions& options, Log& log);

  /// Attaches itself to `tree`, and logs a line for each protocol that will be printed.  `refused`:
  /// see BuiltTree.
  void attach(DecodeTree& tree, const std::array<bool, kTraceIdCount>& refused);

  /// False: nothing of the tree is printed, so the reference does not decode.
  [[nodiscard]] bool prints() const { return prints_; }

  /// Packets are also needed to know the current source, and where a refused source ends.
  [[nodiscard]] bool wants_packets() const override;
  void on_packet(const PacketRef& packet) override;
  void on_diagnostic(const Diagnostic& record) override;
  void on_operation(Operation operation, TraceId trace_id) override;
  void on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id, Bytes bytes) override;

  void elements(std::span<const Element> elements);

  /// With -decode and -test_waits: how many more elements are answered with WAIT.
  [[nodiscard]] std::uint64_t element_waits() const { return waits_.elements; }
  /// An element was answered with WAIT, which acknowledge() takes note of.
  [[nodiscard]] bool unacknowledged() const { return waits_.unacknowledged; }
  void acknowledge() { waits_.unacknowledged = false; }

  /// A FLUSH reaches all sources.  True: one was refused, which is an error.
  bool refuses_flush();

  /// Nothing is printed until `silent` is false.
  void set_silent(bool silent) { silent_ = silent; }

  /// The reference ends at the first packet of a source whose registers it refused.  What the tree
  /// still gives is not printed.
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// The bytes of the block that were used up to the packet that stopped the listing.
  [[nodiscard]] std::size_t stopped_at() const { return stopped_at_; }

  /// "Generic Packets processed": the counts of -profile.
  void log_profile();

 private:
  /// Of -test_waits: how many more are answered with WAIT.
  struct Waits {
    std::array<std::uint64_t, kTraceIdCount> packets{};
    std::uint64_t elements = 0;
    bool unacknowledged = false;  ///< See unacknowledged().
  };

  void write_component(std::string_view name, TraceId id);
  void write_flushes();
  /// A source whose registers were refused gets data or an operation.
  void refuse(Protocol protocol, TraceId id);

  const ListerOptions& options_;
  Log& log_;
  DecodeTree* tree_ = nullptr;
  std::array<Source*, kTraceIdCount> listed_{};  ///< By stream ID: the sources that are printed.
  std::array<bool, kTraceIdCount> refused_{};
  Waits waits_;
  std::array<std::uint64_t, kElementKindCount> counts_{};
  TraceId current_ = 0;  ///< The source of the last packet, for records without an ID.
  bool lines_;           ///< False with -profile.
  bool packets_;
  bool bytes_;
  bool prints_ = false;
  bool stopped_ = false;
  bool silent_ = false;
  std::size_t stopped_at_ = 0;
};

}  // namespace waymark::compat

// Records to elements.  See mtb.md 4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"
#include "waymark/flow/follower.h"
#include "waymark/image/image.h"
#include "waymark/mtb/config.h"
#include "waymark/mtb/interrupted.h"
#include "waymark/mtb/packet.h"

namespace waymark::mtb {

/// A way through the program without a taken branch before its end.
struct Walk {
  std::uint64_t at = 0;
  std::uint64_t to = 0;
  std::uint8_t it = 0;     ///< Instructions left in the IT block.
  bool inclusive = false;  ///< The instruction at `to` is a branch that was taken.
};

/// The state of a decoder between two records.
struct DecoderState {
  enum class Known : std::uint8_t {
    kNothing,
    kPlace,        ///< `address` is that of the next instruction.
    kReturnValue,  ///< `address` is EXC_RETURN or FNC_RETURN without bit 0.
  };

  Known known = Known::kNothing;
  bool begun = false;             ///< The first element was given.
  bool context_reported = false;  ///< kPeContext was given.
  bool in_unused = false;         ///< The last packet was kUnused.
  UnsyncReason unsync_reason = UnsyncReason::kInitDecoder;
  std::uint8_t it = 0;  ///< At a place: the instructions left in the IT block.
  std::uint32_t address = 0;
  TraceIndex index = 0;  ///< That of the last packet.
  Interrupted interrupted{};
};

/// Pull decoder: call accept() with a packet, then drain() until it is not busy().  A walk gives a
/// range for each waypoint that it passes: a conditional branch that it passes was not taken.  One
/// owner; not thread safe.  `image` must outlive the decoder.
class Decoder {
 public:
  Decoder(const Config& config, const image::Image& image);

  void accept(const Packet& packet);
  /// There are no more packets: what follows the last record, if Config::pc says where it ends.
  void end_of_trace();
  std::size_t drain(std::span<Element> out);
  [[nodiscard]] bool busy() const {
    return walking_ || held_ || given_ != count_ || !diagnostics_.empty();
  }
  [[nodiscard]] bool has_diagnostics() const { return !diagnostics_.empty(); }
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const { return diagnostics_; }
  void clear_diagnostics() { diagnostics_.clear(); }
  /// A record of the source, after the packets so far.
  void add_diagnostic(const Diagnostic& record) { diagnostics_.push_back(record); }
  [[nodiscard]] static bool failed() { return false; }
  void reset();

  /// The image has changed: forgets what was read before.
  void refresh();

  [[nodiscard]] flow::Follower& follower() { return follower_; }

 private:
  /// Why a walk ends.
  enum class End : std::uint8_t {
    kOn,            ///< It goes on after this part.
    kThere,         ///< It is where it was to go.
    kWrongTarget,   ///< The same, but its direct branch goes elsewhere.
    kStuck,         ///< No instruction follows; `ended` says why.
    kPassedBranch,  ///< An unconditional branch is on the way.
    kNotBranch,     ///< The instruction at its end is not a branch.
    kInside,        ///< It was to go to the middle of an instruction.
  };
  /// Instructions up to a waypoint or to where the walk ends.
  struct Part {
    Element range;
    std::uint8_t it = 0;  ///< At the end of the range.
    End end = End::kOn;
    flow::BlockEnd ended = flow::BlockEnd::kWaypoint;
  };
  /// The address of an exception handler in the vector table.
  struct Vector {
    bool readable = false;     ///< The table, or a part of it.
    unsigned found = 0;        ///< Entries with this address.
    std::uint32_t number = 0;  ///< 0: none, or several.
  };

  // -- Records. --
  void begin(TraceIndex index);
  void restart(const Packet& packet);
  void arrive(const Packet& packet);
  void exception(const Packet& packet);
  void exception_return(const Packet& packet);
  void go_to(std::uint32_t destination);

  // -- Walks. --
  bool walk(const Walk& walk, std::uint32_t destination, bool at_end);
  Part part_of(const Walk& walk, std::uint32_t destination);
  Part part_inside(const Walk& walk);
  Part last_part(Walk walk, std::uint32_t destination);
  void lone_branch(const Packet& packet);
  [[nodiscard]] Vector vector_of(std::uint32_t handler);
  [[nodiscard]] std::vector<std::uint32_t> read_vectors() const;

  // -- Elements. --
  Element& queue(ElementKind kind);
  Element range(std::uint64_t start, std::uint64_t end, std::uint32_t count) const;
  void report(Fault fault, Severity severity, Finding finding, std::uint64_t address = kNoAddress);
  void disagree(Fault fault, Finding finding, std::uint64_t address);

  Config config_;
  const image::Image* image_;
  flow::Follower follower_;
  std::optional<std::vector<std::uint32_t>> vectors_;  ///< The vector table, once it was needed.
  DecoderState state_;

  // The elements of one packet.  Those of the walk are made when they are drained.
  static constexpr std::size_t kMostQueued = 8;
  std::array<Element, kMostQueued> queue_{};
  std::uint8_t count_ = 0;
  std::uint8_t given_ = 0;
  bool walking_ = false;
  std::uint8_t walk_at_ = 0;  ///< The walk comes before this element of the queue.
  Walk walk_;
  std::uint8_t report_at_ = 0;  ///< The same for the held record.
  std::optional<Diagnostic> held_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace waymark::mtb

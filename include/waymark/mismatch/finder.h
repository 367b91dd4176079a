// Finds places where the trace contradicts the code image: the code that ran was not the code that
// was read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/element/element.h"

namespace waymark::mismatch {

enum class Kind : std::uint8_t {
  kContinuedElsewhere,  ///< After a branch, not at its target or after it.
  kNotTaken,            ///< An atom N stands for an unconditional branch.
  kException,           ///< An exception interrupted code that was not reached.
  kDecoder,             ///< The decoder met it: Fault::kBadImage or kInvalidOpcode.
};

/// A range of instructions: from `start` up to, and not including, `end`.
struct Walked {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  /// A return led to `start`, but the image has no call before it.  That is possible, but rare.
  bool no_call_before = false;
};

/// A contradiction.  There is at most one between two addresses in the trace.
struct Mismatch {
  Kind kind = Kind::kDecoder;
  Element element{};          ///< The last range before it: its process, place and trace ID.
  std::uint64_t address = 0;  ///< The instruction at which it shows.
  /// The ranges walked since the trace last stated the address, as far as they are remembered: each
  /// range once, in the order in which it was first reached.  The code that differs is there.
  /// Valid during the call.
  std::span<const Walked> path{};
};

/// Compares elements with the image.  What it finds, no right image can explain: a branch of which
/// the image knows the target, and execution that continues elsewhere, for instance.  It does not
/// find all differences.  Where damage of the trace may be the cause, it finds nothing: a packet
/// whose bytes were changed can be a valid one that leads astray, until a bad packet shows the
/// damage.
///
/// Sources are decoded with DecodeFlag::kReportLostAtoms for it.  One owner; not thread safe.
class Finder {
 public:
  /// As image::Image::read(): the memory of the process of an element.
  using ReadCode = std::function<Bytes(const Element& element, std::uint64_t address,
                                       std::span<std::uint8_t> scratch)>;
  using Found = std::function<void(const Mismatch& mismatch)>;
  /// Gets what was walked between two addresses in the trace without a contradiction.
  using Passed = std::function<void(std::span<const Walked> path)>;

  Finder(ReadCode read, Found found, Passed passed = {})
      : read_(std::move(read)), found_(std::move(found)), passed_(std::move(passed)) {}

  /// Elements of any sources, in the order in which they come.
  void observe(std::span<const Element> elements);
  /// The reports of the decoder among them.
  void observe(const Diagnostic& record);
  /// Another stretch of trace follows.
  void restart();

 private:
  // More ranges than these between two addresses in the trace are forgotten, the oldest first.
  static constexpr std::size_t kPathLength = 256;
  static constexpr std::size_t kMostCalls = 16;
  // A contradiction counts if no damage shows in this many ranges after it.
  static constexpr unsigned kConfirming = 256;
  static constexpr std::size_t kMostHeld = 16;

  /// A contradiction that is not confirmed yet.
  struct Held {
    Mismatch mismatch;
    std::vector<Walked> path;
    unsigned left = kConfirming;
  };

  /// Known facts about a source.
  struct Position {
    Element last{};  ///< The last range.
    bool any = false;
    bool expects = false;  ///< `next` is known.
    /// After a contradiction, decoding goes on in code that did not run, until the trace states an
    /// address.  What it meets there follows from that contradiction.  The same after a way that
    /// was not traced.
    bool astray = false;
    /// Nor do this many ranges after damage say anything of the image, or those before decoding
    /// begins again.
    unsigned damaged = 0;
    std::uint64_t next = 0;
    bool has_return_stack = false;       ///< It is known to be in use.
    std::vector<std::uint64_t> calls{};  ///< Where the last calls return to; at most kMostCalls.
    std::vector<Walked> path{};
    std::size_t oldest = 0;  ///< In `path`, once it is full.
    std::vector<Held> held{};
  };

  void range(Position& position, const Element& element);
  void exception(Position& position, const Element& element);
  void walk_on(Position& position, const Walked& walked);
  bool is_popped(Position& position, const Element& element);
  void lose(Position& position);
  void pass_unknown_way(Position& position, const Element& element);
  void confirm(Position& position);
  void give(Held& held);
  void report(Position& position, Kind kind, const Element& element, std::uint64_t address);
  [[nodiscard]] bool target_of(const Element& element, std::uint64_t& target) const;
  [[nodiscard]] bool follows_call(const Element& element) const;
  [[nodiscard]] bool passes_branch(const Element& element, std::uint64_t& branch) const;
  Position& position_of(TraceId id);

  ReadCode read_;
  Found found_;
  Passed passed_;
  std::array<std::unique_ptr<Position>, kTraceIdCount> positions_;
  std::vector<Walked> ordered_;
};

}  // namespace waymark::mismatch

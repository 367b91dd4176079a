// Single instructions, decided once and remembered: for protocols that trace each one.  See
// docs/architecture.md, etmv3.md 9.3 and 12.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "waymark/flow/follower.h"
#include "waymark/flow/step_store.h"
#include "waymark/isa/instruction.h"

namespace waymark::flow {

/// Points into the cache of its owner's InstructionCache.  A copy of the owner gets an empty cache,
/// so a copy of this points nowhere; assignment is for one owner.
class StepPointer {
 public:
  StepPointer() = default;
  StepPointer(const StepPointer& /*other*/) {}
  StepPointer& operator=(const StepPointer&) = default;
  StepPointer& operator=(const Step* step) {
    step_ = step;
    return *this;
  }
  operator const Step*() const { return step_; }

 private:
  const Step* step_ = nullptr;
};

/// The look-up for one trace ID, as Follower is for blocks: what was read in one memory space and
/// context is never used for another.  A32 and T32 only.  One owner; not thread safe.
class InstructionCache {
 public:
  /// `image` must outlive the cache.
  InstructionCache(const image::Image& image, const isa::Options& options, TraceId trace_id);

  /// Copies start empty.
  InstructionCache(const InstructionCache& other);
  InstructionCache& operator=(const InstructionCache&) = delete;

  /// Selects what is read from now on, as Follower::select().
  void select(image::SpaceMask space, ExecutionContext context, TraceIndex index = 0);

  /// MemoryView::covers() and begin().
  [[nodiscard]] bool covers(TraceIndex index) const { return memory_.covers(index); }
  [[nodiscard]] TraceIndex covers_from() const { return memory_.begin(); }

  /// If switched off, every look-up reads again.  For tests.
  void set_enabled(bool enabled);

  /// The instruction at `address`; nullptr: none, and outcome() says why.  It and those after it
  /// are valid until flushes() changes or, if the cache is switched off, until the next call.
  const Step* at(std::uint32_t address, isa::Isa isa) {
    // Also false for addresses that are not aligned.
    const std::uint32_t slot = std::rotr(address - last_.address, last_.unit);
    if (slot < StepLine::kSlots && isa == last_.isa) [[likely]] {
      const Step* const step = last_.line->steps[slot];
      if (step != nullptr) [[likely]]
        return step;
    }
    return look_up(address, isa);
  }

  /// The same for a place that was probably reached by a branch.
  const Step* find(std::uint32_t address, isa::Isa isa) {
    const Step*& recent = recent_[(address >> 1) % kRecent];
    if (recent->address == address && recent->isa() == isa) [[likely]]
      return recent;
    return find_far(recent, address, isa);
  }

  /// The instruction where a sequence continues after its end, or that a direct branch leads to: as
  /// at(), but found at once the next time.  The selection must be the same as when `step` was
  /// found.
  const Step* after(const Step& step) {
    const Step* const known = links_[link_of(step)].step;
    return known != nullptr ? known : find_after(step);
  }

  /// The target of a direct branch.
  [[nodiscard]] std::uint32_t target(const Step& branch) const {
    return links_[link_of(branch)].address;
  }
  /// The instruction set after an instruction; a branch is assumed to be taken.
  [[nodiscard]] isa::Isa next_isa(const Step& step) const {
    return step.is_branch() ? links_[link_of(step)].isa : step.isa();
  }

  /// Why at() returned nullptr: kNotAccessible or kUnsupported.
  [[nodiscard]] BlockEnd outcome() const { return outcome_; }
  /// Forgets everything; call select() before continuing.
  void flush();

  /// Like Follower::reads_callbacks().
  [[nodiscard]] bool reads_callbacks() const { return callbacks_; }
  [[nodiscard]] image::SpaceMask space() const { return memory_.space(); }

  /// How often everything was forgotten.
  [[nodiscard]] std::uint64_t flushes() const { return counts_.flushes; }

  /// Counts for tests.
  [[nodiscard]] std::uint64_t classified() const { return counts_.classified; }

 private:
  static const StepLine kNoLine;  ///< No instruction in it is decided.
  static const Step kNoStep;      ///< Is found nowhere.

  /// The line of the last look-up, in the current view.  Initially none.
  struct LastLine {
    std::uint32_t address = 0;
    int unit = 0;  ///< log2 of the size of a slot in bytes.
    isa::Isa isa = isa::Isa::kUnknown;
    const StepLine* line = &kNoLine;
  };

  /// For tests, and for clients that hold steps.
  struct Counts {
    std::uint64_t classified = 0;
    std::uint64_t flushes = 0;
  };

  /// Where an end or a branch leads.  Number kNoLink is for steps outside the cache: its `step`
  /// stays nullptr.
  struct Link {
    const Step* step = nullptr;
    std::uint32_t address = 0;
    isa::Isa isa = isa::Isa::kUnknown;
  };
  static constexpr std::uint32_t kNoLink = 0;

  // The number of a link is in two parts of `bits`.
  static constexpr unsigned kLinkLowBits = 10;
  static constexpr unsigned kLinkLowShift = 5;
  static std::uint32_t link_of(const Step& step) {
    return (step.bits >> Step::kLinkShift) << kLinkLowBits |
           (step.bits >> kLinkLowShift & ((1U << kLinkLowBits) - 1));
  }
  static std::uint32_t link_bits(std::size_t number) {
    const auto link = static_cast<std::uint32_t>(number);
    return link >> kLinkLowBits << Step::kLinkShift | (link & ((1U << kLinkLowBits) - 1))
                                                          << kLinkLowShift;
  }

  static constexpr std::size_t kOpcodeBytes = 4;
  Bytes read(std::uint32_t address, isa::Isa isa, std::span<std::uint8_t> buffer,
             std::span<std::uint8_t, kOpcodeBytes> word) const;
  const Step* look_up(std::uint32_t address, isa::Isa isa);
  const Step* find_far(const Step*& recent, std::uint32_t address, isa::Isa isa);
  const Step* look_outside(std::uint32_t address, isa::Isa isa);
  const Step* find_after(const Step& step);
  const Step* fill(StepLine& line, std::uint32_t address);
  bool classify(std::uint32_t address, isa::Isa isa, const std::uint8_t* bytes, Step& step,
                Link& link);
  static Step end_step(std::uint32_t address, isa::Isa isa);
  void leave_line();
  void begin_views();
  void forget_steps();

  MemoryView memory_;
  isa::Options options_;
  bool enabled_ = true;
  bool callbacks_ = false;
  BlockEnd outcome_ = BlockEnd::kWaypoint;
  std::uint32_t view_ = 0;
  Counts counts_;

  LastLine last_;
  StepLines lines_;
  StepStore steps_;
  std::vector<Link> links_;
  static constexpr std::uint32_t kRecent = 512;
  std::array<const Step*, kRecent> recent_;  ///< What find() gave, in the current view.
  std::array<Step, 3> scratch_;
  std::vector<std::uint8_t> fetch_buffer_;
};

}  // namespace waymark::flow

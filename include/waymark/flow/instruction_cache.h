// Single instructions, decided once and remembered: for protocols that trace each of them.
// Design section 4; fact sheet etmv3.md sections 9.3 and 12.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "waymark/flow/follower.h"
#include "waymark/image/image.h"
#include "waymark/isa/instruction.h"
#include "waymark/isa/memory.h"

namespace waymark::flow {

/// What is remembered of an A32 or T32 instruction.
struct Step {
  std::uint32_t target = 0;  ///< Of a direct branch.
  // In the order of Element, so that a range takes them over in one move.
  isa::InstrType type = isa::InstrType::kOther;
  isa::InstrSubtype subtype = isa::InstrSubtype::kNone;
  std::uint8_t size = 0;  ///< Bytes; 0: not decided yet.
  bool conditional : 1 = false;
  isa::DataAccess access : 2 = isa::DataAccess::kNone;
  isa::Isa next_isa : 3 = isa::Isa::kUnknown;  ///< After a taken direct branch.

  /// Type, subtype and size as the bytes that they are in an Element.
  [[nodiscard]] std::uint64_t described() const {
    return static_cast<std::uint64_t>(type) | static_cast<std::uint64_t>(subtype) << 8 |
           std::uint64_t{size} << 16;
  }
};
static_assert(sizeof(Step) == 8);

/// The look-up for one trace ID, as Follower is for blocks: what was read in one memory space and
/// context never answers for another.  A32 and T32 only.  One owner; not thread safe.
class InstructionCache {
 public:
  /// `image` must outlive the cache.
  InstructionCache(const image::Image& image, const isa::Options& options, TraceId trace_id);

  /// Copies start empty.
  InstructionCache(const InstructionCache& other);
  InstructionCache& operator=(const InstructionCache&) = delete;

  /// Says what is read from now on.  `context` identifies the process (context ID and VMID).
  void select(image::SpaceMask space, std::uint64_t context);

  /// Switched off, every look-up reads anew.  For tests.
  void set_enabled(bool enabled);

  /// The instruction at `address`; nullptr: none, and outcome() says why.  Valid until the next
  /// call.
  const Step* at(std::uint32_t address, isa::Isa isa) {
    // Also false for addresses that are not aligned.
    const std::uint32_t slot = std::rotr(address - line_address_, unit_);
    if (slot < kSlots && isa == line_isa_) [[likely]] {
      const Step& step = line_->steps[slot];
      if (step.size != 0) [[likely]]
        return &step;
    }
    return look_up(address, isa);
  }

  /// Why at() said nullptr: kNotAccessible or kUnsupported.
  [[nodiscard]] BlockEnd outcome() const { return outcome_; }
  [[nodiscard]] image::SpaceMask space() const { return space_; }

  /// Counts for tests.
  [[nodiscard]] std::uint64_t classified() const { return classified_; }

 private:
  static constexpr std::uint32_t kSlots = 64;
  struct Line {
    std::uint32_t address = 0;
    std::uint32_t view = 0;
    isa::Isa isa = isa::Isa::kUnknown;
    std::array<Step, kSlots> steps;
  };
  static const Line kNoLine;  ///< Nothing in it is decided.

  const Step* look_up(std::uint32_t address, isa::Isa isa);
  const Step* fill(Line& line, std::uint32_t address);
  bool classify(std::uint32_t address, isa::Isa isa, const std::uint8_t* bytes, Step& step);
  Line& line_at(std::uint32_t address, isa::Isa isa);
  void insert(Line* line);
  void leave_line();
  void flush();

  const image::Image* image_;
  isa::Options options_;
  TraceId trace_id_;
  bool enabled_ = true;
  bool callbacks_ = false;
  image::SpaceMask space_ = image::kSpaceAny;
  BlockEnd outcome_ = BlockEnd::kWaypoint;
  std::uint32_t view_ = 0;
  std::uint32_t next_view_ = 0;
  std::uint64_t image_version_ = 0;
  std::uint64_t classified_ = 0;

  // The line of the last look-up.
  std::uint32_t line_address_ = 0;
  int unit_ = 0;  ///< log2 of the bytes of a slot.
  isa::Isa line_isa_ = isa::Isa::kUnknown;
  const Line* line_ = &kNoLine;

  std::unordered_map<std::uint64_t, std::uint32_t> views_;
  std::vector<Line*> table_;  ///< Open addressing; size a power of two.
  std::vector<std::unique_ptr<Line[]>> slabs_;
  std::size_t used_ = 0;
  Step scratch_;
  std::vector<std::uint8_t> fetch_buffer_;
};

}  // namespace waymark::flow

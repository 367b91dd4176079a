// The storage of an instruction cache: steps, and lines that find them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "waymark/isa/instruction.h"
#include "waymark/isa/memory.h"

namespace waymark::flow {

/// The data that is remembered for an A32 or T32 instruction.
///
/// Steps are in sequences, in the order of memory: after a step comes that of the next instruction,
/// or an end, which is not an instruction but says where the sequence would continue.  After an end
/// one more step can be read (without meaning), so that loops may look ahead.
struct Step {
  // Values of `bits`.
  static constexpr std::uint32_t kStopsNotExecuted = 1 << 0;  ///< An end.
  static constexpr std::uint32_t kStopsExecuted = 1 << 1;     ///< An end or a branch.
  static constexpr std::uint32_t kAlways = 1 << 2;            ///< Set in every step.
  static constexpr std::uint32_t kConditional = 1 << 17;      ///< As in a word of Element flags.
  static constexpr unsigned kAccessShift = 3;
  static constexpr unsigned kLinkShift = 18;

  std::uint32_t address = 0;
  std::uint32_t end = 0;  ///< The address of the next instruction in memory.
  std::uint32_t bits = kAlways;
  /// Instruction set, type, subtype and size as the bytes of an Element.
  std::uint32_t description = 0;

  [[nodiscard]] isa::Isa isa() const { return static_cast<isa::Isa>(description & 0xFF); }
  [[nodiscard]] isa::InstrType type() const {
    return static_cast<isa::InstrType>(description >> 8 & 0xFF);
  }
  [[nodiscard]] isa::InstrSubtype subtype() const {
    return static_cast<isa::InstrSubtype>(description >> 16 & 0xFF);
  }
  [[nodiscard]] unsigned size() const { return description >> 24; }  ///< In bytes; 0: an end.
  [[nodiscard]] bool conditional() const { return (bits & kConditional) != 0; }
  [[nodiscard]] isa::DataAccess access() const {
    return static_cast<isa::DataAccess>(bits >> kAccessShift & 3);
  }
  [[nodiscard]] bool is_end() const { return (bits & kStopsNotExecuted) != 0; }
  [[nodiscard]] bool is_branch() const {
    return (bits & (kStopsExecuted | kStopsNotExecuted)) == kStopsExecuted;
  }
};
static_assert(sizeof(Step) == 16);

/// The steps of kSlots units of memory, by their offset.
struct StepLine {
  static constexpr std::uint32_t kSlots = 64;

  std::uint32_t address = 0;
  std::uint32_t view = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  std::array<const Step*, kSlots> steps{};  ///< nullptr: not decided.
};

/// Lines by address, instruction set and view.  They stay in place until clear().
class StepLines {
 public:
  StepLines() { clear(); }
  StepLines(const StepLines&) = delete;
  StepLines& operator=(const StepLines&) = delete;

  void clear();
  /// No other line may be added: this bounds the memory, whatever the trace says.
  [[nodiscard]] bool full() const;
  /// Adds the line, without steps, if there is none.
  StepLine& at(std::uint32_t address, isa::Isa isa, std::uint32_t view);

 private:
  [[nodiscard]] StepLine& numbered(std::size_t number) const;
  void insert(StepLine& line);

  std::vector<StepLine*> table_;  ///< Open addressing; size a power of two.
  std::vector<std::unique_ptr<StepLine[]>> slabs_;
  std::size_t used_ = 0;
};

/// Sequences of steps.  They stay in place until clear().
class StepStore {
 public:
  /// A sequence has at most this many steps, with its end.
  static constexpr std::size_t kLongest = StepLine::kSlots + 1;

  void clear();
  /// Nothing more may be kept.
  [[nodiscard]] bool full() const;
  /// Space for a sequence and one step more, which can be read.
  Step* space();
  /// The first `count` steps of space() stay.
  void keep(std::size_t count) { used_ += count; }

 private:
  static constexpr std::size_t kSlab = 1024;

  std::vector<std::unique_ptr<Step[]>> slabs_;
  std::size_t used_ = kSlab;  ///< Steps of the last slab.
};

}  // namespace waymark::flow

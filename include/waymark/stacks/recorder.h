// The input of an engine: a trace whose steps within one function are summed up.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>

#include "waymark/element/element.h"
#include "waymark/program/place_lookup.h"
#include "waymark/stacks/engine.h"

namespace waymark::stacks {

/// How a range ended, as its element says.
struct RangeEnd {
  std::uint64_t end = 0;
  isa::InstrType last_type = isa::InstrType::kOther;
  isa::InstrSubtype last_subtype = isa::InstrSubtype::kNone;
  std::uint8_t last_size = 0;
  isa::Isa isa = isa::Isa::kUnknown;
  bool executed = false;
  friend bool operator==(const RangeEnd&, const RangeEnd&) = default;
};

/// Instructions, and the cycles that are counted after them.
struct Counted {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
  friend bool operator==(const Counted&, const Counted&) = default;
};

/// The steps after an element of a source that do not change its stack: ranges that begin in the
/// same function, none of which but the last one ends with a branch that can leave it.
struct Run {
  // The addresses of the function of the element before; none with low > high.
  std::uint64_t low = 1;
  std::uint64_t high = 0;
  bool has_ranges = false;  ///< If not, only cycles are counted.
  RangeEnd last{};          ///< That of the last range.
  /// The first count also has what waited before the run, so it is apart from the sum of the later
  /// ones, each of which has instructions.
  std::uint8_t counts = 0;
  std::array<Counted, 2> counted{};  ///< `counts` of them.
  std::uint64_t instructions = 0;    ///< After the last count.
  friend bool operator==(const Run&, const Run&) = default;

  [[nodiscard]] bool is_empty() const { return !has_ranges && counts == 0; }
};

/// One thing that an engine is given.
struct Step {
  enum class Kind : std::uint8_t {
    kElement,
    kLeftOut,  ///< Engine::leave_out(); the element has only the source.
  };
  Kind kind = Kind::kElement;
  Element element{};
  Run run{};  ///< It is of the same source.
};

/// Makes steps of elements.  Engine::play() with the steps does what Engine::observe() does with
/// the elements, in an engine without call sites and ranges.  The sink of the engine, if there is
/// one, needs steps that have times.
///
/// The stack need not be known: the function at an address is enough, because functions do not
/// overlap.  The engine still checks that each run stays where it is, because memory may change.
///
/// The elements of steps are in order, also between sources.  A run comes with the element before
/// it, and so before some elements of other sources, which makes no difference, since it touches
/// nothing that sources share.  One owner; not thread safe.
class Recorder {
 public:
  using Take = std::function<void(const Step& step)>;

  /// `places`: as Options::places.  `times`: timestamps and cycle counts are steps of their own, so
  /// that they keep their places between instructions.
  Recorder(program::PlaceLookup places, Take take, bool times = false);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void set_source(TraceId id, const SourceFacts& facts);
  /// Owner::until at a range, if the engine has Options::owner: no run goes on beyond it.
  void set_owners(std::function<TraceIndex(const Element& range)> until) {
    until_ = std::move(until);
  }
  void observe(std::span<const Element> elements);
  /// As Engine::leave_out().
  void leave_out(TraceId id);
  /// Gives what has not been given.  What follows makes other steps, with the same effect.
  void finish();

 private:
  struct Source;
  struct Known;
  struct Waiting {
    Step step{};
    bool open = false;
  };

  Source& source(TraceId id);
  void observe_range(Source& source, const Element& range);
  void add_to_run(Source& source, const Element& last, std::uint64_t instructions);
  void count(Source& source, const Element& element);
  void observe_other(Source& source, const Element& element);
  /// A step that no run follows.
  void give(const Step& step);
  /// A step that a run may follow.
  Waiting& wait(const Step& step);
  void make_room();
  /// Nothing more follows the step of a source.  Gives what no longer has to wait.
  void close(Source& source);
  [[nodiscard]] const Known& find(const Element& range);

  program::PlaceLookup places_;
  Take take_;
  bool times_;
  std::function<TraceIndex(const Element& range)> until_;
  std::array<std::unique_ptr<Source>, 256> sources_;
  std::vector<Known> known_;
  std::deque<Waiting> waiting_;
};

}  // namespace waymark::stacks

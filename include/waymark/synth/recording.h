// Records what the branches of a program did in a decoded trace, so that the model of its execution
// can repeat it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "waymark/element/element.h"
#include "waymark/synth/program.h"

namespace waymark::synth {

/// Collects the elements of a capture.  If there are several sources, it keeps the one that
/// executed most of the program.
class Recording {
 public:
  /// The maximum number of branches recorded for one source; later ones are left out.
  static constexpr std::uint64_t kMostBranches = std::uint64_t{1} << 24;

  /// `program` must outlive this.
  explicit Recording(const Program& program) : program_(&program) {}

  /// The next elements, in order within each trace ID.
  void add(std::span<const Element> elements);

  /// Instructions of the program in the chosen source; 0: the program did not run.
  [[nodiscard]] std::uint64_t instructions() const;
  /// The chosen source has more branches than are recorded.
  [[nodiscard]] bool cut() const;

  /// Gives the program the recorded behaviour.  It begins where the source begins, and again where
  /// the source ends.
  void apply(Program& program) const;

 private:
  struct Source {
    std::uint64_t instructions = 0;
    std::uint64_t branches = 0;
    std::optional<Place> first{};
    std::uint64_t end = 0;      ///< The end of the last range.
    Behaviour* from = nullptr;  ///< An indirect branch that was taken just before.
    std::unordered_map<std::uint64_t, Behaviour> behaviours{};
    std::map<std::uint64_t, std::uint64_t> ranges{};  ///< Starts and ends.
  };

  void add_range(Source& source, const Element& range);
  [[nodiscard]] const Source* longest() const;

  const Program* program_;
  std::map<TraceId, Source> sources_;
};

}  // namespace waymark::synth

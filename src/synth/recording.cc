#include "waymark/synth/recording.h"

#include <algorithm>

namespace waymark::synth {

void Recording::add(std::span<const Element> elements) {
  for (const Element& element : elements) {
    switch (element.kind) {
      case ElementKind::kInstrRange:
        add_range(sources_[element.trace_id], element);
        break;
      case ElementKind::kPeContext:
      case ElementKind::kTimestamp:
      case ElementKind::kCycleCount:
      case ElementKind::kEvent:
        break;
      default:
        // Execution continued elsewhere, or is unknown for a while.
        if (const auto at = sources_.find(element.trace_id); at != sources_.end()) {
          at->second.from = nullptr;
        }
    }
  }
}

void Recording::add_range(Source& source, const Element& range) {
  if (source.from != nullptr) source.from->route.push_back({range.start, range.isa});
  source.from = nullptr;
  if (program_->segment_at(range.start) == nullptr) return;
  source.instructions += range.count;
  if (source.branches == kMostBranches) return;
  if (!source.first) source.first = Place{range.start, range.isa};
  source.end = range.end;
  std::uint64_t& end = source.ranges[range.start];
  end = std::max(end, range.end);
  const bool indirect = range.last_type == isa::InstrType::kIndirectBranch;
  if (!indirect && range.last_type != isa::InstrType::kBranch) return;
  ++source.branches;
  const bool taken = (range.flags & kElementExecuted) != 0;
  const bool returns = range.last_subtype == isa::InstrSubtype::kV8Return ||
                       range.last_subtype == isa::InstrSubtype::kV7ImpliedReturn ||
                       range.last_subtype == isa::InstrSubtype::kV8ExceptionReturn;
  const bool conditional = (range.flags & kElementConditional) != 0;
  const bool routed = indirect && !returns;
  if (!conditional && !routed) return;
  Behaviour& behaviour = source.behaviours[range.end - range.last_size];
  if (conditional) behaviour.outcomes.push_back(taken);
  if (routed && taken) source.from = &behaviour;
}

const Recording::Source* Recording::longest() const {
  const auto at = std::ranges::max_element(
      sources_, {}, [](const auto& source) { return source.second.instructions; });
  return at == sources_.end() || at->second.instructions == 0 ? nullptr : &at->second;
}

std::uint64_t Recording::instructions() const {
  const Source* source = longest();
  return source == nullptr ? 0 : source->instructions;
}

bool Recording::cut() const {
  const Source* source = longest();
  return source != nullptr && source->branches == kMostBranches;
}

void Recording::apply(Program& program) const {
  const Source* source = longest();
  if (source == nullptr) return;
  for (const auto& [address, behaviour] : source->behaviours) {
    program.set_behaviour(address, behaviour);
  }
  program.set_recorded(*source->first);
  // A program that exits does not execute what follows its last instruction.
  const bool went_on = std::ranges::any_of(source->ranges, [&](const auto& range) {
    return range.first <= source->end && source->end < range.second;
  });
  if (!went_on) program.add_end(source->end);
}

}  // namespace waymark::synth

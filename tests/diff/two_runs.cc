#include "two_runs.h"

#include <algorithm>
#include <utility>

namespace waymark::diff {
namespace {

using Kind = ModelProgram::Node::Kind;
constexpr unsigned kFunctions = 4;
constexpr std::uint64_t kBase = 0x10000;
constexpr unsigned kInstruction = 4;

std::uint64_t hash(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return synth::Random(a * 0x9E3779B97F4A7C15ULL ^ b * 0xBF58476D1CE4E5B9ULL ^ c).next();
}

}  // namespace

std::vector<ModelProgram::Node> ModelProgram::nodes(synth::Random& random, unsigned depth,
                                                    unsigned function) {
  std::vector<Node> nodes;
  const unsigned count = random.between(1, 3);
  for (unsigned i = 0; i < count; ++i) {
    nodes.push_back({.kind = Kind::kPlain, .size = random.between(1, 6)});
    const bool calls = function + 1 < kFunctions;
    switch (random.below(depth == 0 ? 2 : 5)) {
      case 0:
        if (calls)
          nodes.push_back(
              {.kind = Kind::kCall, .callee = random.between(function + 1, kFunctions - 1)});
        break;
      case 1:
        if (calls) nodes.push_back({.kind = Kind::kCallAny});
        break;
      case 2:
        nodes.push_back({.kind = Kind::kLoop, .first = ModelProgram::nodes(random, 0, function)});
        break;
      default:
        nodes.push_back({.kind = Kind::kChoice,
                         .first = ModelProgram::nodes(random, depth - 1, function),
                         .second = ModelProgram::nodes(random, depth - 1, function)});
        break;
    }
  }
  return nodes;
}

ModelProgram::ModelProgram(std::uint64_t seed) {
  synth::Random random(seed);
  for (unsigned i = 0; i < kFunctions; ++i) functions_.push_back({.body = nodes(random, 2, i)});
  // Something to decide.
  functions_[0].body.push_back({.kind = Kind::kChoice,
                                .first = {{.kind = Kind::kPlain, .size = 3}},
                                .second = {{.kind = Kind::kPlain, .size = 2}}});
  functions_[0].body.push_back({.kind = Kind::kCallAny});
  place();
}

ModelProgram ModelProgram::with_change(unsigned function) const {
  ModelProgram other = *this;
  std::vector<Node>& body = other.functions_[function].body;
  body.insert(body.begin(), {.kind = Kind::kPlain, .size = 1});
  other.place();
  return other;
}

void ModelProgram::place() {
  std::uint64_t at = kBase;
  for (Function& function : functions_) {
    function.start = at;
    function.end = at + (size(function.body) + 1) * kInstruction;
    at = function.end + 0x40;
  }
}

unsigned ModelProgram::size(const std::vector<Node>& nodes) {
  unsigned sum = 0;
  for (const Node& node : nodes) {
    switch (node.kind) {
      case Kind::kPlain:
        sum += node.size;
        break;
      case Kind::kChoice:
        sum += 2 + size(node.first) + size(node.second);
        break;
      case Kind::kLoop:
        sum += 1 + size(node.first);
        break;
      case Kind::kCall:
      case Kind::kCallAny:
        sum += 1;
        break;
    }
  }
  return sum;
}

ModelRun::ModelRun(const ModelProgram& program, const Options& options)
    : program_(program), options_(options), division_(options.division) {
  Element begin;
  begin.kind = ElementKind::kTraceOn;
  elements_.push_back(begin);
  const ModelProgram::Function& main = program.functions().front();
  for (unsigned round = 0; round < options.rounds; ++round) {
    const std::uint64_t end = run(main.body, main.start, 0);
    branch(end, true, false, isa::InstrType::kBranch);
  }
  Element last;
  last.kind = ElementKind::kEndOfTrace;
  elements_.push_back(last);
  TraceIndex index = 0;
  for (Element& element : elements_) {
    element.index = ++index;
    element.isa = isa::Isa::kA64;
  }
}

/// The same for each visit of a branch, whatever was executed before, and in other builds.
unsigned ModelRun::decide(unsigned choices, unsigned function, std::uint64_t address,
                          bool indirect) {
  const std::uint64_t place =
      std::uint64_t{function} << 24 | (program_.functions()[function].end - address);
  const std::uint64_t drawn = hash(options_.input, place, visits_[place]++) >> 33;
  auto choice = static_cast<unsigned>(drawn % choices);
  if (decisions_.size() == options_.changed) choice = (choice + 1) % choices;
  decisions_.push_back({address + options_.slide, executed_ + 1, indirect});
  return choice;
}

void ModelRun::call(unsigned function) {
  const ModelProgram::Function& callee = program_.functions()[function];
  const std::uint64_t end = run(callee.body, callee.start, function);
  branch(end, true, false, isa::InstrType::kIndirectBranch, isa::InstrSubtype::kV8Return);
}

/// The result is the address after the nodes.
std::uint64_t ModelRun::run(const Nodes& nodes, std::uint64_t at, unsigned function) {
  for (const ModelProgram::Node& node : nodes) {
    switch (node.kind) {
      case Kind::kPlain:
        straight(at, node.size);
        at += std::uint64_t{node.size} * kInstruction;
        break;
      case Kind::kChoice: {
        const std::uint64_t first = at + kInstruction;
        const std::uint64_t jump = first + std::uint64_t{ModelProgram::size(node.first)} * 4;
        const bool taken = decide(2, function, at, false) == 1;
        branch(at, taken, true, isa::InstrType::kBranch);
        if (taken) {
          run(node.second, jump + kInstruction, function);
        } else {
          run(node.first, first, function);
          branch(jump, true, false, isa::InstrType::kBranch);
        }
        at = jump + kInstruction + std::uint64_t{ModelProgram::size(node.second)} * 4;
        break;
      }
      case Kind::kLoop: {
        for (bool again = true; again;) {
          const std::uint64_t end = run(node.first, at, function);
          again = decide(2, function, end, false) == 1;
          branch(end, again, true, isa::InstrType::kBranch);
        }
        at += std::uint64_t{ModelProgram::size(node.first) + 1} * 4;
        break;
      }
      case Kind::kCall:
        branch(at, true, false, isa::InstrType::kBranch, isa::InstrSubtype::kBranchLink);
        at += kInstruction;
        call(node.callee);
        break;
      case Kind::kCallAny: {
        const unsigned callee =
            function + 1 + decide(kFunctions - 1 - function, function, at, true);
        branch(at, true, false, isa::InstrType::kIndirectBranch, isa::InstrSubtype::kBranchLink);
        at += kInstruction;
        call(callee);
        break;
      }
    }
  }
  return at;
}

void ModelRun::interrupt(std::uint64_t address) {
  interrupted_ = executed_;
  Element exception;
  exception.kind = ElementKind::kException;
  exception.number = kInterrupt;
  exception.flags = kElementReturnAddress;
  exception.end = address + options_.slide;
  elements_.push_back(exception);
  put(kHandler - options_.slide, kHandler - options_.slide + kHandlerSize * kInstruction);
  elements_.back().flags = kElementExecuted;
  elements_.back().last_type = isa::InstrType::kIndirectBranch;
  elements_.back().last_subtype = isa::InstrSubtype::kV8ExceptionReturn;
}

void ModelRun::put(std::uint64_t start, std::uint64_t end) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.start = start + options_.slide;
  element.end = end + options_.slide;
  element.count = static_cast<std::uint32_t>((end - start) / kInstruction);
  element.last_size = kInstruction;
  elements_.push_back(element);
}

/// Divided anywhere, also by elements that mean nothing for execution.
void ModelRun::straight(std::uint64_t address, unsigned count) {
  std::uint64_t start = address;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t at = address + std::uint64_t{i} * kInstruction;
    if (executed_ == options_.interrupt) {
      if (at != start) put(start, at);
      start = at;
      interrupt(at);
    }
    ++executed_;
    if (!division_.one_in(4)) continue;
    put(start, at + kInstruction);
    start = at + kInstruction;
    if (!division_.coin()) continue;
    Element other;
    other.kind = division_.coin() ? ElementKind::kTimestamp : ElementKind::kPeContext;
    elements_.push_back(other);
  }
  const std::uint64_t end = address + std::uint64_t{count} * kInstruction;
  if (start != end) put(start, end);
}

void ModelRun::branch(std::uint64_t address, bool taken, bool conditional, isa::InstrType type,
                      isa::InstrSubtype subtype) {
  if (executed_ == options_.interrupt) interrupt(address);
  ++executed_;
  put(address, address + kInstruction);
  Element& element = elements_.back();
  element.last_type = type;
  element.last_subtype = subtype;
  element.flags = static_cast<std::uint16_t>((taken ? kElementExecuted : 0) |
                                             (conditional ? kElementConditional : 0));
}

void compare(Comparison& comparison, const std::vector<Element>& first,
             const std::vector<Element>& second, std::uint64_t seed) {
  synth::Random random(seed);
  const std::array<const std::vector<Element>*, kSides> runs{&first, &second};
  std::array<std::size_t, kSides> at{};
  while (const auto side = comparison.next()) {
    const std::size_t left = runs[*side]->size() - at[*side];
    if (left == 0) {
      comparison.finish(*side);
      continue;
    }
    const std::size_t count = std::min<std::size_t>(left, random.between(1, 300));
    comparison.observe(*side, std::span(*runs[*side]).subspan(at[*side], count));
    at[*side] += count;
  }
}

}  // namespace waymark::diff

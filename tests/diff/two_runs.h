// Runs of a small random program, for tests of comparisons.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "waymark/diff/comparison.h"
#include "waymark/element/element.h"
#include "waymark/synth/random.h"

namespace waymark::diff {

/// A program of nested code: straight pieces, choices, loops and calls.  Each instruction has four
/// bytes.  Function 0 is one loop that ends with the run.
class ModelProgram {
 public:
  struct Node {
    enum class Kind : std::uint8_t { kPlain, kChoice, kLoop, kCall, kCallAny };
    Kind kind = Kind::kPlain;
    unsigned size = 1;           ///< kPlain: instructions.
    unsigned callee = 0;         ///< kCall.
    std::vector<Node> first{};   ///< The body, or what a choice does if its branch is not taken.
    std::vector<Node> second{};  ///< What a choice does if it is taken.
  };
  struct Function {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::vector<Node> body{};
  };

  explicit ModelProgram(std::uint64_t seed);
  /// Another build: the function has one more instruction at its beginning, so later ones move.
  [[nodiscard]] ModelProgram with_change(unsigned function) const;

  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  static unsigned size(const std::vector<Node>& nodes);

 private:
  static std::vector<Node> nodes(synth::Random& random, unsigned depth, unsigned function);
  void place();

  std::vector<Function> functions_;
};

/// The values that the input of a run decided.
struct Decision {
  std::uint64_t address = 0;      ///< The branch is there.
  std::uint64_t instruction = 0;  ///< Instructions up to it, with itself.
  bool indirect = false;
};

/// Executes a program, and gives elements that divide it into ranges at random.
class ModelRun {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kHandler = 0x900000;
  static constexpr std::uint32_t kInterrupt = 14;
  static constexpr unsigned kHandlerSize = 5;

  struct Options {
    std::uint64_t input = 1;           ///< The seed of the input.
    std::uint64_t changed = kNever;    ///< This decision is another one.
    std::uint64_t division = 1;        ///< The seed of the division into ranges.
    std::uint64_t interrupt = kNever;  ///< An interrupt comes before this instruction.
    unsigned rounds = 8;               ///< Of function 0.
    std::uint64_t slide = 0;           ///< The program was loaded so far above its addresses.
  };
  ModelRun(const ModelProgram& program, const Options& options);

  [[nodiscard]] const std::vector<Element>& elements() const { return elements_; }
  [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
  /// Without those of the handler.
  [[nodiscard]] std::uint64_t instructions() const { return executed_; }
  /// The instruction that the interrupt came before.
  [[nodiscard]] std::uint64_t interrupted() const { return interrupted_; }

 private:
  using Nodes = std::vector<ModelProgram::Node>;

  unsigned decide(unsigned choices, unsigned function, std::uint64_t address, bool indirect);
  void call(unsigned function);
  std::uint64_t run(const Nodes& nodes, std::uint64_t at, unsigned function);
  void straight(std::uint64_t address, unsigned count);
  void branch(std::uint64_t address, bool taken, bool conditional, isa::InstrType type,
              isa::InstrSubtype subtype = isa::InstrSubtype::kNone);
  void put(std::uint64_t start, std::uint64_t end);
  void interrupt(std::uint64_t address);

  const ModelProgram& program_;
  Options options_;
  synth::Random division_;
  std::map<std::uint64_t, std::uint64_t> visits_;
  std::vector<Element> elements_;
  std::vector<Decision> decisions_;
  std::uint64_t executed_ = 0;
  std::uint64_t interrupted_ = 0;
};

/// Gives both runs to a comparison, in batches of random sizes.
void compare(Comparison& comparison, const std::vector<Element>& first,
             const std::vector<Element>& second, std::uint64_t seed = 1);

}  // namespace waymark::diff

// The executed code, program by program: for annotate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/annotation.h"
#include "waymark/outputs/function_names.h"
#include "waymark/outputs/instructions.h"
#include "waymark/program/program.h"

namespace waymark::cli {

/// A function of a program that was executed.
struct ExecutedFunction {
  std::size_t program = 0;  ///< Its number in ExecutedPrograms.
  const program::Function* function = nullptr;
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
};

/// Counts by program, in link-time addresses, whatever process executed it and wherever it was in
/// memory.  Not thread safe.
class ExecutedPrograms {
 public:
  /// `counts` of the capture, which must outlive the object.  `places` as place_lookup() gives it.
  ExecutedPrograms(const inputs::Capture& capture, outputs::PlaceLookup places,
                   const count::Counts& counts, std::shared_ptr<const program::Llvm> llvm);

  /// All functions of which something was executed, in no particular order.
  [[nodiscard]] const std::vector<ExecutedFunction>& functions() const { return functions_; }
  /// The function, or its parts, of the programs of which something was executed: see
  /// outputs::find_functions().
  [[nodiscard]] Result<std::vector<ExecutedFunction>> find(const std::string& text) const;

  /// The function with its code, counts and source lines.  The result refers to this object.
  outputs::AnnotatedFunction annotate(const ExecutedFunction& function);

 private:
  struct Jump {
    std::uint64_t from;  ///< Link-time.
    std::uint64_t to;    ///< In the memory of `task`.
    TaskId task;
    std::uint64_t times;
  };
  struct Executed {
    const program::Program* program = nullptr;
    count::Counts counts{};
    std::vector<Jump> jumps{};
    // Where an executed copy of it was in memory.
    TaskId task{};
    std::uint64_t bias = 0;
    TraceId id = 0;
    isa::Isa isa = isa::Isa::kUnknown;
  };

  [[nodiscard]] program::Place place(TaskId task, std::uint64_t address) const;
  [[nodiscard]] Bytes read(const Executed& executed, std::uint64_t address,
                           std::span<std::uint8_t> scratch) const;
  [[nodiscard]] ExecutedFunction sum(std::size_t program, const program::Function* function) const;
  [[nodiscard]] std::vector<outputs::AnnotatedInstruction> disassemble(
      const Executed& executed, const program::Function& function);
  void add_targets(const Executed& executed,
                   std::vector<outputs::AnnotatedInstruction>& code) const;
  [[nodiscard]] std::string name_of(const program::Place& place) const;

  const inputs::Capture& capture_;
  outputs::PlaceLookup places_;
  program::Disassembler disassembler_;
  std::vector<Executed> programs_;
  std::vector<ExecutedFunction> functions_;
};

}  // namespace waymark::cli

// Functions with the counts of each instruction and the source lines that they came from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/text_buffer.h"
#include "waymark/count/instruction_counts.h"
#include "waymark/outputs/style.h"

namespace waymark::outputs {

/// Where an indirect branch went.
struct AnnotatedTarget {
  std::uint64_t address = 0;  ///< In the memory of the target.
  std::string name{};         ///< With the distance from the start; empty: not known.
  std::uint64_t times = 0;
};

struct AnnotatedInstruction {
  std::uint64_t address = 0;
  std::uint32_t opcode = 0;  ///< As manuals write it.
  unsigned size = 4;
  std::string text{};         ///< "b.ne 0x8010", ".word 0x1f" for data.
  std::string note{};         ///< The facts that decoding knows about an instruction without text.
  std::string target_name{};  ///< "main+0x10"; empty: not a direct branch, or not known.
  bool is_data = false;
  bool is_branch = false;
  count::InstructionCount count{};
  std::string_view file{};  ///< With its whole path; empty: not known.
  std::uint32_t line = 0;
  std::string inlined{};                   ///< The function that was inlined here, or empty.
  std::vector<AnnotatedTarget> targets{};  ///< The most frequent first.
};

struct AnnotatedFunction {
  std::string name{};       ///< The linker's.
  std::string readable{};   ///< As in the source.
  std::string program{};    ///< The path.
  std::uint64_t start = 0;  ///< As the program was linked.
  std::uint64_t last = 0;
  std::uint64_t instructions = 0;  ///< How many were executed.
  std::uint64_t cycles = 0;
  std::vector<AnnotatedInstruction> code{};
};

/// Facts about all functions of a run.
struct AnnotationFacts {
  std::uint64_t whole = 0;  ///< The instructions that were executed in the capture.
  bool cycles = false;      ///< Cycles were traced.
  bool complete = true;     ///< False: the counts are those of a part of the trace.
};

/// A line of a source file without its line end; nothing: not known.
using SourceLines =
    std::function<std::optional<std::string_view>(std::string_view file, std::uint32_t line)>;

void write_text(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
                const SourceLines& sources, const Style& style);
/// One object on one line.
void write_json(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
                const SourceLines& sources);
/// One row for each instruction.
void write_annotation_csv_header(TextBuffer& out);
void write_csv(TextBuffer& out, const AnnotatedFunction& function, const AnnotationFacts& facts,
               const SourceLines& sources);

}  // namespace waymark::outputs

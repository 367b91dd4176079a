// The instructions of a part of a program, whether they were executed or not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "waymark/count/counts.h"
#include "waymark/outputs/annotation.h"
#include "waymark/program/disassembler.h"
#include "waymark/program/program.h"

namespace waymark::outputs {

/// The code to list.  All addresses are those of `program`, or of memory without a program.
struct CodePart {
  const program::Program* program = nullptr;  ///< nullptr: only what was executed is known.
  std::uint64_t start = 0;
  std::uint64_t last = 0;  ///< Its last byte.
  /// The executed part of it: code is read along the starts of ranges.
  std::span<const count::Row> rows{};
  isa::Isa isa = isa::Isa::kUnknown;  ///< If neither rows nor the program say it.
  isa::Profile profile = isa::Profile::kUnknown;
  /// As image::Image::read().
  std::function<Bytes(std::uint64_t address, std::span<std::uint8_t> scratch)> read{};
  /// The name of the target of a direct branch; may be empty.
  std::function<std::string(std::uint64_t target)> target_name{};
};

/// Instructions and data with their text, up to where code cannot be read; no counts, no lines.
std::vector<AnnotatedInstruction> list_code(const CodePart& part,
                                            program::Disassembler& disassembler);

/// Sets the counts of what rows executed.
void add_counts(const count::Counts& counts, std::vector<AnnotatedInstruction>& code);
/// Sets source lines and inlined functions.
void add_source_lines(const program::Program& program, std::vector<AnnotatedInstruction>& code);

}  // namespace waymark::outputs

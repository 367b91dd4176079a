// export of call trees and timelines.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "export_messages.h"
#include "input_options.h"
#include "selection.h"
#include "waymark/exports/table.h"
#include "waymark/outputs/function_names.h"
#include "waymark/stacks/engine.h"
#include "waymark/stacks/timeline.h"
#include "window.h"

namespace waymark::cli {

class Command;

struct StackExportOptions {
  bool replace_tail_calls = false;
  bool threads = false;  ///< Stacks begin with threads, not with processes.
  bool exceptions_apart = false;
  bool inlines = false;
  exports::TreeOptions tree;
  stacks::Timeline::Choice time = stacks::Timeline::Choice::kBest;
  std::string frequency;  ///< Of timestamps, in Hz.
};

void add_stack_export_options(Command& command, StackExportOptions& options);

struct StackExport {
  const exports::Format& format;
  const InputOptions& input;
  const std::vector<std::string>& inputs;
  const std::string& output;
  const std::vector<std::string>& symbols;  ///< SymbolOptions::files.
  const SelectionOptions& selection;
  const WindowOptions& window;
  const StackExportOptions& stacks;
  const ExportMessages& messages;
};

/// Writes the sum of all inputs, or the timeline of one.  The result is the exit code.
int export_stacks(const StackExport& wanted);

/// The sum of all inputs, for formats that need no files of programs.  `codes`: the exit code of
/// each.  The result is kOk, or the code for which the rest was not read.
int collect_tree(const StackExport& wanted, stacks::Tree& tree, std::vector<std::uint8_t>& codes);

/// An input whose stacks were recorded, so that it need not be decoded.
struct RecordedStacks {
  KnownIdBytes id_bytes;
  /// Gives the engine, or another one in its place, all of the capture.  kOk, or an exit code.
  std::function<int(inputs::Capture& capture, const outputs::PlaceLookup& places,
                    const std::optional<Selection>& selection,
                    std::unique_ptr<stacks::Engine>& engine)>
      play;
};

/// The tree of one input, as collect_tree() gives it.  The result is its exit code.
int collect_recorded(const StackExport& wanted, const std::string& path,
                     const RecordedStacks& recorded, stacks::Tree& tree);

/// The functions at addresses; empty: none has a name, which a note says if `tells`.  On failure
/// prints the sentence and returns the exit code.
std::expected<outputs::PlaceLookup, int> stack_places(const inputs::Capture& capture,
                                                      const std::vector<std::string>& symbols,
                                                      bool with_notes);

/// Writes such a sum.  The result is the exit code.
int write_tree_file(const StackExport& wanted, stacks::Tree tree);

}  // namespace waymark::cli

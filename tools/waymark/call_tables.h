// count --tree, --callers and --callees.
#pragma once

#include <string>
#include <vector>

#include "format.h"
#include "input_options.h"
#include "selection.h"
#include "window.h"

namespace waymark::cli {

class Command;

struct CallTableOptions {
  bool tree = false;
  std::string callers;
  std::string callees;
  bool replace_tail_calls = false;
  bool exceptions_apart = false;

  [[nodiscard]] bool given() const { return tree || !callers.empty() || !callees.empty(); }
};

/// The options of call stacks that several commands have.
void add_stack_options(Command& command, bool& replace_tail_calls, bool& exceptions_apart);

void add_call_table_options(Command& command, CallTableOptions& options);

struct CallTableRun {
  const InputOptions& input;
  const std::string& output;
  Format format = Format::kText;
  const std::vector<std::string>& symbols;  ///< SymbolOptions::files.
  const SelectionOptions& selection;
  const WindowOptions& window;
  const CallTableOptions& calls;
  std::size_t most = 0;  ///< Rows.
  bool statistics = false;
};

/// The exit code.
int write_call_tables(const CallTableRun& run);

}  // namespace waymark::cli

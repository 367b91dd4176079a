// The options of export; jobs have the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "export_messages.h"
#include "export_stacks.h"
#include "input_options.h"
#include "selection.h"
#include "symbol_options.h"
#include "waymark/exports/table.h"
#include "window.h"

namespace waymark::cli {

struct ExportOptions {
  std::string format;
  bool list = false;
  InputOptions input;
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> programs;
  std::vector<std::string> sources;
  bool compress = false;
  std::vector<std::string> tables;
  exports::Options writing;
  SymbolOptions symbols;
  SelectionOptions selection;
  unsigned threads = 0;  ///< 0: not given.
  WindowOptions window;
  StackExportOptions stacks;
  ExportMessageOptions messages;
};

void add_export_options(CLI::App& command, ExportOptions& options);

}  // namespace waymark::cli

// The options of export; jobs have the same.
#pragma once

#include <cstdint>
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

class Command;

/// Each is for some formats only.
struct FormatOptions {
  std::vector<std::string> sources;  ///< lcov, cobertura
  bool compress = false;             ///< branch-list
  std::vector<std::string> tables;   ///< parquet; empty: all
  std::uint64_t slice_bytes = 0;     ///< parquet; 0: no slices
};

struct ExportOptions {
  std::string format;
  bool list = false;
  InputOptions input;
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> programs;
  FormatOptions of_format;
  exports::Options writing;
  SymbolOptions symbols;
  SelectionOptions selection;
  unsigned threads = 0;  ///< 0: not given.
  WindowOptions window;
  StackExportOptions stacks;
  ExportMessageOptions messages;
};

void add_export_options(Command& command, ExportOptions& options);

/// Their settings for call stacks.  Both must outlive the result.
StackExport stack_export_of(const ExportOptions& options, const ExportMessages& messages);

}  // namespace waymark::cli

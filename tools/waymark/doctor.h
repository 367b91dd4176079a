// Files without a description: `waymark doctor`, and `waymark info` of such a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format.h"
#include "input_options.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"

namespace waymark::cli {

class Command;

struct ExamineOptions {
  bool explain = false;
  std::string snapshot;               ///< Folder; empty: none is written.
  std::vector<std::string> programs;  ///< Files and folders, for search_programs().
};

void add_examine_options(Command& command, ExamineOptions& options);

/// The file if nothing says what it is: it is raw trace, and no option describes it.  Nothing: it
/// is described, or cannot be opened.  `also_plain`: also if its content alone tells how to decode
/// it.  `always`: the same, and failures to open it are errors.
std::optional<Result<MappedFile>> undescribed_file(const InputOptions& input, bool always,
                                                   bool also_plain);

/// Examines the input if nothing says what it is: it is raw trace, and no option describes it.
/// `always`: also if its content alone tells how to decode it.  The exit code; nothing: the input
/// is described.
std::optional<int> examine_input(const InputOptions& input, const ExamineOptions& options,
                                 Format format, const std::string& output, bool always);

}  // namespace waymark::cli

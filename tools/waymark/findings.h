// Problems of many captures: for export, shard and merge.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "export_options.h"
#include "waymark/exports/findings.h"
#include "waymark/exports/table.h"

namespace waymark::cli {

/// Appends what `waymark info` finds in each input.  What is wrong with an input is one of its
/// findings, and is not printed.  kOk, or why it ended early.  `files`: gets all that was read.
int collect_findings(const ExportOptions& options, std::vector<exports::CaptureFindings>& captures,
                     std::vector<std::string>& files);

/// Writes them; `files` must not be lost.  The result is the exit code, that of the inputs as well.
int write_findings(const exports::Format& format, const std::string& output,
                   std::span<const exports::CaptureFindings> captures,
                   const std::vector<std::string>& files);

/// Both for all inputs.  The result is the exit code.
int export_findings(const exports::Format& format, const ExportOptions& options);

}  // namespace waymark::cli

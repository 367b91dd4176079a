// The common part of plan, shard, merge and status.
#pragma once

#include <expected>
#include <string>

#include "export_options.h"
#include "waymark/shard/folder.h"
#include "waymark/shard/plan.h"

namespace waymark::cli {

/// The options of export that a plan has.  `source` begins the sentence.  On failure prints it and
/// returns the exit code.
std::expected<ExportOptions, int> options_of(const shard::Plan& plan, const std::string& source);

/// Opens the folder of a job, and goes to the folder of its plan, where its relative paths begin.
/// On failure prints the sentence and returns the exit code.
std::expected<shard::Folder, int> open_job(const std::string& path);

/// Goes to the folder of the plan.  kOk, or the exit code; the sentence begins with `source`.
int go_to_folder(const shard::Plan& plan, const std::string& source);

/// The same as open_job() without going anywhere.
std::expected<shard::Folder, int> look_at_job(const std::string& path);

/// A path that stays the same wherever the program goes; "" and "-" stay as they are.
std::string absolute_path(const std::string& path);

/// The exit code for an error of the module shard.
int code_of(const Error& error);

}  // namespace waymark::cli

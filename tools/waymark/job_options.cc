#include "job_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "command.h"
#include "complain.h"
#include "exit_code.h"
#include "table_writers.h"
#include "usage_error.h"
#include "version.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

/// Options that would change what a part is, or where something is written.
std::string why_refused(const ExportOptions& options, const shard::Plan& plan) {
  if (!options.inputs.empty()) return "there is a value without an option.";
  if (!options.output.empty() || options.list)
    return "output and list are not for jobs; `waymark merge` takes -o.";
  if (options.window.given())
    return "from, to and the like select a part of one input, but a job has several.";
  if (options.of_format.slice_bytes != 0)
    return "slice-bytes is for export; a job has slice_bytes before [options].";
  if (plan.format == "parquet" && wants_table(options, "calls") &&
      !options.selection.programs.empty())
    return "dso: call stacks lead through all programs, so they cannot be limited to one; name "
           "other tables with table.";
  if (plan.format == "folded") {
    if (options.stacks.inlines) return "inlines needs all programs at once; leave it out.";
    if (!options.selection.programs.empty())
      return "dso: call stacks lead through all programs, so they cannot be limited to one; leave "
             "it out.";
  }
  if (plan.format == "branch-list" && (options.selection.given() || !options.programs.empty()))
    return "a branch list contains all packets; select when you make a profile of it.";
  if (plan.what == "findings" && (options.selection.given() || !options.programs.empty()))
    return "findings cover whole inputs; leave out pid, program and the like.";
  return {};
}

}  // namespace

std::expected<ExportOptions, int> options_of(const shard::Plan& plan, const std::string& source) {
  ExportOptions options;
  Command command("", "waymark export");
  add_export_options(command, options);
  std::vector<std::string> words{plan.format};
  words.insert(words.end(), plan.options.begin(), plan.options.end());
  if (const auto wrong = parse_options(command, words)) {
    return std::unexpected(
        complain(fmt::format("{}: [options]: {}", escaped(source), escaped(*wrong)), kUsage));
  }
  if (const std::string why = why_refused(options, plan); !why.empty())
    return std::unexpected(
        complain(fmt::format("{}: [options]: {}", escaped(source), why), kUsage));
  for (const shard::Input& input : plan.inputs) options.inputs.push_back(input.path);
  return options;
}

int code_of(const Error& error) {
  if (shard::was_stopped(error)) return kInterrupted;
  return kInput;
}

std::expected<shard::Folder, int> look_at_job(const std::string& path) {
  auto folder = shard::Folder::open(absolute_path(path), WAYMARK_VERSION);
  if (!folder) return std::unexpected(complain(folder.error().detail, kInput));
  return *std::move(folder);
}

std::expected<shard::Folder, int> open_job(const std::string& path) {
  auto folder = look_at_job(path);
  if (!folder) return folder;
  if (const int code = go_to_folder(folder->plan(), path); code != kOk)
    return std::unexpected(code);
  return folder;
}

int go_to_folder(const shard::Plan& plan, const std::string& source) {
  std::error_code failed;
  std::filesystem::current_path(plan.folder, failed);
  if (!failed) return kOk;
  return complain(fmt::format("{}: the job was planned for the folder {}, which cannot be used "
                              "here: {}. Every machine needs it under the same path.",
                              escaped(source), escaped(plan.folder), failed.message()),
                  kInput);
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path == "-") return path;
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(path, failed).lexically_normal();
  return failed ? path : absolute.string();
}

}  // namespace waymark::cli

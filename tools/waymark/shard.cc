// waymark shard: does a shard of a job.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "branch_lists.h"
#include "branch_slices.h"
#include "command.h"
#include "complain.h"
#include "exit_code.h"
#include "export_stacks.h"
#include "export_tables.h"
#include "findings.h"
#include "interrupt.h"
#include "job_commands.h"
#include "job_options.h"
#include "profile_collector.h"
#include "slices.h"
#include "stack_slices.h"
#include "table_slices.h"
#include "waymark/base/escape.h"
#include "waymark/base/number.h"
#include "waymark/base/plural.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/findings_codec.h"
#include "waymark/shard/profile_codec.h"
#include "waymark/shard/table_slice_codec.h"
#include "waymark/shard/tree_codec.h"

namespace waymark::cli {
namespace {

struct ShardOptions {
  std::string folder;
  std::string shards;
};

bool stops(int code) {
  return code == kInterrupted || code == kUsage || code == kMemory || code == kOutput;
}

BranchListExport branch_list_of(const ExportOptions& options) {
  return {.input = options.input,
          .inputs = options.inputs,
          .output = options.output,
          .symbols = options.symbols};
}

/// The content of the part.  kOk, or why there is none.
int make_profile(const ExportOptions& options, shard::Part& part) {
  Collector collected(options, needs_of(*exports::find_format(options.format)));
  for (const std::string& path : options.inputs) {
    const int code = collected.add(path);
    if (stops(code)) return code;
    part.codes.push_back(static_cast<std::uint8_t>(code));
  }
  part.content = shard::encode(collected.profile());
  return kOk;
}

int make_branches(const ExportOptions& options, shard::Part& part) {
  exports::BranchList list;
  std::vector<std::string> files;
  for (const std::string& path : options.inputs) {
    const int code = add_branch_list(branch_list_of(options), path, list, files);
    if (stops(code)) return code;
    part.codes.push_back(static_cast<std::uint8_t>(code));
  }
  auto bytes = exports::written_branch_list(list, false);
  if (!bytes) return complain(bytes.error().detail, kOutput);
  part.content = *std::move(bytes);
  return kOk;
}

int make_tree(const ExportOptions& options, shard::Part& part) {
  const auto messages = ExportMessages::make(options.messages);
  if (!messages) return messages.error();
  stacks::Tree tree;
  const int code = collect_tree(stack_export_of(options, *messages), tree, part.codes);
  part.content = shard::encode(tree);
  return code;
}

/// The files of the tables get their places before the part, which lists them.
int make_tables(const shard::Folder& folder, const ExportOptions& options, shard::Part& part) {
  const auto messages = ExportMessages::make(options.messages);
  if (!messages) return messages.error();
  const std::vector<std::string> tables = wanted_tables(options);
  const auto scratch = TableFolder::scratch(folder.path() + "/attempts", tables);
  if (!scratch) return scratch.error();
  const std::size_t first = folder.plan().shards[part.shard].first;
  std::vector<shard::DataFile> files;
  for (std::size_t i = 0; i < options.inputs.size(); ++i) {
    const int code = write_tables(options, *messages, *scratch, options.inputs[i], first + i);
    if (stops(code)) return code;
    part.codes.push_back(static_cast<std::uint8_t>(code));
    if (code != kOk && code != kDamaged) continue;
    for (const std::string& table : tables) {
      auto file =
          shard::publish_data(folder, scratch->part_path(table, first + i), table, first + i);
      if (!file) return complain(file.error().detail, kOutput);
      files.push_back(*std::move(file));
    }
  }
  part.content = shard::encode(files);
  return kOk;
}

int make_stack_slice(const shard::Plan& plan, const ExportOptions& options, const Refuse& refuse,
                     shard::Part& part) {
  const auto messages = ExportMessages::make(options.messages);
  if (!messages) return messages.error();
  return record_slice(plan, stack_export_of(options, *messages), refuse, part);
}

int make_findings(const ExportOptions& options, shard::Part& part) {
  std::vector<exports::CaptureFindings> captures;
  std::vector<std::string> files;
  const int code = collect_findings(options, captures, files);
  for (const exports::CaptureFindings& capture : captures) part.codes.push_back(capture.code);
  part.content = shard::encode(captures);
  return code;
}

/// An error: what the part lists is not there.
Result<void> check_files(const shard::Folder& folder, const shard::Part& part) {
  std::vector<shard::DataFile> files;
  if (part.payload == shard::Payload::kTables) {
    auto listed = shard::read_data_files(shard::content_of(part));
    if (!listed) return std::unexpected(listed.error());
    files = *std::move(listed);
  }
  if (part.payload == shard::Payload::kTableSlice) {
    auto slice = shard::read_table_slice(shard::content_of(part));
    if (!slice) return std::unexpected(slice.error());
    files = std::move(slice->data);
  }
  for (const shard::DataFile& file : files)
    WAYMARK_TRY(shard::check_data(folder, part.shard, file));
  return {};
}

int make_part(const shard::Folder& folder, const ExportOptions& options,
              const std::function<int(const Error&)>& refuse, shard::Part& part) {
  switch (part.payload) {
    case shard::Payload::kProfile:
      return make_profile(options, part);
    case shard::Payload::kBranches:
      return make_branches(options, part);
    case shard::Payload::kTree:
      return make_tree(options, part);
    case shard::Payload::kTables:
      return make_tables(folder, options, part);
    case shard::Payload::kFindings:
      return make_findings(options, part);
    case shard::Payload::kSlice:
      return count_slice(folder.plan(), options, refuse, part);
    case shard::Payload::kBranchSlice:
      return list_slice(folder.plan(), branch_list_of(options), refuse, part);
    case shard::Payload::kTableSlice:
      return record_tables(folder, options, refuse, part);
    case shard::Payload::kStackSlice:
      return make_stack_slice(folder.plan(), options, refuse, part);
  }
  return kUsage;
}

int do_shard(const shard::Folder& folder, ExportOptions options, std::size_t number) {
  auto there = folder.part(number);
  if (there && *there) {
    const auto files = check_files(folder, **there);
    if (files) return kOk;
    there = std::unexpected(files.error());
  }
  auto attempt = shard::Attempt::begin(folder, number);
  if (!attempt) return complain(attempt.error().detail, kOutput);
  if (!there) {
    note(there.error().detail);
    if (const auto aside = folder.set_aside(number); !aside)
      return complain(aside.error().detail, kOutput);
  }
  bool recorded = false;
  const auto refuse = [&](const Error& error) {
    const std::string sentence = fmt::format("shard {}: {}", number, error.detail);
    if (shard::was_stopped(error)) return int{kInterrupted};
    attempt->fail_with(sentence);
    recorded = true;
    return complain(sentence, kInput);
  };
  const shard::Plan& plan = folder.plan();
  if (const auto same = shard::check_inputs(plan, number, interrupted); !same)
    return refuse(same.error());
  options.inputs.clear();
  for (const shard::Input& input : plan.inputs_of(number)) options.inputs.push_back(input.path);
  shard::Part part{.job = folder.job(), .shard = number, .payload = plan.payload_of(number)};
  int code = make_part(folder, options, refuse, part);
  if (code == kOk && interrupted()) code = kInterrupted;
  if (code != kOk) {
    if (code != kInterrupted && !recorded)
      attempt->fail_with(fmt::format("the attempt ended with exit code {}", code));
    return code;
  }
  // An input that changed while it was read.
  if (const auto same = shard::check_inputs(plan, number, interrupted); !same)
    return refuse(same.error());
  const auto is_new = attempt->finish(part);
  if (!is_new) return complain(fmt::format("shard {}: {}", number, is_new.error().detail), kOutput);
  return kOk;
}

/// "3,7-9", or "missing".  On failure prints the sentence.
std::expected<std::vector<std::size_t>, int> numbers_of(const std::string& text,
                                                        const shard::Folder& folder) {
  if (text == "missing") return folder.status().missing;
  const std::size_t shards = folder.plan().shards.size();
  std::vector<std::size_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string one = text.substr(at, end - at);
    const std::size_t dash = std::min(one.find('-'), one.size());
    const auto first = parse_number(one.substr(0, dash));
    const auto last = dash == one.size() ? first : parse_number(one.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= shards) {
      return std::unexpected(
          complain(fmt::format("'{}' is not a shard of this job, which has {}, from 0 to {}; N is "
                               "a number, or numbers and ranges such as 3,7-9, or `missing`.",
                               escaped(one), counted(shards, "shard"), shards - 1),
                   kUsage));
    }
    for (std::size_t number = *first; number <= *last; ++number) numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

int run(const ShardOptions& options) {
  const auto folder = open_job(options.folder);
  if (!folder) return folder.error();
  const auto numbers = numbers_of(options.shards, *folder);
  if (!numbers) return numbers.error();
  const auto parsed = options_of(folder->plan(), options.folder);
  if (!parsed) return parsed.error();
  int worst = kOk;
  for (const std::size_t number : *numbers) {
    const int code = do_shard(*folder, *parsed, number);
    worst = std::max(worst, code);
    if (code == kInterrupted || code == kUsage) return code;
  }
  return worst;
}

}  // namespace

void add_shard(Command& app, int& exit_code) {
  auto options = std::make_shared<ShardOptions>();
  Command* command = app.add_subcommand("shard", "Process one shard of a planned job");
  command->add_option("DIR", options->folder, "The folder of the job")->required();
  command
      ->add_option("N", options->shards,
                   "The number of the shard, from 0; numbers and ranges such as 3,7-9; or "
                   "`missing`: all shards without a result")
      ->required();
  command->footer(
      "The result of a shard is one file, which appears only when it is complete. A shard may "
      "be\nkilled at any time and run again on any machine; if its result exists, nothing is "
      "done.\nAn input that cannot be decoded is named in the result, and the others are counted. "
      "If an "
      "input\nhas changed since the job was planned, or cannot be read, the shard has no result.\n"
      "\n"
      "Examples:\n"
      "  waymark shard job/ 12\n"
      "  waymark shard job/ 3,7-9\n"
      "  waymark shard job/ missing");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

// waymark merge: the sum of all parts of a job.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
#include "profile_files.h"
#include "slices.h"
#include "stack_slices.h"
#include "table_folder.h"
#include "table_slices.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/exports/tables.h"
#include "waymark/shard/data_files.h"
#include "waymark/shard/findings_codec.h"
#include "waymark/shard/profile_codec.h"
#include "waymark/shard/tree_codec.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostNamed = 20;

struct MergeOptions {
  std::string folder;
  std::string output;
};

/// A sum of things that are added in their order.  Sums of equal numbers of things are added to
/// each other, so that a thing is in few additions.
template <class T>
class OrderedSum {
 public:
  void add(T one) {
    sums_.push_back({std::move(one), 1});
    while (sums_.size() > 1 && sums_[sums_.size() - 2].count == sums_.back().count) join();
  }
  T take() {
    while (sums_.size() > 1) join();
    return sums_.empty() ? T() : std::move(sums_.front().value);
  }

 private:
  struct Sum {
    T value;
    std::size_t count;
  };
  void join() {
    Sum last = std::move(sums_.back());
    sums_.pop_back();
    sums_.back().value.add(std::move(last.value));
    sums_.back().count += last.count;
  }
  std::vector<Sum> sums_;
};

/// Takes one part after the other.
class Merger {
 public:
  Merger(const shard::Folder& folder, const ExportOptions& options)
      : folder_(folder),
        options_(options),
        opener_(options.format == "counts"),
        cut_inputs_(options, needs_of(*exports::find_format(options.format))) {}

  /// Reads all parts, in their order.  kOk, or the exit code; the sentences are printed.
  int read() {
    const shard::Plan& plan = folder_.plan();
    const std::vector<std::size_t> missing = folder_.status().missing;
    if (!missing.empty()) {
      return complain(
          fmt::format("{} of {} missing: {}. Run them with `waymark shard {} missing`.",
                      missing.size(), counted(plan.shards.size(), "part is", "parts are"),
                      shard::ranges_of(missing), escaped(folder_.path())),
          kInput);
    }
    int worst = kOk;
    for (std::size_t number = 0; number < plan.shards.size(); ++number) {
      if (interrupted()) return kInterrupted;
      if (const shard::Cut* const cut = plan.cut_of(number); cut != nullptr && worst == kOk) {
        worst = add_slices(*cut, number);
        number += cut->count() - 1;
        continue;
      }
      const auto part = folder_.part(number);
      if (!part) {
        worst = std::max(worst, complain(part.error().detail, kInput));
      } else if (!*part) {
        worst = std::max(worst, complain(fmt::format("part {} is missing.", number), kInput));
      } else if (worst == kOk) {
        if (const auto added = add(**part); !added) {
          worst = complain(
              fmt::format("{}: {}", escaped(folder_.part_path(number)), added.error().detail),
              kInput);
        }
      }
    }
    return worst;
  }

  /// The worst exit code of the inputs.
  [[nodiscard]] int code() const { return code_; }

  int write() {
    const exports::Format& format = *exports::find_format(options_.format);
    // A problem of an input is a finding.
    if (format.write_findings != nullptr)
      return write_findings(format, options_.output, findings_, options_.inputs);
    report_bad();
    // An input that is damaged has tables, too.
    if (format.is_tables ? files_.empty() && !tables_ : used_ == 0)
      return code_ == kOk ? complain("no input has a result.", kDamaged) : code_;
    if (format.is_tables) return write_tables();
    const std::vector<std::string> files = options_.inputs;
    const auto shown = ExportMessages::make(options_.messages);
    if (!shown) return shown.error();
    if (format.write_branches != nullptr) {
      return write_branch_list(branch_list(), branches_, files);
    }
    if (format.write_tree != nullptr) {
      return write_tree_file(stack_export_of(options_, *shown), trees_.take());
    }
    const profile::Profile profile = profiles_.take();
    const ProfileSum sum{.profile = profile, .files = files};
    return format.write_profile != nullptr ? write_profile(format, sum, options_)
                                           : write_programs(format, sum, options_);
  }

 private:
  Result<void> add(const shard::Part& part) {
    switch (part.payload) {
      case shard::Payload::kProfile: {
        profile::Profile profile;
        WAYMARK_TRY(shard::add_profile(shard::content_of(part), opener_, profile));
        profiles_.add(std::move(profile));
        break;
      }
      case shard::Payload::kBranches: {
        const auto list = exports::read_branch_list(shard::content_of(part));
        if (!list) return std::unexpected(list.error());
        exports::add(branches_, *list);
        break;
      }
      case shard::Payload::kTree:
        WAYMARK_TRY(add_tree(part));
        break;
      case shard::Payload::kTables:
        WAYMARK_TRY(add_files(part));
        break;
      case shard::Payload::kFindings:
        WAYMARK_TRY(add_findings(part));
        break;
      case shard::Payload::kSlice:
      case shard::Payload::kBranchSlice:
      case shard::Payload::kStackSlice:
      case shard::Payload::kTableSlice:
        return {};
    }
    const auto inputs = folder_.plan().inputs_of(part.shard);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      code_ = std::max<int>(code_, part.codes[i]);
      if (part.codes[i] == kOk) {
        ++used_;
      } else {
        bad_.push_back(inputs[i].path);
      }
    }
    return {};
  }

  /// Takes all slices of an input.  kOk, or why nothing can be merged.
  int add_slices(const shard::Cut& cut, std::size_t first) {
    const std::string& path = folder_.plan().inputs[cut.input].path;
    if (const auto same = shard::check_inputs(folder_.plan(), first, interrupted); !same) {
      return shard::was_stopped(same.error()) ? int{kInterrupted}
                                              : complain(same.error().detail, kInput);
    }
    int failed = kOk;
    const int code = join(cut, first, failed);
    if (failed != kOk) return failed;
    code_ = std::max(code_, code);
    if (code == kOk) {
      ++used_;
    } else {
      bad_.push_back(path);
    }
    return kOk;
  }

  /// The exit code of the input.  `failed`: not kOk if nothing can be merged.
  int join(const shard::Cut& cut, std::size_t first, int& failed) {
    switch (folder_.plan().payload_of(first)) {
      case shard::Payload::kBranchSlice:
        return join_branch_slices(folder_, first, branch_list(), branches_, failed);
      case shard::Payload::kStackSlice:
        return add_stacks(first, failed);
      case shard::Payload::kTableSlice:
        return add_tables(cut, first, failed);
      default:
        return add_counts(cut, first, failed);
    }
  }

  int add_stacks(std::size_t first, int& failed) {
    const auto shown = ExportMessages::make(options_.messages);
    if (!shown) return failed = shown.error();
    stacks::Tree found;
    const int code =
        join_stack_slices(folder_, first, stack_export_of(options_, *shown), found, failed);
    // As a part has it, so that it does not need the programs of the capture.
    const shard::Part whole{.content = shard::encode(found)};
    if (failed != kOk) return code;
    if (const auto added = add_tree(whole); !added)
      return failed = complain(added.error().detail, kInput);
    return code;
  }

  Result<void> add_tree(const shard::Part& part) {
    stacks::Tree tree;
    WAYMARK_TRY(shard::add_tree(shard::content_of(part), tree));
    trees_.add(std::move(tree));
    return {};
  }

  int add_tables(const shard::Cut& cut, std::size_t first, int& failed) {
    if (failed = open_tables(); failed != kOk) return failed;
    const auto messages = ExportMessages::make(options_.messages);
    if (!messages) return failed = messages.error();
    const int code =
        join_table_slices(folder_, first, options_, *messages, *tables_, files_, failed);
    if (code != kOk && code != kDamaged) tables_->drop(cut.input);
    return code;
  }

  /// kOk, or the exit code.
  int open_tables() {
    if (tables_) return kOk;
    auto tables = TableFolder::open(options_.output, wanted_tables(options_));
    if (!tables) return tables.error();
    tables_.emplace(*std::move(tables));
    return kOk;
  }

  int add_counts(const shard::Cut& cut, std::size_t first, int& failed) {
    const Precounted known{
        .id_bytes = known_id_bytes(cut),
        .count = [&](inputs::Capture& capture, const std::optional<Selection>& selection) {
          Counted counted = join_slices(folder_, first, capture, selection);
          failed = counted.code;
          return counted;
        }};
    const int code = cut_inputs_.add(folder_.plan().inputs[cut.input].path, &known);
    if (failed == kOk) profiles_.add(cut_inputs_.take_profile());
    return code;
  }

  [[nodiscard]] BranchListExport branch_list() const {
    return {.input = options_.input,
            .inputs = options_.inputs,
            .output = options_.output,
            .symbols = options_.symbols,
            .compress = options_.of_format.compress};
  }

  /// The files in the part's list must be those that its shard writes.
  Result<void> add_files(const shard::Part& part) {
    const auto files = shard::read_data_files(shard::content_of(part));
    if (!files) return std::unexpected(files.error());
    const shard::Shard& inputs = folder_.plan().shards[part.shard];
    for (const shard::DataFile& file : *files) {
      if (exports::find_table(file.table) == nullptr || file.slice || file.input < inputs.first ||
          file.input - inputs.first >= inputs.count)
        return fail(ErrorCode::kBadData, "the part lists a file of another shard");
      WAYMARK_TRY(shard::check_data(folder_, part.shard, file));
      files_.push_back(file);
    }
    return {};
  }

  Result<void> add_findings(const shard::Part& part) {
    auto captures = shard::read_findings(shard::content_of(part));
    if (!captures) return std::unexpected(captures.error());
    const auto inputs = folder_.plan().inputs_of(part.shard);
    if (!std::ranges::equal(*captures, inputs, {}, &exports::CaptureFindings::input,
                            &shard::Input::path))
      return fail(ErrorCode::kBadData, "the part has the findings of other inputs");
    std::ranges::move(*captures, std::back_inserter(findings_));
    return {};
  }

  /// Each file is the same one as in the folder of the job, if both are on one disk; otherwise a
  /// copy.
  int write_tables() {
    remove_abandoned_tables(folder_.path() + "/attempts");
    if (const int code = open_tables(); code != kOk) return code;
    for (const shard::DataFile& file : files_) {
      if (interrupted()) return kInterrupted;
      const std::string from = shard::data_path(folder_, file);
      const std::string to = tables_->part_path(file.table, file.input, file.slice);
      std::error_code failed;
      std::filesystem::create_hard_link(from, to, failed);
      if (failed) std::filesystem::copy_file(from, to, failed);
      if (failed) {
        return complain(fmt::format("Cannot write {}: {}. Choose another folder with -o.",
                                    escaped(to), failed.message()),
                        kOutput);
      }
    }
    return tables_->commit();
  }

  void report_bad() const {
    for (std::size_t i = 0; i < std::min(bad_.size(), kMostNamed); ++i) {
      note(fmt::format(
          "{} has no result, or only a part; `waymark info` shows what is wrong with it.",
          escaped(bad_[i])));
    }
    if (bad_.size() > kMostNamed)
      note(fmt::format("{} more have the same problem.",
                       counted(bad_.size() - kMostNamed, "input")));
    if (!bad_.empty() && used_ != 0 && files_.empty()) {
      note(fmt::format("this is the sum of {} of {}.", used_,
                       counted(used_ + bad_.size(), "input")));
    }
  }

  const shard::Folder& folder_;
  const ExportOptions& options_;
  shard::ProgramOpener opener_;
  Collector cut_inputs_;
  OrderedSum<profile::Profile> profiles_;
  OrderedSum<stacks::Tree> trees_;
  exports::BranchList branches_;
  std::vector<shard::DataFile> files_;
  std::optional<TableFolder> tables_;
  std::vector<exports::CaptureFindings> findings_;
  std::vector<std::string> bad_;
  std::size_t used_ = 0;
  int code_ = kOk;
};

int run(const MergeOptions& options) {
  const std::string output = options.output.ends_with('/') ? absolute_path(options.output) + "/"
                                                           : absolute_path(options.output);
  const auto folder = open_job(options.folder);
  if (!folder) return folder.error();
  auto parsed = options_of(folder->plan(), options.folder);
  if (!parsed) return parsed.error();
  parsed->output = output;
  Merger merger(*folder, *parsed);
  if (const int code = merger.read(); code != kOk) return code;
  const int code = merger.write();
  return code == kOk ? merger.code() : code;
}

}  // namespace

void add_merge(Command& app, int& exit_code) {
  auto options = std::make_shared<MergeOptions>();
  Command* command = app.add_subcommand("merge", "Combine the results of all shards");
  command->add_option("DIR", options->folder, "The folder of the job")->required();
  command
      ->add_option("-o,--output", options->output,
                   "write to this file; DIR/: a file for each program in this folder; default: "
                   "standard output")
      ->type_name("FILE|DIR/");
  command->footer(
      "The result equals that of `waymark export` with the same inputs and options, byte for "
      "byte.\nIf the result of a shard is missing or damaged, the command names it and writes "
      "nothing.\n"
      "\n"
      "Examples:\n"
      "  waymark merge job/ -o app.afdo.txt\n"
      "  waymark merge job/ -o profiles/");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

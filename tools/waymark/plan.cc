// waymark plan: divides a job over many captures into shards.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "job_commands.h"
#include "job_options.h"
#include "option_values.h"
#include "slices.h"
#include "version.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/shard/scripts.h"

namespace waymark::cli {
namespace {

constexpr unsigned kUsualTasks = 1000;  // The usual MaxArraySize of Slurm is 1001.

struct PlanOptions {
  std::string job;
  std::string folder;
  std::string resume;
  shard::ScriptOptions scripts;
  std::vector<std::string> engines;
  std::string result;
};

std::string program_path() {
  std::error_code failed;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "waymark" : path.string();
}

int write_scripts(const shard::Folder& folder, const PlanOptions& options) {
  shard::ScriptOptions scripts = options.scripts;
  if (scripts.program.empty()) scripts.program = program_path();
  scripts.result =
      options.result.empty() ? folder.path() + "/merged" : absolute_path(options.result);
  std::string text;
  for (const std::string& engine : options.engines) {
    const auto how = shard::write_scripts(folder, engine, scripts);
    if (!how) return complain(how.error().detail, kOutput);
    text += *how + "\n";
  }
  return print_text(text);
}

int resume(const PlanOptions& options) {
  const auto folder = look_at_job(options.resume);
  if (!folder) return folder.error();
  const shard::Status status = folder->status();
  if (status.missing.empty()) {
    return print_text(
        fmt::format("All {} are done.\n", counted(folder->plan().shards.size(), "shard")));
  }
  if (!options.engines.empty()) return write_scripts(*folder, options);
  return print_text(shard::ranges_of(status.missing) + "\n");
}

/// Cuts inputs with the options of the job, which it reads when there is the first input to cut.
class InputCutter {
 public:
  InputCutter(const std::string& name, const shard::Job& job) : name_(name), job_(job) {}

  shard::Cutter function() {
    return [this](const shard::Plan& plan, const std::string& path) { return cut(plan, path); };
  }
  /// Not kOk: the sentence is printed.
  [[nodiscard]] int code() const { return code_; }

 private:
  Result<std::optional<shard::Cut>> cut(const shard::Plan& plan, const std::string& path) {
    if (!options_) {
      auto options = options_of(plan, name_);
      if (options) {
        code_ = go_to_folder(plan, name_);
      } else {
        code_ = options.error();
      }
      if (code_ != kOk) return fail(ErrorCode::kInvalidArgument, "The job cannot be planned.");
      options_ = *std::move(options);
    }
    return cut_input(*options_, job_, plan, path);
  }

  const std::string& name_;
  const shard::Job& job_;
  std::optional<ExportOptions> options_;
  int code_ = kOk;
};

int run(const PlanOptions& options) {
  if (!options.resume.empty()) {
    if (!options.job.empty() || !options.folder.empty())
      return complain("--resume names the folder of the job; leave out JOB.toml and -o.", kUsage);
    return resume(options);
  }
  if (options.job.empty())
    return complain("The job file is missing; name it, such as `waymark plan job.toml -o job`.",
                    kUsage);
  if (options.folder.empty())
    return complain("the folder of the job is missing; name it with -o, such as -o job.", kUsage);
  const auto text = read_text_input(options.job);
  if (!text) return text.error();
  const auto job = shard::read_job(*text, options.job);
  if (!job) {
    return complain(job.error().detail,
                    job.error().code == ErrorCode::kUnsupported ? kUsage : kInput);
  }
  std::string folder = std::filesystem::path(absolute_path(options.job)).parent_path().string();
  if (options.job == "-") folder = std::filesystem::current_path().string();
  std::string place = absolute_path(options.folder);
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  InputCutter cutter(options.job, *job);
  const auto plan = shard::make_plan(*job, folder, WAYMARK_VERSION, interrupted, cutter.function());
  if (cutter.code() != kOk) return cutter.code();
  if (!plan) {
    if (shard::was_stopped(plan.error())) return kInterrupted;
    return complain(fmt::format("{}: {}", escaped(options.job), plan.error().detail), kInput);
  }
  if (const auto parsed = options_of(*plan, options.job); !parsed) return parsed.error();
  const auto made = shard::Folder::create(place, *plan);
  if (!made) {
    return complain(made.error().detail, made.error().code == ErrorCode::kIo ? kOutput : kInput);
  }
  if (!options.engines.empty()) return write_scripts(*made, options);
  const std::string shown = escaped(options.folder);
  const std::size_t shards = plan->shards.size();
  return print_text(fmt::format(
      "{}, {}.\n"
      "Do each, in any order, on any machine:  waymark shard {} {}\n"
      "Then:  waymark merge {} -o FILE\n",
      counted(plan->inputs.size(), "input"), counted(shards, "shard"), shown,
      shards == 1 ? std::string("0") : fmt::format("N   (N from 0 to {})", shards - 1), shown));
}

}  // namespace

void add_plan(Command& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  options->scripts.tasks = kUsualTasks;
  Command* command =
      app.add_subcommand("plan", "Split a job over many captures into shards for many machines");
  command
      ->add_option("JOB.toml", options->job, "The job: the captures, and what to compute from them")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->folder,
                   "the folder of the job, with the same path on every machine")
      ->type_name("DIR");
  command
      ->add_option("--resume", options->resume,
                   "list the shards of this job that have no result; with --slurm or another "
                   "script option, write scripts for only these")
      ->type_name("DIR");
  const auto engine = [&](const std::string& name, const std::string& what) {
    command->add_flag_callback(
        "--" + name, [options, name] { options->engines.push_back(name); }, what);
  };
  engine("slurm", "write scripts for Slurm into DIR/scripts: a task array and the merge");
  engine("parallel", "write a script for GNU parallel");
  engine("kubernetes", "write the manifest of an Indexed Job");
  engine("make", "write a makefile");
  engine("ninja", "write a ninja file");
  command
      ->add_option(
          "--tasks", options->scripts.tasks,
          "for Slurm and Kubernetes: use at most N tasks, which share the shards; default: 1000")
      ->type_name("N")
      ->at_least(1);
  command
      ->add_option("--result", options->result,
                   "for the scripts: the output of the merge; default: DIR/merged")
      ->type_name("FILE");
  command
      ->add_option("--program", options->scripts.program,
                   "for the scripts: the path of waymark on the machines; default: the path here")
      ->type_name("FILE");
  command->footer(
      "A job file names the captures and what to compute from all of them together:\n"
      "\n"
      "  what = \"profile\"                 or counts, coverage, stacks, branches,\n"
      "                                   events or findings\n"
      "  format = \"autofdo\"               a format of waymark export; optional\n"
      "  inputs = [\"runs/*/perf.data\"]    paths and patterns; relative ones begin\n"
      "                                   at the folder of the job file\n"
      "  lists = [\"captures.txt\"]         files with one path in each line\n"
      "  shards = 64                      or inputs_per_shard or bytes_per_shard\n"
      "  slice_bytes = 268435456          cut longer captures; or slices = 64\n"
      "  check = \"content\"                how to detect changed inputs; or \"times\"\n"
      "  [options]                        options of waymark export\n"
      "  symfs = [\"sysroot\"]\n"
      "\n"
      "Examples:\n"
      "  waymark plan job.toml -o job/\n"
      "  waymark plan job.toml -o job/ --slurm\n"
      "  waymark plan --resume job/");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

// waymark status: how far a job is.

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "job_commands.h"
#include "job_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"

namespace waymark::cli {
namespace {

constexpr std::size_t kMostFailures = 20;

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min", whole / 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

int run(const std::string& path) {
  const auto folder = look_at_job(path);
  if (!folder) return folder.error();
  const shard::Status status = folder->status();
  std::string text = fmt::format("{:<10}{} of {}, {} of {} bytes\n", "done", status.done,
                                 counted(folder->plan().shards.size(), "shard"), status.done_bytes,
                                 status.all_bytes);
  if (!status.running.empty())
    text += fmt::format("{:<10}{}\n", "running", shard::ranges_of(status.running));
  if (!status.missing.empty())
    text += fmt::format("{:<10}{}\n", "missing", shard::ranges_of(status.missing));
  if (const double speed = status.bytes_per_second(); speed > 0) {
    text += fmt::format("{:<10}{:.1f} MB/s of inputs", "speed", speed / 1e6);
    if (!status.missing.empty()) {
      text +=
          fmt::format(", {} left at this speed",
                      time_text(static_cast<double>(status.all_bytes - status.done_bytes) / speed));
    }
    text += '\n';
  }
  for (std::size_t i = 0; i < status.failures.size() && i < kMostFailures; ++i) {
    text += fmt::format("{:<10}{}: {}\n", "failed", status.failures[i].shard,
                        escaped(status.failures[i].sentence));
  }
  if (status.failures.size() > kMostFailures)
    text += fmt::format("{:<10}{} more\n", "failed", status.failures.size() - kMostFailures);
  const int code = print_text(text);
  return code == kOk && !status.missing.empty() ? int{kDamaged} : code;
}

}  // namespace

void add_status(Command& app, int& exit_code) {
  auto path = std::make_shared<std::string>();
  Command* command =
      app.add_subcommand("status", "Show which shards of a job are done, missing or failed");
  command->add_option("DIR", *path, "The folder of the job")->required();
  command->footer(
      "A shard is done if its result exists. A shard is listed as running if an attempt has "
      "begun\nto write its result. If the machine fails, the shard is listed as running until it "
      "is\nrun again. The exit code is 0 if all results exist, and 1 if some are missing.\n"
      "\n"
      "Examples:\n"
      "  waymark status job/");
  command->callback([path, &exit_code] { exit_code = run(*path); });
}

}  // namespace waymark::cli

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compare_runs.h"
#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "report_coverage.h"
#include "run.h"
#include "version.h"
#include "viewer.h"
#include "waymark/base/number.h"
#include "waymark/view/page.h"
#include "waymark/view/report.h"

namespace waymark::cli {
namespace {

/// A place of the axis, or a timestamp after `t:`.
std::optional<double> axis_place(std::string_view text, const view::Axis& axis) {
  constexpr std::string_view kTimestamp = "t:";
  if (text.starts_with(kTimestamp)) {
    const auto time = parse_time(text);
    if (!time || *time < axis.origin) return std::nullopt;
    return static_cast<double>(*time - axis.origin);
  }
  const auto value = parse_decimal(text);
  if (!value || *value < 0) return std::nullopt;
  return value;
}

/// A window as FROM..TO.
Result<view::Window> parse_window(const std::string& text, const view::Axis& axis) {
  const auto fault = [&](std::string_view sentence) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("--window {}: {}", text, sentence));
  };
  constexpr std::string_view kDots = "..";
  const auto dots = text.find(kDots);
  if (dots == std::string::npos) return fault("write FROM..TO, or all.");
  if (text.find("t:") != std::string::npos && axis.unit != view::AxisUnit::kTicks)
    return fault("this capture has no timestamps; leave out the t:.");
  const std::string_view whole(text);
  const auto from = axis_place(whole.substr(0, dots), axis);
  const auto to = axis_place(whole.substr(dots + kDots.size()), axis);
  if (!from || !to) {
    return fault(fmt::format("each end is a number from 0 to {}, or a timestamp from t:{} on.",
                             axis.length, axis.origin));
  }
  if (*from >= *to) return fault("FROM must be before TO.");
  if (*from >= axis.length)
    return fault(fmt::format("the trace ends at {}, before this window.", axis.length));
  return view::Window{.from = *from, .to = std::min(*to, axis.length)};
}

int report_code(const Error& error) {
  if (interrupted()) return kInterrupted;
  return complain(error.detail, error.code == ErrorCode::kInvalidArgument ? kUsage : kInput);
}

/// Waits for the end of the axis, if --window needs it.
Result<std::vector<view::Window>> parse_windows(const std::vector<std::string>& texts,
                                                view::Session& session, const view::Stop& stop) {
  std::vector<view::Window> windows;
  if (texts.empty()) return windows;
  WAYMARK_TRY(view::wait_until_ready(session, stop));
  const view::Axis axis = session.facts().axis;
  for (const std::string& text : texts) {
    auto window = parse_window(text, axis);
    if (!window) return std::unexpected(std::move(window).error());
    windows.push_back(*std::move(window));
  }
  return windows;
}

/// What is to be shown of one of the inputs.
ViewerInput input_of(const ReportCommand& options, std::size_t number) {
  ViewerInput input = options.input;
  if (options.paths.size() == 1) return input;
  const RunPrograms& own = options.programs[number];
  input.input.programs = joined(std::move(input.input.programs), own.programs);
  input.symbols = joined(std::move(input.symbols), own.symbols);
  input.of_one_run = true;
  return input;
}

/// Where two captures part, if both execute instructions.
void add_divergences(const ReportCommand& options,
                     const std::vector<std::unique_ptr<view::Session>>& sessions,
                     view::ReportOptions& wanted) {
  for (const auto& session : sessions) {
    const auto sources = session->facts().sources;
    if (std::ranges::none_of(sources, [](const auto& source) { return source.executes; })) return;
  }
  CompareOptions compare{.input = options.input.input,
                         .paths = {options.paths[0], options.paths[1]}};
  compare.symbols = options.input.symbols;
  compare.programs = options.programs;
  const auto runs = ComparedRuns::open(compare);
  if (!runs || (*runs)->run() != kOk) return;
  const outputs::DifferenceReport found = (*runs)->report();
  wanted.divergence_count = found.comparison.agreement().divergences;
  for (std::size_t i = 0; i < found.places.size(); ++i) {
    wanted.divergences.push_back({.thread = outputs::thread_of(found, i),
                                  .text = outputs::sentence_of(found, i),
                                  .where = outputs::where_of(found, i),
                                  .times = outputs::times_of(found, i)});
  }
}

}  // namespace

int run_report(const ReportCommand& options) {
  if (options.paths.empty()) return complain("INPUT is missing; name the capture.", kUsage);
  if (options.paths.size() > 2)
    return complain("A report takes one INPUT, or two to compare.", kUsage);
  if (options.paths.size() == 1 && any_given(options.programs)) {
    return complain(
        "--elf-a, --elf-b, --symbols-a and --symbols-b are for two INPUTs; for one, use --elf and "
        "--symbols.",
        kUsage);
  }
  std::vector<std::string> inputs;
  inputs.reserve(options.paths.size());
  for (const std::string& path : options.paths) inputs.push_back(path_of_input(path));
  if (const auto safe = refuse_input(options.output, inputs); !safe)
    return complain(safe.error().detail, kUsage);
  std::vector<std::unique_ptr<view::Session>> sessions;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < options.paths.size(); ++i) {
    auto session = open_session(input_of(options, i), options.paths[i]);
    if (!session) return session.error();
    bytes += (*session)->facts().bytes;
    sessions.push_back(*std::move(session));
  }
  Result<view::Report> report;
  {
    Progress progress(bytes);
    const view::Stop stop = [&] {
      std::uint64_t done = 0;
      for (const auto& session : sessions) done += session->facts().done;
      progress.at(done);
      return interrupted();
    };
    std::vector<std::string> texts = options.windows;
    const bool whole = std::erase(texts, "all") != 0;
    const auto windows = parse_windows(texts, *sessions.front(), stop);
    if (!windows) return report_code(windows.error());
    view::ReportOptions wanted{.files = view::page_files(),
                               .version = WAYMARK_VERSION,
                               .most_bytes = options.most_bytes,
                               .windows = *windows,
                               .whole = whole};
    if (options.paths.size() == 2) add_divergences(options, sessions, wanted);
    wanted.coverage = coverage_of_capture(input_of(options, 0), options.paths.front());
    if (interrupted()) return kInterrupted;
    report = view::make_report(*sessions.front(),
                               sessions.size() == 2 ? sessions[1].get() : nullptr, wanted, stop);
  }
  if (!report) return report_code(report.error());
  int code = kOk;
  for (const auto& session : sessions) {
    const view::CaptureFacts facts = session->facts();
    if (facts.failure.empty()) continue;
    code =
        complain(fmt::format("{} The report covers the trace before it.", facts.failure), kInput);
  }
  for (const std::string& what : report->left_out)
    note(fmt::format("--max-size left no room for {}.", what));
  auto output = Output::open_whole(options.output, inputs);
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  output->text().put(report->html);
  if (output->commit()) return code;
  return finish_output(*output, code);
}

}  // namespace waymark::cli

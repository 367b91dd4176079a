#include "findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "branch_lists.h"
#include "capture_problems.h"
#include "complain.h"
#include "doctor.h"
#include "exit_code.h"
#include "interrupt.h"
#include "output.h"
#include "run.h"
#include "waymark/base/plural.h"
#include "waymark/doctor/examination.h"
#include "waymark/inputs/detect.h"
#include "waymark/outputs/examination.h"

namespace waymark::cli {
namespace {

void add(exports::CaptureFindings& to, int code, std::string_view kind, std::string text) {
  to.code = static_cast<std::uint8_t>(code);
  to.findings.push_back({.kind = std::string(kind), .text = std::move(text)});
}

/// Trace that nothing describes.
void examine(Bytes content, exports::CaptureFindings& to) {
  const auto found = doctor::examine(content);
  if (!found) return add(to, kInput, "unreadable", found.error().detail);
  to.bytes = found->size;
  if (found->framing.confidence != doctor::Confidence::kNone)
    to.framing = inputs::framing_name(found->framing.framing);
  const std::string command = outputs::next_command(to.input, *found);
  if (command.empty()) {
    add(to, kInput, "not_described",
        "The protocol of this trace is not stated, and no protocol fits it. If you know how it was "
        "made, state it with --framing and --source.");
  } else {
    add(to, kOk, "not_described",
        fmt::format("The protocol of this trace is not stated. Its content suggests: {}", command));
  }
}

void judge(const InputOptions& input, exports::CaptureFindings& to,
           std::vector<std::string>& files) {
  const auto list = open_branch_list(input.path);
  if (!list) return add(to, kInput, "unreadable", list.error().detail);
  if (*list) {
    to.kind = "branch list";
    return;
  }
  if (const auto file = undescribed_file(input, false, false)) {
    if (!*file) return add(to, kInput, "unreadable", file->error().detail);
    to.kind = inputs::input_kind_name(inputs::detect(**file).kind);
    return examine((*file)->bytes(), to);
  }
  const auto judged = judge_capture(input, interrupted, [&](const Contents& contents) {
    const inputs::Capture& capture = contents.capture;
    to.kind = inputs::input_kind_name(capture.kind());
    to.framing = inputs::framing_name(capture.framing());
    to.bytes = capture.trace().size();
    to.findings = find_findings(contents);
    if (contents.failed_at != kNoIndex) to.code = kDamaged;
    const std::vector<std::string> read = capture.input_files();
    files.insert(files.end(), read.begin(), read.end());
  });
  if (!judged) add(to, kInput, "unreadable", judged.error().detail);
}

}  // namespace

int collect_findings(const ExportOptions& options, std::vector<exports::CaptureFindings>& captures,
                     std::vector<std::string>& files) {
  // A wrong option is not wrong with an input.
  if (const auto good = capture_options(options.input); !good)
    return complain(good.error().detail, kUsage);
  for (const std::string& path : options.inputs) {
    InputOptions input = options.input;
    input.path = path;
    exports::CaptureFindings& of_input = captures.emplace_back();
    of_input.input = path;
    files.push_back(path_of_input(path));
    judge(input, of_input, files);
    if (interrupted()) return kInterrupted;
  }
  return kOk;
}

int write_findings(const exports::Format& format, const std::string& output,
                   std::span<const exports::CaptureFindings> captures,
                   const std::vector<std::string>& files) {
  auto out = Output::open_whole(output, files);
  if (!out) {
    return complain(out.error().detail,
                    out.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  if (const auto written = format.write_findings(captures, out->text()); !written)
    return complain(written.error().detail, kOutput);
  if (!out->commit()) return finish_output(*out, kOk);
  int worst = kOk;
  std::size_t bad = 0;
  for (const exports::CaptureFindings& capture : captures) {
    worst = std::max<int>(worst, capture.code);
    if (capture.code != kOk) ++bad;
  }
  if (bad != 0) {
    note(fmt::format("{} of {} could not be read, or not to the end; the findings say why.", bad,
                     counted(captures.size(), "input")));
  }
  return worst;
}

int export_findings(const exports::Format& format, const ExportOptions& options) {
  std::vector<exports::CaptureFindings> captures;
  std::vector<std::string> files;
  if (const int code = collect_findings(options, captures, files); code != kOk) return code;
  return write_findings(format, options.output, captures, files);
}

}  // namespace waymark::cli

// waymark decode: what the cores executed.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "exit_code.h"
#include "record_options.h"
#include "run.h"
#include "waymark/etmv4/text.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/human.h"
#include "waymark/outputs/json.h"
#include "waymark/ptm/text.h"

namespace waymark::cli {
namespace {

constexpr std::uint32_t kStrictFlags =
    kCheckDirectBranchN | kCheckStrictBranchN | kCheckRangeContinuity | kA64OpcodeCheck;

/// Where elements and damage go, by format.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void add(std::span<const Element> elements) = 0;
  virtual void add(const Diagnostic& record) = 0;
  virtual void finish() {}
};

class TextSink final : public Sink {
 public:
  TextSink(TextBuffer& out, const inputs::Capture& capture) : writer_(out) {
    for (const inputs::CaptureSource& source : capture.sources()) {
      writer_.name_core(source.id, source.core);
      const Protocol protocol = source.source->protocol();
      if (protocol == Protocol::kEtmV4 || protocol == Protocol::kEte) {
        writer_.name_exceptions(source.id, etmv4::write_exception_name, source.profile);
      } else if (protocol == Protocol::kPtm) {
        writer_.name_exceptions(source.id, ptm::write_exception_name, source.profile);
      }
    }
    writer_.header();
  }
  void add(std::span<const Element> elements) override { writer_.add(elements); }
  void add(const Diagnostic& record) override { writer_.add(record); }
  void finish() override { writer_.finish(); }

 private:
  outputs::HumanWriter writer_;
};

class JsonSink final : public Sink {
 public:
  explicit JsonSink(TextBuffer& out) : out_(out) {}
  void add(std::span<const Element> elements) override {
    for (const Element& element : elements) outputs::write_json(out_, element);
  }
  void add(const Diagnostic& record) override { outputs::write_json(out_, record); }

 private:
  TextBuffer& out_;
};

class CsvSink final : public Sink {
 public:
  explicit CsvSink(TextBuffer& out) : out_(out) { outputs::write_csv_element_header(out_); }
  void add(std::span<const Element> elements) override {
    for (const Element& element : elements) outputs::write_csv(out_, element);
  }
  void add(const Diagnostic& record) override { outputs::write_csv(out_, record); }

 private:
  TextBuffer& out_;
};

std::unique_ptr<Sink> make_sink(Format format, TextBuffer& out, const inputs::Capture& capture) {
  switch (format) {
    case Format::kJson:
      return std::make_unique<JsonSink>(out);
    case Format::kCsv:
      return std::make_unique<CsvSink>(out);
    case Format::kText:
      break;
  }
  return std::make_unique<TextSink>(out, capture);
}

/// Passes damage on, and keeps the first record that --strict stops at.
class DamageObserver final : public Observer {
 public:
  explicit DamageObserver(Sink& sink) : sink_(sink) {}
  [[nodiscard]] bool wants_packets() const override { return false; }
  void on_diagnostic(const Diagnostic& record) override {
    // The decoder speaks of a bad packet too, and says what it means.
    if (record.stage == Stage::kPackets) return;
    sink_.add(record);
    if (record.severity != Severity::kInfo && !first_) first_ = record;
  }
  [[nodiscard]] const std::optional<Diagnostic>& first() const { return first_; }

 private:
  Sink& sink_;
  std::optional<Diagnostic> first_;
};

std::string strict_sentence(const Diagnostic& record) {
  std::string_view message = record.message;
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string where;
  if (record.address != kNoAddress) where += fmt::format(" at address 0x{:x}", record.address);
  if (record.trace_id != kNoTraceId) where += fmt::format(", trace ID 0x{:02x}", record.trace_id);
  if (record.index != kNoIndex) where += fmt::format(", trace byte {}", record.index);
  const bool image = record.fault == Fault::kBadImage || record.fault == Fault::kInvalidOpcode;
  return fmt::format(
      "--strict: {}{}: {}.{}", image ? "trace and image disagree" : "the trace is damaged", where,
      message.ends_with('.') ? message.substr(0, message.size() - 1) : message,
      image ? " Check that the image is the one that ran, and its load address." : "");
}

int run(const RecordOptions& options) {
  SourceOptions source;
  if (options.strict) source.flags = kStrictFlags;
  auto capture = open_capture(options.input, source);
  if (!capture) return capture.error();
  auto output = Output::open(options.output);
  if (!output) return complain(output.error().detail, kOutput);

  const auto sink = make_sink(options.format, output->text(), *capture);
  DamageObserver observer(*sink);
  capture->tree().set_observer(&observer);

  bool executed = false;
  const RunHooks hooks{.on_elements =
                           [&](std::span<const Element> elements) {
                             sink->add(elements);
                             for (const Element& element : elements) {
                               executed |= element.kind != ElementKind::kNoSync &&
                                           element.kind != ElementKind::kEndOfTrace;
                             }
                           },
                       .stop = [&] { return options.strict && observer.first().has_value(); }};
  int code = run_capture(*capture, *output, hooks);
  sink->finish();
  if (options.strict && observer.first()) {
    code = complain(strict_sentence(*observer.first()), kDamaged);
  } else if (code == kOk && !executed) {
    code = complain(
        fmt::format("{}: nothing could be decoded: {}", capture->trace().path(),
                    any_sync_point(*capture)
                        ? "no address follows the synchronisation points."
                        : "no synchronisation point was found. See `waymark info` for what is "
                          "in the trace."),
        kDamaged);
  }
  return finish_records(*capture, *output, options, code);
}

}  // namespace

void add_decode(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command = app.add_subcommand("decode", "Show what the cores executed");
  add_input_options(*command, options->input);
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "Write to this file")->type_name("FILE");
  command->add_flag("--stats", options->statistics, "Counts at the end, on standard error");
  command->add_flag("--strict", options->strict,
                    "Check trace against image, and stop at the first damage with exit code 1");
  command->footer(
      "Examples:\n"
      "  waymark decode board/                     every core, as text\n"
      "  waymark decode board/ --id 0x10 --format json -o core0.jsonl\n"
      "  waymark decode etb.bin --protocol etmv4 --reg TRCCONFIGR=0xC1 --reg TRCIDR0=0x28000EA1 "
      "\\\n"
      "      --reg TRCIDR2=0x488 --image 0x80000000=kernel.bin");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

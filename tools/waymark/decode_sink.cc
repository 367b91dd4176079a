#include "decode_sink.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "record_options.h"
#include "waymark/inputs/branch_code.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/human.h"
#include "waymark/outputs/json.h"

namespace waymark::cli {
namespace {

class TextSink final : public Sink {
 public:
  TextSink(const SinkOptions& options, TextBuffer& out, const inputs::Capture& capture)
      : writer_(out), out_(out), pool_(options.instructions) {
    writer_.set_style(options.style);
    if (options.timed) writer_.show_times();
    if (options.functions) writer_.name_functions(options.functions, options.details);
    if (options.processes) writer_.name_processes(options.processes);
    writer_.find_threads_in_vmids(options.thread_in_vmid);
    writer_.find_direct_targets(inputs::BranchCode(capture).direct_targets());
    if (options.messages != nullptr) {
      writer_.write_custom_with(
          [messages = options.messages](TextBuffer& text, const Element& element) {
            messages->write(text, element);
          });
    }
    for (const inputs::CaptureSource& source : capture.sources()) {
      writer_.name_core(source.id, source.core);
      name_exceptions(source.id, source);
    }
    // All sources of a live trace have one protocol, and some may appear later.
    if (capture.live() && !capture.sources().empty()) {
      for (TraceId id = 1; is_source_id(id); ++id) name_exceptions(id, capture.sources().front());
    }
    if (options.header) writer_.header();
  }
  void add(std::span<const Element> elements) override {
    with_instructions([&] { writer_.add(elements); });
  }
  void add(const Diagnostic& record) override { writer_.add(record); }
  void add(const merge::TimedRecord& record) override {
    with_instructions([&] { writer_.add(record); });
  }
  void finish() override {
    with_instructions([&] { writer_.finish(); });
  }
  bool release() override { return writer_.release(); }
  void gap(TraceIndex index) override {
    with_instructions([&] { writer_.finish(); });
    put_gap(out_, Format::kText, "", "", index);
  }
  void pass_over(const Element& element) override {
    with_instructions([&] { writer_.pass_over(element); });
  }
  void end_here() override { writer_.end_here(); }
  [[nodiscard]] bool wants_more() const override { return writer_.wants_more(); }

 private:
  void name_exceptions(TraceId id, const inputs::CaptureSource& source) {
    writer_.name_exceptions(id, inputs::exception_numbers(source));
  }

  template <class Write>
  void with_instructions(const Write& write) {
    const outputs::InstructionPool::Lease lease(pool_.get());
    writer_.list_instructions(lease.get());
    write();
    writer_.list_instructions(nullptr);
  }

  outputs::HumanWriter writer_;
  TextBuffer& out_;
  std::shared_ptr<outputs::InstructionPool> pool_;
};

/// The names of functions, if they are wanted.
class Functions {
 public:
  explicit Functions(const SinkOptions& options) {
    if (options.functions) names_.emplace(options.functions, options.details);
  }
  outputs::FunctionNames* get() { return names_ ? &*names_ : nullptr; }

 private:
  std::optional<outputs::FunctionNames> names_;
};

/// Each line is complete at once.
class LineSink : public Sink {
 public:
  void end_here() override { ended_ = true; }

 protected:
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  bool ended_ = false;
};

class JsonSink final : public LineSink {
 public:
  JsonSink(const SinkOptions& options, TextBuffer& out)
      : out_(out), messages_(options.messages), functions_(options), pool_(options.instructions) {}
  void add(std::span<const Element> elements) override {
    if (ended()) return;
    const outputs::InstructionPool::Lease lease(pool_.get());
    for (const Element& element : elements) {
      if (!is_message(element)) outputs::write_json(out_, element, functions_.get(), lease.get());
    }
  }
  void add(const Diagnostic& record) override {
    if (!ended()) outputs::write_json(out_, record);
  }
  void gap(TraceIndex index) override { put_gap(out_, Format::kJson, "", "", index); }
  void add(const merge::TimedRecord& record) override {
    const outputs::InstructionPool::Lease lease(pool_.get());
    if (record.is_damage || !is_message(record.element))
      outputs::write_json(out_, record, functions_.get(), lease.get());
  }

 private:
  /// True: the element is a message, and was written.
  bool is_message(const Element& element) {
    if (messages_ == nullptr || element.kind != ElementKind::kCustom) return false;
    messages_->write(out_, element);
    return true;
  }

  TextBuffer& out_;
  MessageStage* messages_;
  Functions functions_;
  std::shared_ptr<outputs::InstructionPool> pool_;
};

class CsvSink final : public LineSink {
 public:
  CsvSink(const SinkOptions& options, TextBuffer& out)
      : out_(out),
        options_(options),
        columns_(columns_of(options)),
        functions_(options),
        pool_(options.instructions) {
    if (options.header) write_header(out_, options);
  }
  static void write_header(TextBuffer& out, const SinkOptions& options) {
    if (options.timed) {
      outputs::write_csv_timed_header(out, columns_of(options));
    } else {
      outputs::write_csv_element_header(out, columns_of(options));
    }
  }
  void add(std::span<const Element> elements) override {
    if (ended()) return;
    const outputs::InstructionPool::Lease lease(pool_.get());
    for (const Element& element : elements)
      outputs::write_csv(out_, element, functions_.get(), lease.get());
  }
  void add(const Diagnostic& record) override {
    if (!ended()) outputs::write_csv(out_, record, columns_);
  }
  void gap(TraceIndex index) override {
    put_gap(out_, Format::kCsv, csv_header(options_), "record", index);
  }
  void add(const merge::TimedRecord& record) override {
    const outputs::InstructionPool::Lease lease(pool_.get());
    outputs::write_csv(out_, record, functions_.get(), lease.get());
  }

 private:
  static outputs::CsvColumns columns_of(const SinkOptions& options) {
    return {.functions = static_cast<bool>(options.functions),
            .lines = options.details.lines,
            .inlines = options.details.inlines,
            .instructions = options.instructions != nullptr};
  }

  TextBuffer& out_;
  SinkOptions options_;
  outputs::CsvColumns columns_;
  Functions functions_;
  std::shared_ptr<outputs::InstructionPool> pool_;
};

/// Collects where no code could be read, for MissingPrograms.
class MissingSink final : public Sink {
 public:
  MissingSink(const SinkOptions& options, std::unique_ptr<Sink> sink)
      : programs_(options.missing), cursor_(programs_->images()), sink_(std::move(sink)) {}

  void add(std::span<const Element> elements) override {
    for (const Element& element : elements) look_at(element);
    sink_->add(elements);
  }
  void add(const Diagnostic& record) override { sink_->add(record); }
  void add(const merge::TimedRecord& record) override {
    if (!record.is_damage) look_at(record.element);
    sink_->add(record);
  }
  void finish() override {
    sink_->finish();
    programs_->add(times_);
    times_.clear();
  }
  bool release() override { return sink_->release(); }
  void gap(TraceIndex index) override { sink_->gap(index); }
  void pass_over(const Element& element) override { sink_->pass_over(element); }
  [[nodiscard]] bool has_content(std::span<const Element> elements) override {
    return sink_->has_content(elements);
  }
  void end_here() override {
    ended_ = true;
    sink_->end_here();
  }
  [[nodiscard]] bool wants_more() const override { return sink_->wants_more(); }

 private:
  void look_at(const Element& element) {
    if (ended_ || element.kind != ElementKind::kAddrNacc) return;
    const ExecutionContext context = execution_context(element);
    const TaskId task = cursor_.id(element.index, element.trace_id, context);
    ++times_[MissingPrograms::program_at(programs_->images(), task, element.start)];
  }

  std::shared_ptr<MissingPrograms> programs_;
  perf::TaskCursor cursor_;
  std::unique_ptr<Sink> sink_;
  MissingPrograms::Times times_;
  bool ended_ = false;
};

class SelectingSink final : public Sink {
 public:
  SelectingSink(Selection selection, std::unique_ptr<Sink> sink)
      : selection_(std::move(selection)), sink_(std::move(sink)) {}

  void add(std::span<const Element> elements) override {
    std::size_t shown = 0;  // The end of what was passed on.
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (selection_.shows(elements[i])) continue;
      if (i != shown) sink_->add(elements.subspan(shown, i - shown));
      sink_->pass_over(elements[i]);
      shown = i + 1;
    }
    if (shown != elements.size()) sink_->add(elements.subspan(shown));
  }
  void add(const Diagnostic& record) override { sink_->add(record); }
  void add(const merge::TimedRecord& record) override {
    if (record.is_damage || selection_.shows(record.element)) {
      sink_->add(record);
    } else {
      sink_->pass_over(record.element);
    }
  }
  void finish() override { sink_->finish(); }
  bool release() override { return sink_->release(); }
  void gap(TraceIndex index) override { sink_->gap(index); }
  void pass_over(const Element& element) override { sink_->pass_over(element); }
  [[nodiscard]] bool has_content(std::span<const Element> elements) override {
    return std::ranges::any_of(elements, [this](const Element& element) {
      return selection_.shows(element) && sink_->has_content({&element, 1});
    });
  }
  void end_here() override { sink_->end_here(); }
  [[nodiscard]] bool wants_more() const override { return sink_->wants_more(); }

 private:
  Selection selection_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace

bool Sink::has_content(std::span<const Element> elements) {
  return std::ranges::any_of(elements, [](const Element& element) {
    return element.kind != ElementKind::kNoSync && element.kind != ElementKind::kEndOfTrace;
  });
}

std::string csv_header(const SinkOptions& options) {
  TextBuffer header;
  CsvSink::write_header(header, options);
  return std::string(header.view());
}

std::unique_ptr<Sink> make_writer(const SinkOptions& options, TextBuffer& out,
                                  const inputs::Capture& capture) {
  switch (options.format) {
    case Format::kJson:
      return std::make_unique<JsonSink>(options, out);
    case Format::kCsv:
      return std::make_unique<CsvSink>(options, out);
    case Format::kText:
      break;
  }
  return std::make_unique<TextSink>(options, out, capture);
}

std::unique_ptr<Sink> select_into(std::unique_ptr<Sink> sink, const SinkOptions& options) {
  if (options.missing != nullptr) sink = std::make_unique<MissingSink>(options, std::move(sink));
  if (!options.selection) return sink;
  return std::make_unique<SelectingSink>(*options.selection, std::move(sink));
}

std::unique_ptr<Sink> make_sink(const SinkOptions& options, TextBuffer& out,
                                const inputs::Capture& capture) {
  return select_into(make_writer(options, out, capture), options);
}

}  // namespace waymark::cli

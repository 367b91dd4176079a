#include "export_events.h"

#include <fmt/format.h>

#include <optional>

#include "complain.h"
#include "event_merge.h"
#include "exit_code.h"
#include "output.h"
#include "run.h"
#include "waymark/base/escape.h"

namespace waymark::cli {
namespace {

class Quiet final : public Observer {
 public:
  [[nodiscard]] bool wants_packets() const override { return false; }
};

class EventPass {
 public:
  using Take = std::function<void(std::span<const Element>)>;

  EventPass(const EventExport& wanted, const std::string& path)
      : wanted_(wanted),
        messages_(wanted.messages.stage()),
        input_(wanted.input),
        window_(input_, wanted.window) {
    input_.path = path;
  }

  /// Opens the input; kOk, or the code of the failure, whose sentence is printed.
  int open(bool first) {
    auto opened = open_capture(input_, {}, first, window_.known_id_bytes());
    if (!opened) return opened.error();
    capture_ = std::make_unique<inputs::Capture>(std::move(*opened));
    auto selection = select_in(*capture_, wanted_.selection);
    if (!selection) return complain(selection.error().detail, kUsage);
    selection_ = *std::move(selection);
    return window_.open(*capture_, false);
  }

  /// All elements that are selected.
  int run(Output& output, const Take& take) {
    Quiet quiet;
    capture_->tree().set_observer(&quiet);
    const RunHooks hooks{.on_elements =
                             [&](std::span<const Element> all) {
                               choose(messages_ ? messages_->replace(all) : all, take);
                             },
                         .stop = {},
                         .enough = [&](TraceIndex index) { return window_.enough(index); }};
    const int code = run_capture(*capture_, output, hooks);
    if (messages_) choose(messages_->finish(), take);
    capture_->tree().set_observer(nullptr);
    return code;
  }

  [[nodiscard]] inputs::Capture& capture() { return *capture_; }
  /// The text of a message; can be taken once.
  std::string text_of(const Element& message) { return take_text(*messages_, message); }
  /// All files that are read.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> files = window_.input_files(*capture_, capture_->input_files());
    files.push_back(path_of_input(input_.path));
    return files;
  }

 private:
  /// Passes on those that are selected.
  void choose(std::span<const Element> all, const Take& take) {
    std::span<const Element> elements = window_.cut(all);
    if (selection_) {
      kept_.clear();
      for (const Element& element : elements)
        if (selection_->shows(element)) kept_.push_back(element);
      elements = kept_;
    }
    if (!elements.empty()) take(elements);
  }

  const EventExport& wanted_;
  std::unique_ptr<MessageStage> messages_;
  InputOptions input_;
  Window window_;
  std::unique_ptr<inputs::Capture> capture_;
  std::optional<Selection> selection_;
  std::vector<Element> kept_;
};

/// The first pass.
int survey(const EventExport& wanted, const std::string& path, bool print_notes,
           exports::EventWriter& writer) {
  EventPass pass(wanted, path);
  if (const int code = pass.open(print_notes); code != kOk) return code;
  auto nothing = Output::open("", {});
  if (!nothing) return complain(nothing.error().detail, kOutput);
  return pass.run(*nothing, [&](std::span<const Element> elements) {
    writer.survey(elements);
    for (const Element& element : elements)
      if (element.kind == ElementKind::kCustom) (void)pass.text_of(element);
  });
}

/// The second pass, which is open.
int write(EventPass& pass, exports::EventWriter& writer, TextBuffer& text, Output& output) {
  std::vector<exports::EventSource> sources;
  std::vector<TraceId> ids;
  for (const inputs::CaptureSource& source : pass.capture().sources()) {
    sources.push_back({source.id, source.device});
    ids.push_back(source.id);
  }
  writer.set_message_text([&](const Element& message) { return pass.text_of(message); });
  writer.begin(sources, text);
  std::optional<EventMerge> in_order;
  if (writer.wants_times())
    in_order.emplace(ids, [&](const merge::TimedRecord& record) { writer.add(record); });
  const int code = pass.run(output, [&](std::span<const Element> elements) {
    if (in_order) {
      in_order->add(elements);
    } else {
      writer.add(elements);
    }
  });
  if (code == kInterrupted || code == kOutput) return code;
  if (in_order) in_order->finish();
  writer.finish();
  for (const std::string& sentence : writer.notes()) note(sentence);
  if (in_order && in_order->late() != 0) {
    note(
        fmt::format("{} events have the time of a later one, because their source sent its time "
                    "too late or its time went back.",
                    in_order->late()));
  }
  return code;
}

}  // namespace

int add_events(const EventExport& wanted, const std::string& path, exports::EventWriter& writer,
               Output& output) {
  if (const int code = survey(wanted, path, false, writer); code != kOk) return code;
  if (!writer.has_events()) return kOk;
  EventPass pass(wanted, path);
  if (const int code = pass.open(false); code != kOk) return code;
  TextBuffer nothing;
  return write(pass, writer, nothing, output);
}

int export_events(const EventExport& wanted) {
  const std::unique_ptr<exports::EventWriter> writer = wanted.format.make_events();
  return export_events(wanted, *writer, true);
}

int export_events(const EventExport& wanted, exports::EventWriter& writer, bool print_notes) {
  if (wanted.inputs.size() > 1) {
    return complain(
        fmt::format("{}: only the events of a single INPUT can be written.", wanted.format.name),
        kUsage);
  }
  const std::string& path = wanted.inputs.front();
  if (const int code = survey(wanted, path, print_notes, writer); code != kOk) return code;
  if (!writer.has_events()) {
    return complain(fmt::format("{}: there are no exceptions, events or messages that {} could "
                                "show.",
                                escaped(path), wanted.format.name),
                    kDamaged);
  }
  EventPass pass(wanted, path);
  if (const int code = pass.open(false); code != kOk) return code;
  auto output = Output::open_whole(wanted.output, pass.files());
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  const int code = write(pass, writer, output->text(), *output);
  if (code == kInterrupted) return code;
  if (code == kOutput) return finish_output(*output, code);
  if (output->commit()) return code;
  return finish_output(*output, code);
}

}  // namespace waymark::cli

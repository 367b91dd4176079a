#include "decode_parallel.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "command.h"
#include "exit_code.h"
#include "input_options.h"
#include "interrupt.h"
#include "option_values.h"
#include "progress.h"
#include "waymark/parallel/parallel_decoder.h"

namespace waymark::cli {
namespace {

// Shorter traces are done before threads have begun.
constexpr std::size_t kWorthThreads = std::size_t{2} << 20;

/// The text of a stretch of the trace.
class TextPiece final : public parallel::Piece {
 public:
  TextPiece(const inputs::Capture& capture, const SinkOptions& sink, TextBuffer text)
      : text_(std::move(text)), sink_(make_sink(sink, text_, capture)) {}

  void on_elements(std::span<const Element> elements) override {
    if (!ended_) {
      executed_ = executed_ || sink_->says_something(elements);
      last_ = elements.back().index;
    }
    sink_->add(elements);
  }
  void on_diagnostic(const Diagnostic& record) override {
    // The decoder speaks of a bad packet too, and says what it means.
    if (record.stage != Stage::kPackets) sink_->add(record);
  }
  void end() override {
    ended_ = true;
    sink_->end_here();
  }
  [[nodiscard]] bool wants_more() const override { return sink_->wants_more(); }
  [[nodiscard]] std::size_t held() const override { return text_.size(); }

  /// The whole text.
  [[nodiscard]] std::string_view finish() {
    sink_->finish();
    return text_.view();
  }
  [[nodiscard]] TextBuffer take_buffer() { return std::move(text_); }
  [[nodiscard]] bool executed() const { return executed_; }
  [[nodiscard]] TraceIndex last() const { return last_; }

 private:
  TextBuffer text_;
  std::unique_ptr<Sink> sink_;
  TraceIndex last_ = 0;
  bool executed_ = false;
  bool ended_ = false;
};

class Writer final : public parallel::Consumer {
 public:
  Writer(inputs::Capture& capture, Output& output, SinkOptions sink)
      : capture_(capture),
        output_(output),
        sink_(std::move(sink)),
        progress_(capture.trace().size()) {
    sink_.header = false;
  }

  std::unique_ptr<parallel::Piece> begin() override {
    return std::make_unique<TextPiece>(capture_, sink_, buffer());
  }

  bool take(std::unique_ptr<parallel::Piece> piece) override {
    auto& text = static_cast<TextPiece&>(*piece);
    output_.text().put(text.finish());
    const bool written = output_.settle();
    executed_ = executed_ || text.executed();
    progress_.at(text.last());
    // Elements can be about earlier bytes than those that the workers read now.
    if (text.last() > kStillRead) capture_.passed(text.last() - kStillRead);
    give_back(text.take_buffer());
    if (interrupted()) code_ = kInterrupted;
    if (!written) code_ = kOutput;
    return code_ == kOk;
  }

  [[nodiscard]] ParallelOutcome outcome() const { return {code_, executed_}; }

 private:
  TextBuffer buffer() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    TextBuffer text = std::move(free_.back());
    free_.pop_back();
    return text;
  }
  void give_back(TextBuffer text) {
    text.clear();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(text));
  }

  static constexpr std::size_t kStillRead = std::size_t{16} << 20;

  inputs::Capture& capture_;
  Output& output_;
  SinkOptions sink_;
  Progress progress_;
  int code_ = kOk;
  bool executed_ = false;
  std::mutex mutex_;
  std::vector<TextBuffer> free_;  ///< Of pieces that are written; memory is kept.
};

}  // namespace

void add_threads_option(Command& command, unsigned& threads) {
  command
      .add_option(
          "-j,--threads", threads,
          "The number of threads; default: one per core for traces of 2 MiB and more, else one")
      ->type_name("N")
      ->range(1, parallel::kMaxThreads);
}

unsigned threads_for(inputs::Capture& capture, unsigned wanted) {
  if (wanted == 0 && capture.trace().size() >= kWorthThreads)
    wanted = std::thread::hardware_concurrency();
  return capture.tree().can_jump() ? std::max(wanted, 1U) : 1;
}

std::optional<ParallelOutcome> decode_parallel(inputs::Capture& capture, Output& output,
                                               const SinkOptions& sink, unsigned threads) {
  threads = threads_for(capture, threads);
  if (threads <= 1) return std::nullopt;
  const auto whole = capture.rest();
  if (!whole) return std::nullopt;
  // Its header stands once, before the pieces.
  make_sink(sink, output.text(), capture);
  Writer writer(capture, output, sink);
  parallel::ParallelDecoder decoder(capture.tree(), {.threads = threads});
  if (const auto done = decoder.decode(whole->index, whole->bytes, writer); !done)
    return ParallelOutcome{
        complain(done.error().detail, done.error().code == ErrorCode::kLimit ? kMemory : kDamaged),
        true};
  return writer.outcome();
}

}  // namespace waymark::cli

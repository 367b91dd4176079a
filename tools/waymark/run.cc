#include "run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "exit_code.h"
#include "interrupt.h"
#include "progress.h"
#include "waymark/base/escape.h"
#include "waymark/base/standard_streams.h"
#include "waymark/inputs/trace_name.h"

namespace waymark::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 512;
constexpr std::size_t kFirstBatch = 16;
constexpr auto kSlow = std::chrono::milliseconds(50);
constexpr auto kFast = std::chrono::milliseconds(5);

class Runner {
 public:
  Runner(inputs::Capture& capture, Output& output, const RunHooks& hooks)
      : capture_(capture), output_(output), hooks_(hooks), batch_(kBatch) {}

  int run() {
    Progress progress(capture_.live() ? 0 : capture_.trace().size());
    while (true) {
      const auto event = capture_.next_event();
      if (!event) return interrupted() ? int{kInterrupted} : complain(event.error().detail, kInput);
      if (!*event) break;
      output_.arrives((*event)->arrival);
      if (const int code = take(**event); code != kOk) return code;
      // Other events have no block.
      if ((*event)->kind == inputs::TraceEvent::Kind::kBlock) {
        const TraceIndex end = (*event)->block.index + (*event)->block.bytes.size();
        progress.at(end);
        if (hooks_.enough && hooks_.enough(end)) break;
      }
      if (hooks_.turn) hooks_.turn();
    }
    capture_.tree().finish();
    return drain();
  }

 private:
  int take(const inputs::TraceEvent& event) {
    using Kind = inputs::TraceEvent::Kind;
    switch (event.kind) {
      case Kind::kBlock:
        return decode_up_to_limits(event.block);
      case Kind::kGap:
        capture_.tree().lose();
        if (const int code = drain(); code != kOk) return code;
        if (hooks_.gap) hooks_.gap(event.block.index);
        return check();
      case Kind::kIdle:
        if (hooks_.release && hooks_.release()) capture_.released();
        break;
      case Kind::kRelease:
        if (hooks_.release) hooks_.release();
        return check();
    }
    output_.flush();
    return check();
  }

  int decode_up_to_limits(inputs::TraceBlock block) {
    const std::vector<TraceIndex>& places = hooks_.limits.places;
    while (limit_ < places.size() && places[limit_] - block.index <= block.bytes.size()) {
      const auto size = static_cast<std::size_t>(places[limit_++] - block.index);
      if (const int code = decode({block.index, block.bytes.first(size)}); code != kOk) return code;
      if (const int code = hooks_.limits.reached(); code != kOk) return code;
      block = {block.index + size, block.bytes.subspan(size)};
    }
    return decode(block);
  }

  int decode(const inputs::TraceBlock& block) {
    if (block.bytes.empty()) return kOk;
    if (const auto fed = capture_.tree().feed(block.index, block.bytes); !fed) {
      return complain(fed.error().detail, kDamaged);
    }
    if (const int code = drain(); code != kOk) return code;
    if (capture_.live()) output_.flush();
    if (!capture_.tree().failed()) return kOk;
    return complain(
        fmt::format("{}: decoding cannot continue after byte {}.", inputs::trace_name(capture_),
                    block.index + capture_.tree().consumed()),
        kDamaged);
  }

  int drain() {
    while (const std::size_t count = next()) {
      if (hooks_.on_elements) hooks_.on_elements(std::span(batch_).first(count));
      if (const int code = check(); code != kOk) return code;
    }
    return check();
  }

  /// Adapts the size of the batch, so that an interrupt is seen soon however slow decoding is.
  std::size_t next() {
    const auto start = Clock::now();
    const std::size_t count = capture_.tree().next(std::span(batch_).first(size_));
    const auto time = Clock::now() - start;
    if (time > kSlow) {
      size_ = std::max<std::size_t>(size_ / 16, 1);
    } else if (time < kFast) {
      size_ = std::min(size_ * 2, kBatch);
    }
    return count;
  }

  int check() {
    const bool written = output_.settle();
    if (interrupted()) return kInterrupted;
    if (!written) return kOutput;
    return hooks_.stop && hooks_.stop() ? kDamaged : kOk;
  }

  inputs::Capture& capture_;
  Output& output_;
  const RunHooks& hooks_;
  std::vector<Element> batch_;
  std::size_t size_ = kFirstBatch;  ///< The size of the next batch.
  std::size_t limit_ = 0;           ///< The number of the next limit.
};

}  // namespace

int run_capture(inputs::Capture& capture, Output& output, const RunHooks& hooks) {
  return Runner(capture, output, hooks).run();
}

std::expected<Output, int> open_output(const std::string& path, const inputs::Capture& capture,
                                       const InputOptions& options) {
  std::vector<std::string> files = capture.input_files();
  if (!options.data_layouts.empty()) files.push_back(options.data_layouts);
  auto output = Output::open(path, files);
  if (output) return std::move(*output);
  const Error& error = output.error();
  return std::unexpected(
      complain(error.detail, error.code == ErrorCode::kInvalidArgument ? kUsage : kOutput));
}

std::string place_in_buffer(const inputs::Capture& capture, TraceIndex index) {
  const inputs::JoinedTrace* const joined = capture.joined();
  const auto place = joined != nullptr ? joined->place(index) : std::nullopt;
  if (!place) return {};
  return fmt::format(" (byte {} of {})", place->offset, escaped(place->buffer->name));
}

void print_statistics(inputs::Capture& capture) {
  std::string text;
  for (const inputs::CaptureSource& source : capture.sources()) {
    const SourceStatistics counts = source.source->statistics();
    text += fmt::format(
        "ID 0x{:02x} {}: {} bytes, {} packets, {} elements, {} sync points; {} bytes not "
        "synchronised, {} bad headers, {} bad sequences, {} damage records\n",
        source.id, escaped(source.core.empty() ? source.device : source.core), counts.total_bytes,
        counts.packets, counts.elements, counts.sync_points, counts.unsynced_bytes,
        counts.bad_headers, counts.bad_sequences, counts.diagnostics);
  }
  if (capture.tree().formatted()) {
    const frames::Statistics frames = capture.tree().frame_statistics();
    text += fmt::format(
        "frames: {} bytes to sources, {} of IDs without source, {} of reserved IDs, {} before the "
        "first ID, {} of framing; {} damage records\n",
        frames.valid_id_bytes, frames.no_id_bytes, frames.reserved_id_bytes,
        frames.unknown_id_bytes, frames.frame_bytes, frames.damage);
  }
  write_to_standard_error(text);
}

int finish_output(Output& output, int code) {
  output.flush();
  if (!output.failed()) return code;
  if (output.reader_left()) return code == kInterrupted ? code : kReaderLeft;
  complain(output.error(), kOutput);
  return code == kInterrupted ? code : kOutput;
}

bool traces_a_core(const inputs::Capture& capture) {
  return std::ranges::any_of(capture.sources(), [](const inputs::CaptureSource& source) {
    return source.source->protocol() != Protocol::kStm &&
           source.source->protocol() != Protocol::kItm;
  });
}

bool any_sync_point(const inputs::Capture& capture) {
  for (const inputs::CaptureSource& source : capture.sources()) {
    if (source.source->statistics().sync_points != 0 || source.starts_in_sync) return true;
  }
  return false;
}

}  // namespace waymark::cli

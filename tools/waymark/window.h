// --from and --to: the part of a capture that a command prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "index_access.h"
#include "run.h"
#include "waymark/frames/splitter.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"

namespace waymark::cli {

struct WindowOptions {
  std::string from;
  std::string to;
  std::string index;
  [[nodiscard]] bool given() const { return !from.empty() || !to.empty(); }
};

void add_window_options(CLI::App& command, WindowOptions& options);

/// Records whose index lies in the window are those that the run over the whole capture prints, in
/// the same order.
class Window {
 public:
  Window(const InputOptions& input, const WindowOptions& options)
      : input_(input), options_(options), access_(input, options.index) {}

  /// For open_capture(); of the second, with the index of all of the trace.
  KnownIdBytes known_id_bytes();
  KnownIdBytes index_id_bytes() { return access_.known_id_bytes(); }

  /// Reads the options, and makes the capture begin where they need it.  kOk; else the sentence is
  /// printed.
  int open(inputs::Capture& capture);

  /// The index of the whole capture, and the options read; the capture is left as it is.  nullptr:
  /// the sentence is printed; see code().
  index::Index* look_up(const inputs::Capture& capture);

  /// The capture of look_up(), opened for packets only; nullptr as there.
  inputs::Capture* scout(const inputs::Capture& capture) { return access_.scout(capture); }
  [[nodiscard]] int code() const { return code_; }

  [[nodiscard]] bool given() const { return options_.given(); }
  [[nodiscard]] TraceIndex from() const { return from_; }
  [[nodiscard]] TraceIndex to() const { return to_; }

  [[nodiscard]] bool contains(TraceIndex index) const { return index >= from_ && index < to_; }
  /// Records without a place are of the whole capture.
  [[nodiscard]] bool contains(const Diagnostic& record) const {
    return record.index == kNoIndex || contains(record.index);
  }

  /// Those of the batch that lie in the window; valid until the next call.
  std::span<const Element> cut(std::span<const Element> elements);
  /// Something of this source was told, whether or not it lies in the window.
  void tell(TraceId id, TraceIndex index) {
    if (index >= to_ && id < kTraceIdCount) passed_.set(id);
  }

  /// Whether nothing more can lie in the window, when the capture was given up to `index`.
  bool enough(TraceIndex index);

  /// Where reading begins.
  [[nodiscard]] TraceIndex start() const { return start_; }

 private:
  /// Looks for from_ and to_ in the index.  False: it does not go far enough to tell.
  bool place(index::Index& index, const inputs::Capture& capture);
  Result<TraceIndex> resolve(index::Index& index, const inputs::Capture& capture,
                             const std::string& text, bool last);
  /// What is wrong with the options is said before anything is read.
  int parse(const inputs::Capture& capture);
  int check(const inputs::Capture& capture);
  int complain_of(const Error& error);

  const InputOptions& input_;
  const WindowOptions& options_;
  IndexAccess access_;
  inputs::Capture* capture_ = nullptr;
  index::Index* index_ = nullptr;
  std::optional<Error> error_;  ///< Of place().
  int code_ = 0;
  TraceIndex from_ = 0;
  TraceIndex to_ = kNoIndex;
  TraceIndex start_ = 0;
  frames::IdSet passed_;  ///< IDs that told something behind the window.
  std::vector<std::uint64_t> bytes_at_end_;
  std::vector<Element> kept_;
};

}  // namespace waymark::cli

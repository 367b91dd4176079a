// --from, --to, --last and --around: the part of a capture that a command prints or counts.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index_access.h"
#include "run.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"
#include "waymark/index/window_end.h"

namespace waymark::cli {

class Command;

struct WindowOptions {
  std::string from;
  std::string to;
  std::string index;
  std::uint64_t last = 0;  ///< Instructions before the end; 0: not given.
  std::string around;
  std::uint64_t instructions = 20;  ///< Before and after `around`.
  [[nodiscard]] bool near() const { return last != 0 || !around.empty(); }
  [[nodiscard]] bool given() const { return !from.empty() || !to.empty() || near(); }
};

/// --from, --to and --index.
void add_window_options(Command& command, WindowOptions& options);
/// --last, --around and --instructions; after add_window_options().
void add_near_options(Command& command, WindowOptions& options);

/// The records whose index is in the window are the same, and in the same order, as in a run over
/// the whole capture.
class Window {
 public:
  Window(const InputOptions& input, const WindowOptions& options)
      : input_(input), options_(options), access_(input, options.index) {}

  /// For open_capture(); the second for commands that need the index of the whole trace.
  KnownIdBytes known_id_bytes();
  KnownIdBytes index_id_bytes() { return access_.known_id_bytes(); }

  /// Reads the options, and makes the capture begin where they need it.  Not kOk: the sentence is
  /// printed.  --last and --around only set where the window begins; what they leave out of it is
  /// for a NearSink.  `search`: false if what comes before the window matters.
  int open(inputs::Capture& capture, bool search = true);

  /// Reads the options, and gives the index of the whole capture, which is left as it is.  nullptr:
  /// the sentence is printed; see code().
  index::Index* look_up(const inputs::Capture& capture);

  /// As IndexAccess::give_up(); look_up() comes next.
  bool give_up(const Error& error) { return access_.give_up(error); }

  /// As IndexAccess::input_files(); nothing if no index is read.
  [[nodiscard]] std::vector<std::string> input_files(const inputs::Capture& capture) const {
    return access_.input_files(capture);
  }
  /// The same with `files`, for a command that also reads those.  Without a window, only `files`.
  [[nodiscard]] std::vector<std::string> input_files(const inputs::Capture& capture,
                                                     std::vector<std::string> files) const {
    if (!given()) return files;
    const std::vector<std::string> indexes = input_files(capture);
    files.insert(files.end(), indexes.begin(), indexes.end());
    return files;
  }

  /// The capture of look_up(), opened for packets only; nullptr as there.
  inputs::Capture* scout(const inputs::Capture& capture) { return access_.scout(capture); }
  [[nodiscard]] int code() const { return code_; }

  [[nodiscard]] bool given() const { return options_.given(); }
  [[nodiscard]] TraceIndex from() const { return from_; }
  [[nodiscard]] TraceIndex to() const { return to_; }
  /// The place of --around; kNoIndex: not given.
  [[nodiscard]] TraceIndex around() const { return around_; }

  [[nodiscard]] bool contains(TraceIndex index) const { return index >= from_ && index < to_; }
  /// Records without a place belong to every window.
  [[nodiscard]] bool contains(const Diagnostic& record) const {
    return record.index == kNoIndex || contains(record.index);
  }

  /// The elements of the batch that are in the window; valid until the next call.
  std::span<const Element> cut(std::span<const Element> elements);
  /// This source gave something at this index, in the window or not.
  void tell(TraceId id, TraceIndex index) { end().tell(id, index); }

  /// Whether nothing more can be in the window, now that the capture was read up to `index`.
  bool enough(TraceIndex index);

  /// Where reading begins.
  [[nodiscard]] TraceIndex start() const { return start_; }

 private:
  /// Looks for from_ and to_ in the index.  False: it does not go far enough.
  bool place(index::Index& index, const inputs::Capture& capture);
  Result<TraceIndex> resolve(index::Index& index, const inputs::Capture& capture,
                             const std::string& text, bool last);
  /// The latest place from which at least `count` instructions come before `end`.  Not before
  /// from_.
  Result<TraceIndex> begin_before(TraceIndex end, std::uint64_t count);
  Result<std::uint64_t> instructions_between(TraceIndex from, TraceIndex to);
  /// The options that name places, and where these are.
  [[nodiscard]] std::array<std::pair<const std::string*, TraceIndex*>, 3> places() {
    return {{{&options_.from, &from_}, {&options_.to, &to_}, {&options_.around, &around_}}};
  }
  [[nodiscard]] std::string name_of(const std::string* text) const {
    if (text == &options_.from) return "--from";
    return text == &options_.to ? "--to" : "--around";
  }
  /// Complains about the options before anything is read.
  int parse(const inputs::Capture& capture);
  int check(const inputs::Capture& capture);
  /// The sentence for --from and --to that are timestamps of the same place.
  std::string timestamps_around(const inputs::Capture& capture);
  int complain_of(const Error& error);

  const InputOptions& input_;
  const WindowOptions& options_;
  IndexAccess access_;
  inputs::Capture* capture_ = nullptr;
  index::Index* index_ = nullptr;
  std::optional<Error> error_;  ///< From place().
  int code_ = 0;
  TraceIndex from_ = 0;
  TraceIndex to_ = kNoIndex;
  TraceIndex around_ = kNoIndex;
  TraceIndex start_ = 0;
  /// The rules of to_, which does not change once trace is read.
  index::WindowEnd& end() {
    if (!end_) end_.emplace(to_);
    return *end_;
  }

  std::optional<index::WindowEnd> end_;
  std::vector<Element> kept_;
};

}  // namespace waymark::cli

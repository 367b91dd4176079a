// The output of a command: whole lines, in large writes, to a file or to standard output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/outputs/line_stamp.h"

namespace waymark::cli {

/// Text is appended to text() in whole lines.  Once a write fails, the rest is dropped, and error()
/// says why.  After an interrupt, the rest is dropped if the reader of a pipe takes nothing for a
/// while; that is not a failure.
class Output {
 public:
  /// `path` empty or "-": standard output.  `inputs`: the files that are read, which must not be
  /// lost.  kInvalidArgument: the output is one of them; kIo; each with a sentence.
  static Result<Output> open(const std::string& path, std::span<const std::string> inputs);

  /// The same, but a file gets its name only in commit(): until then there is what was there
  /// before. Without commit(), what was written is removed.
  static Result<Output> open_whole(const std::string& path, std::span<const std::string> inputs);
  /// That file, for a library that writes it by itself.  Empty: it is not one that commit() names.
  [[nodiscard]] const std::string& temporary() const { return temporary_; }
  /// Writes the rest, and gives the file its name.  False: that failed; error() says why.
  bool commit();

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  Output(const Output&) = delete;
  ~Output();

  [[nodiscard]] TextBuffer& text() { return text_; }

  /// Writes once there is much.  False: the output has failed.
  bool settle() { return text_.size() < kFlushSize ? !failed() : flush(); }
  bool flush();

  /// From now on, each line begins with the time at which its bytes arrived.
  void stamp_lines(outputs::LineStamp::Form form) { stamp_.emplace(form); }
  /// The next lines are about bytes that arrived at this time; 0: not known.
  void arrives(std::int64_t time) {
    if (!stamp_) return;
    flush();
    if (time != 0) stamp_->set_time(time);
  }

  [[nodiscard]] bool failed() const { return !error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  /// True: the output failed because the reader of the pipe went away.
  [[nodiscard]] bool reader_left() const { return reader_left_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  static constexpr std::size_t kFlushSize = std::size_t{256} << 10;

  Output(int descriptor, std::string name);
  bool reader_takes_more();
  void fail_write(std::string_view written, int code);

  TextBuffer text_;
  std::optional<outputs::LineStamp> stamp_;
  TextBuffer stamped_;  ///< What is written instead of text_.
  std::string name_;
  std::string temporary_;  ///< The name until commit(); empty: the file has its name.
  std::string target_;     ///< The name that commit() gives.
  std::string error_;
  int descriptor_ = -1;
  bool is_file_ = false;  ///< A regular one, which takes all and can be cut.
  bool reader_left_ = false;
  bool gave_up_ = false;  ///< Interrupted, and the reader of the pipe takes nothing.
};

/// kInvalidArgument with a sentence: `path` is one of `inputs`, under whatever name.
Result<void> refuse_input(const std::string& path, std::span<const std::string> inputs);

/// The same of the files that write_snapshot() would write to a folder.
Result<void> refuse_inputs_in(const std::string& folder, const inputs::Snapshot& snapshot,
                              std::span<const inputs::SnapshotFile> files,
                              std::span<const std::string> inputs);

}  // namespace waymark::cli

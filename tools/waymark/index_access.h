// The index that a command uses: that of the capture if there is one, else one in memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input_options.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"

namespace waymark::cli {

class Command;

void add_index_option(Command& command, std::string& path);

/// Where the index of a trace is looked for, in this order: next to the trace, and in the user's
/// cache.
std::vector<std::string> usual_index_places(const std::string& trace);

/// Where `waymark index` makes the index of a trace: next to the trace, or in the user's cache if
/// that folder cannot be written.
std::string new_index_place(const std::string& trace);

/// Serves one run of a command.  If an index cannot be used, a note on standard error says why, and
/// the command continues in memory.
class IndexAccess {
 public:
  /// `path` empty: the usual places.
  IndexAccess(const InputOptions& input, std::string path)
      : input_(input), path_(std::move(path)) {}

  /// For open_capture(): looks for the index, so that the trace need not be read as a whole.
  KnownIdBytes known_id_bytes();

  /// The index of the capture if there is one that goes to its end; nullptr: there is none.
  index::Index* ready(const inputs::Capture& capture);

  /// ready(), or one made in memory: of the whole trace, or only as far as `enough` wants, which is
  /// asked from time to time.  nullptr: the sentence is printed; see code().
  index::Index* get(const inputs::Capture& capture,
                    const std::function<bool(index::Index&)>& enough = {});

  /// The index in use gave this error.  True: it is damaged, a note says so, and the next get()
  /// makes one in memory.
  bool give_up(const Error& error);

  /// The same capture, opened for packets only; nullptr as get().
  inputs::Capture* scout(const inputs::Capture& capture);

  /// The files that an index may be read from: what no output may replace.
  [[nodiscard]] std::vector<std::string> input_files(const inputs::Capture& capture) const;

  [[nodiscard]] int code() const { return code_; }

 private:
  void open(const MappedFile& trace, inputs::Framing framing);
  void drop(const std::string& sentence);

  const InputOptions& input_;
  std::string path_;
  std::unique_ptr<index::Index> index_;
  std::optional<inputs::Capture> scout_;
  bool looked_ = false;
  int code_ = 0;
};

}  // namespace waymark::cli

// The index that a command uses: the one beside the capture, or one in memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "input_options.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"

namespace waymark::cli {

void add_index_option(CLI::App& command, std::string& path);

/// Of one run of a command.  Sentences about an index that cannot be used go to standard error; the
/// command goes on in memory.
class IndexAccess {
 public:
  /// `path` empty: the usual place.
  IndexAccess(const InputOptions& input, std::string path)
      : input_(input), path_(std::move(path)) {}

  /// For open_capture(): looks for the index there, so that the trace need not be read as a whole.
  KnownIdBytes known_id_bytes();

  /// The index of the capture if there is one that goes to its end; nullptr: there is none.
  index::Index* ready(const inputs::Capture& capture);

  /// ready(), or one made in memory: of the whole trace, or as far as `enough` wants it, which is
  /// asked from time to time.  nullptr: the sentence is printed; see code().
  index::Index* get(const inputs::Capture& capture,
                    const std::function<bool(index::Index&)>& enough = {});

  /// The same capture, opened for packets only; nullptr as get().
  inputs::Capture* scout(const inputs::Capture& capture);

  [[nodiscard]] int code() const { return code_; }

 private:
  void open(const MappedFile& trace, std::string_view framing);
  void drop(const std::string& sentence);

  const InputOptions& input_;
  std::string path_;
  std::unique_ptr<index::Index> index_;
  std::optional<inputs::Capture> scout_;
  bool looked_ = false;
  int code_ = 0;
};

}  // namespace waymark::cli

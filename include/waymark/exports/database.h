// A database of SQLite with everything that was executed and that happened, for queries.
// docs/sqlite.md describes its tables.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "waymark/base/result.h"
#include "waymark/exports/event_writer.h"
#include "waymark/profile/profile.h"

namespace waymark::exports {

/// The order of calls: add() with a profile; for each input begin_input(), then those of an
/// EventWriter, whose begin() ignores its text; at the end close().  Errors of the others are kept
/// until close().  One owner; not thread safe.
class Database : public EventWriter {
 public:
  /// Counts of programs, functions, blocks, branches and instructions.
  virtual void add(const profile::Profile& profile,
                   std::span<const profile::ProgramProfile* const> programs) = 0;
  using EventWriter::add;
  virtual void begin_input(const std::string& path) = 0;
  /// kIo, with a sentence: something could not be written.
  virtual Result<void> close() = 0;
};

/// Whether this library can write databases.
bool databases_available();

/// Makes the tables in the file at `path`, which is empty or does not exist.  `name` is what
/// messages call it.  kIo, kUnsupported: see databases_available().
Result<std::unique_ptr<Database>> make_database(const std::string& path, const std::string& name);

}  // namespace waymark::exports

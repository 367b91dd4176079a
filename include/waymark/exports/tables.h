// Tables of Parquet: what happened and what was executed, for databases.  docs/howto/tables.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "waymark/base/diagnostic.h"
#include "waymark/exports/parquet.h"
#include "waymark/outputs/element_row.h"
#include "waymark/profile/profile.h"
#include "waymark/stacks/timeline.h"
#include "waymark/syst/interpreter.h"

namespace waymark::exports {

struct TableColumn {
  ParquetColumn stored{};
  std::string_view meaning{};  ///< Without a full stop.
};

struct Table {
  std::string_view name{};
  std::string_view rows{};  ///< What has a row, after "one row for".
  std::span<const TableColumn> columns{};
};

/// In the order in which they are listed.
std::span<const Table> tables();

/// nullptr: there is none of this name.
const Table* find_table(std::string_view name);

/// The values common to all rows of an input, and those about the file.
struct TableInput {
  std::uint32_t part = 0;                ///< The number of the input.
  std::optional<std::uint32_t> slice{};  ///< The number of the slice, of an input that is cut.
  std::string path{};
  std::string created_by{};
};

/// One file of a table: the rows of one input, or of a slice of it.  `out` must outlive it, and may
/// be cleared between two calls.  One owner; not thread safe.
class TablePart {
 public:
  /// kLimit: see ParquetWriter.
  Result<void> finish() { return writer_.finish(); }
  [[nodiscard]] std::uint64_t rows() const { return writer_.rows(); }

 protected:
  TablePart(std::string_view table, const TableInput& input, TextBuffer& out,
            std::vector<std::pair<std::string, std::string>> more = {});
  /// Begins a row.
  void begin_row();

  ParquetWriter writer_;

 private:
  std::uint32_t part_;
  std::string path_;
};

/// A row for each element and record of damage, in the order of the trace.  The rows of slices do
/// not depend on those before.
class ElementsPart final : public TablePart {
 public:
  ElementsPart(const TableInput& input, TextBuffer& out);
  void add(std::span<const Element> elements);
  void add(const Diagnostic& record);

 private:
  void begin(std::string_view record);
  void put(const outputs::ElementRow& row);

  std::uint32_t slice_;
  outputs::ElementRow row_;
  std::vector<std::optional<std::uint64_t>> times_;  ///< The last timestamp, by trace ID.
};

/// A row for each SyS-T message.
class MessagesPart final : public TablePart {
 public:
  MessagesPart(const TableInput& input, TextBuffer& out);
  void add(const syst::Record& record);

 private:
  TextBuffer text_;
};

/// A row for each block of each program.
class CountsPart final : public TablePart {
 public:
  CountsPart(const TableInput& input, TextBuffer& out);
  void add(const profile::ProgramProfile& program);
};

/// A row for each call of a function, or frame of another kind, when it is left: what an engine of
/// stacks says, with times.  Its memory grows with the depth of the stacks and with the functions.
class CallsPart final : public TablePart, public stacks::TimedSink {
 public:
  /// A thread of a recording.
  struct Task {
    std::uint32_t process = 0;
    std::string name{};
  };
  using FindTask = std::function<std::optional<Task>(std::uint64_t thread)>;

  /// `tree` is that of the engine whose events come.  `tasks` may be empty.
  CallsPart(const TableInput& input, TextBuffer& out);
  ~CallsPart() override;
  [[nodiscard]] static std::span<const TableColumn> columns();

  /// Before any event.
  void begin(const stacks::Tree& tree, FindTask tasks);

  void on_unit(stacks::TimeUnit unit) override { unit_ = unit; }
  void on_track(stacks::TrackId track, TraceId source, std::uint64_t thread) override;
  void on_enter(stacks::TrackId track, std::uint64_t time, stacks::CodeId code,
                stacks::Opening opening) override;
  void on_leave(stacks::TrackId track, std::uint64_t time) override;
  void on_instant(stacks::TrackId /*track*/, std::uint64_t /*time*/,
                  stacks::Instant /*what*/) override {}
  void on_instructions(stacks::TrackId /*track*/, std::uint64_t before) override {
    instructions_ = before;
  }

 private:
  struct Frame;
  struct Track;
  struct Names;
  struct Row;

  const Names& names_of(stacks::CodeId id);

  const stacks::Tree* tree_ = nullptr;
  FindTask tasks_;
  stacks::TimeUnit unit_ = stacks::TimeUnit::kInstructions;
  std::vector<Track> tracks_;
  std::unordered_map<stacks::CodeId, Names> names_;
  std::uint64_t instructions_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace waymark::exports

// Processes, threads and programs of a recording: --pid, --tid, --comm and --dso.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"
#include "waymark/perf/process_images.h"

namespace waymark::cli {

class Command;

/// Texts as given; select_in() reads them.
struct SelectionOptions {
  std::vector<std::string> pids;
  std::vector<std::string> tids;
  std::vector<std::string> names;
  std::vector<std::string> programs;

  [[nodiscard]] bool given() const {
    return !pids.empty() || !tids.empty() || !names.empty() || !programs.empty();
  }
};

void add_selection_options(Command& command, SelectionOptions& options);

/// The selection that the options make.  Values of one option are alternatives; all options must
/// agree.  A copy has one owner; not thread safe.
class Selection {
 public:
  /// Whether the element is of a selected task, and, with --dso, of code in a selected program.
  [[nodiscard]] bool shows(const Element& element);

  [[nodiscard]] bool has_task(TaskId task);
  /// True without --dso.
  [[nodiscard]] bool has_place(TaskId task, std::uint64_t address);
  [[nodiscard]] bool by_program() const { return !programs_.empty(); }

 private:
  friend Result<std::optional<Selection>> select_in(const inputs::Capture& capture,
                                                    const SelectionOptions& options);
  explicit Selection(const perf::ProcessImages& images) : images_(&images), cursor_(images) {}
  [[nodiscard]] bool decide(const perf::Task& task) const;

  const perf::ProcessImages* images_;
  perf::TaskCursor cursor_;
  std::vector<std::int32_t> pids_;
  std::vector<std::int32_t> tids_;
  std::vector<std::string> names_;
  std::vector<std::string> programs_;  ///< Paths as the recording has them.
  std::map<TaskId, bool> known_;
  // The last answer of has_task().
  std::optional<TaskId> asked_{};
  bool selected_ = false;
  // The last answer of has_place().
  TaskId task_{};
  std::uint64_t first_ = 1;
  std::uint64_t last_ = 0;
  bool in_program_ = false;
};

/// Nothing: no option is given.  kInvalidArgument: the capture is not a recording, or has nothing
/// of that number or name; `detail` says which ones it has.
Result<std::optional<Selection>> select_in(const inputs::Capture& capture,
                                           const SelectionOptions& options);

}  // namespace waymark::cli

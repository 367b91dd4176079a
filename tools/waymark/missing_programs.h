// Which programs of a recording were missing, and how often that stopped decoding.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "selection.h"
#include "waymark/count/counts.h"
#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/program_files.h"

namespace waymark::cli {

/// A program, or memory without a file, whose code is not known.
struct MissingProgram {
  std::string path{};     ///< As the recording has it; empty: it maps nothing there.
  std::int32_t pid = -1;  ///< Of memory without a file: whose it is.

  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const MissingProgram&, const MissingProgram&) = default;
};

/// Collects the places at which no code could be read.  Any number of threads may add.
class MissingPrograms {
 public:
  /// `capture` must be a recording, and must outlive the object.
  explicit MissingPrograms(const inputs::Capture& capture)
      : capture_(capture), images_(*capture.processes()) {}

  using Times = std::map<MissingProgram, std::uint64_t>;
  void add(const Times& times);
  /// A kAddrNacc.
  void add(const Element& element);
  /// The places that a counter met.
  void add(const count::Counts& counts);

  [[nodiscard]] const perf::ProcessImages& images() const { return images_; }

  [[nodiscard]] bool empty() const;
  /// Prints a table to standard error if something was missing.
  void report() const;

  /// Why its code is not known; a whole sentence.
  static std::string reason_of(const inputs::Capture& capture, const MissingProgram& program);

  /// The content at an address.
  static MissingProgram program_at(const perf::ProcessImages& images, TaskId task,
                                   std::uint64_t address);

 private:
  const inputs::Capture& capture_;
  const perf::ProcessImages& images_;
  mutable std::mutex mutex_;
  Times times_;
};

/// Collects what is missing of a capture that is decoded, if it is a recording.  Not thread safe.
class MissingCode {
 public:
  /// `capture` must outlive the object.
  MissingCode(const inputs::Capture& capture, const std::optional<Selection>& selection);

  void observe(std::span<const Element> elements);
  /// nullptr: the capture is not a recording.
  [[nodiscard]] const MissingPrograms* programs() const { return programs_.get(); }
  void report() const;

 private:
  std::optional<Selection> selection_;
  std::unique_ptr<MissingPrograms> programs_;
};

}  // namespace waymark::cli

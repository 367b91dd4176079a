// The memory of each process, from the events of a recording.  See perf-cs-etm.md 2 and 4,
// and simpleperf.md 2 and 4.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "waymark/perf/recording.h"

namespace waymark::perf {

/// Memory without a file, as JIT compilers use it: "//anon", "[anon:v8]", "/memfd:x (deleted)".
bool is_anonymous(const std::string& path);

/// A stretch of addresses that shows a file.
struct MappedRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;         ///< Inclusive.
  std::uint64_t file_offset = 0;  ///< The offset of `first`.
  std::shared_ptr<const Mapping> mapping{};

  friend bool operator==(const MappedRange&, const MappedRange&) = default;
};

/// The memory of one process, or of the kernel.  Ranges do not overlap: a later mapping replaces
/// what it covers, and the rest keeps its place in the file.  But code of a JIT compiler stays
/// where memory without a file is mapped: that is the memory that it is in, of which the kernel
/// states repeatedly that it can be executed.
class AddressSpace {
 public:
  void map(const std::shared_ptr<const Mapping>& mapping);
  void map(const MappedRange& range);
  void clear();

  /// nullptr: nothing is mapped there.  Valid until the next change.
  [[nodiscard]] const MappedRange* find(std::uint64_t address) const;
  /// In order of the addresses.
  [[nodiscard]] std::vector<MappedRange> ranges() const;
  /// Differs from that of any other content that any space of the program has had.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  void map_around_jitted(const MappedRange& range);
  void replace(const MappedRange& range);

  std::map<std::uint64_t, MappedRange> ranges_;  ///< By `first`.
  std::uint64_t version_ = 0;                    ///< 0: nothing was ever mapped.
  bool has_jitted_ = false;
};

/// All processes at one moment.  Events move it forward.  One owner; not thread safe.
///
/// A process is known by its pid.  Threads that the recording names belong to a process; a thread
/// that it does not name is taken for a process of its own.
class AddressSpaces {
 public:
  AddressSpaces();

  /// Applies an event.  Exec removes the maps of the process; a fork copies those of the parent.
  /// Exits change nothing, because trace of the task may come later.
  void apply(const TaskEvent& event);

  /// The process of a thread.
  [[nodiscard]] std::int32_t process_of(std::int32_t tid) const;
  /// The memory of a process; an empty one if the recording does not know it.
  [[nodiscard]] const AddressSpace& of(std::int32_t pid) const;
  [[nodiscard]] const AddressSpace& kernel() const { return kernel_; }
  /// The kernel of all guests, as far as the recording maps it.
  [[nodiscard]] const AddressSpace& guest() const { return guest_; }
  /// The content of a space when its version was this one.  Only spaces of this object have the
  /// version.
  [[nodiscard]] AddressSpace at(std::uint64_t version) const;
  /// The name of a task; empty: not known.
  [[nodiscard]] const std::string& name_of(std::int32_t tid) const;

 private:
  void name(const TaskEvent& event, const NewName& name);
  void fork(const TaskEvent& event, const Forked& forked);

  /// How a version came about.
  struct Change {
    std::uint64_t before = 0;                  ///< The version before it.
    std::shared_ptr<const Mapping> mapping{};  ///< What was added.
  };

  AddressSpace kernel_;
  AddressSpace guest_;
  std::unordered_map<std::uint64_t, Change> changes_;  ///< By version; none: the space was empty.
  std::unordered_map<std::int32_t, AddressSpace> spaces_;     ///< By pid.
  std::unordered_map<std::int32_t, std::int32_t> processes_;  ///< By tid.
  std::unordered_map<std::int32_t, std::string> names_;       ///< By tid.
};

}  // namespace waymark::perf

// The memory of each process at each moment of a recording, for decoders.  See perf-cs-etm.md 4.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "waymark/image/image_selector.h"
#include "waymark/perf/address_spaces.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"

namespace waymark::perf {

/// A place of an address: which file shows it.
struct ProgramPlace {
  std::shared_ptr<const Mapping> mapping{};
  std::uint64_t file_offset = 0;
  const ProgramFile* file = nullptr;  ///< nullptr: it is missing.
};

/// Which process ran, and in which memory.  Immutable to its users; any number of threads may ask.
class ProcessImages final : public image::ImageSelector {
 public:
  /// `begins`: the place of each of the pieces in the trace that is decoded, ascending.  What
  /// happened up to the time of a piece holds for all of it.  The arguments must outlive the
  /// object.
  ProcessImages(const Recording& recording, const std::vector<std::size_t>& order,
                std::vector<TraceIndex> begins, ProgramFiles& files);
  ~ProcessImages() override;

  [[nodiscard]] const image::Image& image_at(TraceIndex index, TraceId trace_id,
                                             std::uint64_t context) const override;

  /// Where the piece of trace with this place begins.  Decoders are reset there.
  [[nodiscard]] TraceIndex piece_begin(TraceIndex index) const;

  /// The thread that a source traced at a place.  -1: not known.
  [[nodiscard]] std::int32_t thread_at(TraceIndex index, TraceId trace_id,
                                       std::uint64_t context) const;
  [[nodiscard]] std::int32_t process_at(TraceIndex index, std::int32_t tid) const;
  /// The name of a thread; empty: not known.
  [[nodiscard]] const std::string& name_at(TraceIndex index, std::int32_t tid) const;

  /// The file that shows an address to a thread; `mapping` is nullptr if there is none.
  [[nodiscard]] ProgramPlace place_at(TraceIndex index, std::int32_t tid,
                                      std::uint64_t address) const;

 private:
  struct Memory;
  template <class Value>
  struct Change {
    std::size_t piece;  ///< From this piece on.
    Value value;
  };
  template <class Value>
  using History = std::vector<Change<Value>>;

  [[nodiscard]] std::size_t piece_at(TraceIndex index) const;
  [[nodiscard]] const Memory& memory_at(TraceIndex index, std::int32_t tid) const;
  Memory* memory_of(const AddressSpaces& spaces, std::int32_t pid);

  const Recording& recording_;
  ProgramFiles& files_;
  std::vector<std::size_t> order_;
  std::vector<TraceIndex> begins_;
  std::vector<bool> context_is_vmid_;  ///< By trace ID.
  std::vector<std::unique_ptr<Memory>> memories_;
  std::unordered_map<std::uint64_t, Memory*> by_versions_;
  std::unordered_map<std::int32_t, History<Memory*>> memory_;          ///< By pid.
  std::unordered_map<std::int32_t, History<std::int32_t>> processes_;  ///< By tid.
  std::unordered_map<std::int32_t, History<std::string>> names_;       ///< By tid.
};

}  // namespace waymark::perf

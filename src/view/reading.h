// Reads a capture in the background, and has what is known of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "builder.h"
#include "function_table.h"
#include "part_decoder.h"
#include "stored.h"
#include "waymark/base/result.h"
#include "waymark/inputs/capture.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

/// One owner opens and starts it; then any number of threads may ask.  It ends with its owner.
class Reading {
 public:
  /// The arguments must outlive it.
  Reading(const SessionOptions& options, StateCache& states, FunctionTable& functions,
          CodeList& codes)
      : options_(options), states_(states), functions_(functions), codes_(codes) {}
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// Opens the capture.  Everything is known at once if an earlier session stored it.
  Result<void> open();
  /// Reads the capture, unless everything is known.
  void start();

  /// From open() on.
  [[nodiscard]] const inputs::Capture& capture() const { return reader_->capture(); }
  [[nodiscard]] bool executes(TraceId id) const { return reader_->executes(id); }
  [[nodiscard]] const AxisChoice& axis() const { return axis_; }

  /// The facts known so far.
  [[nodiscard]] std::shared_ptr<const Known> known() const;
  /// Why reading ended early, as a sentence; empty: it did not.
  [[nodiscard]] std::string failure() const;

 private:
  void work();
  void publish(bool tree);
  std::optional<Stored> read_stored();
  void store();

  const SessionOptions& options_;
  StateCache& states_;
  FunctionTable& functions_;
  CodeList& codes_;
  AxisChoice axis_{};
  std::unique_ptr<PartDecoder> reader_;
  std::unique_ptr<Builder> builder_;
  mutable std::mutex mutex_;  ///< For the next two.
  std::shared_ptr<const Known> known_;
  std::string failure_{};
  std::uint64_t tree_bytes_ = 0;  ///< How much of the trace the tree of `known_` has.
  std::atomic<bool> ending_ = false;
  std::thread worker_;
};

}  // namespace waymark::view

// An open capture, and passes over its trace.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "element_array.h"
#include "waymark/inputs/capture.h"
#include "waymark/inputs/input_file.h"
#include "waymark/outputs/function_names.h"

namespace waymark::python {

/// The state that the Python object and all passes over it share.  The capture itself never
/// decodes: each pass has a copy of its tree, so passes do not disturb each other.
struct OpenCapture {
  std::unique_ptr<inputs::InputOpener> opener;
  inputs::Capture capture;
  inputs::CaptureOptions options;
  std::string path;
  std::atomic<bool> closed = false;
  std::mutex mutex;  ///< Guards the position in the capture.

  OpenCapture(std::unique_ptr<inputs::InputOpener> from, inputs::Capture opened,
              inputs::CaptureOptions with, std::string at)
      : opener(std::move(from)),
        capture(std::move(opened)),
        options(std::move(with)),
        path(std::move(at)) {}

  /// kInvalidArgument, if it is closed.
  void require_open() const;
};
using SharedCapture = std::shared_ptr<OpenCapture>;

/// Opens an input with the keyword arguments of waymark.open().  TypeError: an unknown one.
SharedCapture open_capture(const std::string& path, const py::dict& options, bool decode);

/// The trace in order, once.  Any thread may use it, one at a time.
class Pass {
 public:
  static constexpr std::size_t kPart = 4096;  ///< A multiple of the frames' alignment.

  /// `observer` may be nullptr; it must outlive the pass.
  Pass(SharedCapture capture, Observer* observer);

  [[nodiscard]] DecodeTree& tree() { return *tree_; }
  [[nodiscard]] OpenCapture& capture() { return *capture_; }

  /// Feeds the next part of the trace, of at most kPart bytes if it is to be `small`.  False: this
  /// was the end, and the tree finishes; it must not be called again.  Without the GIL.
  bool feed(bool small = false);

  /// Fills `out` from the front; less than its size only at the end, or if interrupted(), which
  /// `stopped` says.  Without the GIL.
  std::size_t next(std::span<Element> out, bool& stopped);

 private:
  SharedCapture capture_;
  std::unique_ptr<DecodeTree> tree_;
  TraceIndex position_ = 0;
  bool finished_ = false;
  bool ended_ = false;
};

/// Records of damage of one pass.
class DamageList final : public Observer {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  [[nodiscard]] bool wants_packets() const override { return false; }
  void on_diagnostic(const Diagnostic& record) override;
  [[nodiscard]] const std::vector<Diagnostic>& records() const { return records_; }
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  std::vector<Diagnostic> records_;
  std::uint64_t left_out_ = 0;
};

/// Gives all elements of a new pass to `take`, without the GIL.  An interrupt becomes its
/// exception.
void each_batch(const SharedCapture& capture,
                const std::function<void(std::span<const Element>)>& take,
                Observer* observer = nullptr);

/// Batches of elements for Python.
class BatchIterator {
 public:
  BatchIterator(const SharedCapture& capture, std::size_t size);

  /// The next array.  py::stop_iteration: the end.
  py::array next();
  /// The damage up to the last batch.
  [[nodiscard]] py::bytes damage_json();

 private:
  std::mutex mutex_;
  std::size_t size_;
  std::shared_ptr<ElementPool> pool_;
  DamageList damage_;
  Pass pass_;
  bool ended_ = false;
};

/// Finds the program at an address.  kNotFound: no function has a name.
outputs::PlaceLookup places_of(const OpenCapture& capture, const std::vector<std::string>& symbols);

void bind_captures(py::module_& module);

}  // namespace waymark::python

// Elements as NumPy arrays: their dtype, memory that arrays keep alive, and columns of values.
#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "errors.h"
#include "waymark/element/element.h"

namespace waymark::python {

/// The memory of batches.  What no array uses any more is used again, so that a loop over batches
/// touches the same memory all the time.
class ElementPool {
 public:
  explicit ElementPool(std::size_t size) : size_(size) {}

  using Buffer = std::unique_ptr<std::vector<Element>>;
  Buffer take();
  void give_back(Buffer buffer);

 private:
  static constexpr std::size_t kMostKept = 4;

  std::size_t size_;  ///< Elements of each buffer.
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

/// The dtype of Element: its members at their places in memory.
py::dtype element_dtype();

/// The first `count` elements of the buffer, without a copy.  The buffer returns to its pool when
/// the last array that shows a part of it is gone.
py::array array_of(const std::shared_ptr<ElementPool>& pool, ElementPool::Buffer buffer,
                   std::size_t count);

/// The elements of an array with element_dtype().  Anything else: TypeError.  The array must
/// outlive the result.
std::span<const Element> elements_of(const py::array& array);

/// The columns of CSV as a dict: NAME -> (values, mask), and words as (codes, names).
py::dict element_columns(const py::array& array);

/// The lines of `waymark decode --format json`.
py::bytes element_json(const py::array& array);

}  // namespace waymark::python

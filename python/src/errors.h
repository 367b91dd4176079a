// Errors of the library as exceptions of Python, and text of the library as text of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "waymark/base/result.h"

namespace waymark::python {

namespace py = pybind11;

/// Becomes waymark.Error, or the class of its code below it.
class Failure final : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return error_.detail.c_str(); }

 private:
  Error error_;
};

[[noreturn]] void raise(ErrorCode code, std::string detail);

/// The value of a result, or its error as a Failure.
template <class T>
T unwrap(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// "not_found": how Python names a code.
std::string_view code_word(ErrorCode code);

/// Call it once, when the module is loaded.
void translate_errors();

/// Text without control characters, whatever its bytes are.
py::str text_of(std::string_view text);

/// Whether Python has a signal to act on, such as Ctrl-C.  Without the GIL; true: an exception is
/// set, for throw_if_interrupted().
bool interrupted();
/// With the GIL.
void throw_if_interrupted();

}  // namespace waymark::python

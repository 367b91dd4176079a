#include "errors.h"

#include <array>

#include "waymark/base/escape.h"

namespace waymark::python {
namespace {

constexpr std::array<std::string_view, 8> kCodes = {
    "invalid_argument", "not_found", "io", "parse", "unsupported", "bad_data", "conflict", "limit"};

/// Sets the exception; never throws anything else.
void set_exception(const Error& error) {
  try {
    const py::object make = py::module_::import("waymark.errors").attr("make");
    const py::object index =
        error.index == kNoIndex ? py::object(py::none()) : py::cast(error.index);
    const py::object id =
        error.trace_id == kNoTraceId ? py::object(py::none()) : py::cast(error.trace_id);
    const py::object made =
        make(std::string(code_word(error.code)), text_of(error.detail), index, id);
    PyErr_SetObject(py::type::of(made).ptr(), made.ptr());
  } catch (py::error_already_set& failed) {
    failed.restore();
  }
}

}  // namespace

void raise(ErrorCode code, std::string detail) { throw Failure({code, std::move(detail)}); }

std::string_view code_word(ErrorCode code) {
  const auto at = static_cast<std::size_t>(code);
  return at < kCodes.size() ? kCodes[at] : "unknown";
}

void translate_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      set_exception(failure.error());
    }
  });
}

py::str text_of(std::string_view text) {
  const std::string safe = escaped(text);
  PyObject* const made =
      PyUnicode_DecodeUTF8(safe.data(), static_cast<Py_ssize_t>(safe.size()), "backslashreplace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

bool interrupted() {
  const py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

void throw_if_interrupted() {
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

}  // namespace waymark::python

// Classes whose objects only functions of the module make.
#pragma once

#include <pybind11/pybind11.h>

namespace waymark::python {

/// With `__new__` alone, Python could make an object of a bound class that has no value; each of
/// its methods would then read memory that was never set. So classes have functions of the module
/// instead of `__init__`, and no `__new__`.
template <class Class>
Class sealed(Class bound) {
  auto* const type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  type->tp_new = [](PyTypeObject* subtype, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "Objects of %s are made by functions of waymark.",
                 subtype->tp_name);
    return nullptr;
  };
  PyType_Modified(type);
  return bound;
}

}  // namespace waymark::python

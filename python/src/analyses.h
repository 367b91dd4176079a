// Analyses of whole captures, as tables.
#pragma once

#include "capture.h"

namespace waymark::python {

void bind_analyses(py::module_& module);

}  // namespace waymark::python

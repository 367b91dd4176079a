// Programs, trace scripts and plans for trace units.
#pragma once

#include "errors.h"

namespace waymark::python {

void bind_programs(py::module_& module);
void bind_scripts(py::module_& module);
void bind_etm4(py::module_& module);

}  // namespace waymark::python

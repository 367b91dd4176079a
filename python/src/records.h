// Packets and messages, one at a time.
#pragma once

#include "capture.h"

namespace waymark::python {

void bind_records(py::module_& module);

}  // namespace waymark::python

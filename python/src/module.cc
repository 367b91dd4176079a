// The module waymark._native, on which the package waymark is built.
#include "analyses.h"
#include "capture.h"
#include "programs.h"
#include "records.h"
#include "waymark/outputs/names.h"

namespace waymark::python {
namespace {

/// The words of an enumeration, by value.
template <class Word>
py::list words(std::size_t count, const Word& word) {
  py::list list;
  for (std::size_t value = 0; value < count; ++value) list.append(text_of(word(value)));
  return list;
}

void bind_elements(py::module_& module) {
  module.attr("ELEMENT") = element_dtype();
  module.attr("KINDS") = words(kElementKindCount, [](std::size_t value) {
    return outputs::kind_word(static_cast<ElementKind>(value));
  });
  module.def("element_columns", element_columns);
  module.def("element_json", element_json);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  translate_errors();
  bind_elements(module);
  bind_captures(module);
  bind_records(module);
  bind_analyses(module);
  bind_programs(module);
  bind_scripts(module);
  bind_etm4(module);
}

}  // namespace waymark::python

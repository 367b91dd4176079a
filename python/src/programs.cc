#include "programs.h"

#include <pybind11/stl.h>

#include "capture.h"
#include "sealed.h"
#include "symbol_options.h"
#include "table.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/program/program.h"

namespace waymark::python {
namespace {

using SharedProgram = std::shared_ptr<const program::Program>;

py::dict function_table(std::span<const image::Function> functions) {
  using image::Function;
  return Table<Function>(functions)
      .number("start", &Function::start)
      .number("last", &Function::last)
      .text("function", [](const Function& f) { return outputs::readable_name(f.name); })
      .text("symbol", &Function::name)
      .done();
}

py::list frames_at(const program::Program& program, std::uint64_t address) {
  std::vector<program::Frame> frames;
  program.frames(address, frames);
  py::list list;
  for (const program::Frame& frame : frames) {
    py::dict dict;
    dict["function"] = text_of(outputs::readable_name(std::string(frame.function)));
    dict["file"] = text_of(frame.file);
    dict["line"] = frame.line;
    dict["column"] = frame.column;
    list.append(dict);
  }
  return list;
}

}  // namespace

void bind_programs(py::module_& module) {
  sealed(py::class_<program::Program, std::shared_ptr<program::Program>>(module, "Program"))
      .def_property_readonly("path",
                             [](const program::Program& self) { return text_of(self.path()); })
      .def_property_readonly("build_id",
                             [](const program::Program& self) {
                               TextBuffer text;
                               for (const std::uint8_t byte : self.build_id()) text.hex(byte, 2);
                               return text_of(text.view());
                             })
      .def("functions",
           [](const program::Program& self) { return function_table(self.functions()); })
      .def("function_at",
           [](const program::Program& self, std::uint64_t address) -> py::object {
             const image::Function* const found = self.function(address);
             if (found == nullptr) return py::none();
             return text_of(outputs::readable_name(found->name));
           })
      .def("frames_at", frames_at);
  module.def("open_program", [](const std::string& path) {
    // Python has no const; nothing that is bound here changes the program.
    return std::const_pointer_cast<program::Program>(unwrap(program::Program::open(path)));
  });

  module.def("symbols", [](const SharedCapture& capture, const std::vector<std::string>& files) {
    capture->require_open();
    const image::Symbols symbols =
        unwrap(cli::load_symbols(capture->capture, {.functions = true, .files = files}));
    return function_table(symbols.functions());
  });
}

}  // namespace waymark::python

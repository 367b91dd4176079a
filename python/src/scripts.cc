#include <pybind11/stl.h>

#include <filesystem>
#include <memory>

#include "programs.h"
#include "sealed.h"
#include "waymark/inputs/snapshot_writer.h"
#include "waymark/inputs/trace_script.h"

namespace waymark::python {
namespace {

using Script = inputs::TraceScript;

py::dict buffers_of(const Script& script) {
  py::dict buffers;
  for (const inputs::ScriptBuffer& buffer : script.buffers) {
    buffers[text_of(buffer.name)] =
        py::bytes(reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size());
  }
  return buffers;
}

py::list devices_of(const Script& script) {
  py::list devices;
  for (const inputs::ScriptDevice& device : script.devices) {
    py::dict dict;
    dict["name"] = text_of(device.name);
    dict["protocol"] = text_of(device.protocol);
    dict["core"] = text_of(device.core);
    dict["id"] = device.trace_id;
    py::dict registers;
    for (const auto& [name, value] : device.registers) registers[text_of(name)] = value;
    dict["registers"] = registers;
    devices.append(dict);
  }
  return devices;
}

/// `folder`: that of the script, to which the names of its images are relative.
void save(const Script& script, const std::string& folder, const std::string& images) {
  const auto snapshot = unwrap(inputs::to_snapshot(script, images));
  for (const MappedFile& image : snapshot.images) {
    std::error_code error;
    for (const inputs::SnapshotFile& file : snapshot.files) {
      if (std::filesystem::equivalent(std::filesystem::path(folder) / file.name, image.path(),
                                      error)) {
        raise(ErrorCode::kInvalidArgument, folder + ": the image " + image.path() +
                                               " would be overwritten; choose another folder.");
      }
    }
  }
  unwrap(inputs::write_snapshot(snapshot.snapshot, snapshot.files, folder));
}

}  // namespace

void bind_scripts(py::module_& module) {
  sealed(py::class_<Script>(module, "Script"))
      .def_property_readonly("description",
                             [](const Script& self) { return text_of(self.description); })
      .def_property_readonly("buffers", buffers_of)
      .def_property_readonly("devices", devices_of)
      .def("save", save);
  module.def("assemble", [](const std::string& text) {
    const auto made = [&] {
      const py::gil_scoped_release free;
      return std::make_unique<Result<Script>>(inputs::assemble_trace_script(text));
    }();
    return unwrap(std::move(*made));
  });
}

}  // namespace waymark::python

#include "capture.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sealed.h"
#include "symbol_options.h"
#include "waymark/base/nearest.h"
#include "waymark/inputs/protocols.h"
#include "waymark/outputs/json.h"

namespace waymark::python {
namespace {

constexpr std::size_t kMostBatch = std::size_t{1} << 24;

/// A path as the system takes it: str, bytes or os.PathLike.
std::string path_of(const py::handle& path) {
  const auto encoded = py::reinterpret_steal<py::object>([&] {
    PyObject* bytes = nullptr;
    return PyUnicode_FSConverter(path.ptr(), &bytes) == 0 ? nullptr : bytes;
  }());
  if (!encoded) throw py::error_already_set();
  return encoded.cast<std::string>();
}

std::vector<std::string> paths_of(const py::handle& list) {
  std::vector<std::string> paths;
  for (const py::handle each : list.cast<py::list>()) paths.push_back(path_of(each));
  return paths;
}

void set_ids(inputs::CaptureOptions& options, const py::handle& value) {
  for (const auto id : value.cast<std::vector<unsigned>>()) {
    if (id >= kTraceIdCount)
      raise(ErrorCode::kInvalidArgument, "ids: a trace ID is a number from 0 to 127.");
    options.ids.push_back(static_cast<TraceId>(id));
  }
}

void set_framing(inputs::CaptureOptions& options, const py::handle& value) {
  options.framing = inputs::framing_by_name(value.cast<std::string>());
  if (!options.framing)
    raise(ErrorCode::kInvalidArgument, "framing: expected mem, fsync, hsync, dstream or none.");
}

void set_protocol(inputs::CaptureOptions& options, const py::handle& value) {
  options.protocol = value.cast<std::string>();
  if (inputs::protocol_by_name(options.protocol) == nullptr) {
    raise(ErrorCode::kInvalidArgument,
          "protocol: expected etmv4, ete, ptm, etmv3, stm, itm, mtb or etmv4d.");
  }
}

void set_nibble_order(inputs::CaptureOptions& options, const py::handle& value) {
  const auto order = value.cast<std::string>();
  if (order != "most" && order != "least")
    raise(ErrorCode::kInvalidArgument, "nibble_order: expected most or least.");
  options.source.least_nibble_first = order == "least";
}

/// Pairs of an address and a file.
void set_images(inputs::CaptureOptions& options, const py::handle& value) {
  for (const py::handle each : value.cast<py::list>()) {
    const auto pair = each.cast<std::pair<std::uint64_t, py::object>>();
    options.images.push_back({pair.first, path_of(pair.second)});
  }
}

/// Files, or pairs of a file and how far above its link addresses it was loaded.
void set_programs(inputs::CaptureOptions& options, const py::handle& value) {
  for (const py::handle each : value.cast<py::list>()) {
    if (py::isinstance<py::tuple>(each)) {
      const auto pair = each.cast<std::pair<py::object, std::uint64_t>>();
      options.programs.push_back({path_of(pair.first), pair.second});
    } else {
      options.programs.push_back({path_of(each), 0});
    }
  }
}

/// A keyword argument of waymark.open().
struct Keyword {
  std::string_view name;
  void (*set)(inputs::CaptureOptions& options, const py::handle& value);
};

constexpr Keyword kKeywords[] = {
    {"buffer", [](auto& o, const auto& v) { o.buffer = v.template cast<std::string>(); }},
    {"ids", set_ids},
    {"cpus",
     [](auto& o, const auto& v) { o.cpus = v.template cast<std::vector<std::uint32_t>>(); }},
    {"protocol", set_protocol},
    {"core", [](auto& o, const auto& v) { o.core = v.template cast<std::string>(); }},
    {"framing", set_framing},
    {"registers",
     [](auto& o, const auto& v) {
       for (const auto& [name, value] : v.template cast<std::map<std::string, std::uint32_t>>())
         o.registers.emplace_back(name, value);
     }},
    {"register_text", [](auto& o, const auto& v) { o.register_text = path_of(v); }},
    {"images", set_images},
    {"programs", set_programs},
    {"roots", [](auto& o, const auto& v) { o.roots = paths_of(v); }},
    {"caches", [](auto& o, const auto& v) { o.caches = paths_of(v); }},
    {"vmlinux", [](auto& o, const auto& v) { o.vmlinux = path_of(v); }},
    {"kallsyms", [](auto& o, const auto& v) { o.kallsyms = path_of(v); }},
    {"kcore", [](auto& o, const auto& v) { o.kcore = path_of(v); }},
    {"virtual_timestamps",
     [](auto& o, const auto& v) { o.virtual_timestamps = v.template cast<bool>(); }},
    {"assume_sync",
     [](auto& o, const auto& v) { o.source.starts_in_sync = v.template cast<bool>(); }},
    {"nibble_order", set_nibble_order},
};

void set_options(inputs::CaptureOptions& options, const py::dict& given) {
  for (const auto& [key, value] : given) {
    if (value.is_none()) continue;
    const auto name = key.cast<std::string>();
    const auto* const known = std::ranges::find(kKeywords, name, &Keyword::name);
    if (known == std::end(kKeywords)) {
      std::vector<std::string_view> names;
      for (const Keyword& keyword : kKeywords) names.push_back(keyword.name);
      const auto meant = nearest(name, names);
      throw py::type_error("open() has no option '" + std::string(text_of(name)) + "'" +
                           (meant ? "; did you mean " + std::string(*meant) + "?" : "."));
    }
    try {
      known->set(options, value);
    } catch (const py::cast_error&) {
      throw py::type_error("open(): the option " + name + " has a value of the wrong type.");
    }
  }
}

py::dict source_dict(const inputs::CaptureSource& source) {
  py::dict dict;
  dict["id"] = source.id;
  dict["protocol"] = text_of(protocol_name(source.source->protocol()));
  dict["device"] = text_of(source.device);
  dict["type"] = text_of(source.type);
  dict["version"] = text_of(source.version);
  dict["core"] = text_of(source.core);
  dict["core_type"] = text_of(source.core_type);
  return dict;
}

}  // namespace

void OpenCapture::require_open() const {
  if (closed) {
    raise(ErrorCode::kInvalidArgument,
          path + ": this capture is closed; open it again to read it.");
  }
}

SharedCapture open_capture(const std::string& path, const py::dict& given, bool decode) {
  inputs::CaptureOptions options;
  set_options(options, given);
  options.source.decode = decode;
  auto opener = std::make_unique<inputs::InputOpener>(interrupted);
  options.open_file = [from = opener.get()](const std::string& file) { return from->open(file); };
  options.stop = interrupted;
  const auto opened = [&] {
    const py::gil_scoped_release free;
    return std::make_unique<Result<inputs::Capture>>(inputs::Capture::open(path, options));
  }();
  throw_if_interrupted();
  return std::make_shared<OpenCapture>(std::move(opener), unwrap(std::move(*opened)),
                                       std::move(options), path);
}

Pass::Pass(SharedCapture capture, Observer* observer) : capture_(std::move(capture)) {
  capture_->require_open();
  const std::lock_guard lock(capture_->mutex);
  tree_ = capture_->capture.tree().clone();
  if (observer != nullptr) tree_->set_observer(observer);
}

bool Pass::feed(bool small) {
  std::optional<inputs::TraceBlock> block;
  {
    const std::lock_guard lock(capture_->mutex);
    capture_->capture.seek(position_);
    block = capture_->capture.next_block();
  }
  if (!block) {
    tree_->finish();
    return false;
  }
  if (small) block->bytes = block->bytes.first(std::min(block->bytes.size(), kPart));
  position_ = block->index + block->bytes.size();
  unwrap(tree_->feed(block->index, block->bytes));
  return true;
}

std::size_t Pass::next(std::span<Element> out, bool& stopped) {
  // An interrupt is seen soon, however slow decoding is.
  constexpr std::size_t kBetweenChecks = std::size_t{1} << 16;
  stopped = false;
  std::size_t filled = 0;
  std::size_t checked = 0;
  while (filled < out.size() && !ended_) {
    capture_->require_open();
    const std::size_t room = std::min(out.size() - filled, kBetweenChecks);
    const std::size_t count = tree_->next(out.subspan(filled, room));
    filled += count;
    if (count == 0) {
      if (tree_->failed())
        raise(ErrorCode::kBadData, capture_->path + ": decoding cannot continue.");
      ended_ = finished_;
      if (!finished_) finished_ = !feed();
    }
    if (filled - checked >= kBetweenChecks || count == 0) {
      checked = filled;
      if (!ended_ && interrupted()) {
        stopped = true;
        return filled;
      }
    }
  }
  return filled;
}

void DamageList::on_diagnostic(const Diagnostic& record) {
  // The decoder reports a bad packet too, and explains it.
  if (record.stage == Stage::kPackets) return;
  if (records_.size() < kMost) {
    records_.push_back(record);
  } else {
    ++left_out_;
  }
}

void each_batch(const SharedCapture& capture,
                const std::function<void(std::span<const Element>)>& take, Observer* observer) {
  {
    const py::gil_scoped_release free;
    Pass pass(capture, observer);
    std::vector<Element> batch(512);
    bool stopped = false;
    while (const std::size_t count = pass.next(batch, stopped)) {
      take(std::span<const Element>(batch).first(count));
      if (stopped) break;
    }
  }
  throw_if_interrupted();
}

BatchIterator::BatchIterator(const SharedCapture& capture, std::size_t size)
    : size_(size), pool_(std::make_shared<ElementPool>(size)), pass_(capture, &damage_) {}

py::array BatchIterator::next() {
  ElementPool::Buffer buffer;
  std::size_t count = 0;
  {
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    buffer = pool_->take();
    bool stopped = false;
    if (!ended_) count = pass_.next(*buffer, stopped);
    ended_ = ended_ || stopped || count < size_;
  }
  throw_if_interrupted();
  if (count == 0) throw py::stop_iteration();
  return array_of(pool_, std::move(buffer), count);
}

py::bytes BatchIterator::damage_json() {
  TextBuffer text;
  {
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    for (const Diagnostic& record : damage_.records()) outputs::write_json(text, record);
  }
  return {text.view().data(), text.view().size()};
}

outputs::PlaceLookup places_of(const OpenCapture& capture,
                               const std::vector<std::string>& symbols) {
  return unwrap(cli::place_lookup(capture.capture, {.functions = true, .files = symbols}));
}

void bind_captures(py::module_& module) {
  sealed(py::class_<BatchIterator>(module, "Batches"))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &BatchIterator::next)
      .def("damage_json", &BatchIterator::damage_json);

  sealed(py::class_<OpenCapture, SharedCapture>(module, "OpenCapture"))
      .def("close", [](OpenCapture& self) { self.closed = true; })
      .def_property_readonly("closed", [](const OpenCapture& self) { return self.closed.load(); })
      .def_property_readonly("path", [](const OpenCapture& self) { return text_of(self.path); })
      .def_property_readonly("kind",
                             [](const OpenCapture& self) {
                               self.require_open();
                               return text_of(inputs::input_kind_name(self.capture.kind()));
                             })
      .def_property_readonly("framing",
                             [](const OpenCapture& self) {
                               self.require_open();
                               return text_of(inputs::framing_name(self.capture.framing()));
                             })
      .def_property_readonly("trace_bytes",
                             [](const OpenCapture& self) {
                               self.require_open();
                               return self.capture.trace_bytes();
                             })
      .def_property_readonly("notes",
                             [](const OpenCapture& self) {
                               self.require_open();
                               py::list notes;
                               for (const inputs::Note& note : self.capture.notes())
                                 notes.append(text_of(note.text));
                               return notes;
                             })
      .def_property_readonly("sources",
                             [](const OpenCapture& self) {
                               self.require_open();
                               py::list sources;
                               for (const inputs::CaptureSource& source : self.capture.sources())
                                 sources.append(source_dict(source));
                               return sources;
                             })
      .def("batches", [](const SharedCapture& self, std::size_t size) {
        if (size == 0 || size > kMostBatch)
          raise(ErrorCode::kInvalidArgument, "A batch has 1 to 16777216 elements.");
        return std::make_unique<BatchIterator>(self, size);
      });
  module.def(
      "open_capture",
      [](const py::object& path, const py::dict& options, bool decode) {
        return open_capture(path_of(path), options, decode);
      },
      py::arg("path"), py::arg("options"), py::arg("decode") = true);
}

}  // namespace waymark::python

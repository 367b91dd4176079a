#include "records.h"

#include <pybind11/stl.h>

#include <deque>
#include <utility>

#include "message_stage.h"
#include "sealed.h"
#include "waymark/outputs/packet_text.h"
#include "waymark/protocol/fields.h"
#include "waymark/syst/collateral.h"
#include "waymark/syst/guid.h"

namespace waymark::python {
namespace {

/// A packet that outlives the call in which it was seen.
struct Packet {
  Protocol protocol = Protocol::kEtmV4;
  TraceId id = 0;
  TraceIndex index = 0;
  bool bad = false;
  std::vector<std::uint8_t> bytes;
  std::string text{};  ///< As in listings.
  std::vector<FieldValue> fields{};

  [[nodiscard]] std::string_view name() const {
    return std::string_view(text).substr(0, text.find_first_of(" :"));
  }
};

py::object value_of(const FieldValue& field) {
  switch (field.kind) {
    case FieldKind::kFlag:
      return py::bool_(field.value != 0);
    case FieldKind::kDecimal:
    case FieldKind::kHex:
      return py::int_(field.value);
    case FieldKind::kWord:
      return text_of(field.word);
    case FieldKind::kAtoms: {
      TextBuffer letters;
      write_field(letters, field);
      return text_of(letters.view());
    }
  }
  return py::none();
}

class Fields final : public FieldVisitor {
 public:
  explicit Fields(std::vector<FieldValue>& out) : out_(out) {}
  void on_field(const FieldValue& field) override { out_.push_back(field); }

 private:
  std::vector<FieldValue>& out_;
};

class PacketIterator final : private Observer {
 public:
  /// `capture` was opened without decoding.
  explicit PacketIterator(const SharedCapture& capture) : pass_(capture, this) {}

  Packet next() {
    {
      const py::gil_scoped_release free;
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) fill();
      if (!waiting_.empty()) {
        Packet packet = std::move(waiting_.front());
        waiting_.pop_front();
        return packet;
      }
    }
    throw_if_interrupted();
    throw py::stop_iteration();
  }

 private:
  void fill() {
    while (waiting_.empty() && !ended_) {
      pass_.capture().require_open();
      ended_ = !pass_.feed(true);
      std::array<Element, 16> none;
      while (pass_.tree().next(none) != 0) {
      }
      if (interrupted()) return;
    }
  }

  void on_packet(const PacketRef& seen) override {
    const Source& source = *pass_.tree().source(seen.trace_id);
    PacketRef packet = seen;
    // Without frames the tree knows no ID; the registers do.
    packet.trace_id = source.trace_id();
    Packet kept{.protocol = packet.protocol,
                .id = packet.trace_id,
                .index = packet.index,
                .bad = packet.bad,
                .bytes = {packet.bytes.begin(), packet.bytes.end()}};
    TextBuffer text;
    source.write_packet(text, packet);
    kept.text = text.view();
    Fields fields(kept.fields);
    source.visit_fields(packet, fields);
    waiting_.push_back(std::move(kept));
  }

  std::mutex mutex_;
  std::deque<Packet> waiting_;
  Pass pass_;
  bool ended_ = false;
};

class MessageIterator {
 public:
  MessageIterator(const SharedCapture& capture, const std::vector<std::string>& files,
                  std::uint64_t frequency, const std::string& short_guid)
      : collateral_(load(files)), stage_(collateral_, frequency, true), pass_(capture, nullptr) {
    if (short_guid.empty()) return;
    const auto guid = syst::parse_guid(short_guid);
    if (!guid) {
      raise(ErrorCode::kInvalidArgument,
            "short_guid: expected {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}.");
    }
    stage_.set_short_client(*guid);
  }

  /// A line of JSON.
  py::bytes next() {
    std::string line;
    {
      const py::gil_scoped_release free;
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) fill();
      if (!waiting_.empty()) {
        line = std::move(waiting_.front());
        waiting_.pop_front();
      }
    }
    throw_if_interrupted();
    if (line.empty()) throw py::stop_iteration();
    return {line};
  }

 private:
  static syst::Collateral load(const std::vector<std::string>& files) {
    syst::Collateral collateral;
    for (const std::string& file : files) {
      if (const auto added = collateral.add_file(file); !added)
        raise(ErrorCode::kParse, added.error().sentence());
    }
    return collateral;
  }

  void fill() {
    while (waiting_.empty() && !ended_) {
      bool stopped = false;
      const std::size_t count = pass_.next(batch_, stopped);
      if (stopped) return;
      take(stage_.replace(std::span<const Element>(batch_).first(count)));
      if (count < batch_.size()) {
        take(stage_.finish());
        ended_ = true;
      }
    }
  }

  void take(std::span<const Element> elements) {
    for (const Element& element : elements) {
      if (element.kind != ElementKind::kCustom) continue;
      TextBuffer text;
      stage_.write(text, element);
      if (!text.empty()) waiting_.emplace_back(text.view());
    }
  }

  std::mutex mutex_;
  syst::Collateral collateral_;
  cli::MessageStage stage_;
  Pass pass_;
  std::vector<Element> batch_ = std::vector<Element>(512);
  std::deque<std::string> waiting_;
  bool ended_ = false;
};

}  // namespace

void bind_records(py::module_& module) {
  sealed(py::class_<Packet>(module, "Packet", "A packet of the trace."))
      .def_readonly("index", &Packet::index, "The offset of its first byte in the trace.")
      .def_readonly("id", &Packet::id, "The trace ID of its source.")
      .def_readonly("bad", &Packet::bad, "Whether it breaks the rules of its protocol.")
      .def_property_readonly(
          "protocol", [](const Packet& self) { return text_of(protocol_name(self.protocol)); },
          "\"ETMV4I\", \"ETE\", \"PTM\", \"ETMV3\", \"STM\", \"ITM\" ...")
      .def_property_readonly(
          "name", [](const Packet& self) { return text_of(self.name()); },
          "Its name in the listing, such as \"I_ATOM_F1\".")
      .def_property_readonly(
          "text", [](const Packet& self) { return text_of(self.text); }, "Its line in the listing.")
      .def_property_readonly(
          "bytes",
          [](const Packet& self) {
            return py::bytes(reinterpret_cast<const char*>(self.bytes.data()), self.bytes.size());
          },
          "Its bytes.")
      .def_property_readonly(
          "fields",
          [](const Packet& self) {
            py::dict fields;
            for (const FieldValue& field : self.fields)
              fields[text_of(field.name)] = value_of(field);
            return fields;
          },
          "Its named fields, in the order of its bytes.")
      .def("__repr__", [](const Packet& self) {
        return text_of("<Packet " + std::to_string(self.index) + " " + self.text + ">");
      });

  sealed(py::class_<PacketIterator>(module, "Packets"))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &PacketIterator::next);
  module.def("packets", [](const SharedCapture& capture) {
    return std::make_unique<PacketIterator>(capture);
  });

  sealed(py::class_<MessageIterator>(module, "Messages"))
      .def("__iter__", [](const py::object& self) { return self; })
      .def("__next__", &MessageIterator::next);
  module.def("messages",
             [](const SharedCapture& capture, const std::vector<std::string>& collateral,
                std::uint64_t frequency, const std::string& short_guid) {
               return std::make_unique<MessageIterator>(capture, collateral, frequency, short_guid);
             });
}

}  // namespace waymark::python

#include "waymark/syst/trace_reader.h"

namespace waymark::syst {

void TraceReader::add(const Element& element) {
  if (element.kind == ElementKind::kItmTrace) {
    ports_.add(element);
    return;
  }
  for (const Frame& frame : channels_.add(element)) sink_.on_frame(frame);
  interpreter_.set_transport_frequency(element.trace_id, channels_.frequency(element.trace_id));
}

void TraceReader::finish() {
  for (const Frame& frame : channels_.finish()) sink_.on_frame(frame);
  ports_.finish();
}

}  // namespace waymark::syst

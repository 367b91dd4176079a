#include "waymark/syst/interpreter.h"

#include "waymark/syst/payload_text.h"

namespace waymark::syst {

Record Interpreter::interpret(const Frame& frame) {
  // Made in place, as a record has several hundred bytes.
  Record record{.frame = frame, .message = parse_message(frame.bytes, options_)};
  const Message& message = record.message;
  clocks_.learn(message, frame);
  const auto channel = static_cast<std::uint16_t>(frame.channel & 0xFFFF);
  if (message.raw.size() >= 4 && message.defect != Defect::kGuidShort) {
    record.client = finder_.find(message, frame.has_master ? frame.master : std::uint16_t{0},
                                 frame.has_master ? channel : std::uint16_t{0});
  }
  record.entry = format_entry(message, record.client);
  record.status = status_of(message, record.client);

  const bool is_own_time =
      message.ok() && (record.client == nullptr || !record.client->timestamps_are_fields);
  if (is_own_time) record.time = clocks_.transport_time(message, frame);
  record.time_is_own = record.time.has_value();
  if (!record.time && frame.has_time) record.time = frame.time;
  if (record.time) {
    const std::uint64_t frequency = clocks_.transport_frequency(frame.trace_id);
    if (frequency != 0 && !record.time_is_partial()) {
      record.nanoseconds = to_nanoseconds(*record.time, frequency);
    }
  } else if (is_own_time) {
    record.nanoseconds = clocks_.source_nanoseconds(message, frame);
    record.time_is_own = record.nanoseconds.has_value();
  }
  return record;
}

}  // namespace waymark::syst

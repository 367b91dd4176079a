#include "waymark/outputs/messages.h"

#include <algorithm>
#include <array>

#include "json_object.h"
#include "quoted.h"
#include "waymark/outputs/csv.h"
#include "waymark/syst/payload_text.h"

namespace waymark::outputs {
namespace {

using syst::Frame;
using syst::FrameEnd;
using syst::Location;
using syst::Message;
using syst::Record;

constexpr std::size_t kTimeWidth = 18;
constexpr std::size_t kPlaceWidth = 11;
constexpr std::size_t kSeverityWidth = 8;

/// The name of the module that sent a message.  The origin identifies it or, with a GUID, the unit.
std::string_view module_name(const Record& record) {
  if (record.client == nullptr || record.message.is_short) return {};
  const std::uint64_t id = record.message.has_guid() ? record.message.unit : record.message.origin;
  const syst::Entry* module = record.client->modules.find(id);
  return module == nullptr ? std::string_view() : module->text;
}

/// Seconds with nine decimals.
void put_seconds(TextBuffer& out, std::uint64_t nanoseconds) {
  constexpr std::uint64_t kNano = 1'000'000'000;
  out.dec(nanoseconds / kNano);
  char digits[9];
  std::uint64_t rest = nanoseconds % kNano;
  for (std::size_t i = sizeof digits; i-- > 0; rest /= 10)
    digits[i] = static_cast<char>('0' + rest % 10);
  out.put('.');
  out.put({digits, sizeof digits});
}

/// The part of the type that the text does not show.
std::string_view type_word(const Message& message) {
  using enum syst::Type;
  switch (message.type) {
    case kBuild:
      return "build ";
    case kClock:
      return "sync ";
    case kSbd:
      return "data ";
    case kShort32:
    case kShort64:
      return "short ";
    case kString:
      switch (static_cast<syst::String>(message.subtype)) {
        case syst::String::kFunctionEnter:
          return "enter ";
        case syst::String::kFunctionExit:
          return "exit ";
        case syst::String::kInvalidParam:
          return "invalid parameter: ";
        case syst::String::kAssert:
          return "assertion failed: ";
        default:
          return "";
      }
    default:
      return "";
  }
}

/// The clock to which the time belongs.
std::string_view time_word(const Record& record) {
  if (!record.time && !record.nanoseconds) return "";
  if (record.time_is_partial()) return "partial";
  return record.time_is_own ? "of_message" : "of_transport";
}

bool has_header(const Record& record) { return record.message.raw.size() >= 4; }

/// The header of the message is known.
bool is_known(const Record& record) {
  return has_header(record) && record.frame.end != FrameEnd::kNoMessage;
}
bool is_long(const Record& record) { return is_known(record) && !record.message.is_short; }

using Number = std::optional<std::uint64_t>;
Number number_if(bool present, std::uint64_t value) {
  return present ? Number(value) : std::nullopt;
}

constexpr MessageColumn number(std::string_view name, Number (*take)(const Record&)) {
  return {.name = name, .form = MessageForm::kNumber, .number = take};
}
constexpr MessageColumn text(std::string_view name, void (*take)(TextBuffer&, const Record&)) {
  return {.name = name, .form = MessageForm::kText, .text = take};
}

constexpr std::array kMessageColumns = {
    number("index", [](const Record& r) -> Number { return r.frame.index; }),
    number("id",
           [](const Record& r) {
             return number_if(r.frame.has_master || r.frame.channel != syst::kNoChannel,
                              r.frame.trace_id);
           }),
    number("master", [](const Record& r) { return number_if(r.frame.has_master, r.frame.master); }),
    number("channel",
           [](const Record& r) {
             return number_if(r.frame.channel != syst::kNoChannel, r.frame.channel);
           }),
    number("time", [](const Record& r) -> Number { return r.time; }),
    number("nanoseconds", [](const Record& r) -> Number { return r.nanoseconds; }),
    text("time_is", [](TextBuffer& out, const Record& r) { out.put(time_word(r)); }),
    text("status", [](TextBuffer& out, const Record& r) { out.put(syst::status_name(r.status)); }),
    text("kind",
         [](TextBuffer& out, const Record& r) {
           if (is_known(r)) syst::write_type(out, r.message, r.client);
         }),
    text("severity",
         [](TextBuffer& out, const Record& r) {
           if (is_long(r)) out.put(syst::severity_name(r.message.severity));
         }),
    text("client",
         [](TextBuffer& out, const Record& r) {
           if (r.client != nullptr) out.put(r.client->name);
         }),
    text("module", [](TextBuffer& out, const Record& r) { out.put(module_name(r)); }),
    text("guid",
         [](TextBuffer& out, const Record& r) {
           if (is_long(r) && r.message.has_guid()) syst::write_guid(out, r.message.guid);
         }),
    number("origin",
           [](const Record& r) {
             return number_if(is_long(r) && !r.message.has_guid(), r.message.origin);
           }),
    number("unit", [](const Record& r) { return number_if(is_long(r), r.message.unit); }),
    number("timestamp",
           [](const Record& r) {
             return number_if(r.good() && r.message.has_timestamp(), r.message.timestamp);
           }),
    text("text",
         [](TextBuffer& out, const Record& r) {
           if (r.good()) syst::write_payload(out, r.message, r.client, r.entry);
         }),
    text("location",
         [](TextBuffer& out, const Record& r) {
           if (r.good()) syst::write_location(out, r.message, r.client, r.entry);
         }),
    number("size", [](const Record& r) -> Number { return r.message.raw.size(); }),
    MessageColumn{.name = "checksum",
                  .form = MessageForm::kHex,
                  .number =
                      [](const Record& r) {
                        return number_if(r.good() && r.message.has_checksum(), r.message.checksum);
                      }},
    text("problem", [](TextBuffer& out, const Record& r) { write_problem(out, r); }),
    text("bytes",
         [](TextBuffer& out, const Record& r) {
           if (!r.good()) syst::write_raw(out, r.message);
         }),
};

}  // namespace

void write_problem(TextBuffer& out, const Record& record) {
  const std::string_view end = syst::frame_end_sentence(record.frame.end);
  const std::string_view defect = syst::defect_sentence(record.message.defect);
  out.put(end);
  // A frame in which no message begins has no defects.
  if (defect.empty() || record.frame.end == FrameEnd::kNoMessage) return;
  if (!end.empty()) out.put("; ");
  out.put(defect);
}

void write_origin(TextBuffer& out, const Record& record) {
  const Message& message = record.message;
  if (record.client != nullptr) out.put(record.client->name);
  if (message.is_short) return;
  const std::string_view module = module_name(record);
  if (record.client == nullptr) {
    if (message.has_guid()) {
      syst::write_guid(out, message.guid);
    } else {
      out.put("module ");
      out.dec(message.origin);
    }
  } else if (!module.empty()) {
    out.put('/');
    out.put(module);
  }
  out.put(':');
  out.dec(message.unit);
}

void MessageWriter::payload(const Record& record) {
  scratch_.clear();
  if (record.good()) {
    syst::write_payload(scratch_, record.message, record.client, record.entry);
  } else {
    syst::write_raw(scratch_, record.message);
  }
}

void MessageWriter::put_padded(std::size_t width) {
  const std::string_view text = scratch_.view();
  const std::size_t size = std::max(text.size(), width);
  char* const at = out_.grow(size);
  std::fill(write_text(at, text), at + size, ' ');
  out_.advance(size);
}

// The name of a RAW protocol comes from collateral.
void MessageWriter::put_type(const Record& record) {
  scratch_.clear();
  syst::write_type(scratch_, record.message, record.client);
  write_shown(out_, scratch_.view());
  out_.put(' ');
}

void MessageWriter::sentence(const Record& record) {
  const Message& message = record.message;
  if (!record.good()) {
    out_.put("BAD     ");
    if (has_header(record) && record.frame.end != FrameEnd::kNoMessage) {
      put_type(record);
    }
    write_problem(out_, record);
    out_.put(": ");
    payload(record);
    out_.put(scratch_.view());
    return;
  }
  scratch_.clear();
  scratch_.put(message.severity == syst::Severity::kMax ? std::string_view("-")
                                                        : syst::severity_name(message.severity));
  put_padded(kSeverityWidth);
  scratch_.clear();
  write_origin(scratch_, record);
  write_shown(out_, scratch_.view());
  if (!scratch_.empty()) out_.put("  ");
  out_.put(type_word(message));
  if (message.type == syst::Type::kRaw) {
    put_type(record);
  }
  payload(record);
  write_shown(out_, scratch_.view());
  scratch_.clear();
  syst::write_location(scratch_, message, record.client, record.entry);
  if (!scratch_.empty()) {
    out_.put("  [");
    write_shown(out_, scratch_.view());
    out_.put(']');
  }
  if (record.frame.end != FrameEnd::kWhole) {
    out_.put("  !! ");
    write_problem(out_, record);
  }
}

void MessageWriter::put_time(const Record& record) {
  scratch_.clear();
  if (record.nanoseconds) {
    put_seconds(scratch_, *record.nanoseconds);
  } else if (record.time) {
    // The upper digits are not known.
    if (record.time_is_partial()) scratch_.put('~');
    scratch_.dec(*record.time);
  } else if (record.message.has_timestamp() && record.message.defect == syst::Defect::kNone) {
    // Nothing is known about the clock.
    scratch_.put('@');
    scratch_.dec(record.message.timestamp);
  } else {
    scratch_.put('-');
  }
  out_.right(scratch_.view(), kTimeWidth);
  out_.put("  ");
}

void MessageWriter::put_place(const Record& record) {
  const Frame& frame = record.frame;
  scratch_.clear();
  if (frame.has_master) {
    scratch_.dec(frame.master);
    scratch_.put(':');
    scratch_.dec(frame.channel);
  } else if (frame.channel != syst::kNoChannel) {
    scratch_.put("port ");
    scratch_.dec(frame.channel);
  } else {
    scratch_.put('-');
  }
  put_padded(kPlaceWidth);
  out_.put("  ");
}

void MessageWriter::put_trace_id(const Record& record) {
  out_.put("0x");
  out_.hex(record.frame.trace_id, 2);
  out_.put("  ");
}

void MessageWriter::text(const Record& record) {
  if (columns_.time) put_time(record);
  if (columns_.trace_id) put_trace_id(record);
  if (columns_.place) put_place(record);
  sentence(record);
  out_.put('\n');
}

void MessageWriter::json(const Record& record) {
  const Message& message = record.message;
  const Frame& frame = record.frame;
  Object object(out_, "message");
  object.number("index", frame.index);
  if (frame.has_master || frame.channel != syst::kNoChannel) object.number("id", frame.trace_id);
  if (frame.has_master) object.number("master", frame.master);
  if (frame.channel != syst::kNoChannel) {
    object.number(frame.has_master ? "channel" : "port", frame.channel);
  }
  object.word("status", syst::status_name(record.status));
  if (frame.end != FrameEnd::kWhole) object.word("end", syst::frame_end_name(frame.end));
  if (frame.has_time) object.decimal("transport_time", frame.time);
  if (frame.has_time && frame.time_is_partial) object.flag("partial", true);
  if (record.time) object.decimal("time", *record.time);
  if (record.nanoseconds) object.decimal("nanoseconds", *record.nanoseconds);
  if (record.time || record.nanoseconds) object.word("time_is", time_word(record));
  if (has_header(record) && frame.end != FrameEnd::kNoMessage) {
    scratch_.clear();
    syst::write_type(scratch_, message, record.client);
    object.text("kind", scratch_.view());
    if (!message.is_short) {
      object.word("severity", syst::severity_name(message.severity));
      if (message.has_guid() && message.defect != syst::Defect::kGuidShort) {
        scratch_.clear();
        syst::write_guid(scratch_, message.guid);
        object.word("guid", scratch_.view());
      } else if (!message.has_guid()) {
        object.number("origin", message.origin);
      }
      object.number("unit", message.unit);
    }
    if (record.client != nullptr) object.text("client", record.client->name);
    if (!module_name(record).empty()) object.text("module", module_name(record));
  }
  if (record.good()) {
    payload(record);
    object.text("text", scratch_.view());
    if (message.type == syst::Type::kCatalog) object.hex("catalog_id", message.value);
    if (message.has_timestamp()) object.timestamp(message.timestamp);
    const Location& location = message.location;
    scratch_.clear();
    syst::write_location(scratch_, message, record.client, record.entry);
    if (!scratch_.empty()) object.text("location", scratch_.view());
    if (location.kind == Location::Kind::kFileLine) {
      object.number("file", location.file);
      object.number("line", location.line);
    } else if (location.kind != Location::Kind::kNone) {
      object.hex("address", location.address);
    }
    if (message.has_checksum()) object.hex("checksum", message.checksum, 8);
  }
  if (!record.good() || frame.end != FrameEnd::kWhole) {
    scratch_.clear();
    write_problem(scratch_, record);
    object.text("problem", scratch_.view());
  }
  scratch_.clear();
  syst::write_raw(scratch_, message);
  object.word("bytes", scratch_.view());
  object.end();
}

void MessageWriter::csv_header(TextBuffer& out) {
  for (const MessageColumn& column : kMessageColumns) {
    if (&column != kMessageColumns.data()) out.put(',');
    out.put(column.name);
  }
  out.put('\n');
}

void MessageWriter::csv(const Record& record) {
  for (const MessageColumn& column : kMessageColumns) {
    if (&column != kMessageColumns.data()) out_.put(',');
    if (column.text != nullptr) {
      scratch_.clear();
      column.text(scratch_, record);
      write_csv_field(out_, scratch_.view());
    } else if (const auto number = column.number(record)) {
      if (column.form == MessageForm::kHex) {
        out_.put("0x");
        out_.hex(*number, 8);
      } else {
        out_.dec(*number);
      }
    }
  }
  out_.put('\n');
}

std::span<const MessageColumn> message_columns() { return kMessageColumns; }

}  // namespace waymark::outputs

#include "waymark/outputs/csv.h"

#include <utility>

#include "element_fields.h"
#include "packet_name.h"
#include "waymark/base/escape.h"
#include "waymark/element/text.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {
namespace {

/// Writes the fields of one line in the order of the columns, up to end().  Fields that are not
/// given are empty.
class Line {
 public:
  explicit Line(TextBuffer& out) : out_(out) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  /// Not in the destructor: this allocates, and memory can run out.
  void end() { out_.put('\n'); }

  void empty() { comma(); }
  void word(std::string_view text) {
    comma();
    out_.put(text);
  }
  void text(std::string_view text) {
    comma();
    write_csv_field(out_, text);
  }
  void dec(bool given, std::uint64_t value) {
    comma();
    if (given) out_.dec(value);
  }
  void hex(bool given, std::uint64_t value) {
    comma();
    if (!given) return;
    out_.put("0x");
    out_.hex(value);
  }
  void flag(bool given, bool value) {
    comma();
    if (given) out_.put(value ? '1' : '0');
  }

 private:
  void comma() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  TextBuffer& out_;
  bool first_ = true;
};

/// "name=value name=value", without commas and quotes, like all fields.
class FieldWords final : public FieldVisitor {
 public:
  explicit FieldWords(TextBuffer& out) : out_(out) {}
  void on_field(const FieldValue& field) override {
    if (!first_) out_.put(' ');
    first_ = false;
    out_.put(field.name);
    out_.put('=');
    write_field(out_, field);
  }

 private:
  TextBuffer& out_;
  bool first_ = true;
};

/// Writes every column after the kind: `put(column)` writes one or says that it has no value.
template <class Put>
void put_columns(Line& line, Put put) {
  for (std::size_t i = 0; i < kColumnCount; ++i)
    if (!put(static_cast<Column>(i))) line.empty();
}

/// The commas in front of a column's value, and of the columns without a field before it.
template <const auto& kFields>
constexpr std::size_t commas_before(std::size_t column) {
  std::size_t count = 1;
  while (count <= column &&
         field_in<kFields>(static_cast<Column>(column - count)) == kFields.size())
    ++count;
  return count;
}
constexpr std::string_view kCommas = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
static_assert(kCommas.size() > kColumnCount);

template <const auto& kFields, std::size_t kColumn>
[[gnu::always_inline]] inline void put_column(TextBuffer& out, const Element& element) {
  constexpr std::size_t kAt = field_in<kFields>(static_cast<Column>(kColumn));
  if constexpr (kAt != kFields.size()) {
    constexpr const ElementField& kField = kFields[kAt];
    constexpr FieldForm kForm = kColumns[kColumn].form;
    out.put(kCommas.substr(0, commas_before<kFields>(kColumn)));
    if (!kField.present(element)) return;
    if constexpr (kForm == FieldForm::kWord) {
      out.put(kField.word(element));
    } else if constexpr (kForm == FieldForm::kHex) {
      out.put("0x");
      out.hex(kField.value(element));
    } else if constexpr (kForm == FieldForm::kFlag) {
      out.put(kField.value(element) != 0 ? '1' : '0');
    } else {
      out.dec(kField.value(element));
    }
  }
}

/// Every column after the kind.
template <const auto& kFields>
void put_fields(TextBuffer& out, const Element& element) {
  [&]<std::size_t... kColumn>(std::index_sequence<kColumn...>) {
    (put_column<kFields, kColumn>(out, element), ...);
  }(std::make_index_sequence<kColumnCount>());
  out.put(kCommas.substr(0, commas_before<kFields>(kColumnCount) - 1));
}

/// The time in the merged view.
void write_time(TextBuffer& out, const merge::TimedRecord* timed) {
  if (timed == nullptr) return;
  if (timed->kind != merge::TimeKind::kUnknown) out.dec(timed->time);
  out.put(',');
  out.put(merge::time_kind_word(timed->kind));
  out.put(',');
}

CsvColumns columns_of(const FunctionNames* functions, const Instructions* instructions) {
  const bool named = functions != nullptr;
  return {.functions = named,
          .lines = named && functions->details().lines,
          .inlines = named && functions->details().inlines,
          .instructions = instructions != nullptr};
}

/// How many columns name the function of a range.
int name_columns(const CsvColumns& columns) {
  return (columns.functions ? 3 : 0) + (columns.lines ? 2 : 0) + (columns.inlines ? 1 : 0);
}

/// The functions as "name file:line", with semicolons between them.
std::string inlines_text(FunctionNames& functions) {
  std::string all;
  for (const program::Frame& frame : functions.frames()) {
    if (!all.empty()) all += ';';
    all += functions.readable(frame);
    if (frame.file.empty()) continue;
    all += ' ';
    all += frame.file;
    all += ':' + std::to_string(frame.line);
  }
  return all;
}

void write_function(Line& line, bool found, FunctionNames& functions) {
  const bool named = found && functions.has_function();
  line.text(named ? std::string_view(functions.function().name) : std::string_view());
  line.text(named ? std::string_view(functions.readable()) : std::string_view());
  line.hex(named, named ? functions.offset() : 0);
  const program::Frame source =
      found && !functions.frames().empty() ? functions.frames().front() : program::Frame{};
  if (functions.details().lines) {
    line.text(source.file);
    line.dec(source.line != 0, source.line);
  }
  if (functions.details().inlines) line.text(found ? inlines_text(functions) : std::string());
}

/// One row for each instruction of a range.
void write_instructions(TextBuffer& out, const Element& element, const merge::TimedRecord* timed,
                        const CsvColumns& columns, Instructions& instructions) {
  for (instructions.begin(element); instructions.next();) {
    write_time(out, timed);
    Line line(out);
    line.word("instruction");
    line.dec(true, element.index);
    line.dec(true, element.trace_id);
    line.empty();
    const bool conditional = !instructions.outcome().empty();
    put_columns(line, [&](Column column) {
      switch (column) {
        case Column::kStart:
          line.hex(true, instructions.address());
          return true;
        case Column::kEnd:
          line.hex(true, instructions.address() + instructions.size());
          return true;
        case Column::kIsa:
          line.word(isa_name(element.isa));
          return true;
        case Column::kTaken:
          line.flag(conditional, has<kElementExecuted>(element));
          return true;
        case Column::kConditional:
          line.flag(conditional, true);
          return true;
        default:
          return false;
      }
    });
    for (int column = 0; columns.functions && column < 3; ++column) line.empty();
    if (columns.lines) {
      line.text(instructions.source().file);
      line.dec(instructions.source().line != 0, instructions.source().line);
    }
    if (columns.inlines) line.empty();
    line.word("0x");
    out.hex(instructions.opcode(), 2 * instructions.size());
    line.text(instructions.text());
    line.end();
  }
}

void write_element_rows(TextBuffer& out, const Element& element, const merge::TimedRecord* timed,
                        FunctionNames* functions, Instructions* instructions) {
  write_time(out, timed);
  Line line(out);
  line.word("element");
  line.dec(true, element.index);
  line.dec(true, element.trace_id);
  line.word(kind_word(element.kind));
  with_fields(element, [&]<const auto & kFields>() { put_fields<kFields>(out, element); });
  const bool range = element.kind == ElementKind::kInstrRange;
  if (functions != nullptr) write_function(line, functions->find(element), *functions);
  for (int column = 0; instructions != nullptr && column < 2; ++column) line.empty();
  line.end();
  if (instructions != nullptr && range)
    write_instructions(out, element, timed, columns_of(functions, instructions), *instructions);
}

}  // namespace

void write_csv_element_header(TextBuffer& out, const CsvColumns& columns) {
  out.put("record,index,id,kind");
  for (const ColumnRow& column : kColumns) {
    out.put(',');
    out.put(column.name);
  }
  if (columns.functions) out.put(",function,demangled,offset");
  if (columns.lines) out.put(",file,line");
  if (columns.inlines) out.put(",inlines");
  if (columns.instructions) out.put(",opcode,text");
  out.put('\n');
}

void write_csv(TextBuffer& out, const Element& element, FunctionNames* functions,
               Instructions* instructions) {
  write_element_rows(out, element, nullptr, functions, instructions);
}
void write_csv(TextBuffer& out, const Diagnostic& record, const CsvColumns& columns) {
  Line line(out);
  line.word(record.is_damage() ? "damage" : "note");
  line.dec(record.index != kNoIndex, record.index);
  line.dec(record.trace_id != kNoTraceId, record.trace_id);
  line.word(fault_word(record.fault));
  ElementRow row;
  row.assign(record);
  auto values = row.values();
  put_columns(line, [&](Column column) {
    if (values.empty() || values.front().column != column) return false;
    const ColumnValue value = values.front();
    values = values.subspan(1);
    if (kColumns[static_cast<std::size_t>(column)].form == FieldForm::kHex) {
      line.hex(true, value.number);
    } else {
      line.text(value.word);
    }
    return true;
  });
  const int more = name_columns(columns) + (columns.instructions ? 2 : 0);
  for (int column = 0; column < more; ++column) line.empty();
  line.end();
}

void write_csv_timed_header(TextBuffer& out, const CsvColumns& columns) {
  out.put("time,time_is,");
  write_csv_element_header(out, columns);
}

void write_csv(TextBuffer& out, const merge::TimedRecord& record, FunctionNames* functions,
               Instructions* instructions) {
  if (record.is_damage) {
    write_time(out, &record);
    write_csv(out, record.damage, columns_of(functions, instructions));
  } else {
    write_element_rows(out, record.element, &record, functions, instructions);
  }
}

void write_csv_packet_header(TextBuffer& out) {
  out.put("index,id,protocol,name,bytes,text,fields\n");
}

void write_csv(TextBuffer& out, const PacketRef& packet, const Source& source) {
  Line line(out);
  line.dec(true, packet.index);
  line.dec(true, packet.trace_id);
  line.word(protocol_name(packet.protocol));
  static thread_local TextBuffer text;  // Reuses its memory for the next packet.
  text.clear();
  source.write_packet(text, packet);
  line.word(PacketName(text.view()).view());
  line.empty();
  for (const std::uint8_t byte : packet.bytes) out.hex(byte, 2);
  line.text(text.view());
  line.empty();
  FieldWords words(out);
  source.visit_fields(packet, words);
  line.end();
}

void write_csv_field(TextBuffer& out, std::string_view text) {
  const bool is_plain = text.find_first_of(",\"") == std::string_view::npos;
  if (!is_plain) out.put('"');
  // Spreadsheets treat text that begins with one of these as a formula.
  if (!text.empty() && std::string_view("=+-@").contains(text.front())) out.put('\'');
  while (true) {
    const std::size_t quote = text.find('"');
    put_escaped(out, text.substr(0, quote));
    if (quote == std::string_view::npos) break;
    out.put("\"\"");
    text.remove_prefix(quote + 1);
  }
  if (!is_plain) out.put('"');
}

}  // namespace waymark::outputs

#include "record_options.h"

#include "command.h"
#include "exit_code.h"
#include "run.h"

namespace waymark::cli {

void add_record_options(Command& command, RecordOptions& options, const std::string& strict_help) {
  add_input_options(command, options.input);
  add_format_option(command, options.format, true);
  command
      .add_option("-o,--output", options.output, "write to this file instead of standard output")
      ->type_name("FILE");
  command.add_flag("--stats", options.statistics,
                   "print counts of sources and frames at the end, on standard error");
  command.add_flag("--strict", options.strict, strict_help);
}

namespace {

/// A row of CSV with these values in the columns of these names, and nothing in the others.
void put_row(TextBuffer& out, std::string_view csv_header, std::string_view column,
             std::string_view word, std::string_view index) {
  while (csv_header.ends_with('\n')) csv_header.remove_suffix(1);
  while (true) {
    const std::size_t comma = csv_header.find(',');
    if (csv_header.substr(0, comma) == column) out.put(word);
    if (csv_header.substr(0, comma) == "index") out.put(index);
    if (comma == std::string_view::npos) break;
    out.put(',');
    csv_header.remove_prefix(comma + 1);
  }
  out.put('\n');
}

}  // namespace

void put_interrupted(TextBuffer& out, Format format, std::string_view csv_header,
                     std::string_view column) {
  switch (format) {
    case Format::kText:
      out.put("-- interrupted: the rest is not shown\n");
      return;
    case Format::kJson:
      out.put("{\"type\":\"interrupted\"}\n");
      return;
    case Format::kCsv:
      put_row(out, csv_header, column, "interrupted", "");
      return;
  }
}

void put_gap(TextBuffer& out, Format format, std::string_view csv_header, std::string_view column,
             TraceIndex index) {
  const std::string number = std::to_string(index);
  switch (format) {
    case Format::kText:
      out.put("-- gap at byte " + number + ": bytes are missing here\n");
      return;
    case Format::kJson:
      out.put(R"({"type":"gap","index":)" + number + "}\n");
      return;
    case Format::kCsv:
      put_row(out, csv_header, column, "gap", number);
      return;
  }
}

int finish_records(inputs::Capture& capture, Output& output, const RecordOptions& options,
                   int code) {
  code = finish_output(output, code);
  if (options.statistics && code != kReaderLeft) print_statistics(capture);
  return code;
}

}  // namespace waymark::cli

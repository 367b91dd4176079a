// The common part of the commands that print a record for each packet or element.
#pragma once

#include <string>
#include <string_view>

#include "format.h"
#include "input_options.h"
#include "output.h"

namespace waymark::cli {

class Command;

struct RecordOptions {
  InputOptions input;
  Format format = Format::kText;
  std::string output;
  bool statistics = false;
  bool strict = false;
};

/// `strict_help`: what --strict does in this command.
void add_record_options(Command& command, RecordOptions& options, const std::string& strict_help);

/// An interrupted listing ends with a record that says so: a line of text, an object of the type
/// "interrupted", or a row of CSV with "interrupted" in `column` of `csv_header`.
void put_interrupted(TextBuffer& out, Format format, std::string_view csv_header,
                     std::string_view column);

/// A place where bytes of a live trace are missing, in the same forms; with "gap" as the type.
void put_gap(TextBuffer& out, Format format, std::string_view csv_header, std::string_view column,
             TraceIndex index);

/// The rest of the output, and the counts that --stats asks for.  Returns the exit code: `code`
/// unless writing failed.
int finish_records(inputs::Capture& capture, Output& output, const RecordOptions& options,
                   int code);

}  // namespace waymark::cli

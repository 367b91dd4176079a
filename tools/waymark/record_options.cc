#include "record_options.h"

#include "exit_code.h"
#include "run.h"

namespace waymark::cli {

void add_record_options(CLI::App& command, RecordOptions& options, const std::string& strict_help) {
  add_input_options(command, options.input);
  add_format_option(command, options.format, true);
  command.add_option("-o,--output", options.output, "Write to this file")->type_name("FILE");
  command.add_flag("--stats", options.statistics, "Counts at the end, on standard error");
  command.add_flag("--strict", options.strict, strict_help);
}

int finish_records(inputs::Capture& capture, Output& output, const RecordOptions& options,
                   int code) {
  code = finish_output(output, code);
  if (options.statistics && code != kReaderLeft) print_statistics(capture);
  return code;
}

}  // namespace waymark::cli

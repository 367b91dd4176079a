// The option --format.
#pragma once

namespace waymark::cli {

class Command;

enum class Format { kText, kJson, kCsv };

/// `csv`: whether the command has that form.
void add_format_option(Command& command, Format& format, bool csv);

}  // namespace waymark::cli

#include "format.h"

#include <string>
#include <vector>

#include "command.h"
#include "option_values.h"

namespace waymark::cli {

void add_format_option(Command& command, Format& format, bool csv) {
  const auto read = [&format](const std::string& name) {
    format = Format::kText;
    if (name == "json") format = Format::kJson;
    if (name == "csv") format = Format::kCsv;
  };
  std::vector<std::string> names = {"text", "json"};
  if (csv) names.emplace_back("csv");
  command
      .add_option_function("--format", read,
                           csv ? "text for people (default), json (one object per line) or csv"
                               : "text for people (default) or json")
      ->check(one_of(std::move(names)));
}

}  // namespace waymark::cli

// The option --format.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace waymark::cli {

enum class Format { kText, kJson, kCsv };

/// `csv`: whether the command has that form.
inline void add_format_option(CLI::App& command, Format& format, bool csv) {
  std::map<std::string, Format> names = {{"text", Format::kText}, {"json", Format::kJson}};
  if (csv) names.emplace("csv", Format::kCsv);
  command
      .add_option("--format", format,
                  csv ? "text for people (default), json (one object a line) or csv"
                      : "text for people (default) or json")
      ->transform(CLI::CheckedTransformer(std::move(names))
                      .description(csv ? "text|json|csv" : "text|json"));
}

}  // namespace waymark::cli

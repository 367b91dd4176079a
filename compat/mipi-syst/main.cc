// systprint: the reference printer's command line.  See mipi-syst.md 7.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "printer.h"
#include "waymark/base/escape.h"
#include "waymark/base/lost_input.h"
#include "waymark/base/same_file.h"
#include "waymark/base/standard_streams.h"

namespace {

using namespace waymark;
using compat::syst::Printer;
using compat::syst::PrinterOptions;

constexpr std::string_view kUsage =
    "usage: systprint [-p] [-c <collateralXML>...] [-g short-message-guid] [-o output] "
    "[inputfile(s)...]\n"
    "    -p / --payload_only         only print payload (default is CSV)\n"
    "    -c / --colateral filename   load given SyS-T collateral XML\n"
    "    -g / --short_guid guid      guid value for short messages\n"
    "    -o / --output file          output file name (default stdout)\n"
    "    inputfile(s)...             file(s) with example library platform output or '-' for "
    "stdin\n"
    "\n";

constexpr std::size_t kChunk = std::size_t{256} << 10;

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) (void)std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr int kExitReaderLeft = 141;

void say(std::string_view text) {
  TextBuffer shown;
  put_escaped_lines(shown, text);
  write_to_standard_error(shown.view());
}

int complain(std::string_view sentence) {
  say(kUsage);
  say(sentence);
  say("\n");
  return EXIT_FAILURE;
}

/// Everything that the command line says.
struct Plan {
  PrinterOptions options;
  syst::Collateral collateral{syst::Quirks::reference()};
  std::string output;
  bool has_output = false;
  std::vector<std::string> inputs;
  std::vector<std::string> collateral_files;
};

/// Loads one file.  False: the error was printed.
bool load(Plan& plan, const std::string& path) {
  plan.collateral_files.push_back(path);
  const std::size_t before = plan.collateral.warnings().size();
  const auto added = plan.collateral.add_file(path);
  for (std::size_t i = before; i < plan.collateral.warnings().size(); ++i) {
    say(compat::syst::reference_sentence(plan.collateral.warnings()[i]) + "\n");
  }
  if (!added) say(compat::syst::reference_sentence(added.error()));
  return added.has_value();
}

/// EXIT_SUCCESS, or the exit code of an error that was printed.
int read_command_line(const std::vector<std::string>& arguments, Plan& plan) {
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    const bool has_value = at + 1 < arguments.size();
    if (argument == "-p" || argument == "--payload_only") {
      plan.options.payload_only = true;
    } else if (argument == "-c" || argument == "--collateral") {
      if (!has_value) return complain("missing collateral file argument");
      if (!load(plan, arguments[++at])) return EXIT_FAILURE;
    } else if (argument == "-g" || argument == "--short_guid") {
      if (!has_value) return complain("missing guid argument for -g/--short_guid option");
      const std::string& text = arguments[++at];
      plan.options.short_guid = syst::parse_guid(text, true);
      if (!plan.options.short_guid) {
        say("invalid guid format " + text +
            " expected {xxxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx} notation.");
        return EXIT_FAILURE;
      }
    } else if (argument == "-o" || argument == "--output") {
      if (!has_value) return complain("missing filename argument for -o/--output option");
      plan.output = arguments[++at];
      plan.has_output = true;
    } else if (argument.size() > 1 && argument.front() == '-') {
      return complain("unknown argument : " + argument);
    } else {
      plan.inputs.push_back(argument);
    }
  }
  if (plan.inputs.empty()) return complain("no input provided");
  return EXIT_SUCCESS;
}

/// Collects the printer's text and writes it in large blocks.
class Output {
 public:
  explicit Output(std::FILE* file) : file_(file), is_terminal_(::isatty(::fileno(file)) == 1) {}
  [[nodiscard]] TextBuffer& text() { return text_; }
  void settle() {
    if (text_.size() >= kChunk) flush();
  }
  /// False: writing failed; nothing more is written.
  bool flush() {
    std::string_view rest = text_.view();
    TextBuffer shown;
    if (is_terminal_) {
      put_escaped_lines(shown, rest);
      rest = shown.view();
    }
    if (error_ == 0) error_ = write_all(::fileno(file_), rest);
    text_.clear();
    return error_ == 0;
  }
  /// The errno of the write that failed; 0: none failed.
  [[nodiscard]] int error() const { return error_; }

 private:
  std::FILE* file_;
  bool is_terminal_;
  TextBuffer text_;
  int error_ = 0;
};

/// A line whose end has not been read yet.  Once it cannot be a message, none of it is kept.
class BegunLine {
 public:
  [[nodiscard]] bool empty() const { return text_.empty() && !is_dropped_; }
  void add(std::string_view part) {
    if (is_dropped_) return;
    const std::size_t known = text_.size();
    text_ += part;
    const bool is_too_long = text_.size() > compat::syst::kMaxLine;
    if (is_too_long) say("a line is too long to be a message and is skipped\n");
    is_dropped_ = is_too_long || !compat::syst::may_be_message(text_, known);
    if (is_dropped_) std::string().swap(text_);
  }
  void print(Printer& printer, Output& output) {
    if (!is_dropped_) printer.line(text_, output.text());
    text_.clear();
    is_dropped_ = false;
  }

 private:
  std::string text_;
  bool is_dropped_ = false;
};

void print_file(std::FILE* input, Printer& printer, Output& output) {
  std::vector<char> chunk(kChunk);
  BegunLine begun;
  while (std::feof(input) == 0 && std::ferror(input) == 0 && output.error() == 0) {
    const std::size_t size = std::fread(chunk.data(), 1, chunk.size(), input);
    std::string_view rest(chunk.data(), size);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) {
        begun.add(rest);
        break;
      }
      if (begun.empty()) {
        printer.line(rest.substr(0, end), output.text());
      } else {
        begun.add(rest.substr(0, end));
        begun.print(printer, output);
      }
      rest.remove_prefix(end + 1);
      output.settle();
    }
  }
  if (!begun.empty()) begun.print(printer, output);
}

int run(const std::vector<std::string>& arguments) {
  Plan plan;
  if (const int code = read_command_line(arguments, plan); code != EXIT_SUCCESS) return code;
  plan.options.hide_volatile = std::getenv("SYST_UNITTESTING") != nullptr;

  std::vector<std::string> read = plan.inputs;
  std::ranges::copy(plan.collateral_files, std::back_inserter(read));
  const std::string* const same =
      plan.has_output ? find_same_file(plan.output, read) : find_same_file(STDOUT_FILENO, read);
  if (same != nullptr) {
    say("the output file is an input file : " + (plan.has_output ? plan.output : *same) + "\n");
    return EXIT_FAILURE;
  }
  File opened(plan.has_output ? std::fopen(plan.output.c_str(), "w") : stdout);
  if (!opened) {
    say("unable to open output file : " + plan.output + "\n");
    return EXIT_FAILURE;
  }
  Output output(opened.get());
  if (!plan.options.payload_only) compat::syst::write_csv_header(output.text());
  Printer printer(plan.collateral, plan.options);
  for (const std::string& path : plan.inputs) {
    const File input(path == "-" ? stdin : std::fopen(path.c_str(), "r"));
    if (!input) {
      output.flush();
      say("unable to open input file : " + path + "\n");
      return EXIT_FAILURE;
    }
    print_file(input.get(), printer, output);
  }
  // NOLINTNEXTLINE(clang-analyzer-unix.Stream): the inputs are closed by their destructors.
  if (output.flush()) return EXIT_SUCCESS;
  if (output.error() == EPIPE) return kExitReaderLeft;
  // The reference does not check this, but the user should hear about a full disk.
  say("unable to write the output : " + std::generic_category().message(output.error()) + "\n");
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  exit_on_lost_input("systprint", EXIT_FAILURE);
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& /*error*/) {
    // Only memory can run out here.
    write_to_standard_error("systprint: Memory ran out.\n");
    return EXIT_FAILURE;
  }
}

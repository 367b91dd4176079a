// trc_pkt_lister: the options and the exact output of the reference's listing program.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <new>

#include "lister.h"
#include "waymark/base/escape.h"
#include "waymark/base/lost_input.h"
#include "waymark/base/same_file.h"
#include "waymark/base/standard_streams.h"
#include "waymark/inputs/snapshot.h"

namespace {

constexpr int kExitOptions = 255;
constexpr int kExitLog = 254;
constexpr int kExitOutput = 1;
constexpr int kExitMemory = 5;
constexpr int kExitReaderLeft = 141;
constexpr int kExitInput = 1;

void log_command_line(waymark::compat::Log& log, std::span<char* const> arguments) {
  log.line("Test Command Line:-");
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    log.text().put(arguments[i]);
    log.text().put(i == 0 ? "   " : "  ");
  }
  log.line("\n");
}

/// True, with a sentence: the log or standard output would be appended to a file of the snapshot.
bool would_damage_input(std::span<char* const> arguments,
                        const waymark::compat::LogOptions& log_options) {
  using namespace waymark;
  const compat::ParsedOptions parsed = compat::read_options(arguments);
  if (parsed.help || parsed.stop) return false;
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(parsed.options.snapshot, problems);
  std::vector<std::string> files{parsed.options.snapshot,
                                 parsed.options.snapshot + "/snapshot.ini"};
  if (snapshot) std::ranges::copy(snapshot->files(), std::back_inserter(files));
  const std::string* const by_name =
      log_options.to_file ? find_same_file(log_options.file_name, files) : nullptr;
  const std::string* const input =
      by_name != nullptr || !log_options.to_stdout ? by_name : find_same_file(STDOUT_FILENO, files);
  if (input == nullptr) return false;
  TextBuffer text;
  text.put("trc_pkt_lister: ");
  put_escaped(text, by_name != nullptr ? "-logfilename " + log_options.file_name
                                       : std::string("standard output"));
  text.put(": this is the input file ");
  put_escaped(text, *input);
  text.put("; choose another file for the log.\n");
  write_to_standard_error(text.view());
  return true;
}

int run(std::span<char* const> arguments, waymark::compat::Log& log) {
  log.line(
      "Trace Packet Lister: CS Decode library testing\n"
      "-----------------------------------------------\n"
      "\n"
      "** Library Version : 1.8.0\n");
  log_command_line(log, arguments);
  const waymark::compat::ParsedOptions parsed = waymark::compat::read_options(arguments);
  for (const std::string& message : parsed.messages) log.line(message);
  if (parsed.help) log.text().put(waymark::compat::help_text());
  if (parsed.help || parsed.stop) return kExitOptions;
  return waymark::compat::run_lister(parsed.options, log);
}

int run_with_log(std::span<char* const> arguments) {
  const auto log_options = waymark::compat::read_log_options(arguments);
  if (!log_options) {
    (void)waymark::write_all(STDOUT_FILENO, "Bad logger command line options\nProgram Exiting\n");
    return kExitLog;
  }
  if (would_damage_input(arguments, *log_options)) return kExitLog;
  waymark::compat::Log log(*log_options);
  const int status = run(arguments, log);
  log.flush();
  if (status != 0 || !log.broken()) return status;
  return log.reader_left() ? kExitReaderLeft : kExitOutput;
}

}  // namespace

int main(int argc, char** argv) {
  waymark::occupy_standard_descriptors();
  // A closed pipe, or a file that must not grow, is an error of write(), which the log reports.
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
  waymark::exit_on_lost_input("trc_pkt_lister", kExitInput);
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  try {
    return run_with_log(arguments);
  } catch (const std::bad_alloc&) {
    waymark::write_to_standard_error("trc_pkt_lister: Memory ran out.\n");
    return kExitMemory;
  }
}

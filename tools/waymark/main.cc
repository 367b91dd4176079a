// waymark: the command line.  docs/cli.md.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "command.h"
#include "commands.h"
#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "usage_error.h"
#include "version.h"
#include "waymark/base/standard_streams.h"

namespace {

[[noreturn]] void end_without_memory() noexcept {
  // Nothing here may allocate.
  waymark::write_to_standard_error(
      "waymark: Memory ran out. Free some, or raise the limit (ulimit -v).\n");
  _exit(waymark::cli::kMemory);
}

/// Replaces the handler that aborts.  Where memory is too short even for an exception, the C++
/// runtime calls it with no exception; constructors of static objects reach it with their own.
[[noreturn]] void end_unexpectedly() noexcept {
  const auto error = std::current_exception();
  if (!error) end_without_memory();
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {
    std::abort();  // a mistake of ours
  }
}

/// Before every other static object.
[[gnu::constructor(101)]] void watch_memory() { std::set_terminate(end_unexpectedly); }

int run(int argc, char** argv) {
  using namespace waymark::cli;
  int exit_code = kOk;
  const auto app = make_commands(exit_code, argc > 1 ? argv[1] : "");
  watch_signals();
  const Parsed parsed = parse(*app, argc, argv);
  switch (parsed.outcome) {
    case Outcome::kRun:
      return exit_code;
    case Outcome::kHelp:
      return print_help(*parsed.command);
    case Outcome::kVersion:
      return print_text("waymark " WAYMARK_VERSION "\n");
    case Outcome::kWrong:
      return complain(parsed.sentence, kUsage);
  }
  std::abort();  // not reached
}

}  // namespace

int main(int argc, char** argv) {
  waymark::occupy_standard_descriptors();
  try {
    return run(argc, argv);
  } catch (const std::system_error& error) {
    return waymark::cli::complain_of_resources(error);
  } catch (const std::exception& /*error*/) {
    // The library reports its errors as values: only memory can run out here.
    return waymark::cli::complain_of_memory();
  }
}

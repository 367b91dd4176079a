#include "waymark/base/lost_input.h"

#include <unistd.h>

#include <csignal>

#include "waymark/base/standard_streams.h"

namespace waymark {
namespace {

const char* program_name = "";
int exit_status = 1;

// Calls only what a signal handler may call.
void on_lost_input(int) {
  write_to_standard_error(program_name);
  write_to_standard_error(
      ": an input file became shorter while it was read; wait until it is written completely, then "
      "start again.\n");
  ::_exit(exit_status);
}

}  // namespace

void exit_on_lost_input(const char* program, int status) {
  program_name = program;
  exit_status = status;
  (void)std::signal(SIGBUS, on_lost_input);
}

}  // namespace waymark

#include "interrupt.h"

#include <csignal>

#include "exit_code.h"
#include "waymark/base/lost_input.h"

namespace waymark::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

void on_signal(int number) {
  if (flag == 0) {
    flag = 1;
    return;
  }
  // Blocked until the handler returns; then it ends the program.
  (void)std::signal(number, SIG_DFL);
  (void)::raise(number);
}

// A mapped file has lost bytes: nothing can be read from there, and there is no way back.
void on_lost_input(int) {
  constexpr std::string_view kSentence =
      "waymark: an input file became shorter while it was read; let whoever writes it finish, and "
      "start again.\n";
  write_to_standard_error(kSentence);
  ::_exit(kInput);
}

}  // namespace

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  exit_on_lost_input("waymark", kInput);
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return flag != 0; }

}  // namespace waymark::cli

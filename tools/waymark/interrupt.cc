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

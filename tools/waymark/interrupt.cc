#include "interrupt.h"

#include <csignal>

namespace waymark::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

void on_signal(int) { flag = 1; }

}  // namespace

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  (void)std::signal(SIGPIPE, SIG_IGN);
  (void)std::signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() { return flag != 0; }

}  // namespace waymark::cli

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "complain.h"
#include "exit_code.h"
#include "interrupt.h"
#include "output.h"
#include "run.h"
#include "version.h"
#include "viewer.h"
#include "waymark/view/page.h"
#include "waymark/view/server.h"

namespace waymark::cli {
namespace {

/// The program that opens an address in the browser of the desktop.
class Browser {
 public:
  void open(const std::string& address) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // Ctrl-C ends the viewer, not the browser.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::string program = kProgram;
    std::string argument = address;
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, kProgram, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    if (error == 0) {
      child_ = child;
    } else {
      note(fmt::format("{} cannot be started ({}); open the address yourself.", kProgram,
                       std::generic_category().message(error)));
    }
  }

  /// Says so if the program has failed.
  void look() {
    int status = 0;
    if (child_ <= 0 || ::waitpid(child_, &status, WNOHANG) != child_) return;
    child_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      note(fmt::format("{} could not open the page; open the address yourself.", kProgram));
  }

 private:
  static constexpr const char* kProgram = "xdg-open";
  pid_t child_ = 0;
};

int print_address(const std::string& address) {
  auto output = Output::open("", {});
  if (!output) return complain(output.error().detail, kOutput);
  output->text().put(address);
  output->text().put('\n');
  return finish_output(*output, kOk);
}

}  // namespace

int run_view(const ViewCommand& options) {
  const auto session = open_session(options.input, options.input.input.path);
  if (!session) return session.error();
  const auto server = view::Server::open(
      **session, {.port = options.port, .files = view::page_files(), .version = WAYMARK_VERSION});
  if (!server) return complain(server.error().detail, kOutput);
  if (const int code = print_address((*server)->address()); code != kOk) return code;
  note("open this address in a browser; Ctrl-C ends the viewer.");
  Browser browser;
  if (options.open) browser.open((*server)->address());
  const auto served = (*server)->run([&] {
    browser.look();
    return interrupted();
  });
  if (!served) return complain(served.error().detail, kOutput);
  return kOk;
}

}  // namespace waymark::cli

#include "serial.h"

// These define what <termios.h> does, and any rate.
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace waymark::live {
namespace {

std::string reason(int number) { return std::generic_category().message(number); }

int open_device(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/// Nothing that arrives is changed, and no line of the connector matters.
void make_raw(termios2& settings) {
  settings.c_iflag = 0;
  settings.c_oflag = 0;
  settings.c_lflag = 0;
  settings.c_cflag &= ~static_cast<tcflag_t>(CSIZE | PARENB | CSTOPB | CRTSCTS);
  settings.c_cflag |= CS8 | CREAD | CLOCAL;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
}

void set_rate(termios2& settings, std::uint32_t baud) {
  settings.c_cflag &= ~static_cast<tcflag_t>(CBAUD | (CBAUD << IBSHIFT));
  settings.c_cflag |= BOTHER | (static_cast<tcflag_t>(BOTHER) << IBSHIFT);
  settings.c_ispeed = baud;
  settings.c_ospeed = baud;
}

}  // namespace

bool is_serial(const std::string& path) {
  const int descriptor = open_device(path);
  if (descriptor < 0) return false;
  pid_t session = 0;
  const bool is_terminal = ::isatty(descriptor) == 1;
  // The terminal that controls this session has the keyboard of the user.
  const bool is_own =
      ::ioctl(descriptor, TIOCGSID, &session) == 0 && session == ::getsid(0) && session != 0;
  ::close(descriptor);
  return is_terminal && !is_own;
}

Result<int> open_serial(const std::string& path, std::uint32_t baud) {
  const int descriptor = open_device(path);
  if (descriptor < 0) {
    const int number = errno;
    return fail(number == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("Cannot open {}: {}.", path, reason(number)));
  }
  termios2 settings{};
  if (::isatty(descriptor) != 1 || ::ioctl(descriptor, TCGETS2, &settings) != 0) {
    ::close(descriptor);
    return fail(ErrorCode::kIo, fmt::format("{} is not a serial device; name one, such as "
                                            "serial:///dev/ttyUSB0.",
                                            path));
  }
  make_raw(settings);
  if (baud != 0) set_rate(settings, baud);
  if (::ioctl(descriptor, TCSETS2, &settings) != 0) {
    const int number = errno;
    ::close(descriptor);
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("Cannot set {} to {} baud: {}. Choose a rate that the device has.",
                            path, baud, reason(number)));
  }
  return descriptor;
}

}  // namespace waymark::live

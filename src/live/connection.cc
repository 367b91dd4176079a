#include "connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(WAYMARK_STATIC)
#include <nss.h>
#endif

#include <cerrno>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "serial.h"

namespace waymark::live {
namespace {

using Clock = std::chrono::steady_clock;

/// How often `stop` is asked.
constexpr Milliseconds kStep{50};
constexpr Milliseconds kMostConnecting{5000};
constexpr Milliseconds kMostResolving{30000};

std::string reason(int number) { return std::generic_category().message(number); }

std::unexpected<Error> interrupted(const Address& address) {
  return fail(ErrorCode::kIo, fmt::format("Connecting to {} was interrupted.", address.place()));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// A static program can only use those ways to find hosts that are in glibc itself: the others are
/// libraries of the system, whose glibc is another one.
void use_built_in_resolver() {
#if defined(WAYMARK_STATIC)
  static const int set = ::__nss_configure_lookup("hosts", "files dns");
  static_cast<void>(set);
#endif
}

/// The system's resolver cannot be interrupted, so that it has a thread of its own, which outlives
/// the call if its result is not needed any more.
Result<Addresses> resolve(const Address& address, const Stop& stop) {
  struct Answer {
    int code = 0;
    Addresses list;
  };
  auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> future = promise->get_future();
  std::thread([promise, host = address.host, port = std::to_string(address.port)] {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    Answer answer;
    use_built_in_resolver();
    answer.code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (answer.code == 0) answer.list.reset(list);
    promise->set_value(std::move(answer));
  }).detach();
  const auto end = Clock::now() + kMostResolving;
  while (future.wait_for(kStep) != std::future_status::ready) {
    if (stop && stop()) return interrupted(address);
    if (Clock::now() > end)
      return fail(ErrorCode::kNotFound,
                  fmt::format("Cannot find the host {}: the name server does not answer. Check "
                              "the network, or give the number of the host.",
                              address.host));
  }
  Answer answer = future.get();
  if (answer.code == 0) return std::move(answer.list);
  return fail(ErrorCode::kNotFound, fmt::format("Cannot find the host {}: {}. Check its name.",
                                                address.host, ::gai_strerror(answer.code)));
}

/// 0, or the errno; a connection that takes too long counts as timed out.
int connect_to(int descriptor, const addrinfo& to, const Stop& stop) {
  if (::connect(descriptor, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const auto end = Clock::now() + kMostConnecting;
  while (Clock::now() < end) {
    if (stop && stop()) return ECANCELED;
    pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, static_cast<int>(kStep.count())) <= 0) continue;
    int number = 0;
    socklen_t size = sizeof number;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) != 0) return errno;
    return number;
  }
  return ETIMEDOUT;
}

/// A host that disappears without a word is noticed within half a minute.
void watch(int descriptor) {
  const auto set = [descriptor](int level, int option, int value) {
    (void)::setsockopt(descriptor, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

Result<int> open_tcp(const Address& address, const Stop& stop) {
  const auto addresses = resolve(address, stop);
  if (!addresses) return std::unexpected(addresses.error());
  int number = ECONNREFUSED;
  for (const addrinfo* to = addresses->get(); to != nullptr; to = to->ai_next) {
    const int descriptor =
        ::socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (descriptor < 0) {
      number = errno;
      continue;
    }
    number = connect_to(descriptor, *to, stop);
    if (number == 0) {
      watch(descriptor);
      return descriptor;
    }
    ::close(descriptor);
    if (number == ECANCELED) return interrupted(address);
  }
  return fail(ErrorCode::kIo,
              fmt::format("Cannot connect to {}: {}. Check that the server runs and that this is "
                          "its port.",
                          address.place(), reason(number)));
}

}  // namespace

Result<Connection> Connection::open(const Address& address, const Stop& stop) {
  const auto descriptor = address.transport == Transport::kSerial
                              ? open_serial(address.path, address.baud)
                              : open_tcp(address, stop);
  if (!descriptor) return std::unexpected(descriptor.error());
  return Connection(*descriptor);
}

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Connection::~Connection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::optional<std::size_t>> Connection::read(std::span<std::uint8_t> out,
                                                    Milliseconds patience) {
  pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
  // A signal ends the wait, and the caller asks whether to stop.
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return std::nullopt;
  const ssize_t size = ::read(descriptor_, out.data(), out.size());
  if (size >= 0) return static_cast<std::size_t>(size);
  if (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK) return std::nullopt;
  // A serial device that was unplugged.
  if (errno == EIO) return std::size_t{0};
  return fail(ErrorCode::kIo, reason(errno));
}

Result<void> Connection::send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
    if (size > 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
      continue;
    }
    if (errno == EINTR) continue;
    pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    if ((errno == EAGAIN || errno == EWOULDBLOCK) &&
        ::poll(&ready, 1, static_cast<int>(kStep.count())) > 0)
      continue;
    return fail(ErrorCode::kIo, reason(errno));
  }
  return {};
}

}  // namespace waymark::live

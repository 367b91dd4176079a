#include "connections.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace waymark::view {
namespace {

/// A request without a body.
constexpr std::size_t kLongestHead = 16 * 1024;
constexpr std::size_t kBlock = 16 * 1024;
/// Answers that clients do not take: above it, the slowest clients end.
constexpr std::size_t kMostUnwritten = 128 * 1024 * 1024;
constexpr std::chrono::milliseconds kEndTime{1'000};

sockaddr_in address_here(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool try_again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Result<Descriptor> listen_here(std::uint16_t port) {
  constexpr int kBacklog = 256;
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  sockaddr_in address = address_here(port);
  const bool good =
      socket.open() &&
      ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
      ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::listen(socket.number(), kBacklog) == 0;
  if (good) return socket;
  if (errno == EADDRINUSE) {
    return fail(
        ErrorCode::kIo,
        fmt::format(
            "Port {} is in use; name another one, or leave out --port to use any free port.",
            port));
  }
  if (errno == EACCES) {
    return fail(ErrorCode::kIo, fmt::format("Port {} is reserved for the system; name one above "
                                            "1023, or leave out --port to use any free port.",
                                            port));
  }
  return fail(ErrorCode::kIo, fmt::format("No port of 127.0.0.1 is available: {}.",
                                          std::generic_category().message(errno)));
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

void Connections::step(std::chrono::milliseconds time, int wake) {
  polled_.assign({{.fd = wake, .events = POLLIN, .revents = 0}});
  polled_ids_.assign({0});
  if (connections_.size() < limits_.most_connections || make_room()) {
    polled_.push_back({.fd = listener_.number(), .events = POLLIN, .revents = 0});
    polled_ids_.push_back(0);
  }
  for (const auto& [id, connection] : connections_) {
    // A client that waits is only watched for its end.
    short events = POLLRDHUP;
    if (connection.state == State::kReading || connection.state == State::kEnding) events = POLLIN;
    if (connection.state == State::kWriting) events = POLLOUT;
    polled_.push_back({.fd = connection.socket.number(), .events = events, .revents = 0});
    polled_ids_.push_back(id);
  }
  if (::poll(polled_.data(), polled_.size(), static_cast<int>(time.count())) > 0) {
    for (std::size_t i = 1; i < polled_.size(); ++i) {
      if (polled_[i].revents == 0) continue;
      if (polled_ids_[i] == 0) {
        accept_all();
        continue;
      }
      const auto at = connections_.find(polled_ids_[i]);
      if (at != connections_.end()) serve(at->first, at->second, polled_[i].revents);
    }
  }
  end_late();
  std::erase_if(connections_, [](const auto& row) { return !row.second.socket.open(); });
}

void Connections::accept_all() {
  while (connections_.size() < limits_.most_connections) {
    Descriptor socket(
        ::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) return;
    const int on = 1;
    (void)::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    connections_.emplace(next_++, Connection{.socket = std::move(socket), .since = Clock::now()});
  }
}

void Connections::serve(std::uint64_t id, Connection& connection, short events) {
  switch (connection.state) {
    case State::kReading:
      read(id, connection);
      break;
    case State::kWaiting:
      end(connection);
      break;
    case State::kWriting:
      if ((events & (POLLERR | POLLHUP)) != 0) {
        end(connection);
      } else {
        write(id, connection);
      }
      break;
    case State::kEnding: {
      char ignored[kBlock];
      const ssize_t count = ::recv(connection.socket.number(), ignored, sizeof(ignored), 0);
      if (count == 0 || (count < 0 && !try_again())) end(connection);
      break;
    }
  }
}

void Connections::read(std::uint64_t id, Connection& connection) {
  char block[kBlock];
  const ssize_t count = ::recv(connection.socket.number(), block, sizeof(block), 0);
  if (count <= 0) {
    if (count == 0 || !try_again()) end(connection);
    return;
  }
  if (connection.in.empty()) connection.since = Clock::now();
  connection.in.append(block, static_cast<std::size_t>(count));
  take_request(id, connection);
}

void Connections::take_request(std::uint64_t id, Connection& connection) {
  // Line ends before a request are allowed.
  const auto start = connection.in.find_first_not_of("\r\n");
  connection.in.erase(0, std::min(start, connection.in.size()));
  constexpr std::string_view kEnd = "\r\n\r\n";
  const auto end = connection.in.find(kEnd);
  // Also if it is not there.
  if (end > kLongestHead) {
    if (connection.in.size() > kLongestHead) {
      refuse(connection, 431, fmt::format("The request is longer than {} bytes.", kLongestHead));
    }
    return;
  }
  std::string head = connection.in.substr(0, end + kEnd.size());
  connection.in.erase(0, head.size());
  connection.state = State::kWaiting;
  connection.job = take_(id, std::move(head));
}

void Connections::answer(const JobPointer& job) {
  const auto at = connections_.find(job->connection);
  if (at == connections_.end() || at->second.job != job) return;
  Connection& connection = at->second;
  connection.job = nullptr;
  connection.out = std::move(job->result.bytes);
  connection.close = job->result.close;
  connection.written = 0;
  connection.state = State::kWriting;
  connection.since = Clock::now();
  write(at->first, connection);
}

void Connections::write(std::uint64_t id, Connection& connection) {
  const ssize_t count =
      ::send(connection.socket.number(), connection.out.data() + connection.written,
             connection.out.size() - connection.written, MSG_NOSIGNAL);
  if (count < 0) {
    if (!try_again()) end(connection);
    return;
  }
  connection.written += static_cast<std::size_t>(count);
  connection.since = Clock::now();
  if (connection.written < connection.out.size()) return;
  connection.out = {};
  if (connection.close) {
    (void)::shutdown(connection.socket.number(), SHUT_WR);
    connection.state = State::kEnding;
    return;
  }
  connection.state = State::kReading;
  // The next request may be here already.
  take_request(id, connection);
}

void Connections::refuse(Connection& connection, int status, std::string_view sentence) {
  connection.in = {};
  connection.out = short_answer(status, sentence);
  connection.written = 0;
  connection.close = true;
  connection.state = State::kWriting;
  connection.since = Clock::now();
}

void Connections::end(Connection& connection) {
  if (connection.job) leave_(std::exchange(connection.job, nullptr));
  connection.out = {};
  connection.socket.close();
}

void Connections::end_late() {
  const auto now = Clock::now();
  std::size_t unwritten = 0;
  Connection* slowest = nullptr;
  for (auto& [id, connection] : connections_) {
    if (!connection.socket.open()) continue;
    const auto time = now - connection.since;
    switch (connection.state) {
      case State::kReading:
        if (connection.in.empty()) {
          if (time > limits_.idle_time) end(connection);
        } else if (time > limits_.head_time) {
          refuse(connection, 408, "The request did not arrive in time.");
        }
        break;
      case State::kWaiting:
        break;
      case State::kWriting:
        if (time > limits_.write_time) end(connection);
        unwritten += connection.out.size() - connection.written;
        if (slowest == nullptr || connection.since < slowest->since) slowest = &connection;
        break;
      case State::kEnding:
        if (time > kEndTime) end(connection);
        break;
    }
  }
  if (unwritten > kMostUnwritten && slowest != nullptr) end(*slowest);
}

bool Connections::make_room() {
  Connection* oldest = nullptr;
  bool oldest_is_idle = false;
  for (auto& [id, connection] : connections_) {
    if (connection.state != State::kReading) continue;
    // Those that sent nothing come first.
    const bool idle = connection.in.empty();
    if (oldest != nullptr && oldest_is_idle && !idle) continue;
    if (oldest != nullptr && oldest_is_idle == idle && oldest->since <= connection.since) continue;
    oldest = &connection;
    oldest_is_idle = idle;
  }
  if (oldest == nullptr) return false;
  // A connection that was just made has some time to send its request.
  constexpr std::chrono::milliseconds kGrace{200};
  if (Clock::now() - oldest->since < kGrace) return false;
  end(*oldest);
  std::erase_if(connections_, [](const auto& row) { return !row.second.socket.open(); });
  return true;
}

}  // namespace waymark::view

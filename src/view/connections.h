// The connections of a server: bytes in and out, without waiting for any client.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job_queue.h"
#include "waymark/base/result.h"

namespace waymark::view {

/// A file descriptor that this closes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_;
};

/// A listening socket of 127.0.0.1.  kIo: the port is in use, or the system refuses.
Result<Descriptor> listen_here(std::uint16_t port);
/// The port of such a socket.
std::uint16_t port_of(const Descriptor& socket);

struct ConnectionLimits {
  std::chrono::milliseconds head_time;
  std::chrono::milliseconds idle_time;
  std::chrono::milliseconds write_time;
  std::size_t most_connections;
};

/// Used by one thread.  Whoever gives turns gets each request that is whole with `take`, and gives
/// the answer back with answer().
class Connections {
 public:
  enum class State : std::uint8_t {
    kReading,  ///< A request, or nothing: then it is idle.
    kWaiting,  ///< For the answer.
    kWriting,
    kEnding,  ///< All is written; until the client closes, so that it reads the answer.
  };

  struct Connection {
    Descriptor socket{};
    State state = State::kReading;
    std::string in{};
    std::string out{};
    std::size_t written = 0;
    bool close = false;         ///< After the answer.
    Clock::time_point since{};  ///< The first byte of the request, or the last progress.
    JobPointer job{};           ///< While it waits.
  };

  using Take = std::function<JobPointer(std::uint64_t connection, std::string head)>;
  using Leave = std::function<void(const JobPointer& job)>;

  Connections(Descriptor listener, ConnectionLimits limits, Take take, Leave leave)
      : listener_(std::move(listener)),
        limits_(limits),
        take_(std::move(take)),
        leave_(std::move(leave)) {}

  /// Waits at most `time` for something to do, does it, and ends what takes too long.  `wake` is
  /// watched too.
  void step(std::chrono::milliseconds time, int wake);
  /// The answer of a job; nothing happens if its connection has ended.
  void answer(const JobPointer& job);

 private:
  void accept_all();
  void serve(std::uint64_t id, Connection& connection, short events);
  void read(std::uint64_t id, Connection& connection);
  /// Takes a request out of `in` if it is whole.
  void take_request(std::uint64_t id, Connection& connection);
  void write(std::uint64_t id, Connection& connection);
  void refuse(Connection& connection, int status, std::string_view reason,
              std::string_view sentence);
  void end(Connection& connection);
  void end_late();
  /// Makes room for a new connection: the one that is idle for the longest time ends.
  bool make_room();

  Descriptor listener_;
  ConnectionLimits limits_;
  Take take_;
  Leave leave_;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t next_ = 1;
  std::vector<pollfd> polled_;
  std::vector<std::uint64_t> polled_ids_;
};

}  // namespace waymark::view

// Serves the page of a viewer and its requests over HTTP, to this machine only.  docs/view_api.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/view/page.h"
#include "waymark/view/session.h"

namespace waymark::view {

struct ServerOptions {
  std::uint16_t port = 0;         ///< 0: any that is free.
  std::vector<PageFile> files{};  ///< Their texts outlive the server.
  std::string version{};
  std::string token{};   ///< Empty: a random one.
  unsigned workers = 0;  ///< How many questions are computed at once; 0: by the processors.
  std::chrono::milliseconds question_time{10'000};  ///< For an answer, and to wait for a turn.
  std::chrono::milliseconds head_time{5'000};       ///< For a client to send a request.
  std::chrono::milliseconds idle_time{60'000};      ///< Between the requests of a client.
  std::chrono::milliseconds write_time{10'000};     ///< For a client to take some of its answer.
  std::size_t most_connections = 256;
};

/// Listens on 127.0.0.1.  One thread has all connections and never waits for one of them; a few
/// others compute answers.  So slow clients, and those that vanish, do not delay others, and
/// clients with many questions get no more turns than others.
class Server {
 public:
  /// `session` outlives the server.  kIo: the port is in use, or the system refuses.
  static Result<std::unique_ptr<Server>> open(Session& session, ServerOptions options);
  virtual ~Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// `http://127.0.0.1:PORT/TOKEN/`.
  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;

  /// Serves until `stop` returns true; it is asked ten times a second, and after each signal.
  virtual Result<void> run(const std::function<bool()>& stop) = 0;

 protected:
  Server() = default;
};

/// 128 random bits in hexadecimal.  kIo: the system has none.
Result<std::string> random_token();

}  // namespace waymark::view

// One request of HTTP in, one answer out; cpp-httplib reads and writes them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace waymark::view {

/// The headers that decide whether a request is answered.
struct HttpHead {
  std::string_view method;
  std::string_view target;
  std::string host;
  std::string origin;          ///< Empty: not given.
  std::string fetch_site;      ///< Sec-Fetch-Site; empty: not given.
  std::size_t host_count = 0;  ///< How often it is given.
  bool has_origin = false;
  bool has_body = false;
};

struct HttpAnswer {
  int status = 200;
  std::string type{};
  std::string body{};
  bool unchanging = false;  ///< A browser may keep it.
};

/// The bytes for the client.
struct HttpBytes {
  std::string bytes{};
  bool close = false;  ///< The connection ends after them.
};

/// Used by one thread at a time.
class Http {
 public:
  using Handler = std::function<HttpAnswer(const HttpHead&)>;

  explicit Http(std::chrono::seconds idle_time);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  /// `head` is a request up to and with its empty line.
  HttpBytes answer(std::string_view head, const Handler& handler);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// The target in the first line of a request; empty: there is none.
std::string_view target_of(std::string_view head);

/// An answer to what was not a whole request.  The connection ends after it.
std::string short_answer(int status, std::string_view reason, std::string_view sentence);

}  // namespace waymark::view

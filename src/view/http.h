// One request of HTTP in, one answer out.  RFC 9112, strictly: a server for one browser need not
// guess what a client meant.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace waymark::view {

/// The headers that decide whether a request is answered.  Views of the request.
struct HttpHead {
  std::string_view method;
  std::string_view target;
  std::string_view host;
  std::string_view origin;      ///< Empty: not given.
  std::string_view fetch_site;  ///< Sec-Fetch-Site; empty: not given.
  std::size_t host_count = 0;   ///< How often it is given.
  bool has_origin = false;
  bool has_body = false;
  bool navigates = false;  ///< A person opens the address (Sec-Fetch-Mode).
  bool closes = false;     ///< The client wants the connection to end after the answer.
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

using HttpHandler = std::function<HttpAnswer(const HttpHead&)>;

/// Answers a request.  `head` is all of it up to and with its empty line.  What is not a request is
/// answered with an error, and what `handler` throws too.
HttpBytes answer_http(std::string_view head, const HttpHandler& handler);

/// The target in the first line of a request; empty: there is none.
std::string_view target_of(std::string_view head);

/// An error, with one sentence for the client.
HttpAnswer error_answer(int status, std::string_view sentence);

/// The same as a page for a person.  The sentence has no characters that HTML reserves.
HttpAnswer error_page(int status, std::string_view sentence);

/// An answer to what was not a whole request.  The connection ends after it.
std::string short_answer(int status, std::string_view sentence);

}  // namespace waymark::view

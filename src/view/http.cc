#include "http.h"

#include <fmt/format.h>
// Its own warnings are not ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <httplib.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <utility>

#include "waymark/view/json.h"

namespace waymark::view {
namespace {

struct Header {
  const char* name;
  const char* value;
};

/// Of every answer.
constexpr Header kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
     "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

/// A request that was read already, and the answer to it.
class MemoryStream final : public httplib::Stream {
 public:
  explicit MemoryStream(std::string_view in) : in_(in) {}

  [[nodiscard]] bool is_readable() const override { return !in_.empty(); }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = std::min(size, in_.size());
    in_.copy(to, count);
    in_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    out_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  [[nodiscard]] socket_t socket() const override { return INVALID_SOCKET; }

  std::string take_out() { return std::move(out_); }

 private:
  std::string_view in_;
  std::string out_;
};

void fill(httplib::Response& response, HttpAnswer answer) {
  response.status = answer.status;
  response.body = std::move(answer.body);
  response.set_header("Content-Type", answer.type);
  response.set_header("Cache-Control", answer.unchanging ? "private, max-age=3600" : "no-store");
}

HttpAnswer error_answer(int status, std::string_view sentence) {
  TextBuffer text;
  write_error(text, sentence);
  return {.status = status, .type = "application/json", .body = std::string(text.view())};
}

}  // namespace

class Http::Engine final : private httplib::Server {
 public:
  explicit Engine(std::chrono::seconds idle_time) {
    set_keep_alive_timeout(idle_time.count());
    set_keep_alive_max_count(1'000'000);
    httplib::Headers headers;
    for (const Header& header : kHeaders) headers.emplace(header.name, header.value);
    set_default_headers(std::move(headers));
    // Nothing is routed: the handler answers everything, before httplib looks for a body.
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      fill(response, ask(request));
      return HandlerResponse::Handled;
    });
    set_error_handler(
        HandlerWithResponse([](const httplib::Request& /*request*/, httplib::Response& response) {
          if (!response.body.empty()) return HandlerResponse::Unhandled;
          fill(response, error_answer(response.status, "This is not a request that can be read."));
          return HandlerResponse::Handled;
        }));
  }

  HttpBytes answer(std::string_view head, const Http::Handler& handler) {
    MemoryStream stream(head);
    handler_ = &handler;
    has_body_ = false;
    bool closes = false;
    const bool good = process_request(stream, false, closes, [](httplib::Request& request) {
      // To pack costs more time than to send to the same machine.
      request.headers.erase("Accept-Encoding");
      // Answers are whole.
      request.ranges.clear();
      request.headers.erase("Range");
    });
    handler_ = nullptr;
    return {.bytes = stream.take_out(), .close = closes || !good || has_body_};
  }

 private:
  HttpAnswer ask(const httplib::Request& request) {
    HttpHead head{.method = request.method,
                  .target = request.target,
                  .host = request.get_header_value("Host"),
                  .origin = request.get_header_value("Origin"),
                  .fetch_site = request.get_header_value("Sec-Fetch-Site"),
                  .host_count = request.get_header_value_count("Host"),
                  .has_origin = request.has_header("Origin"),
                  .has_body = request.has_header("Transfer-Encoding") ||
                              request.has_header("Content-Length")};
    // What follows is not read, and must not be taken for a request.
    has_body_ = head.has_body;
    try {
      return (*handler_)(head);
    } catch (const std::bad_alloc&) {
      return error_answer(503, "Memory ran out; ask for less.");
    } catch (...) {
      return error_answer(500, "The server made a mistake.");
    }
  }

  const Http::Handler* handler_ = nullptr;
  bool has_body_ = false;
};

Http::Http(std::chrono::seconds idle_time) : engine_(std::make_unique<Engine>(idle_time)) {}
Http::~Http() = default;

HttpBytes Http::answer(std::string_view head, const Handler& handler) {
  return engine_->answer(head, handler);
}

std::string_view target_of(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const auto start = line.find(' ');
  if (start == std::string_view::npos) return {};
  const auto end = line.find(' ', start + 1);
  if (end == std::string_view::npos) return {};
  return line.substr(start + 1, end - start - 1);
}

std::string short_answer(int status, std::string_view reason, std::string_view sentence) {
  TextBuffer body;
  write_error(body, sentence);
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, reason);
  for (const Header& header : kHeaders)
    text += fmt::format("{}: {}\r\n", header.name, header.value);
  text += fmt::format(
      "Cache-Control: no-store\r\nConnection: close\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      body.size(), body.view());
  return text;
}

}  // namespace waymark::view

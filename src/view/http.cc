#include "http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <new>
#include <utility>

#include "waymark/base/text_buffer.h"
#include "waymark/view/json.h"

namespace waymark::view {
namespace {

constexpr std::size_t kLongestTarget = 8192;
constexpr std::string_view kEndOfLine = "\r\n";

/// They are in every answer.
constexpr std::string_view kHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n";

struct Reason {
  int status;
  std::string_view words;
};
constexpr std::array kReasons = {
    Reason{200, "OK"},
    Reason{400, "Bad Request"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{503, "Service Unavailable"},
};

std::string_view reason_of(int status) {
  const auto* const found = std::ranges::find(kReasons, status, &Reason::status);
  return found == kReasons.end() ? "Error" : found->words;
}

/// The missing part of a request.
struct Fault {
  int status = 400;
  std::string_view sentence = "The request is malformed.";
};

/// The characters of a method and of the name of a header.
constexpr bool is_token(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
constexpr bool is_printable(char c) { return c > ' ' && c <= '~'; }
/// Headers may have any bytes but controls.
constexpr bool is_text(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7F);
}

bool same_word(std::string_view a, std::string_view lower_case) {
  return std::ranges::equal(a, lower_case, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Whether a list of words has this one.
bool lists(std::string_view list, std::string_view lower_case) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    if (same_word(trimmed(list.substr(0, end)), lower_case)) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

std::expected<HttpHead, Fault> read_first_line(std::string_view line) {
  const auto method_end = line.find(' ');
  const auto target_end = line.find(' ', method_end == std::string_view::npos ? 0 : method_end + 1);
  if (method_end == std::string_view::npos || target_end == std::string_view::npos)
    return std::unexpected(Fault());
  HttpHead head;
  head.method = line.substr(0, method_end);
  head.target = line.substr(method_end + 1, target_end - method_end - 1);
  const std::string_view version = line.substr(target_end + 1);
  if (head.method.empty() || !std::ranges::all_of(head.method, is_token) || head.target.empty() ||
      !std::ranges::all_of(head.target, is_printable) ||
      (version != "HTTP/1.1" && version != "HTTP/1.0"))
    return std::unexpected(Fault());
  if (head.target.size() > kLongestTarget)
    return std::unexpected(Fault{414, "The address is too long."});
  head.closes = version == "HTTP/1.0";
  return head;
}

/// False: this is not a header.
bool read_header(std::string_view line, HttpHead& head) {
  const auto colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, colon);
  if (!std::ranges::all_of(name, is_token)) return false;
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_text)) return false;
  if (same_word(name, "host")) {
    head.host = value;
    ++head.host_count;
  } else if (same_word(name, "origin")) {
    // Two of them are the origin of nothing.
    head.origin = head.has_origin ? std::string_view() : value;
    head.has_origin = true;
  } else if (same_word(name, "sec-fetch-site")) {
    head.fetch_site = value;
  } else if (same_word(name, "sec-fetch-mode")) {
    head.navigates = value == "navigate";
  } else if (same_word(name, "transfer-encoding") || same_word(name, "content-length")) {
    head.has_body = true;
  } else if (same_word(name, "connection")) {
    head.closes = head.closes || lists(value, "close");
  }
  return true;
}

std::expected<HttpHead, Fault> read_head(std::string_view text) {
  auto line_end = text.find(kEndOfLine);
  if (line_end == std::string_view::npos) return std::unexpected(Fault());
  auto head = read_first_line(text.substr(0, line_end));
  if (!head) return head;
  for (;;) {
    text.remove_prefix(line_end + kEndOfLine.size());
    line_end = text.find(kEndOfLine);
    if (line_end == std::string_view::npos) return std::unexpected(Fault());
    if (line_end == 0) return head;
    if (!read_header(text.substr(0, line_end), *head)) return std::unexpected(Fault());
  }
}

HttpAnswer ask(const HttpHandler& handler, const HttpHead& head) {
  try {
    return handler(head);
  } catch (const std::bad_alloc&) {
    return error_answer(503, "Out of memory; request less data.");
  } catch (...) {
    return error_answer(500, "Internal error.");
  }
}

HttpBytes bytes_of(const HttpAnswer& answer, bool close, bool has_body) {
  HttpBytes bytes{.close = close};
  bytes.bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n{}Cache-Control: {}\r\nConnection: {}\r\nContent-Type: {}\r\n"
      "Content-Length: {}\r\n\r\n",
      answer.status, reason_of(answer.status), kHeaders,
      answer.unchanging ? "private, max-age=3600" : "no-store", close ? "close" : "keep-alive",
      answer.type, answer.body.size());
  if (has_body) bytes.bytes += answer.body;
  return bytes;
}

}  // namespace

HttpAnswer error_answer(int status, std::string_view sentence) {
  TextBuffer text;
  write_error(text, sentence);
  return {.status = status, .type = "application/json", .body = std::string(text.view())};
}

HttpAnswer error_page(int status, std::string_view sentence) {
  return {.status = status,
          .type = "text/html; charset=utf-8",
          .body = fmt::format(
              "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
              "<meta name=\"color-scheme\" content=\"light dark\"><title>Waymark</title></head>"
              "<body><h1>This page cannot be opened</h1><p>{}</p></body></html>\n",
              sentence)};
}

HttpBytes answer_http(std::string_view head, const HttpHandler& handler) {
  const auto request = read_head(head);
  if (!request) {
    return bytes_of(error_answer(request.error().status, request.error().sentence),
                    /*close=*/true, /*has_body=*/true);
  }
  // A body is not read, and must not be taken for a request.
  const bool closes = request->closes || request->has_body;
  return bytes_of(ask(handler, *request), closes, request->method != "HEAD");
}

std::string_view target_of(std::string_view head) {
  const std::string_view line = head.substr(0, head.find(kEndOfLine));
  const auto start = line.find(' ');
  if (start == std::string_view::npos) return {};
  const auto end = line.find(' ', start + 1);
  if (end == std::string_view::npos) return {};
  return line.substr(start + 1, end - start - 1);
}

std::string short_answer(int status, std::string_view sentence) {
  return bytes_of(error_answer(status, sentence), /*close=*/true, /*has_body=*/true).bytes;
}

}  // namespace waymark::view

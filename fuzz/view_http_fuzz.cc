// Heads of HTTP requests as clients of the viewer may send them.  Invariants: no head is answered
// without the headers that keep browsers strict; each answer is whole; a body is never read.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../src/view/http.h"

namespace {

using namespace waymark::view;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // As the server cuts requests out of what arrives.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string head = std::string(bytes.substr(0, bytes.find("\r\n\r\n"))) + "\r\n\r\n";
  static Http http{std::chrono::seconds(5)};
  bool has_body = false;
  const HttpBytes answer = http.answer(head, [&](const HttpHead& asked) {
    has_body = asked.has_body;
    return HttpAnswer{.status = 200, .type = "text/plain", .body = std::string(asked.target)};
  });
  require(!has_body || answer.close, "what follows a body would be taken for a request");
  (void)target_of(head);
  if (answer.bytes.empty()) return 0;
  std::string_view rest = answer.bytes;
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  if (rest.starts_with(kContinue)) rest.remove_prefix(kContinue.size());
  if (rest.empty()) return 0;
  require(rest.starts_with("HTTP/1.1 "), "no status line");
  const std::string_view headers = rest.substr(0, rest.find("\r\n\r\n") + 2);
  require(headers.find("Content-Security-Policy: default-src 'none'") != std::string_view::npos,
          "no policy");
  return 0;
}

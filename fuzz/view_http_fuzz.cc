// Heads of HTTP requests as clients of the viewer may send them.  Invariants: no head is answered
// without the headers that keep browsers strict; each answer is whole; a body is never read.
#include <string>

#include "../src/view/http.h"
#include "require.h"

namespace {

using namespace waymark::view;
using waymark::fuzz::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // As the server cuts requests out of what arrives.
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string head = std::string(bytes.substr(0, bytes.find("\r\n\r\n"))) + "\r\n\r\n";
  bool has_body = false;
  const HttpBytes answer = answer_http(head, [&](const HttpHead& asked) {
    has_body = asked.has_body;
    return HttpAnswer{.status = 200, .type = "text/plain", .body = std::string(asked.target)};
  });
  require(!has_body || answer.close, "what follows a body would be taken for a request");
  (void)target_of(head);
  const std::string_view rest = answer.bytes;
  require(rest.starts_with("HTTP/1.1 "), "no status line");
  const std::string_view headers = rest.substr(0, rest.find("\r\n\r\n") + 2);
  require(headers.find("Content-Security-Policy: default-src 'none'") != std::string_view::npos,
          "no policy");
  return 0;
}

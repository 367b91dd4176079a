// A live source: prints what a program sends through port 0 of its ITM, while it arrives.
//
//   live_console ADDRESS      such as tcp:localhost:2332, or - for standard input
#include <cstdio>

#include "waymark/inputs/live_capture.h"
#include "waymark/live/connected_stream.h"

namespace {

waymark::Result<std::unique_ptr<waymark::live::Stream>> open_stream(const std::string& name) {
  if (waymark::live::is_address(name)) {
    const auto address = waymark::live::parse_address(name);
    if (!address) return std::unexpected(address.error());
    return waymark::live::connect(*address, {});
  }
  auto pipe = waymark::inputs::InputStream::open(name);
  if (!pipe) return std::unexpected(pipe.error());
  return std::make_unique<waymark::inputs::PipeStream>(*std::move(pipe));
}

int fail(const waymark::Error& error) {
  std::fprintf(stderr, "live_console: %s\n", error.detail.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "-";
  auto stream = open_stream(name);
  if (!stream) return fail(stream.error());
  waymark::inputs::CaptureOptions options;
  options.protocol = "itm";
  options.framing = waymark::inputs::Framing::kNone;
  options.live = std::make_shared<waymark::live::Head>(*std::move(stream));
  const auto head = waymark::inputs::read_head(*options.live, options, {});
  if (!head) return fail(head.error());
  auto capture = waymark::inputs::Capture::open(name, options);
  if (!capture) return fail(capture.error());

  waymark::Element element;
  while (true) {
    const auto event = capture->next_event();
    if (!event) return fail(event.error());
    if (!*event) return 0;  // The other side has closed the connection.
    if ((*event)->kind != waymark::inputs::TraceEvent::Kind::kBlock) continue;
    if (!capture->tree().feed((*event)->block.index, (*event)->block.bytes)) return 1;
    while (capture->tree().next({&element, 1}) != 0) {
      if (element.kind != waymark::ElementKind::kItmTrace || element.number != 0) continue;
      if ((element.extra & waymark::kItmKindMask) != 0) continue;  // Not written by software.
      for (unsigned byte = 0; byte < element.extra_value; ++byte)
        std::putchar(static_cast<int>(element.start >> 8 * byte & 0xFF));
    }
    std::fflush(stdout);
  }
}

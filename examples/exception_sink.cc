// A sink of your own: it gets one element after the other, and stops the decoder when it has seen
// enough.
//
//   exception_sink CAPTURE    the first ten exceptions
#include <cstdio>

#include "waymark/inputs/capture.h"
#include "waymark/tree/data_path.h"

namespace {

class ExceptionSink : public waymark::ElementSink {
 public:
  waymark::Flow on_element(const waymark::Element& element) override {
    if (element.kind != waymark::ElementKind::kException) return waymark::Flow::kContinue;
    std::printf("%8llu  ID 0x%02x  exception %u, returns to 0x%llx\n",
                static_cast<unsigned long long>(element.index), unsigned{element.trace_id},
                unsigned{element.number}, static_cast<unsigned long long>(element.end));
    return ++seen_ < 10 ? waymark::Flow::kContinue : waymark::Flow::kWait;
  }

 private:
  int seen_ = 0;
};

int fail(const waymark::Error& error) {
  std::fprintf(stderr, "exception_sink: %s\n", error.detail.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: exception_sink CAPTURE\n");
    return 2;
  }
  auto capture = waymark::inputs::Capture::open(argv[1], {});
  if (!capture) return fail(capture.error());
  ExceptionSink sink;
  waymark::DataPath path(capture->tree(), sink);
  while (const auto block = capture->next_block()) {
    std::size_t used = 0;
    const auto flow = path.data(block->index, block->bytes, used);
    if (!flow) return fail(flow.error());
    if (*flow == waymark::Flow::kWait) return 0;
  }
  if (const auto flow = path.finish(); !flow) return fail(flow.error());
  return 0;
}

// The layer of packets: how often an ETMv4 or ETE wrote each kind of packet.
//
//   count_packets CAPTURE
#include <cstdio>
#include <map>
#include <string_view>

#include "waymark/etmv4/text.h"
#include "waymark/inputs/capture.h"

namespace {

/// Sees every packet, in the order of the trace.
class PacketCounter : public waymark::Observer {
 public:
  void on_packet(const waymark::PacketRef& packet) override {
    using waymark::Protocol;
    if (packet.protocol != Protocol::kEtmV4 && packet.protocol != Protocol::kEte) return;
    ++counts_[waymark::etmv4::packet_name(packet.as<waymark::etmv4::Packet>().type)];
  }

  void print() const {
    for (const auto& [name, count] : counts_)
      std::printf("%8lu %.*s\n", count, static_cast<int>(name.size()), name.data());
  }

 private:
  std::map<std::string_view, unsigned long> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: count_packets CAPTURE\n");
    return 2;
  }
  waymark::inputs::CaptureOptions options;
  options.source.decode = false;  // So no program image is needed.
  auto capture = waymark::inputs::Capture::open(argv[1], options);
  if (!capture) {
    std::fprintf(stderr, "count_packets: %s\n", capture.error().detail.c_str());
    return 1;
  }
  PacketCounter counter;
  capture->tree().set_observer(&counter);
  waymark::Element none;
  while (const auto block = capture->next_block()) {
    if (!capture->tree().feed(block->index, block->bytes)) return 1;
    capture->tree().next({&none, 1});
  }
  counter.print();
  return 0;
}

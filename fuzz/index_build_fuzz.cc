// Any bytes as a capture: an index that is built block by block is that built at once, and decoding
// from any place gives what lies there.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "waymark/index/builder.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"

namespace {

using namespace waymark;

std::optional<inputs::Capture> open(const std::string& path, std::uint8_t choice) {
  constexpr inputs::Framing kFramings[] = {inputs::Framing::kNone, inputs::Framing::kMemoryAligned,
                                           inputs::Framing::kFsync, inputs::Framing::kHsync,
                                           inputs::Framing::kDstream};
  constexpr const char* kProtocols[] = {"etmv4", "ptm", "etmv3", "stm", "itm", "ete"};
  inputs::CaptureOptions options;
  options.source.decode = false;
  options.framing = kFramings[choice % 5];
  options.protocol = kProtocols[choice / 5 % 6];
  options.registers = {{"TRCCONFIGR", 0x8C1},    {"TRCIDR0", 0x28000EA1}, {"TRCIDR2", 0x488},
                       {"TRCTRACEIDR", 0x10},    {"ETMCR", 0x1000D000},   {"ETMIDR", 0x411CF300},
                       {"ETMCCER", 0x34C01AC2},  {"ETMTRACEIDR", 0x10},   {"ITMTCR", 0x10001},
                       {"STMTCSR", 0x00100001U}, {"TRCIDR1", 0x4100F403}};
  auto capture = inputs::Capture::open(path, options);
  if (!capture) return std::nullopt;
  return std::move(*capture);
}

void check(const std::string& path, std::uint8_t choice) {
  auto capture = open(path, choice);
  if (!capture) return;
  const auto whole = index::make_memory_index();
  index::BuildOptions options;
  options.granule = index::kMinGranule;
  if (!index::build(*capture, *whole, options)) std::abort();

  const auto pieces = index::make_memory_index();
  options.stop = [](std::uint64_t) { return true; };
  while (true) {
    auto again = open(path, choice);
    if (!again) std::abort();
    const auto report = index::build(*again, *pieces, options);
    if (!report) std::abort();
    if (report->complete) break;
  }
  if (!(whole->header() == pieces->header())) std::abort();

  auto scout = open(path, choice);
  std::uint64_t syncs = 0;
  const std::vector<TraceId> ids = index::source_ids(*scout);
  if (!index::find(*scout, *whole, ids, {.kind = LandmarkKind::kSync}, [&](const index::Hit&) {
        ++syncs;
        return true;
      }))
    std::abort();
  std::uint64_t counted = 0;
  for (const index::Stream& stream : whole->header().streams)
    counted += stream.counts[static_cast<std::size_t>(LandmarkKind::kSync)];
  if (syncs != counted) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int file = ::memfd_create("capture", MFD_CLOEXEC);
  if (file < 0) return 0;
  if (::write(file, data + 1, size - 1) == static_cast<ssize_t>(size - 1))
    check("/proc/self/fd/" + std::to_string(file), data[0]);
  ::close(file);
  return 0;
}

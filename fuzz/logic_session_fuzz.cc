// A session of sigrok: any bytes as the archive, and the same bytes as samples.  Invariants: what
// is refused has a sentence, and no more bytes are decoded than bits were sampled.
#include <vector>

#include "require.h"
#include "waymark/logic/pins.h"
#include "waymark/logic/swo.h"
#include "waymark/logic/trace_port.h"

namespace {

using namespace waymark;
using namespace waymark::logic;
using fuzz::require;

void try_archive(Bytes archive) {
  const auto take = [](Bytes) -> Result<void> { return {}; };
  const auto trace = decode_pins(archive, {}, take, {});
  if (!trace) require(!trace.error().detail.empty(), "an error without a sentence");
}

/// Each byte is a run: its level, and its length.
void try_swo(Bytes bytes) {
  std::vector<Run> runs;
  std::uint64_t samples = 0;
  for (const std::uint8_t byte : bytes) {
    runs.push_back({(byte & 1) != 0, std::uint64_t{byte} / 2 + 1});
    samples += runs.back().samples;
  }
  const auto facts = find_coding(runs, {}, {});
  if (facts) require(facts->bytes <= samples, "more bytes than samples");
  for (const Coding coding : {Coding::kUart, Coding::kManchester}) {
    SwoDecoder decoder(coding, 3);
    std::vector<std::uint8_t> out;
    for (const Run& run : runs) decoder.take(run, out);
    decoder.finish(out);
    require(out.size() == decoder.bytes() && out.size() <= samples, "more bytes than samples");
  }
}

void try_port(Bytes bytes) {
  for (const unsigned width : {1U, 2U, 4U}) {
    TracePortDecoder decoder(width);
    std::vector<std::uint8_t> out;
    for (const std::uint8_t byte : bytes)
      decoder.take((byte & 1) != 0, byte >> 1 & ((1U << width) - 1), out);
    require(out.size() <= 4 * bytes.size(), "more bytes than samples");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  try_archive(bytes);
  try_swo(bytes);
  try_port(bytes);
  return 0;
}

// A program that traces itself: it sends SyS-T messages as text lines to standard output.  Its
// collateral comes from its own ELF file:
//
//   ./trace_itself > itself.log
//   waymark collateral trace_itself -o itself.xml
//   waymark syst itself.log --collateral itself.xml
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <span>

#include "waymark/syst/catalog.h"
#include "waymark/syst/sinks.h"

namespace {

// snippet send
using namespace waymark::syst::instrument;

constexpr std::array<std::uint8_t, 16> kGuid = {0x57, 0x61, 0x79, 0x6D, 0x61, 0x72, 0x6B, 0x2D,
                                                0x8E, 0x78, 0x61, 0x6D, 0x70, 0x6C, 0x65, 0x31};
WAYMARK_SYST_CLIENT("trace_itself", "{5761796D-6172-6B2D-8E78-616D706C6531}");
// end snippet

std::uint64_t microseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// snippet send
void print(std::span<const char> text) { (void)std::fwrite(text.data(), 1, text.size(), stdout); }
// end snippet

unsigned collatz(unsigned start) {
  unsigned steps = 0;
  for (unsigned n = start; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return steps;
}

}  // namespace

int main() {
  // snippet send
  LineSink sink(print);
  const Handle trace(sink, Origin::guid_unit(kGuid, 1),
                     {.length = true, .checksum = true, .timestamp = true}, microseconds);
  // end snippet
  trace.build(Level::kNone, 0x100, "1.0");
  trace.clock_sync(microseconds(), 1'000'000);
  trace.enter(Level::kDebug, "main");
  for (const unsigned start : {6U, 7U, 27U}) {
    const unsigned steps = collatz(start);
    // snippet send
    WAYMARK_SYST_CATALOG(trace, Level::kInfo, "%u needs %u steps", start, steps);
    // end snippet
    if (steps > 100) {
      WAYMARK_SYST_CATALOG(trace, Level::kWarning, "that took \"%s\": 100%% of %g s", "long", 0.5);
    }
  }
  WAYMARK_SYST_CATALOG(trace, Level::kInfo, "done");
  // snippet send
  trace.at_line(1, __LINE__).printf(Level::kInfo, "a format on the wire: %d, %s", -1, "text");
  // end snippet
  trace.exit(Level::kDebug, "main");
  return 0;
}

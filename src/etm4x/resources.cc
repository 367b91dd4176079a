#include "waymark/etm4x/resources.h"

#include <algorithm>
#include <bit>

#include "waymark/base/bits.h"

namespace waymark::etm4x {
namespace {

enum Group : std::size_t {
  kCountersAndSequencer = 2,
  kShots = 3,
  kSingles = 4,
  kRanges = 5,
  kContextIds = 6,
  kVmids = 7,
};

// Each bit of `ignored` excludes one byte.
std::uint64_t bytes_that_count(std::uint32_t ignored) {
  std::uint64_t mask = 0;
  for (unsigned byte = 0; byte < 8; ++byte)
    if ((ignored >> byte & 1) == 0) mask |= std::uint64_t{0xFF} << (8 * byte);
  return mask;
}

bool is_constant(std::uint32_t event) { return (event & 0xFF) < 2; }

}  // namespace

Resources::Resources(const RegisterImage& image, const Capabilities& caps) {
  const auto reg = [&image](std::string_view name) {
    return static_cast<std::uint32_t>(image.value(name));
  };
  const auto row = [&image](std::string_view stem, unsigned number) {
    return static_cast<std::uint32_t>(image.value(stem, number));
  };
  registers_.view = reg("TRCVICTLR");
  registers_.ranges = reg("TRCVIIECTLR");
  registers_.points = reg("TRCVISSCTLR");
  registers_.broadcast = reg("TRCBBCTLR");
  registers_.timestamp = reg("TRCTSCTLR") & 0xFF;
  registers_.events = reg("TRCEVENTCTL0R");
  registers_.events_in_trace = reg("TRCEVENTCTL1R") & 0xF;
  for (unsigned i = 2; i < kSelectors; ++i) registers_.selectors[i] = row("TRCRSCTLR", i);
  for (unsigned i = 0; i < kAddressComparators; ++i) {
    registers_.addresses[i] = image.value("TRCACVR", i);
    registers_.controls[i] = row("TRCACATR", i);
  }
  for (unsigned i = 0; i < kContextComparators; ++i) {
    registers_.context_ids[i] = image.value("TRCCIDCVR", i);
    registers_.vmids[i] = image.value("TRCVMIDCVR", i);
    const unsigned shift = i % 4 * 8;
    registers_.context_masks[i] = bytes_that_count(row("TRCCIDCCTLR", i / 4) >> shift & 0xFF);
    registers_.vmid_masks[i] = bytes_that_count(row("TRCVMIDCCTLR", i / 4) >> shift & 0xFF);
  }
  for (unsigned i = 0; i < kCounters; ++i) {
    registers_.counter_controls[i] = row("TRCCNTCTLR", i);
    registers_.reloads[i] = row("TRCCNTRLDVR", i) & 0xFFFF;
    logic_.counters[i] = row("TRCCNTVR", i) & 0xFFFF;
  }
  for (unsigned i = 0; i < kSequencerEvents; ++i) registers_.transitions[i] = row("TRCSEQEVR", i);
  registers_.sequencer_reset = reg("TRCSEQRSTEVR");
  logic_.sequencer = reg("TRCSEQSTR") & 3;
  for (unsigned i = 0; i < kSingleShots; ++i) {
    registers_.shots[i] = row("TRCSSCCR", i);
    if ((row("TRCSSCSR", i) & kShotDone) != 0) logic_.shots_done |= 1U << i;
    used_.singles |= registers_.shots[i] & 0xFFFF;
    used_.pairs |= registers_.shots[i] >> 16 & 0xFF;
  }
  logic_.started = (registers_.view & kVictlrStarted) != 0;

  used_.singles |= (registers_.points & 0xFFFF) | registers_.points >> 16;
  used_.pairs |=
      (registers_.ranges & 0xFF) | (registers_.ranges >> 16 & 0xFF) | (registers_.broadcast & 0xFF);
  for (const std::uint32_t selector : registers_.selectors) {
    const std::uint32_t group = bits<19, 16>(selector);
    if (group == kSingles) used_.singles |= selector & 0xFFFF;
    if (group == kRanges) used_.pairs |= selector & 0xFF;
    used_.contexts =
        used_.contexts || ((group == kContextIds || group == kVmids) && (selector & 0xFF) != 0);
  }
  used_.singles &= (1U << std::min(caps.nr_addr_cmp * 2, kAddressComparators)) - 1;
  used_.pairs &= (1U << std::min(caps.nr_addr_cmp, kPairs)) - 1;
  used_.selectors = !is_constant(registers_.view) || !is_constant(registers_.timestamp);
  for (unsigned i = 0; i < kEvents; ++i)
    used_.selectors = used_.selectors || !is_constant(registers_.events >> (8 * i));
  used_.counts_cycles = used_.selectors;
}

bool Resources::context_matches(unsigned slot) const {
  return ((registers_.context_ids[slot] ^ logic_.at.context_id) & registers_.context_masks[slot]) ==
         0;
}

bool Resources::vmid_matches(unsigned slot) const {
  return ((registers_.vmids[slot] ^ logic_.at.vmid) & registers_.vmid_masks[slot]) == 0;
}

// Checks all conditions of a comparator except the address.
bool Resources::qualified(unsigned index) const {
  const std::uint32_t control = registers_.controls[index];
  if (bits<1, 0>(control) != 0) return false;  // Data addresses.
  if ((bits<14, 8>(control) & logic_.at.level) != 0) return false;
  const std::uint32_t type = bits<3, 2>(control);
  const std::uint32_t slot = bits<6, 4>(control);
  return ((type & 1) == 0 || context_matches(slot)) && ((type & 2) == 0 || vmid_matches(slot));
}

void Resources::compare() {
  std::uint32_t singles = 0;
  for (std::uint32_t left = used_.singles; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (registers_.addresses[i] == logic_.at.address && qualified(i)) singles |= 1U << i;
  }
  std::uint32_t pairs = 0;
  for (std::uint32_t left = used_.pairs; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const bool inside = logic_.at.address >= registers_.addresses[2 * i] &&
                        logic_.at.address <= registers_.addresses[2 * i + 1];
    if (inside && qualified(2 * i)) pairs |= 1U << i;
  }
  logic_.groups[kSingles] = singles;
  logic_.groups[kRanges] = pairs;
  std::uint32_t fired = 0;
  for (unsigned i = 0; i < kSingleShots; ++i) {
    const bool matches = (singles & registers_.shots[i] & 0xFFFF) != 0 ||
                         (pairs & (registers_.shots[i] >> 16 & 0xFF)) != 0;
    const bool again = bit<24>(registers_.shots[i]) || (logic_.shots_done >> i & 1) == 0;
    if (matches && again) fired |= 1U << i;
  }
  logic_.shots_done |= fired;
  logic_.groups[kShots] = fired;
  if (!used_.contexts) return;
  logic_.groups[kContextIds] = logic_.groups[kVmids] = 0;
  for (unsigned i = 0; i < kContextComparators; ++i) {
    if (context_matches(i)) logic_.groups[kContextIds] |= 1U << i;
    if (vmid_matches(i)) logic_.groups[kVmids] |= 1U << i;
  }
}

bool Resources::selected(unsigned number) const {
  if (number < 2) return number == 1;
  const std::uint32_t selector = registers_.selectors[number];
  const std::uint32_t group = bits<19, 16>(selector);
  const bool active =
      group < logic_.groups.size() && (logic_.groups[group] & selector & 0xFFFF) != 0;
  return active != ((selector & kSelectorInverted) != 0);
}

bool Resources::event(std::uint32_t byte) const {
  if ((byte & 0x80) == 0) return selected(byte & 0x1F);
  const unsigned even = (byte & 0xF) * 2;
  const bool both = selected(even) && selected(even + 1);
  return both != ((registers_.selectors[even] & kPairInverted) != 0);
}

// A reload takes precedence over counting.  A counter at zero stays there unless it reloads itself.
void Resources::count() {
  std::uint32_t due = 0;
  std::uint32_t reloads = 0;
  for (unsigned i = 0; i < kCounters; ++i) {
    if (event(registers_.counter_controls[i] & 0xFF)) due |= 1U << i;
    if (event(registers_.counter_controls[i] >> 8 & 0xFF)) reloads |= 1U << i;
  }
  bool reloaded_before = false;
  for (unsigned i = 0; i < kCounters; ++i) {
    const bool chained = bit<17>(registers_.counter_controls[i]) && reloaded_before;
    bool reloaded = (reloads >> i & 1) != 0;
    if (!reloaded && ((due >> i & 1) != 0 || chained)) {
      reloaded = logic_.counters[i] == 0 && bit<16>(registers_.counter_controls[i]);
      if (logic_.counters[i] != 0) --logic_.counters[i];
    }
    if (reloaded) logic_.counters[i] = registers_.reloads[i];
    reloaded_before = reloaded;
  }
}

void Resources::sequence() {
  if (event(registers_.sequencer_reset & 0xFF)) {
    logic_.sequencer = 0;
    return;
  }
  const bool forward =
      logic_.sequencer < 3 && event(registers_.transitions[logic_.sequencer] & 0xFF);
  const bool back =
      logic_.sequencer > 0 && event(registers_.transitions[logic_.sequencer - 1] >> 8 & 0xFF);
  if (forward == back) return;
  logic_.sequencer = forward ? logic_.sequencer + 1 : logic_.sequencer - 1;
}

Response Resources::cycle(bool executes) {
  Response response;
  if (used_.selectors) {
    std::uint32_t zero = 0;
    for (unsigned i = 0; i < kCounters; ++i)
      if (logic_.counters[i] == 0) zero |= 1U << i;
    logic_.groups[kCountersAndSequencer] = zero | 0x10U << logic_.sequencer;
  }
  if (executes) {
    const std::uint32_t singles = logic_.groups[kSingles];
    const std::uint32_t pairs = logic_.groups[kRanges];
    if ((singles & registers_.points & 0xFFFF) != 0) logic_.started = true;
    const bool included =
        (registers_.ranges & 0xFF) == 0 || (pairs & registers_.ranges & 0xFF) != 0;
    const bool excluded = (pairs & (registers_.ranges >> 16 & 0xFF)) != 0;
    const bool level = (bits<22, 16>(registers_.view) & logic_.at.level) == 0;
    response.traced =
        logic_.started && included && !excluded && level && event(registers_.view & kVictlrEvent);
    if ((singles & registers_.points >> 16) != 0) logic_.started = false;
  }
  std::uint32_t events = 0;
  for (unsigned i = 0; i < kEvents; ++i)
    if (event(registers_.events >> (8 * i) & 0xFF)) events |= 1U << i;
  response.events =
      static_cast<std::uint8_t>(events & ~logic_.events_were & registers_.events_in_trace);
  logic_.events_were = events;
  const bool timestamp = event(registers_.timestamp);
  response.timestamp = timestamp && !logic_.timestamp_was;
  logic_.timestamp_was = timestamp;
  if (used_.selectors) {
    count();
    sequence();
  }
  return response;
}

Response Resources::execute(const Executed& at) {
  logic_.at = at;
  compare();
  return cycle(true);
}

Response Resources::idle() {
  logic_.groups[kSingles] = logic_.groups[kRanges] = logic_.groups[kShots] = 0;
  return cycle(false);
}

bool Resources::broadcasts() const {
  std::uint32_t inside = 0;
  for (std::uint32_t left = registers_.broadcast & used_.pairs & 0xFF; left != 0;
       left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (logic_.at.address >= registers_.addresses[2 * i] &&
        logic_.at.address <= registers_.addresses[2 * i + 1] && qualified(2 * i))
      inside = 1;
  }
  return (inside != 0) == ((registers_.broadcast & kBroadcastInside) != 0);
}

}  // namespace waymark::etm4x

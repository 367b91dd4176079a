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
  view_ = reg("TRCVICTLR");
  ranges_ = reg("TRCVIIECTLR");
  points_ = reg("TRCVISSCTLR");
  broadcast_ = reg("TRCBBCTLR");
  timestamp_ = reg("TRCTSCTLR") & 0xFF;
  events_ = reg("TRCEVENTCTL0R");
  events_in_trace_ = reg("TRCEVENTCTL1R") & 0xF;
  for (unsigned i = 2; i < kSelectors; ++i) selectors_[i] = row("TRCRSCTLR", i);
  for (unsigned i = 0; i < kAddressComparators; ++i) {
    addresses_[i] = image.value("TRCACVR", i);
    controls_[i] = row("TRCACATR", i);
  }
  for (unsigned i = 0; i < kContextComparators; ++i) {
    context_ids_[i] = image.value("TRCCIDCVR", i);
    vmids_[i] = image.value("TRCVMIDCVR", i);
    const unsigned shift = i % 4 * 8;
    context_masks_[i] = bytes_that_count(row("TRCCIDCCTLR", i / 4) >> shift & 0xFF);
    vmid_masks_[i] = bytes_that_count(row("TRCVMIDCCTLR", i / 4) >> shift & 0xFF);
  }
  for (unsigned i = 0; i < kCounters; ++i) {
    counter_controls_[i] = row("TRCCNTCTLR", i);
    reloads_[i] = row("TRCCNTRLDVR", i) & 0xFFFF;
    counters_[i] = row("TRCCNTVR", i) & 0xFFFF;
  }
  for (unsigned i = 0; i < kSequencerEvents; ++i) transitions_[i] = row("TRCSEQEVR", i);
  sequencer_reset_ = reg("TRCSEQRSTEVR");
  sequencer_ = reg("TRCSEQSTR") & 3;
  for (unsigned i = 0; i < kSingleShots; ++i) {
    shots_[i] = row("TRCSSCCR", i);
    if ((row("TRCSSCSR", i) & kShotDone) != 0) shots_done_ |= 1U << i;
    used_singles_ |= shots_[i] & 0xFFFF;
    used_pairs_ |= shots_[i] >> 16 & 0xFF;
  }
  started_ = (view_ & kVictlrStarted) != 0;

  used_singles_ |= (points_ & 0xFFFF) | points_ >> 16;
  used_pairs_ |= (ranges_ & 0xFF) | (ranges_ >> 16 & 0xFF) | (broadcast_ & 0xFF);
  for (const std::uint32_t selector : selectors_) {
    const std::uint32_t group = bits<19, 16>(selector);
    if (group == kSingles) used_singles_ |= selector & 0xFFFF;
    if (group == kRanges) used_pairs_ |= selector & 0xFF;
    uses_contexts_ =
        uses_contexts_ || ((group == kContextIds || group == kVmids) && (selector & 0xFF) != 0);
  }
  used_singles_ &= (1U << std::min(caps.nr_addr_cmp * 2, kAddressComparators)) - 1;
  used_pairs_ &= (1U << std::min(caps.nr_addr_cmp, kPairs)) - 1;
  uses_selectors_ = !is_constant(view_) || !is_constant(timestamp_);
  for (unsigned i = 0; i < kEvents; ++i)
    uses_selectors_ = uses_selectors_ || !is_constant(events_ >> (8 * i));
  counts_cycles_ = uses_selectors_;
}

bool Resources::context_matches(unsigned slot) const {
  return ((context_ids_[slot] ^ at_.context_id) & context_masks_[slot]) == 0;
}

bool Resources::vmid_matches(unsigned slot) const {
  return ((vmids_[slot] ^ at_.vmid) & vmid_masks_[slot]) == 0;
}

// Checks all conditions of a comparator except the address.
bool Resources::qualified(unsigned index) const {
  const std::uint32_t control = controls_[index];
  if (bits<1, 0>(control) != 0) return false;  // Data addresses.
  if ((bits<14, 8>(control) & at_.level) != 0) return false;
  const std::uint32_t type = bits<3, 2>(control);
  const std::uint32_t slot = bits<6, 4>(control);
  return ((type & 1) == 0 || context_matches(slot)) && ((type & 2) == 0 || vmid_matches(slot));
}

void Resources::compare() {
  std::uint32_t singles = 0;
  for (std::uint32_t left = used_singles_; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (addresses_[i] == at_.address && qualified(i)) singles |= 1U << i;
  }
  std::uint32_t pairs = 0;
  for (std::uint32_t left = used_pairs_; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    const bool inside = at_.address >= addresses_[2 * i] && at_.address <= addresses_[2 * i + 1];
    if (inside && qualified(2 * i)) pairs |= 1U << i;
  }
  groups_[kSingles] = singles;
  groups_[kRanges] = pairs;
  std::uint32_t fired = 0;
  for (unsigned i = 0; i < kSingleShots; ++i) {
    const bool matches =
        (singles & shots_[i] & 0xFFFF) != 0 || (pairs & (shots_[i] >> 16 & 0xFF)) != 0;
    const bool again = bit<24>(shots_[i]) || (shots_done_ >> i & 1) == 0;
    if (matches && again) fired |= 1U << i;
  }
  shots_done_ |= fired;
  groups_[kShots] = fired;
  if (!uses_contexts_) return;
  groups_[kContextIds] = groups_[kVmids] = 0;
  for (unsigned i = 0; i < kContextComparators; ++i) {
    if (context_matches(i)) groups_[kContextIds] |= 1U << i;
    if (vmid_matches(i)) groups_[kVmids] |= 1U << i;
  }
}

bool Resources::selected(unsigned number) const {
  if (number < 2) return number == 1;
  const std::uint32_t selector = selectors_[number];
  const std::uint32_t group = bits<19, 16>(selector);
  const bool active = group < groups_.size() && (groups_[group] & selector & 0xFFFF) != 0;
  return active != ((selector & kSelectorInverted) != 0);
}

bool Resources::event(std::uint32_t byte) const {
  if ((byte & 0x80) == 0) return selected(byte & 0x1F);
  const unsigned even = (byte & 0xF) * 2;
  const bool both = selected(even) && selected(even + 1);
  return both != ((selectors_[even] & kPairInverted) != 0);
}

// A reload takes precedence over counting.  A counter at zero stays there unless it reloads itself.
void Resources::count() {
  std::uint32_t due = 0;
  std::uint32_t reloads = 0;
  for (unsigned i = 0; i < kCounters; ++i) {
    if (event(counter_controls_[i] & 0xFF)) due |= 1U << i;
    if (event(counter_controls_[i] >> 8 & 0xFF)) reloads |= 1U << i;
  }
  bool reloaded_before = false;
  for (unsigned i = 0; i < kCounters; ++i) {
    const bool chained = bit<17>(counter_controls_[i]) && reloaded_before;
    bool reloaded = (reloads >> i & 1) != 0;
    if (!reloaded && ((due >> i & 1) != 0 || chained)) {
      reloaded = counters_[i] == 0 && bit<16>(counter_controls_[i]);
      if (counters_[i] != 0) --counters_[i];
    }
    if (reloaded) counters_[i] = reloads_[i];
    reloaded_before = reloaded;
  }
}

void Resources::sequence() {
  if (event(sequencer_reset_ & 0xFF)) {
    sequencer_ = 0;
    return;
  }
  const bool forward = sequencer_ < 3 && event(transitions_[sequencer_] & 0xFF);
  const bool back = sequencer_ > 0 && event(transitions_[sequencer_ - 1] >> 8 & 0xFF);
  if (forward == back) return;
  sequencer_ = forward ? sequencer_ + 1 : sequencer_ - 1;
}

Response Resources::cycle(bool executes) {
  Response response;
  if (uses_selectors_) {
    std::uint32_t zero = 0;
    for (unsigned i = 0; i < kCounters; ++i)
      if (counters_[i] == 0) zero |= 1U << i;
    groups_[kCountersAndSequencer] = zero | 0x10U << sequencer_;
  }
  if (executes) {
    const std::uint32_t singles = groups_[kSingles];
    const std::uint32_t pairs = groups_[kRanges];
    if ((singles & points_ & 0xFFFF) != 0) started_ = true;
    const bool included = (ranges_ & 0xFF) == 0 || (pairs & ranges_ & 0xFF) != 0;
    const bool excluded = (pairs & (ranges_ >> 16 & 0xFF)) != 0;
    const bool level = (bits<22, 16>(view_) & at_.level) == 0;
    response.traced = started_ && included && !excluded && level && event(view_ & kVictlrEvent);
    if ((singles & points_ >> 16) != 0) started_ = false;
  }
  std::uint32_t events = 0;
  for (unsigned i = 0; i < kEvents; ++i)
    if (event(events_ >> (8 * i) & 0xFF)) events |= 1U << i;
  response.events = static_cast<std::uint8_t>(events & ~events_were_ & events_in_trace_);
  events_were_ = events;
  const bool timestamp = event(timestamp_);
  response.timestamp = timestamp && !timestamp_was_;
  timestamp_was_ = timestamp;
  if (uses_selectors_) {
    count();
    sequence();
  }
  return response;
}

Response Resources::execute(const Executed& at) {
  at_ = at;
  compare();
  return cycle(true);
}

Response Resources::idle() {
  groups_[kSingles] = groups_[kRanges] = groups_[kShots] = 0;
  return cycle(false);
}

bool Resources::broadcasts() const {
  std::uint32_t inside = 0;
  for (std::uint32_t left = broadcast_ & used_pairs_ & 0xFF; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    if (at_.address >= addresses_[2 * i] && at_.address <= addresses_[2 * i + 1] &&
        qualified(2 * i))
      inside = 1;
  }
  return (inside != 0) == ((broadcast_ & kBroadcastInside) != 0);
}

}  // namespace waymark::etm4x

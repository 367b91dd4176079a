// Random plans, small enough that many fit a unit.
#pragma once

#include "support/random.h"
#include "waymark/etm4x/plan.h"

namespace waymark::etm4x {

inline Match random_match(support::Random& random, bool range) {
  Match match;
  match.first = random.below(64) * 0x100ULL;
  match.last = range ? match.first + random.below(4) * 0x80ULL : match.first;
  if (random.one_in(6)) match.context_id = ContextMatch{random.below(3) + 1ULL, 0};
  if (random.one_in(12)) match.context_id = ContextMatch{0x1200, 1};
  if (random.one_in(8)) match.vmid = ContextMatch{random.below(2) + 1ULL, 0};
  if (random.one_in(8)) match.no_levels = static_cast<std::uint8_t>(1 + random.below(0x7E));
  return match;
}

inline Resource random_resource(support::Random& random, ResourceKind kind) {
  Resource resource{kind, 0, {}};
  switch (kind) {
    case ResourceKind::kAddress:
    case ResourceKind::kRange:
      resource.match = random_match(random, kind == ResourceKind::kRange);
      break;
    case ResourceKind::kContextId:
      resource.match.context_id = ContextMatch{random.below(3) + 1ULL, 0};
      break;
    case ResourceKind::kVmid:
      resource.match.vmid = ContextMatch{random.below(3) + 1ULL, 0};
      break;
    case ResourceKind::kExternal:
      resource.number = random.one_in(3) ? random.below(4) : 0;
      break;
    default:
      resource.number = random.below(3);
      break;
  }
  return resource;
}

inline Term random_term(support::Random& random) {
  Term term;
  term.inverted = random.one_in(3);
  const auto kind = static_cast<ResourceKind>(random.below(9));
  const unsigned count = random.between(1, 2);
  for (unsigned i = 0; i < count; ++i) {
    const Resource resource = random_resource(random, kind);
    if (term.any.empty() || !(term.any.front() == resource)) term.any.push_back(resource);
  }
  return term;
}

inline Event random_event(support::Random& random) {
  Event event;
  event.kind = static_cast<EventKind>(random.below(5));
  if (event.kind == EventKind::kNever || event.kind == EventKind::kAlways) return event;
  event.a = random_term(random);
  if (event.kind != EventKind::kTerm) event.b = random_term(random);
  return event;
}

inline Plan random_plan(support::Random& random) {
  Plan plan;
  const auto flag = [&](Setting<bool>& setting) {
    if (random.one_in(4)) setting = {true, 1};
  };
  for (unsigned i = random.below(3); i > 0; --i) {
    plan.ranges.push_back({random_match(random, true), random.one_in(3), 1});
  }
  for (unsigned i = random.below(3); i > 0; --i) {
    plan.points.push_back({random_match(random, false), random.coin(), 1});
  }
  if (random.one_in(3)) plan.begin_started = {random.coin(), 1};
  if (random.coin())
    plan.levels = {static_cast<std::uint8_t>(random.pick({0x30, 0x10, 0x32, 0x70})), 1};
  if (random.one_in(3)) plan.when = PlanEvent{random_event(random), 1};
  flag(plan.trace_context_id);
  if (random.one_in(5)) plan.trace_vmid = {random.one_in(4), 1};
  if (random.one_in(3)) plan.cycles = {random.one_in(3) ? 0 : random.between(4, 0xFFF), 1};
  if (random.one_in(3)) plan.timestamps = PlanEvent{random_event(random), 1};
  if (random.one_in(4)) {
    plan.broadcast = static_cast<BroadcastKind>(random.between(1, 3));
    plan.broadcast_line = 1;
    if (plan.broadcast != BroadcastKind::kEverywhere) {
      plan.broadcast_ranges.push_back({random_match(random, true), false, 1});
    }
  }
  flag(plan.return_stack);
  flag(plan.stall_priority);
  flag(plan.trace_reset);
  flag(plan.atb_trigger);
  flag(plan.low_power_override);
  if (random.one_in(6)) plan.stall = {static_cast<std::uint8_t>(random.below(16)), 1};
  if (random.one_in(4)) plan.sync = {static_cast<std::uint8_t>(random.pick({0, 8, 12, 20})), 1};
  for (unsigned i = 0; i < plan.events.size(); ++i) {
    if (!random.one_in(4)) continue;
    Event event = random_event(random);
    const bool traced = random.coin();
    // An output that never fires is not a setting.
    if (event.kind == EventKind::kNever && !traced) continue;
    plan.events[i] = PlanEvent{std::move(event), 1};
    if (traced) plan.events_in_trace |= 1U << i;
  }
  const bool strobes = random.one_in(8) && !plan.when;
  if (strobes) plan.strobe = PlanStrobe{random.between(1, 9999), random.between(1, 99), 1};
  for (unsigned i = strobes ? 2 : 0; i < kCounters; ++i) {
    if (!random.one_in(4)) continue;
    PlanCounter& counter = plan.counters[i];
    counter.value = static_cast<std::uint32_t>(random.bits(16));
    counter.reload = static_cast<std::uint32_t>(random.bits(16)) | 1;
    counter.self_reload = random.coin();
    counter.chain = i % 2 != 0 && random.coin();
    counter.count = random_event(random);
    counter.line = 1;
  }
  if (random.one_in(4) && !strobes) {
    plan.forward[random.below(3)] = {random_event(random), 1};
    plan.back[random.below(3)] = {random_event(random), 1};
    plan.sequencer_state = {static_cast<std::uint8_t>(random.below(4)), 1};
  }
  if (random.one_in(4)) {
    PlanShot& shot = plan.shots[0];
    shot.addresses.push_back(random_match(random, false));
    shot.repeat = random.coin();
    shot.line = 1;
  }
  return plan;
}

}  // namespace waymark::etm4x

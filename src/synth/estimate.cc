#include "waymark/synth/estimate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "waymark/etmv4/packet.h"

namespace waymark::synth {
namespace {

enum Kind : std::size_t {
  kAtoms,
  kAddresses,
  kContexts,
  kExceptions,
  kCycleCounts,
  kTimestamps,
  kEvents,
  kSyncs,
  kTraceOns,
  kOthers,
  kKinds
};
constexpr std::array<std::string_view, kKinds> kKindNames = {
    "atoms",      "addresses", "contexts",        "exceptions", "cycle counts",
    "timestamps", "events",    "synchronisation", "trace on",   "others"};

Kind kind_of(etmv4::PacketType type) {
  using enum etmv4::PacketType;
  switch (type) {
    case kAtomF1:
    case kAtomF2:
    case kAtomF3:
    case kAtomF4:
    case kAtomF5:
    case kAtomF6:
      return kAtoms;
    case kAddressMatch:
    case kAddressShortIs0:
    case kAddressShortIs1:
    case kAddress32Is0:
    case kAddress32Is1:
    case kAddress64Is0:
    case kAddress64Is1:
      return kAddresses;
    case kContext:
    case kAddressContext32Is0:
    case kAddressContext32Is1:
    case kAddressContext64Is0:
    case kAddressContext64Is1:
      return kContexts;
    case kException:
    case kExceptionReturn:
      return kExceptions;
    case kCycleCountF1:
    case kCycleCountF2:
    case kCycleCountF3:
      return kCycleCounts;
    case kTimestamp:
      return kTimestamps;
    case kEvent:
      return kEvents;
    case kAsync:
    case kTraceInfo:
      return kSyncs;
    case kTraceOn:
      return kTraceOns;
    default:
      return kOthers;
  }
}

/// Counts packets by kind, and keeps the first damage.
class Counter final : public Observer {
 public:
  void on_packet(const PacketRef& packet) override {
    Estimate::PacketShare& share = shares[kind_of(packet.as<etmv4::Packet>().type)];
    ++share.packets;
    share.bytes += packet.bytes.size();
  }
  void on_diagnostic(const Diagnostic& record) override {
    if (damage.empty()) damage = fmt::format("index {}: {}", record.index, describe(record));
  }

  std::array<Estimate::PacketShare, kKinds> shares{};
  std::string damage;
};

/// Counts instructions in the ranges of a decoder.
class Coverage {
 public:
  void add(const Element& element) {
    if (element.kind != ElementKind::kInstrRange) return;
    instructions_[{element.start, element.end}] += element.count;
  }

  [[nodiscard]] std::vector<Estimate::Stretch> stretches(
      const std::vector<std::uint64_t>& bounds) const {
    std::vector<Estimate::Stretch> joined;
    for (const auto& [range, instructions] : instructions_) {
      const auto [first, end] = range;
      const bool joins =
          !joined.empty() && first <= joined.back().end &&
          (first == joined.back().first || !std::ranges::binary_search(bounds, first));
      if (!joins) joined.push_back({first, first, 0});
      joined.back().end = std::max(joined.back().end, end);
      joined.back().instructions += instructions;
    }
    return joined;
  }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> instructions_;
};

}  // namespace

Result<Estimate> estimate_trace(const ProgrammedOptions& options, const Program& program,
                                const ExecutionOptions& execution,
                                const std::vector<std::uint64_t>& bounds) {
  constexpr std::size_t kStretch = std::size_t{64} << 10;
  auto unit = make_programmed_unit(options, program, execution, false);
  if (!unit) return std::unexpected(unit.error());
  const auto image = program.image();
  const auto source = (*unit)->make_source(*image);
  if (source == nullptr)
    return fail(ErrorCode::kUnsupported, "Trace made with these registers cannot be decoded.");
  Counter counter;
  Coverage coverage;
  source->set_observer(&counter, source->trace_id());
  std::array<Element, 256> elements;
  const auto drain = [&] {
    while (const std::size_t count = source->next(elements))
      for (const Element& element : std::span(elements).first(count)) coverage.add(element);
  };
  std::vector<std::uint8_t> bytes;
  Estimate estimate;
  for (bool ended = false; !ended;) {
    bytes.clear();
    (*unit)->run(bytes, kStretch);
    ended = (*unit)->exhausted();
    if (ended) (*unit)->finish(bytes);
    const frames::Run run{.position = 0, .index = estimate.bytes};
    source->feed({bytes, {&run, bytes.empty() ? 0U : 1U}});
    drain();
    estimate.bytes += bytes.size();
  }
  source->finish();
  drain();
  WAYMARK_TRY((*unit)->status());
  if (!counter.damage.empty())
    return fail(ErrorCode::kBadData,
                fmt::format("The generated trace cannot be decoded: {}", counter.damage));
  const TruthTotals& totals = (*unit)->truth().totals();
  estimate.traced = totals.instructions;
  estimate.executed = totals.instructions + totals.hidden_instructions;
  estimate.stretches = coverage.stretches(bounds);
  for (std::size_t i = 0; i < kKinds; ++i) {
    counter.shares[i].kind = kKindNames[i];
    if (counter.shares[i].packets != 0) estimate.packets.push_back(counter.shares[i]);
  }
  std::ranges::sort(estimate.packets, std::ranges::greater{}, &Estimate::PacketShare::bytes);
  return estimate;
}

}  // namespace waymark::synth

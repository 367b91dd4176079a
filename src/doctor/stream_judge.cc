#include "waymark/doctor/stream_judge.h"

#include <algorithm>
#include <bit>

#include "registers.h"
#include "waymark/inputs/detect.h"

namespace waymark::doctor {

std::string_view confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::kNone:
      return "unknown";
    case Confidence::kGuess:
      return "guess";
    case Confidence::kLikely:
      return "likely";
    case Confidence::kSure:
      return "sure";
  }
  return "";
}

std::uint32_t KnownField::number() const {
  return mask == 0 ? 0 : value >> static_cast<unsigned>(std::countr_zero(mask));
}

namespace {

constexpr double kLeastScore = 0.25;
constexpr double kLikelyScore = 0.6;
constexpr double kSureScore = 0.9;
constexpr std::uint64_t kLikelyPackets = 24;
constexpr std::uint64_t kSurePackets = 200;
/// A few packets may be those of another stream.
constexpr std::uint64_t kStatedPackets = 64;
/// How far the score of the second protocol must be below that of the first.
constexpr double kClearMargin = 0.75;

/// A protocol with the registers that fit best.
struct Fit {
  const ProtocolTrial* protocol = nullptr;
  Registers registers{};
  Trial trial{};
  std::vector<KnownField> known{};  ///< By trying.
};

/// Registers that the headers of packets depend on, as far as the packets so far show them.
void follow_packets(const ProtocolTrial& protocol, const Trial& trial, Registers& registers) {
  for (const KnownField& field : witnessed_fields(protocol.protocol, trial))
    set_field(registers, field.register_name, field.mask, field.value);
  if (!trial.has_info) return;
  if ((trial.info >> 1 & 7) != 0) set_field(registers, "TRCIDR0", 0x40, 0x40);
  // Loads or stores are traced, so there is a data stream.
  if ((trial.info >> 4 & 3) != 0) {
    set_field(registers, "TRCIDR0", 0x18, 0x18);
    set_field(registers, "TRCCONFIGR", 0x30000, 0x30000);
  }
}

/// Tries each value of each field, one field after the other, and keeps what costs least.
class Search {
 public:
  Search(Bytes stream, const ProtocolTrial& protocol) : stream_(stream) {
    fit_.protocol = &protocol;
    for (const auto& [name, value] : protocol.registers)
      fit_.registers.emplace_back(std::string(name), value);
    fit_.trial = read(fit_.registers);
  }

  Fit run() {
    if (fit_.trial.syncs == 0) return std::move(fit_);
    follow_packets(*fit_.protocol, fit_.trial, fit_.registers);
    fit_.trial = read(fit_.registers);
    // A field that becomes readable through another one may show a third one.
    for (int round = 0; round < 2; ++round) {
      fit_.known.clear();
      for (const Axis& axis : fit_.protocol->axes) choose(axis);
    }
    return std::move(fit_);
  }

 private:
  [[nodiscard]] Trial read(const Registers& registers) const {
    return try_protocol(stream_, fit_.protocol->type, registers);
  }

  void choose(const Axis& axis) {
    const std::uint32_t mask = axis.mask();
    std::vector<std::pair<std::uint32_t, std::uint64_t>> costs;
    std::uint32_t best = value_of(fit_.registers, axis.register_name) & mask;
    costs.emplace_back(best, cost(fit_.trial));
    for (const std::uint32_t value : axis.values) {
      if (value == costs.front().first) continue;
      Registers registers = fit_.registers;
      set_field(registers, axis.register_name, mask, value);
      Trial trial = read(registers);
      costs.emplace_back(value, cost(trial));
      if (cost(trial) >= cost(fit_.trial)) continue;
      fit_.registers = std::move(registers);
      fit_.trial = trial;
      best = value;
    }
    if (axis.why.empty()) return;
    for (const FieldPart& part : axis.parts) {
      std::uint64_t next = ~std::uint64_t{0};  // The least cost of the field's other values.
      for (const auto& [value, with_value] : costs)
        if ((value & part.mask) != (best & part.mask)) next = std::min(next, with_value);
      const bool occurs = !part.witness || fit_.trial.has(*part.witness);
      if (occurs && proven(next))
        fit_.known.push_back(
            {axis.register_name, part.field, part.mask, best & part.mask, axis.why});
    }
  }

  /// Bytes that are skipped after a bad packet are as bad as it is.
  static std::uint64_t cost(const Trial& trial) {
    const std::uint64_t skipped = trial.size - std::min(trial.size, trial.leading + trial.read);
    return trial.cost() + skipped / 8;
  }

  /// Every other value is clearly worse.
  [[nodiscard]] bool proven(std::uint64_t next) const {
    constexpr std::uint64_t kLeastDifference = 12;
    return next >= 2 * cost(fit_.trial) + kLeastDifference;
  }

  Bytes stream_;
  Fit fit_;
};

bool enough(const Trial& trial, std::uint64_t packets) { return trial.packets >= packets; }

Confidence confidence_of(const Trial& trial, double second, bool in_sync) {
  const double score = trial.score();
  if (score < kLeastScore) return Confidence::kNone;
  const bool clear = second <= kClearMargin * score;
  const bool synced = trial.followed >= 2 || (trial.followed == 1 && trial.bad == 0);
  if (score >= kSureScore && clear && synced && !in_sync && enough(trial, kSurePackets))
    return Confidence::kSure;
  if (score >= kLikelyScore && clear && enough(trial, kLikelyPackets)) return Confidence::kLikely;
  return Confidence::kGuess;
}

/// ITM of which no synchronisation was captured.
Trial try_itm_without_sync(Bytes stream) {
  constexpr std::uint64_t kLeastPackets = 40;
  Trial trial = try_protocol(stream, "ITM", {}, true);
  const bool one_value = std::ranges::adjacent_find(stream, std::not_equal_to{}) == stream.end();
  // Most packets of other streams, read from their first byte, are not data.
  if (one_value || trial.packets < kLeastPackets || trial.data * 4 < trial.packets) return {};
  if (trial.common * 20 < trial.data * 19) return {};
  return trial;
}

bool is_etmv4(std::string_view protocol) { return protocol == "etmv4" || protocol == "ete"; }

/// Both read the stream equally well unless packets occur that only one of them has.
void note_ete_or_etm(const std::vector<Fit>& fits, Verdict& verdict) {
  if (!is_etmv4(verdict.protocol)) return;
  const bool shown = verdict.trial.has(Witness::kEteOnly) || verdict.trial.has(Witness::kEtmOnly);
  if (shown && verdict.trial.bad == 0) return;
  const auto own = std::ranges::find(fits, verdict.protocol,
                                     [](const Fit& fit) { return fit.protocol->protocol; });
  const auto other = std::ranges::find_if(fits, [&](const Fit& fit) {
    return is_etmv4(fit.protocol->protocol) && fit.protocol->protocol != verdict.protocol;
  });
  // Damage may look like one of these packets.
  verdict.ete_or_etm =
      other != fits.end() && other->trial.cost() <= 2 * own->trial.cost() + (shown ? 12 : 0);
}

Verdict verdict_of_mtb(Bytes stream) {
  Verdict verdict{.protocol = "mtb", .confidence = Confidence::kSure};
  verdict.trial.size = verdict.trial.read = stream.size();
  verdict.trial.packets = stream.size() / 8;
  verdict.trial.cut = stream.size() % 8 != 0;
  verdict.open.push_back({"POSITION", "", "where the newest record is"});
  verdict.candidates.push_back({"mtb", 1.0});
  return verdict;
}

/// The candidates in the order of their scores.
void rank(const std::vector<Fit>& fits, Verdict& verdict) {
  for (const Fit& fit : fits) {
    const double score = fit.trial.score();
    if (score > 0) verdict.candidates.push_back({fit.protocol->protocol, score});
  }
  std::ranges::stable_sort(verdict.candidates, std::greater{}, &Candidate::score);
}

double second_score(const Verdict& verdict) {
  for (const Candidate& candidate : verdict.candidates) {
    if (candidate.protocol == verdict.protocol) continue;
    if (is_etmv4(candidate.protocol) && is_etmv4(verdict.protocol)) continue;
    return candidate.score;
  }
  return 0;
}

/// Only later versions have VMIDs of more than 8 bits; etmv4-ete.md 1.
void add_wide_vmids(Verdict& verdict) {
  if (verdict.protocol != "etmv4" || !verdict.least.empty()) return;
  const auto size = std::ranges::find(verdict.known, "VMIDSIZE", &KnownField::field);
  if (size != verdict.known.end() && size->number() > 1)
    verdict.least.push_back(
        {kMinorVersion.register_name, kMinorVersion.field, 1, "VMIDs have more than 8 bits"});
}

void add_known_fields(const ProtocolTrial& protocol, const Fit& fit, Verdict& verdict) {
  verdict.registers = fit.registers;
  // Damage, or another protocol, shows packets that were never sent.
  if (verdict.confidence < Confidence::kLikely || verdict.trial.bad != 0 ||
      !enough(verdict.trial, kStatedPackets))
    return;
  verdict.least = least_fields(protocol.protocol, verdict.trial);
  verdict.known = witnessed_fields(protocol.protocol, verdict.trial);
  for (const KnownField& field : verdict.known)
    set_field(verdict.registers, field.register_name, field.mask, field.value);
  for (const KnownField& field : fit.known) {
    const auto same = [&](const KnownField& known) {
      return known.register_name == field.register_name && known.mask == field.mask;
    };
    if (std::ranges::none_of(verdict.known, same)) verdict.known.push_back(field);
  }
  add_wide_vmids(verdict);
}

void add_open_fields(const ProtocolTrial& protocol, Verdict& verdict) {
  for (const OpenField& field : protocol.open) {
    const bool speculation = field.register_name == "TRCIDR8";
    if (!speculation || verdict.trial.has(Witness::kCommit)) verdict.open.push_back(field);
  }
}

/// If the stream has damage, this is what its good packets show.
void add_unknown_fields(Verdict& verdict) {
  if (!is_etmv4(verdict.protocol)) return;
  verdict.unknown.push_back({"TRCCONFIGR", "BB", broadcast_words(verdict.trial.taken)});
  if (!verdict.least.empty()) return;
  const VersionField& version = verdict.protocol == "ete" ? kEteVersion : kMinorVersion;
  verdict.unknown.push_back(
      {version.register_name, version.field,
       verdict.ete_or_etm
           ? "nothing distinguishes an ETMv4 from an ETE"
           : "no packet occurs that only later versions have, so all versions read it alike"});
}

}  // namespace

Verdict judge(Bytes stream, bool framed) {
  Verdict verdict;
  verdict.trial.size = stream.size();
  if (stream.empty()) return verdict;
  const Bytes part = stream.first(std::min(stream.size(), kTrialBytes));
  if (!framed && inputs::detect(part).kind == inputs::InputKind::kMtbRecords)
    return verdict_of_mtb(stream);
  std::vector<Fit> fits;
  for (const ProtocolTrial& protocol : protocol_trials())
    fits.push_back(Search(part, protocol).run());
  rank(fits, verdict);
  const auto best =
      std::ranges::max_element(fits, std::less{}, [](const Fit& fit) { return fit.trial.score(); });
  if (best->trial.score() < kLeastScore) {
    Trial trial = try_itm_without_sync(part);
    if (trial.score() < kLikelyScore) return verdict;
    verdict.protocol = "itm";
    verdict.starts_in_sync = true;
    verdict.candidates.insert(verdict.candidates.begin(), {"itm", trial.score()});
    verdict.trial = try_protocol(stream, "ITM", {}, true);
    verdict.confidence = confidence_of(trial, second_score(verdict), true);
    verdict.known = witnessed_fields("itm", verdict.trial);
    return verdict;
  }
  const ProtocolTrial& protocol = *best->protocol;
  verdict.protocol = protocol.protocol;
  verdict.trial = part.size() == stream.size()
                      ? best->trial
                      : try_protocol(stream, protocol.type, best->registers);
  verdict.confidence = confidence_of(best->trial, second_score(verdict), false);
  note_ete_or_etm(fits, verdict);
  add_known_fields(protocol, *best, verdict);
  add_open_fields(protocol, verdict);
  add_unknown_fields(verdict);
  return verdict;
}

}  // namespace waymark::doctor

#include "quirk_choice.h"

#include <cstdlib>
#include <span>

#include "waymark/etmv3/quirks.h"
#include "waymark/etmv4/quirks.h"
#include "waymark/itm/quirks.h"
#include "waymark/ptm/quirks.h"
#include "waymark/stm/quirks.h"

namespace waymark::compat {
namespace {

enum Group : std::size_t { kFrames, kEtmV3, kEtmV4, kPtm, kStm, kItm };

constexpr Group group_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
      return kEtmV3;
    case Protocol::kPtm:
      return kPtm;
    case Protocol::kStm:
      return kStm;
    case Protocol::kItm:
      return kItm;
    case Protocol::kEtmV4:
    case Protocol::kEte:
    case Protocol::kEtmV4Data:
    case Protocol::kMtb:
      break;
  }
  return kEtmV4;
}

struct GroupNames {
  std::string_view name;
  std::vector<std::string_view> quirks;
};

template <class... Tables>
std::vector<std::string_view> names_of(const Tables&... tables) {
  std::vector<std::string_view> names;
  const auto add = [&](const auto& table) {
    for (const auto& row : table) names.push_back(row.name);
  };
  (add(tables), ...);
  return names;
}

/// In the order of Group.
const std::array<GroupNames, 6>& groups() {
  static const std::array<GroupNames, 6> kAll{{
      {"frames", names_of(frames::kQuirks)},
      {"etmv3", names_of(etmv3::kParserQuirks, etmv3::kDecoderQuirks)},
      {"etmv4", names_of(etmv4::kQuirks, etmv4::kOlderQuirks)},
      {"ptm", names_of(ptm::kQuirks)},
      {"stm", names_of(stm::kQuirks, stm::kOlderQuirks)},
      {"itm", names_of(itm::kQuirks)},
  }};
  return kAll;
}

constexpr std::uint64_t low_bits(std::size_t count) { return (std::uint64_t{1} << count) - 1; }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

/// False: nothing has this name.
bool QuirkChoice::set(std::string_view item) {
  const bool on = !item.starts_with('-');
  if (item.starts_with('-') || item.starts_with('+')) item.remove_prefix(1);
  const std::string_view group = item.substr(0, item.find('.'));
  const bool whole = group.size() == item.size();
  for (std::size_t i = 0; i < kGroups; ++i) {
    const GroupNames& names = groups()[i];
    if (group != names.name) continue;
    if (whole) {
      off_[i] = on ? 0 : low_bits(names.quirks.size());
      return true;
    }
    for (std::size_t row = 0; row < names.quirks.size(); ++row) {
      if (item.substr(group.size() + 1) != names.quirks[row]) continue;
      const std::uint64_t bit = std::uint64_t{1} << row;
      off_[i] = on ? off_[i] & ~bit : off_[i] | bit;
      return true;
    }
  }
  return false;
}

void QuirkChoice::search_after_bad_packet() {
  set("-stm.no_search_after_bad_packet");
  set("-itm.goes_on_after_bad_packet");
}

QuirkChoice QuirkChoice::parse(std::string_view text, std::vector<std::string>& unknown,
                               const Level& level) {
  QuirkChoice none;
  for (std::size_t i = 0; i < kGroups; ++i) none.off_[i] = low_bits(groups()[i].quirks.size());
  QuirkChoice all;
  static_assert(kLevels.front().quirks.empty(), "the oldest level has every quirk");
  if (!level.quirks.empty()) all = parse(level.quirks, unknown, kLevels.front());
  QuirkChoice choice = all;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    const std::string_view item = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (item.empty()) continue;
    const QuirkChoice before = choice;
    if (first && !item.starts_with('-')) choice = none;
    if (item == "all") {
      choice = all;
    } else if (item == "none") {
      choice = none;
    } else if (!choice.set(item)) {
      // A misspelt name must not switch off all others.
      choice = before;
      unknown.emplace_back(item);
      continue;
    }
    first = false;
  }
  return choice;
}

QuirkChoice QuirkChoice::of_environment(std::vector<std::string>& unknown) {
  // A program that changes the environment at the same time must lock it.
  const char* const text = std::getenv(kQuirksVariable);
  return parse(text == nullptr ? "" : text, unknown, chosen_level().value_or(default_level()));
}

QuirkChoice QuirkChoice::of_environment() {
  std::vector<std::string> unknown;
  return of_environment(unknown);
}

QuirkSet QuirkChoice::on(Protocol protocol) const {
  const std::uint64_t on = ~off_[group_of(protocol)];
  const auto with_older = [on](std::size_t own, std::size_t older) {
    return (on & low_bits(own)) | (on >> own & low_bits(older)) << kOlderQuirkBit;
  };
  switch (group_of(protocol)) {
    case kEtmV4:
      return with_older(etmv4::kQuirks.size(), etmv4::kOlderQuirks.size());
    case kStm:
      return with_older(stm::kQuirks.size(), stm::kOlderQuirks.size());
    default:
      return on & low_bits(groups()[group_of(protocol)].quirks.size());
  }
}

frames::Quirks QuirkChoice::frames() const { return frames::Quirks::of(~off_[kFrames]); }

std::vector<std::string> quirk_names() {
  std::vector<std::string> names;
  for (const GroupNames& group : groups())
    for (const std::string_view quirk : group.quirks)
      names.push_back(std::string(group.name) + '.' + std::string(quirk));
  return names;
}

}  // namespace waymark::compat

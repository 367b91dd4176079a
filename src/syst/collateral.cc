#include "waymark/syst/collateral.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "waymark/base/bits.h"

namespace waymark::syst {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

const std::uint64_t kSeed = [] {
  const auto time = std::chrono::high_resolution_clock::now().time_since_epoch().count();
  const auto place = reinterpret_cast<std::uintptr_t>(&time);
  return static_cast<std::uint64_t>(time) * 0x9E3779B97F4A7C15U ^ place;
}();

constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
  return value ^ value >> 31U;
}

}  // namespace

std::size_t MixedHash::operator()(std::uint64_t value) const {
  return static_cast<std::size_t>(mix(value ^ kSeed));
}

std::size_t MixedHash::operator()(const Guid& guid) const {
  const auto low = load_le<std::uint64_t>(guid.bytes.data());
  const auto high = load_le<std::uint64_t>(guid.bytes.data() + 8);
  return static_cast<std::size_t>(mix(mix(low ^ kSeed) + high));
}

std::size_t EntryTable::position(std::uint64_t id) const {
  const auto found = exact_.find(id);
  std::size_t first = found == exact_.end() ? kNone : found->second;
  for (const Masked& masked : masked_) {
    const auto at = masked.entries.find(id & masked.mask);
    if (at != masked.entries.end()) first = std::min(first, at->second);
  }
  return first;
}

std::optional<std::string> EntryTable::add(Entry entry) {
  const std::size_t at = position(entry.id);
  if (at != kNone && entries_[at].text != entry.text) {
    // The new entry keeps the mask under which the old one is found.
    entry.id = entries_[at].id;
    entry.mask = entries_[at].mask;
    std::swap(entries_[at], entry);
    return std::move(entry.text);
  }
  if (entry.mask == kAllBits) {
    exact_.emplace(entry.id, entries_.size());
  } else {
    auto masked = std::ranges::find(masked_, entry.mask, &Masked::mask);
    if (masked == masked_.end()) masked = masked_.insert(masked_.end(), {entry.mask, {}});
    masked->entries.emplace(entry.id & entry.mask, entries_.size());
  }
  entries_.push_back(std::move(entry));
  return std::nullopt;
}

const Entry* EntryTable::find(std::uint64_t id) const {
  const std::size_t at = position(id);
  return at == kNone ? nullptr : &entries_[at];
}

const Client* Collateral::find(const Guid& guid, std::optional<std::uint64_t> build) const {
  // The client that was loaded first wins.
  const Client* of_build = nullptr;
  const Client* without_builds = nullptr;
  const Client* first = nullptr;
  const auto take = [](const Client*& best, const Client* client) {
    if (best == nullptr || client->number < best->number) best = client;
  };
  for (const Masked& masked : masked_) {
    const auto found = masked.clients.find(guid & masked.mask);
    if (found == masked.clients.end()) continue;
    take(first, found->second.front());
    if (!build) continue;
    for (const Client* const client : found->second) {
      if (client->builds.entries().empty()) take(without_builds, client);
      if (client->builds.find(*build) == nullptr) continue;
      take(of_build, client);
      break;
    }
  }
  if (of_build != nullptr) return of_build;
  return without_builds != nullptr ? without_builds : first;
}

std::string CollateralProblem::sentence() const {
  std::string where = file;
  if (line != 0) where += fmt::format(":{}", line);
  switch (kind) {
    case Kind::kUnreadable:
      return fmt::format("The collateral {} cannot be read: {}{}", file, reason,
                         reason.ends_with('.') ? "" : ".");
    case Kind::kXml:
      return fmt::format("{}: this is not valid XML: {}.", where, reason);
    case Kind::kRefused:
      return fmt::format("{}: {}.", where, reason);
    case Kind::kValue:
    case Kind::kPlace:
      break;
  }
  return fmt::format("{}: in client '{}', element {}: the attribute {}=\"{}\" is {}.", where,
                     client, element, attribute, value,
                     value.empty()    ? "missing or empty"
                     : reason.empty() ? "not a number"
                                      : reason);
}

std::string CollateralWarning::sentence() const {
  TextBuffer name;
  if (guid) {
    write_guid(name, *guid);
  } else {
    name.put("0x");
    name.hex(id);
  }
  return fmt::format("{}:{}: {} {} is defined twice; '{}' replaces '{}'.", file, line, element,
                     name.view(), text, old_text);
}

const Client* ClientFinder::look_up(const Guid& guid, const Guid* other) {
  if (has_last_ && last_guid_ == guid) return last_client_;
  auto known = known_.find(guid);
  if (known == known_.end()) {
    if (known_.size() >= kMaxRemembered) known_.clear();
    const auto announced = builds_.find(guid);
    const auto build = announced == builds_.end() ? std::nullopt : std::optional(announced->second);
    const Client* client = collateral_.find(guid, build);
    if (client == nullptr && other != nullptr) client = collateral_.find(*other, build);
    known = known_.emplace(guid, client).first;
  }
  last_guid_ = guid;
  last_client_ = known->second;
  has_last_ = true;
  return last_client_;
}

const Client* ClientFinder::find(const Message& message, std::uint16_t master,
                                 std::uint16_t channel) {
  if (message.is_short) return short_client_;
  if (collateral_.empty()) return nullptr;
  Guid guid = message.guid;
  // Collateral for the reference printer has another form of pseudo-GUID.
  Guid other;
  if (!message.has_guid()) {
    other = pseudo_guid_of_reference(message.origin);
    guid = quirks_.origin_in_byte_7 ? other : pseudo_guid(master, channel, message.origin);
  }
  if (message.type == Type::kBuild && message.ok() && !quirks_.builds_ignored) {
    const auto build = builds_.find(guid);
    if (build == builds_.end() || build->second != message.value) {
      if (build == builds_.end() && builds_.size() >= kMaxRemembered) {
        builds_.erase(builds_.begin());
      }
      builds_.insert_or_assign(guid, message.value);
      known_.erase(guid);
      has_last_ = false;
    }
  }
  return look_up(guid, message.has_guid() ? nullptr : &other);
}

}  // namespace waymark::syst

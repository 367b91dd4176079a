#include "waymark/syst/collateral.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "waymark/base/bits.h"

namespace waymark::syst {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

}  // namespace

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
  if (at != kNone) {
    if (entries_[at].text == entry.text) return std::nullopt;
    // It keeps the mask under which it is found.
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

bool Client::has_guid(const Guid& guid) const {
  return std::ranges::any_of(guids, [&](const GuidEntry& entry) { return entry.matches(guid); });
}

const Client* Collateral::find(const Guid& guid, std::optional<std::uint64_t> build) const {
  const Client* without_builds = nullptr;
  const Client* first = nullptr;
  for (const Client& client : clients_) {
    if (!client.has_guid(guid)) continue;
    if (!build) return &client;
    if (client.builds.find(*build) != nullptr) return &client;
    if (client.builds.entries().empty() && without_builds == nullptr) without_builds = &client;
    if (first == nullptr) first = &client;
  }
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
      return fmt::format("{}: this is no XML: {}.", where, reason);
    case Kind::kRefused:
      return fmt::format("{}: {}.", where, reason);
    case Kind::kValue:
    case Kind::kPlace:
      break;
  }
  return fmt::format("{}: in client '{}', element {}: the attribute {}=\"{}\" is {}.", where,
                     client, element, attribute, value,
                     value.empty()    ? "missing or empty"
                     : reason.empty() ? "no number"
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
  return fmt::format("{}:{}: {} {} is there twice; '{}' replaces '{}'.", file, line, element,
                     name.view(), text, old_text);
}

std::size_t ClientFinder::Hash::operator()(const Guid& guid) const {
  const auto low = load_le<std::uint64_t>(guid.bytes.data());
  const auto high = load_le<std::uint64_t>(guid.bytes.data() + 8);
  return static_cast<std::size_t>((low ^ (high * 0x9E3779B97F4A7C15U)) * 0xBF58476D1CE4E5B9U >> 7U);
}

const Client* ClientFinder::look_up(const Guid& guid) {
  if (has_last_ && last_guid_ == guid) return last_client_;
  auto known = known_.find(guid);
  if (known == known_.end()) {
    if (known_.size() >= kMaxRemembered) known_.clear();
    const auto build = builds_.find(guid);
    const Client* client = collateral_.find(
        guid, build == builds_.end() ? std::nullopt : std::optional(build->second));
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
  if (!message.has_guid()) {
    guid = quirks_.origin_in_byte_7 ? pseudo_guid_of_reference(message.origin)
                                    : pseudo_guid(master, channel, message.origin);
  }
  if (message.type == Type::kBuild && message.ok() && !quirks_.builds_ignored &&
      builds_.size() < kMaxRemembered) {
    const auto [build, is_new] = builds_.try_emplace(guid, message.value);
    if (is_new || build->second != message.value) {
      build->second = message.value;
      known_.erase(guid);
      has_last_ = false;
    }
  }
  const Client* client = look_up(guid);
  if (client != nullptr || message.has_guid() || quirks_.origin_in_byte_7) return client;
  // Collateral made for the reference printer.
  return look_up(pseudo_guid_of_reference(message.origin));
}

}  // namespace waymark::syst

// The XML of collateral, by pugixml.  See mipi-syst.md 8.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <pugixml.hpp>
#include <set>

#include "waymark/base/mapped_file.h"
#include "waymark/syst/collateral.h"

namespace waymark::syst {
namespace {

using Kind = CollateralProblem::Kind;

std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// A number of at most `limit`.  `as_stream`: Quirks::stream_numbers.
std::optional<std::uint64_t> number(std::string_view text, std::uint64_t limit, bool as_stream) {
  const bool hexadecimal = text.starts_with("0x") || (text.starts_with("0X") && !as_stream);
  if (hexadecimal) text.remove_prefix(2);
  // Without the quirk, blanks between 0x and the digits are not allowed.
  if (!hexadecimal || as_stream) text = trim(text);
  bool negative = false;
  if (as_stream && (text.starts_with('-') || text.starts_with('+'))) {
    negative = text.starts_with('-');
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value > limit) {
    return std::nullopt;
  }
  return negative ? (0 - value) & limit : value;
}

/// The amount that the next document may still add.
struct Limits {
  std::size_t clients = 0;
  std::size_t guids = 0;
};

/// Reads one document into clients.
class Reader {
 public:
  Reader(const std::string& file, std::string_view xml, const Quirks& quirks, const Limits& limits,
         std::vector<CollateralWarning>& warnings)
      : file_(file), xml_(xml), quirks_(quirks), warnings_(warnings), limits_(limits) {}

  std::expected<std::vector<Client>, CollateralProblem> read() {
    pugi::xml_document document;
    // The reference drops texts that consist of blanks.
    const unsigned flags =
        quirks_.first_text_node_only
            ? pugi::parse_default
            : pugi::parse_default | pugi::parse_doctype | pugi::parse_ws_pcdata_single;
    const pugi::xml_parse_result result = document.load_buffer(xml_.data(), xml_.size(), flags);
    if (!result) {
      CollateralProblem problem = at(Kind::kXml, result.offset);
      problem.reason = result.description();
      return std::unexpected(std::move(problem));
    }
    std::vector<Client> clients;
    for (const pugi::xml_node& node : document.children()) {
      if (node.type() == pugi::node_doctype && !quirks_.doctype_ignored) {
        CollateralProblem problem = at(Kind::kRefused, node.offset_debug());
        problem.reason =
            "document type declarations are not accepted, because they can name other files and "
            "grow without limit; collateral needs none";
        return std::unexpected(std::move(problem));
      }
    }
    const pugi::xml_node collateral = child(document, "Collateral");
    if (!collateral && !quirks_.fixed_prefix) {
      CollateralProblem problem = at(Kind::kRefused, 0);
      problem.reason = "there is no element Collateral, so this is not SyS-T collateral";
      return std::unexpected(std::move(problem));
    }
    for (const pugi::xml_node& node : collateral.children()) {
      if (!is(node, "Client")) continue;
      if (clients.size() >= limits_.clients) return std::unexpected(too_many(node, "clients"));
      Client client;
      client.name = node.attribute("Name").value();
      client.file = file_;
      if (!read_client(node, client)) return std::unexpected(std::move(problem_));
      clients.push_back(std::move(client));
    }
    return clients;
  }

 private:
  static constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool is(const pugi::xml_node& node, std::string_view name) const {
    if (node.type() != pugi::node_element) return false;
    const std::string_view full = node.name();
    if (quirks_.fixed_prefix) return full.starts_with("syst:") && full.substr(5) == name;
    return local_name(full) == name;
  }

  [[nodiscard]] pugi::xml_node child(const pugi::xml_node& parent, std::string_view name) const {
    for (const pugi::xml_node& node : parent.children())
      if (is(node, name)) return node;
    return {};
  }

  [[nodiscard]] CollateralProblem at(Kind kind, std::ptrdiff_t offset) const {
    CollateralProblem problem;
    problem.kind = kind;
    problem.file = file_;
    problem.line = line(offset);
    return problem;
  }

  // Callers mostly ask in the order of the file, so counting continues from the last line.
  [[nodiscard]] std::uint32_t line(std::ptrdiff_t offset) const {
    if (offset < 0) return 0;
    const auto end = std::min(static_cast<std::size_t>(offset), xml_.size());
    if (end < counted_to_) {
      counted_to_ = 0;
      lines_ = 0;
    }
    lines_ += std::ranges::count(xml_.substr(counted_to_, end - counted_to_), '\n');
    counted_to_ = end;
    return 1 + static_cast<std::uint32_t>(lines_);
  }

  [[nodiscard]] std::string text_of(const pugi::xml_node& node) const {
    std::string text;
    for (const pugi::xml_node& part : node.children()) {
      if (part.type() != pugi::node_pcdata && part.type() != pugi::node_cdata) continue;
      text += part.value();
      if (quirks_.first_text_node_only) break;
    }
    return text;
  }

  bool value_problem(const pugi::xml_node& node, const char* attribute, const Client& client,
                     Kind kind, std::string_view reason = "not a number that fits") {
    problem_ = at(kind, node.offset_debug());
    problem_.element = node.name();
    problem_.attribute = attribute;
    problem_.value = node.attribute(attribute).value();
    problem_.text = text_of(node);
    problem_.client = client.name;
    problem_.reason = reason;
    return false;
  }

  bool read_guid(const pugi::xml_node& node, Client& client) {
    GuidEntry entry;
    const auto id = parse_guid(node.attribute("ID").value(), quirks_.loose_guid_digits);
    if (!id) return value_problem(node, "ID", client, Kind::kValue, "not a GUID in braces");
    entry.id = *id;
    if (const pugi::xml_attribute mask = node.attribute("Mask")) {
      const auto value = parse_guid(mask.value(), quirks_.loose_guid_digits);
      if (!value) return value_problem(node, "Mask", client, Kind::kValue, "not a GUID in braces");
      entry.mask = *value;
    }
    if (++guids_ > limits_.guids) {
      problem_ = too_many(node, "GUIDs");
      return false;
    }
    entry.text = text_of(node);
    for (GuidEntry& earlier : client.guids) {
      if (!earlier.matches(entry.id)) continue;
      if (earlier.text == entry.text) break;
      CollateralWarning warning = warning_at(node);
      warning.guid = entry.id;
      warning.text = entry.text;
      warning.old_text = std::exchange(earlier.text, entry.text);
      warnings_.push_back(std::move(warning));
      return true;
    }
    client.guids.push_back(std::move(entry));
    return true;
  }

  [[nodiscard]] CollateralProblem too_many(const pugi::xml_node& node,
                                           std::string_view what) const {
    CollateralProblem problem = at(Kind::kRefused, node.offset_debug());
    problem.reason = fmt::format("there are more {} than can be searched", what);
    return problem;
  }

  [[nodiscard]] CollateralWarning warning_at(const pugi::xml_node& node) const {
    CollateralWarning warning;
    warning.file = file_;
    warning.line = line(node.offset_debug());
    warning.element = node.name();
    return warning;
  }

  bool read_entry(const pugi::xml_node& node, Client& client, EntryTable& table,
                  std::uint64_t limit, bool has_place, std::uint64_t used_bits) {
    Entry entry;
    const auto id = number(node.attribute("ID").value(), limit, quirks_.stream_numbers);
    if (!id) return value_problem(node, "ID", client, Kind::kValue);
    entry.id = *id & used_bits;
    if (const pugi::xml_attribute mask = node.attribute("Mask")) {
      const auto value = number(mask.value(), limit, quirks_.stream_numbers);
      if (!value) return value_problem(node, "Mask", client, Kind::kValue);
      // Bits that no ID has are ignored.
      entry.mask = (*value & used_bits) == (limit & used_bits) ? kMax64 : *value & used_bits;
    }
    if (has_place) {
      for (const char* name : {"File", "Line"}) {
        const pugi::xml_attribute attribute = node.attribute(name);
        if (!attribute) continue;
        const auto value = number(attribute.value(), kMax32, quirks_.stream_numbers);
        if (!value) return value_problem(node, name, client, Kind::kPlace);
        (name[0] == 'F' ? entry.file : entry.line) = static_cast<std::uint32_t>(*value);
      }
    }
    entry.text = text_of(node);
    std::string text = entry.text;
    const std::uint64_t entry_id = entry.id;
    if (auto old = table.add(std::move(entry))) {
      CollateralWarning warning = warning_at(node);
      warning.id = entry_id;
      warning.text = std::move(text);
      warning.old_text = std::move(*old);
      warnings_.push_back(std::move(warning));
    }
    if (table.masks() > Collateral::kMaxMasks) {
      return value_problem(
          node, "Mask", client, Kind::kValue,
          "in a list with too many distinct masks: each ID is looked up with each mask");
    }
    return true;
  }

  struct Section {
    std::string_view name;
    std::string_view item;
    EntryTable Client::* table;
    std::uint64_t limit;
    bool has_place;
    std::uint64_t used_bits;
  };

  bool read_client(const pugi::xml_node& node, Client& client) {
    static constexpr Section kSections[] = {
        {"Builds", "Build", &Client::builds, kMax64, false, kMax64},
        {"Modules", "Module", &Client::modules, kMax64, false, kMax64},
        {"SourceFiles", "File", &Client::files, kMax32, false, kMax32},
        {"Catalog32", "Format", &Client::catalog32, kMax32, true, kMax32},
        {"Catalog64", "Format", &Client::catalog64, kMax64, true, kMax64},
        {"Short32", "Format", &Client::short32, kMax32, true, kMax32},
        {"Short64", "Format", &Client::short64, kMax64, true, kMax64},
        {"Write", "Protocol", &Client::protocols, kMax32, false, 0xFF},
    };
    const auto items = [&](std::string_view section, std::string_view item, auto&& take) {
      for (const pugi::xml_node& list : node.children()) {
        if (!is(list, section)) continue;
        for (const pugi::xml_node& entry : list.children())
          if (is(entry, item) && !take(entry)) return false;
        if (quirks_.first_section_only) break;
      }
      return true;
    };
    if (!items("Guids", "Guid",
               [&](const pugi::xml_node& entry) { return read_guid(entry, client); })) {
      return false;
    }
    (void)items("Options", "Option", [&](const pugi::xml_node& entry) {
      client.options.emplace_back(entry.attribute("Name").value(), text_of(entry));
      const auto& [name, value] = client.options.back();
      client.timestamps_are_fields |= name == "syst:timestamp" && value == "displayAsField";
      return true;
    });
    return std::ranges::all_of(kSections, [&](const Section& section) {
      return items(section.name, section.item, [&](const pugi::xml_node& entry) {
        return read_entry(entry, client, client.*section.table, section.limit, section.has_place,
                          section.used_bits);
      });
    });
  }

  const std::string& file_;
  std::string_view xml_;
  const Quirks& quirks_;
  std::vector<CollateralWarning>& warnings_;
  CollateralProblem problem_;
  Limits limits_;
  std::size_t guids_ = 0;
  mutable std::size_t counted_to_ = 0;
  mutable std::ptrdiff_t lines_ = 0;
};

}  // namespace

std::expected<void, CollateralProblem> Collateral::add_text(const std::string& name,
                                                            std::string_view xml) {
  if (xml.size() > kMaxFileSize) {
    CollateralProblem problem;
    problem.kind = Kind::kRefused;
    problem.file = name;
    problem.reason = fmt::format("it has more than {} MiB", kMaxFileSize >> 20);
    return std::unexpected(std::move(problem));
  }
  const Limits limits{.clients = kMaxClients - clients_.size(), .guids = kMaxGuids - guids_};
  auto clients = Reader(name, xml, quirks_, limits, warnings_).read();
  if (!clients) return std::unexpected(std::move(clients).error());
  std::set<Guid> masks;
  for (const Masked& masked : masked_) masks.insert(masked.mask);
  for (const Client& client : *clients)
    for (const GuidEntry& entry : client.guids) masks.insert(entry.mask);
  if (masks.size() > kMaxMasks) {
    CollateralProblem problem;
    problem.kind = Kind::kRefused;
    problem.file = name;
    problem.reason = "there are more masks of GUIDs than can be searched";
    return std::unexpected(std::move(problem));
  }
  for (Client& read : *clients) {
    Client& client = clients_.emplace_back(std::move(read));
    client.number = clients_.size();
    guids_ += client.guids.size();
    for (const GuidEntry& entry : client.guids) {
      auto masked = std::ranges::find(masked_, entry.mask, &Masked::mask);
      if (masked == masked_.end()) masked = masked_.insert(masked_.end(), {entry.mask, {}});
      std::vector<const Client*>& same = masked->clients[entry.id & entry.mask];
      if (same.empty() || same.back() != &client) same.push_back(&client);
    }
  }
  return {};
}

std::expected<void, CollateralProblem> Collateral::add_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) {
    CollateralProblem problem;
    problem.kind = Kind::kUnreadable;
    problem.file = path;
    problem.reason =
        file.error().code == ErrorCode::kNotFound ? "File was not found" : file.error().detail;
    return std::unexpected(std::move(problem));
  }
  return add_text(path, {reinterpret_cast<const char*>(file->bytes().data()), file->size()});
}

}  // namespace waymark::syst

#include "waymark/syst/catalog_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "waymark/syst/instrument.h"

namespace waymark::syst {
namespace {

constexpr std::string_view kSection = ".waymark.syst";

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kBadData, fmt::format("The ELF file is damaged: {}.", what));
}

/// Numbers and ranges of an ELF file, checked.
class ElfFile {
 public:
  explicit ElfFile(Bytes bytes) : bytes_(bytes) {}

  Result<Bytes> section(std::string_view wanted) {
    constexpr std::uint8_t kMagic[] = {0x7F, 'E', 'L', 'F'};
    if (bytes_.size() < 16 || !std::equal(std::begin(kMagic), std::end(kMagic), bytes_.begin())) {
      return fail(ErrorCode::kBadData,
                  "This is not an ELF file; give the program, or its object files.");
    }
    is_64bit_ = bytes_[4] == 2;
    big_endian_ = bytes_[5] == 2;
    const auto table = number(is_64bit_ ? 0x28 : 0x20, word());
    const auto entry_size = number(is_64bit_ ? 0x3A : 0x2E, 2);
    auto count = number(is_64bit_ ? 0x3C : 0x30, 2);
    auto names_index = number(is_64bit_ ? 0x3E : 0x32, 2);
    if (!table || !entry_size || !count || !names_index) return damaged("its header is cut short");
    if (*table == 0) return missing(wanted);
    if (*entry_size < (is_64bit_ ? 64U : 40U)) {
      return damaged("the entries of its section table are too small");
    }
    // In bounds, as the size of the file limits the number of sections.
    const auto header = [&](std::uint64_t index) { return *table + index * *entry_size; };
    // The first section has the numbers that are too large for the header.
    constexpr std::uint64_t kNamesElsewhere = 0xFFFF;
    if (*count == 0) count = number(header(0) + (is_64bit_ ? 0x20 : 0x14), word());
    if (*names_index == kNamesElsewhere) {
      names_index = number(header(0) + (is_64bit_ ? 0x28 : 0x18), 4);
    }
    if (!count || !names_index || *count > bytes_.size() / *entry_size || *names_index >= *count ||
        *table > bytes_.size()) {
      return damaged("its section table is outside the file");
    }
    const auto names = content(header(*names_index));
    if (!names) return damaged("its section names are outside the file");
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto name_at = number(header(i), 4);
      if (!name_at) return damaged("its section table is outside the file");
      if (!is_text_at(*names, *name_at, wanted)) continue;
      const auto found = content(header(i));
      if (!found) return damaged(fmt::format("the section {} is outside the file", wanted));
      return *found;
    }
    return missing(wanted);
  }

  [[nodiscard]] bool big_endian() const { return big_endian_; }

 private:
  [[nodiscard]] std::size_t word() const { return is_64bit_ ? 8 : 4; }

  static std::unexpected<Error> missing(std::string_view wanted) {
    return fail(ErrorCode::kNotFound,
                fmt::format("The ELF file has no section {}; its program uses no "
                            "WAYMARK_SYST_CATALOG, or was stripped.",
                            wanted));
  }

  /// Whether `wanted` with its NUL is at `at`.  Compared in place: names may overlap, and be as
  /// long as the file.
  static bool is_text_at(Bytes names, std::uint64_t at, std::string_view wanted) {
    if (at > names.size() || names.size() - at <= wanted.size()) return false;
    const Bytes name = names.subspan(in_memory(at), wanted.size() + 1);
    return std::equal(wanted.begin(), wanted.end(), name.begin()) && name.back() == 0;
  }

  [[nodiscard]] std::optional<std::uint64_t> number(std::uint64_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = big_endian_ ? i : size - 1 - i;
      value = value << 8 | bytes_[in_memory(at + place)];
    }
    return value;
  }

  [[nodiscard]] std::optional<Bytes> content(std::uint64_t header) const {
    constexpr std::uint64_t kNoBits = 8;
    const auto type = number(header + 4, 4);
    const auto offset = number(header + (is_64bit_ ? 0x18 : 0x10), word());
    const auto size = number(header + (is_64bit_ ? 0x20 : 0x14), word());
    if (!type || !offset || !size || *type == kNoBits) return std::nullopt;
    if (*offset > bytes_.size() || bytes_.size() - *offset < *size) return std::nullopt;
    return bytes_.subspan(in_memory(*offset), in_memory(*size));
  }

  Bytes bytes_;
  bool is_64bit_ = false;
  bool big_endian_ = false;
};

std::optional<std::string> take_text(Bytes& rest) {
  const auto end = std::ranges::find(rest, std::uint8_t{0});
  if (end == rest.end()) return std::nullopt;
  const auto size = static_cast<std::size_t>(end - rest.begin());
  std::string text(reinterpret_cast<const char*>(rest.data()), size);
  rest = rest.subspan(size + 1);
  return text;
}

/// False: the text has a character that XML cannot hold.
bool fits_xml(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
  });
}

void put_cdata(std::string& out, std::string_view text) {
  out += "<![CDATA[";
  // A ]]> within the text is split between two sections.
  for (std::size_t at = text.find("]]>"); at != std::string_view::npos; at = text.find("]]>")) {
    out += text.substr(0, at + 2);
    out += "]]><![CDATA[";
    text.remove_prefix(at + 2);
  }
  out += text;
  out += "]]>";
}

std::string attribute(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::uint32_t CatalogSite::id() const { return instrument::hash(format, line); }

Result<CatalogSites> read_catalog_sites(Bytes elf) {
  ElfFile file(elf);
  auto section = file.section(kSection);
  if (!section) return std::unexpected(std::move(section).error());
  CatalogSites result;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> seen;
  Bytes rest = *section;
  while (!rest.empty()) {
    if (rest.size() < 4) return damaged("the last record of its catalog is cut short");
    std::uint32_t line = 0;
    for (std::size_t i = 0; i < 4; ++i) line = line << 8 | rest[file.big_endian() ? i : 3 - i];
    rest = rest.subspan(4);
    auto name = take_text(rest);
    auto text = name ? take_text(rest) : std::nullopt;
    if (!text) return damaged("the last record of its catalog is cut short");
    if (line != 0) {
      // Code that the compiler copied leaves its record again.
      if (seen.emplace(*name, line, *text).second) {
        result.sites.push_back({*std::move(name), line, *std::move(text)});
      }
      continue;
    }
    const auto guid = parse_guid(*text);
    if (!guid) {
      return fail(
          ErrorCode::kBadData,
          fmt::format("WAYMARK_SYST_CLIENT of '{}': '{}' is not a GUID in braces.", *name, *text));
    }
    if (result.guid && (result.client != *name || result.guid != guid)) {
      return fail(ErrorCode::kConflict,
                  fmt::format("The program has two clients, '{}' and '{}'; leave one "
                              "WAYMARK_SYST_CLIENT.",
                              result.client, *name));
    }
    result.client = *std::move(name);
    result.guid = guid;
  }
  return result;
}

Result<std::string> write_collateral(const CatalogSites& sites) {
  if (!fits_xml(sites.client)) {
    return fail(ErrorCode::kInvalidArgument,
                "The name in WAYMARK_SYST_CLIENT has a control character, which XML cannot hold.");
  }
  struct Found {
    const CatalogSite* site;
    bool is_elsewhere;  ///< Another file has it on the same line.
  };
  std::map<std::uint32_t, Found> by_id;
  std::map<std::string, std::size_t> files;
  for (const CatalogSite& site : sites.sites) {
    if (!fits_xml(site.format) || !fits_xml(site.file)) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}:{}: the format has a control character, which XML cannot hold.",
                              site.file, site.line));
    }
    const auto [entry, is_new] = by_id.try_emplace(site.id(), Found{&site, false});
    Found& found = entry->second;
    if (found.site->format != site.format) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{}:{} and {}:{} have the same catalog ID 0x{:08x}; move one of them "
                              "to another line.",
                              found.site->file, found.site->line, site.file, site.line, site.id()));
    }
    found.is_elsewhere |=
        !is_new && (found.site->file != site.file || found.site->line != site.line);
    files.emplace(site.file, files.size() + 1);
  }
  TextBuffer guid;
  write_guid(guid, sites.guid.value_or(Guid{}));
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<syst:Collateral xmlns:syst=\"http://www.mipi.org/1.0/sys-t\">\n"
      "  <syst:Client Name=\"{}\">\n"
      "    <syst:Guids>\n      <syst:Guid ID=\"{}\">",
      attribute(sites.client), guid.view());
  put_cdata(out, sites.client);
  out += "</syst:Guid>\n    </syst:Guids>\n";
  if (!files.empty()) {
    out += "    <syst:SourceFiles>\n";
    for (const auto& [name, id] : files) {
      out += fmt::format("      <syst:File ID=\"0x{:x}\">", id);
      put_cdata(out, name);
      out += "</syst:File>\n";
    }
    out += "    </syst:SourceFiles>\n    <syst:Catalog32>\n";
    for (const auto& [id, found] : by_id) {
      out += fmt::format(R"(      <syst:Format ID="0x{:08x}")", id);
      // With two places, a message does not tell from which one it comes.
      if (!found.is_elsewhere) {
        out += fmt::format(R"( File="0x{:x}" Line="0x{:x}")", files.at(found.site->file),
                           found.site->line);
      }
      out += '>';
      put_cdata(out, found.site->format);
      out += "</syst:Format>\n";
    }
    out += "    </syst:Catalog32>\n";
  }
  out += "  </syst:Client>\n</syst:Collateral>\n";
  return out;
}

}  // namespace waymark::syst

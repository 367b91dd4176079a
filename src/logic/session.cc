#include "waymark/logic/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "waymark/base/escape.h"
#include "waymark/base/number.h"

namespace waymark::logic {
namespace {

constexpr std::size_t kMostMetadata = std::size_t{1} << 20;
constexpr std::size_t kMostUnit = 8;
constexpr std::string_view kBlank = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<Error> bad_line(std::size_t line, std::string_view what) {
  return fail(ErrorCode::kParse, fmt::format("Line {} of the file metadata in the session: {}; "
                                             "save the session again.",
                                             line, what));
}

}  // namespace

Result<Session> Session::open(Bytes archive) {
  auto zip = Zip::open(archive);
  if (!zip) return std::unexpected(zip.error());
  const ZipEntry* const version = zip->find("version");
  const ZipEntry* const metadata = zip->find("metadata");
  if (version == nullptr || metadata == nullptr)
    return fail(ErrorCode::kBadData,
                "The ZIP archive has no file `version` or `metadata`, so it is not a session of "
                "sigrok; give the capture in it.");
  const auto number = zip->read_text(*version, kMostMetadata);
  if (!number) return std::unexpected(number.error());
  if (trimmed(*number) != "2" && trimmed(*number) != "1")
    return fail(ErrorCode::kUnsupported,
                "The version of the session is not supported; save it as version 2.");
  const auto text = zip->read_text(*metadata, kMostMetadata);
  if (!text) return std::unexpected(text.error());
  Session session(*std::move(zip));
  WAYMARK_TRY(session.read_metadata(*text));
  WAYMARK_TRY(session.find_data());
  return session;
}

Result<void> Session::read_metadata(std::string_view text) {
  bool first_device = false;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() || row.starts_with('#')) continue;
    if (row.starts_with('[')) {
      first_device = row == "[device 1]";
      continue;
    }
    const std::size_t equals = row.find('=');
    if (equals == std::string_view::npos) return bad_line(line, "it has no `=`");
    if (first_device)
      WAYMARK_TRY(take_key(trimmed(row.substr(0, equals)), trimmed(row.substr(equals + 1)), line));
  }
  if (data_name_.empty() || channels_.empty())
    return fail(ErrorCode::kUnsupported,
                "The session has no logic channels of a device 1; capture them with a logic "
                "analyser, and save the session again.");
  unsigned highest = 0;
  for (const Channel& channel : channels_) highest = std::max(highest, channel.bit);
  if (unit_ == 0) unit_ = highest / 8 + 1;
  if (highest >= 8 * unit_)
    return fail(ErrorCode::kParse,
                fmt::format("The metadata of the session name channel {}, but a sample has {} "
                            "bytes; save the session again.",
                            highest + 1, unit_));
  return {};
}

Result<void> Session::take_key(std::string_view key, std::string_view value, std::size_t line) {
  if (key == "capturefile") data_name_ = value;
  if (key == "samplerate") {
    const auto rate = parse_frequency(value);
    if (!rate) return bad_line(line, "its rate is not a number with Hz, kHz, MHz or GHz");
    rate_ = *rate;
  }
  if (key == "unitsize") {
    const auto size = whole_number(value);
    if (!size || *size == 0 || *size > kMostUnit)
      return bad_line(line, "its unit size is not a number from 1 to 8");
    unit_ = in_memory(*size);
  }
  if (key.starts_with("probe")) {
    const auto number = whole_number(key.substr(5));
    if (!number || *number == 0 || *number > 8 * kMostUnit)
      return bad_line(line, "its channel has no number from 1 to 64");
    if (channels_.size() == 8 * kMostUnit) return bad_line(line, "there are too many channels");
    channels_.push_back({std::string(value), static_cast<unsigned>(*number - 1)});
  }
  return {};
}

/// "logic-1", or "logic-1-1", "logic-1-2" and so on.
Result<void> Session::find_data() {
  std::vector<std::pair<std::uint64_t, const ZipEntry*>> parts;
  for (const ZipEntry& entry : zip_.entries()) {
    std::string_view name = entry.name;
    if (!name.starts_with(data_name_)) continue;
    name.remove_prefix(data_name_.size());
    const auto number = name.empty()            ? std::optional<std::uint64_t>(0)
                        : name.starts_with('-') ? whole_number(name.substr(1))
                                                : std::nullopt;
    if (number) parts.emplace_back(*number, &entry);
  }
  std::ranges::sort(parts);
  std::uint64_t bytes = 0;
  for (const auto& [number, entry] : parts) {
    if (!data_.empty() && number != parts[data_.size() - 1].first + 1)
      return fail(ErrorCode::kBadData,
                  fmt::format("The session has no file {}-{}, although it has {}; save it again.",
                              escaped(data_name_), parts[data_.size() - 1].first + 1,
                              escaped(entry->name)));
    data_.push_back(entry);
    bytes += entry->size;
  }
  samples_ = bytes / unit_;
  if (samples_ == 0)
    return fail(ErrorCode::kBadData,
                fmt::format("The session has no samples (files {}-N); capture again.",
                            escaped(data_name_)));
  return {};
}

Result<void> Session::read(const Take& take) const {
  std::vector<std::uint8_t> rest;  // The first bytes of a sample.
  bool more = true;
  for (const ZipEntry* entry : data_) {
    if (!more) break;
    WAYMARK_TRY(zip_.read(*entry, [&](Bytes piece) {
      if (!rest.empty()) {
        const std::size_t missing = std::min(unit_ - rest.size(), piece.size());
        rest.insert(rest.end(), piece.begin(),
                    piece.begin() + static_cast<std::ptrdiff_t>(missing));
        piece = piece.subspan(missing);
        if (rest.size() < unit_) return true;
        more = take(rest);
        rest.clear();
      }
      const std::size_t whole = piece.size() / unit_ * unit_;
      if (more && whole != 0) more = take(piece.first(whole));
      rest.assign(piece.begin() + static_cast<std::ptrdiff_t>(whole), piece.end());
      return more;
    }));
  }
  return {};
}

}  // namespace waymark::logic

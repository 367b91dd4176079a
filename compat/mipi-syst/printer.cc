#include "printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "waymark/base/number.h"
#include "waymark/syst/payload_text.h"

namespace waymark::compat::syst {

using namespace waymark::syst;

namespace {

constexpr std::string_view kTag = "SYS-T RAW DATA: ";

bool read_hex(std::string_view text, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  if (text.size() % 2 != 0) return false;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    const int high = hex_digit(text[at]);
    const int low = hex_digit(text[at + 1]);
    if (high < 0 || low < 0) return false;
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return true;
}

void put_escaped(TextBuffer& out, std::string_view text, bool newline_to_blank) {
  for (const char c : text) {
    if (c == '"') out.put('"');
    out.put(c == '\n' && newline_to_blank ? ' ' : c);
  }
}

std::string_view status_text(Status status) {
  // The reference has no text for it.
  return status == Status::kTooLong ? "UNKNOWN_STATE" : status_name(status);
}

void put_time(TextBuffer& out, std::uint64_t time, bool hidden) {
  if (hidden) {
    out.put("<--UNITTEST-HIDE_TS-->");
    return;
  }
  out.put("0x");
  out.hex_upper(time, 16);
}

}  // namespace

bool may_be_message(std::string_view begun, std::size_t known) {
  if (known < kTag.size() && !kTag.starts_with(begun.substr(0, kTag.size()))) return false;
  const std::string_view digits =
      begun.substr(std::min(std::max(known, kTag.size()), begun.size()));
  return std::ranges::all_of(digits, [](char c) { return hex_digit(c) >= 0 || c == '\r'; });
}

void write_csv_header(TextBuffer& out) {
  out.put(
      "Decode Status,Payload,Type,Severity,Origin,Unit,Message TimeStamp,Context TimeStamp,"
      "Location,Raw Length,Checksum,Collateral\n");
}

Printer::Printer(const Collateral& collateral, const PrinterOptions& options)
    : options_(options), finder_(collateral, quirks_) {
  if (options.short_guid) finder_.set_short_client(*options.short_guid);
}

void Printer::line(std::string_view text, TextBuffer& out) {
  if (!text.starts_with(kTag)) return;
  text.remove_prefix(kTag.size());
  while (text.ends_with('\r') || text.ends_with('\n')) text.remove_suffix(1);
  if (!read_hex(text, bytes_)) return;
  const Message message = parse_message(bytes_, {.mode = Mode::kTolerant, .quirks = quirks_});
  std::uint64_t context = 0;
  if (options_.short_guid && bytes_.size() >= 4) context = context_time_++;
  if (!options_.payload_only) {
    write_csv(message, context, out);
    return;
  }
  const Client* const client = message.raw.size() < 4 ? nullptr : finder_.find(message);
  write_payload(out, message, client, format_entry(message, client), quirks_);
  out.put('\n');
}

void Printer::write_csv(const Message& message, std::uint64_t context, TextBuffer& out) {
  const Client* const client = message.raw.size() < 4 ? nullptr : finder_.find(message);
  const Entry* const entry = format_entry(message, client);
  const Status status = waymark::syst::status_of(message, client);
  out.put(status_text(status));
  out.put(",\"");
  scratch_.clear();
  write_payload(scratch_, message, client, entry, quirks_);
  put_escaped(out, scratch_.view(), true);
  out.put('"');
  if (status != Status::kOk && status != Status::kMissingCollateral) {
    out.put(",,,,,,\n");
    return;
  }
  out.put(',');
  write_type(out, message, client);
  out.put(',');
  out.put(severity_name(message.severity));
  out.put(',');
  if (!message.is_short) {
    if (client != nullptr) {
      out.put(client->name);
    } else if (message.has_guid()) {
      write_guid(out, message.guid);
    } else {
      out.put(static_cast<char>(message.origin));
    }
  }
  out.put(',');
  out.dec(message.unit);
  out.put(',');
  if (message.has_timestamp()) put_time(out, message.timestamp, options_.hide_volatile);
  out.put(',');
  put_time(out, context, options_.hide_volatile);
  out.put(',');
  scratch_.clear();
  write_location(scratch_, message, client, entry, quirks_);
  put_escaped(out, scratch_.view(), false);
  out.put(',');
  out.dec(message.raw.size());
  out.put(',');
  if (message.has_checksum()) {
    if (options_.hide_volatile) {
      out.put("<--UNITTEST-HIDE_CRC-->");
    } else {
      out.put("0x");
      out.hex_upper(message.checksum, 8);
    }
  }
  out.put(',');
  if (client != nullptr) out.put(client->file);
  out.put('\n');
}

std::string reference_sentence(const CollateralProblem& problem) {
  using enum CollateralProblem::Kind;
  switch (problem.kind) {
    case kUnreadable:
    case kXml:
    case kRefused:
      return fmt::format("error loading '{0}': XML parser error on file {0} : {1}", problem.file,
                         problem.reason);
    case kValue:
      return fmt::format(
          R"(error loading '{}': Malformed {}entry {}="{}" value ="{}" for catalog {})",
          problem.file, problem.element, problem.attribute, problem.value, problem.text,
          problem.client);
    case kPlace:
      break;
  }
  return fmt::format("error loading '{}': Malformed {} attribute ?in section {} for catalog {}",
                     problem.file, problem.attribute, problem.element, problem.client);
}

std::string reference_sentence(const CollateralWarning& warning) {
  TextBuffer id;
  if (warning.guid) {
    write_guid(id, *warning.guid);
  } else if (warning.element == "syst:Protocol") {
    id.put(static_cast<char>(warning.id));
  } else {
    id.dec(warning.id);
  }
  return fmt::format("Overwriting  ID{} -> {} old value: {}", id.view(), warning.text,
                     warning.old_text);
}

}  // namespace waymark::compat::syst

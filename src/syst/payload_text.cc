#include "waymark/syst/payload_text.h"

#include "waymark/syst/printf_format.h"

namespace waymark::syst {
namespace {

void put_bytes(TextBuffer& out, Bytes bytes, const char* digits = "0123456789abcdef") {
  char* at = out.grow(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    *at++ = digits[byte >> 4];
    *at++ = digits[byte & 0xF];
  }
  out.advance(2 * bytes.size());
}

void put_number(TextBuffer& out, std::uint64_t value, unsigned digits) {
  out.put("0x");
  out.hex_upper(value, digits);
}

void put_sbd(TextBuffer& out, const Message& message) {
  out.put("id ");
  put_number(out, message.value, message.is_id64() ? 16 : 8);
  if ((message.subtype >> 2 & 3) != 0) {
    constexpr unsigned kDigits[] = {0, 4, 8, 16};
    out.put(" address ");
    put_number(out, message.extra, kDigits[message.subtype >> 2 & 3]);
  }
  if ((message.subtype & kSbdName) != 0) {
    out.put(" name '");
    out.put(message.text);
    out.put('\'');
  }
  out.put(" data ");
  put_bytes(out, message.data);
}

ArgumentBytes arguments_of(const Message& message) {
  ArgumentBytes arguments{.bytes = message.data, .is_64bit = message.is_64bit()};
  if (message.has_checksum()) {
    arguments.byte_after = static_cast<std::uint8_t>(message.checksum & 0xFF);
  }
  return arguments;
}

void put_catalog(TextBuffer& out, const Message& message, const Entry* entry,
                 const Quirks& quirks) {
  if (entry != nullptr) {
    write_printf(out, entry->text, arguments_of(message), quirks);
    return;
  }
  const unsigned digits = message.is_id64() ? 16 : 8;
  if (quirks.reference_wording) {
    out.put("Undefined catalog id 0x");
    put_number(out, message.value, digits);
    return;
  }
  out.put("catalog id ");
  put_number(out, message.value, digits);
  if (message.data.empty()) return;
  out.put(" arguments ");
  put_bytes(out, message.data);
}

}  // namespace

Status status_of(const Message& message, const Client* client) {
  if (message.type == Type::kCatalog && client == nullptr &&
      (message.ok() || is_payload_defect(message.defect))) {
    return Status::kMissingCollateral;
  }
  return status_of(message.defect);
}

const Entry* format_entry(const Message& message, const Client* client) {
  if (client == nullptr || !message.ok()) return nullptr;
  switch (message.type) {
    case Type::kShort32:
      return client->short32.find(message.value);
    case Type::kShort64:
      return client->short64.find(message.value);
    case Type::kCatalog:
      return (message.is_id64() ? client->catalog64 : client->catalog32).find(message.value);
    default:
      return nullptr;
  }
}

void write_payload(TextBuffer& out, const Message& message, const Client* client,
                   const Entry* entry, const Quirks& quirks) {
  const Status status = status_of(message, client);
  if (status == Status::kMissingCollateral && message.ok() && !quirks.reference_wording) {
    put_catalog(out, message, nullptr, quirks);
    return;
  }
  if (status != Status::kOk) {
    write_raw(out, message, quirks);
    return;
  }
  switch (message.type) {
    case Type::kShort32:
    case Type::kShort64: {
      const bool wide = message.type == Type::kShort64;
      if (entry != nullptr) {
        write_value_format(out, entry->text, message.value & ~entry->mask, wide);
      } else {
        put_number(out, message.value, wide ? 16 : 8);
      }
      return;
    }
    case Type::kBuild:
      put_number(out, message.value, message.subtype == 0 ? 8 : 16);
      if (!message.text.empty()) {
        out.put(' ');
        out.put(message.text);
      }
      return;
    case Type::kString:
      if (message.is_printf()) {
        write_printf(out, message.text, arguments_of(message), quirks);
      } else {
        out.put(message.text);
      }
      return;
    case Type::kCatalog:
      put_catalog(out, message, entry, quirks);
      return;
    case Type::kRaw:
      put_bytes(out, message.data);
      return;
    case Type::kClock:
      out.put("clock ");
      out.dec(message.value);
      out.put(" frequency ");
      out.dec(message.extra);
      out.put(" Hz");
      return;
    case Type::kSbd:
      put_sbd(out, message);
      return;
  }
}

void write_raw(TextBuffer& out, const Message& message, const Quirks& quirks) {
  if (!quirks.bad_bytes_unpadded) {
    put_bytes(out, message.raw, "0123456789ABCDEF");
    return;
  }
  bool first = true;
  for (const std::uint8_t byte : message.raw) {
    out.hex_upper(byte, first ? 2 : 1);
    first = false;
  }
}

void write_type(TextBuffer& out, const Message& message, const Client* client) {
  const std::string_view name = type_name(message.type);
  if (name.empty()) {
    out.put("RESERVED:");
    out.dec(static_cast<std::uint64_t>(message.type));
    return;
  }
  out.put(name);
  if (message.type == Type::kRaw) {
    out.put(':');
    const Entry* protocol = client == nullptr ? nullptr : client->protocols.find(message.subtype);
    if (protocol != nullptr) {
      write_value_format(out, protocol->text, message.subtype, false);
    } else {
      out.dec(message.subtype);
    }
    return;
  }
  const std::string_view subtype = subtype_name(message.type, message.subtype);
  if (subtype.empty()) return;
  out.put(':');
  out.put(subtype);
}

void write_location(TextBuffer& out, const Message& message, const Client* client,
                    const Entry* entry, const Quirks& quirks) {
  const Location& location = message.location;
  std::uint64_t file = location.file;
  std::uint32_t line = location.line;
  bool has_line = location.kind == Location::Kind::kFileLine;
  const bool entry_counts = !message.is_short || !quirks.format_location_not_shown;
  if (!has_line && entry_counts && entry != nullptr && entry->file != 0) {
    file = entry->file;
    line = entry->line;
    has_line = true;
  }
  if (has_line) {
    const Entry* name = client == nullptr ? nullptr : client->files.find(file);
    if (name != nullptr) {
      out.put(name->text);
    } else {
      out.dec(file);
    }
    out.put(':');
    out.dec(line);
  }
  const bool is_address =
      location.kind == Location::Kind::kAddress32 ||
      (location.kind == Location::Kind::kAddress64 && !quirks.address64_not_shown);
  if (!is_address) return;
  if (has_line) out.put(' ');
  put_number(out, location.address, location.kind == Location::Kind::kAddress32 ? 8 : 16);
}

}  // namespace waymark::syst

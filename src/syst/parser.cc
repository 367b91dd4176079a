#include "waymark/syst/parser.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "waymark/base/bits.h"
#include "waymark/syst/crc32c.h"

namespace waymark::syst {
namespace {

/// The size of the location's format byte and of what follows it.
constexpr std::size_t location_size(unsigned format) {
  constexpr std::size_t kData[] = {4, 8, 4, 8};
  return 1 + kData[format & 3];
}

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One pass over one message.
class Reader {
 public:
  Reader(Message& message, const ParseOptions& options) : m_(message), options_(options) {}

  Defect read() {
    if (m_.raw.size() < 4) return Defect::kHeaderShort;
    m_.header = load_le<std::uint32_t>(m_.raw.data());
    m_.type = static_cast<Type>(m_.header & 0xF);
    m_.subtype = static_cast<std::uint8_t>(m_.header >> 24 & 0x3F);
    if (m_.type == Type::kShort32 || m_.type == Type::kShort64 ||
        (m_.type == Type::kBuild && m_.subtype <= 1)) {
      return read_short();
    }
    m_.severity = static_cast<Severity>(m_.header >> 4 & 7);
    if (m_.has_guid()) {
      m_.unit = static_cast<std::uint16_t>(m_.header >> 12 & 0x7FF);
    } else {
      m_.unit = static_cast<std::uint16_t>(m_.header >> 12 & 0xF);
      m_.origin = static_cast<std::uint8_t>(m_.header >> 16 & 0x7F);
    }
    if (const Defect defect = read_fields(); defect != Defect::kNone) return defect;
    if (const Defect defect = read_payload(); defect != Defect::kNone) return defect;
    if (options_.mode == Mode::kStrict) {
      if ((m_.header & kHeaderReserved) != 0) return Defect::kReservedBits;
      if (m_.has_location() && m_.location.format > 3) return Defect::kLocationFormat;
    }
    return Defect::kNone;
  }

 private:
  [[nodiscard]] std::size_t left() const { return end_ - at_; }
  template <class T>
  T take() {
    const T value = load_le<T>(m_.raw.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  Defect read_short() {
    m_.is_short = true;
    const bool wide = m_.type == Type::kShort64 || (m_.type == Type::kBuild && m_.subtype == 1);
    if (wide && m_.raw.size() < 8) return Defect::kHeaderShort;
    const std::uint64_t word = wide ? load_le<std::uint64_t>(m_.raw.data()) : m_.header;
    if (m_.type != Type::kBuild) {
      m_.value = word >> 4;
      m_.subtype = 0;
      return Defect::kNone;
    }
    m_.value = (word >> 4 & 0xFFFFF) | word >> 30 << 20;
    if (options_.quirks.compact_build_loses_bits) m_.value &= ~(std::uint64_t{3} << 20);
    return Defect::kNone;
  }

  // Reads the fields before the payload, in the order of the reference's checks.
  Defect read_fields() {
    at_ = 4;
    end_ = m_.raw.size();
    if (m_.has_checksum()) {
      if (left() < 4) return Defect::kChecksumShort;
      end_ -= 4;
      m_.checksum = load_le<std::uint32_t>(m_.raw.data() + end_);
    }
    if (m_.has_guid()) {
      if (left() < m_.guid.bytes.size()) return Defect::kGuidShort;
      std::memcpy(m_.guid.bytes.data(), m_.raw.data() + at_, m_.guid.bytes.size());
      at_ += m_.guid.bytes.size();
    }
    if (m_.has_location() && !read_location()) return Defect::kLocationShort;
    if (m_.has_length()) {
      if (left() < 2) return Defect::kLengthShort;
      m_.length = take<std::uint16_t>();
    }
    if (m_.has_timestamp()) {
      if (left() < 8) return Defect::kTimestampShort;
      m_.timestamp = take<std::uint64_t>();
    }
    m_.payload = m_.raw.subspan(at_, left());
    if (m_.has_length()) {
      if (left() < m_.length) return Defect::kPayloadShort;
      if (left() > m_.length) return Defect::kPayloadLong;
    }
    if (m_.has_checksum() && crc32c(m_.raw.first(end_)) != m_.checksum) return Defect::kChecksum;
    return Defect::kNone;
  }

  bool read_location() {
    if (left() < 1) return false;
    Location& location = m_.location;
    location.format = m_.raw[at_];
    const unsigned format = location.format & 3U;
    if (left() < location_size(format)) return false;
    ++at_;
    using enum Location::Kind;
    switch (format) {
      case 0:
        location.kind = kFileLine;
        location.file = take<std::uint16_t>();
        location.line = take<std::uint16_t>();
        break;
      case 1:
        location.kind = kFileLine;
        location.file = take<std::uint32_t>();
        location.line = take<std::uint32_t>();
        break;
      case 2:
        location.kind = kAddress32;
        location.address = take<std::uint32_t>();
        break;
      default:
        location.kind = kAddress64;
        location.address = take<std::uint64_t>();
        break;
    }
    return true;
  }

  Defect read_payload() {
    switch (m_.type) {
      case Type::kBuild:
        return read_build();
      case Type::kString:
        return read_string();
      case Type::kCatalog:
        return read_catalog();
      case Type::kRaw:
        m_.value = m_.subtype;
        m_.data = m_.payload;
        return Defect::kNone;
      case Type::kClock:
        return options_.quirks.clock_and_sbd_unknown ? Defect::kReservedType : read_clock();
      case Type::kSbd:
        return options_.quirks.clock_and_sbd_unknown ? Defect::kReservedType : read_sbd();
      default:
        return Defect::kReservedType;
    }
  }

  // Takes the text from `at` to its NUL or to the end of the payload.
  Defect read_text(std::size_t at) {
    const Bytes rest = m_.payload.subspan(at);
    const void* nul = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
    const std::size_t size =
        nul == nullptr
            ? rest.size()
            : static_cast<std::size_t>(static_cast<const std::uint8_t*>(nul) - rest.data());
    m_.text = as_text(rest.first(size));
    m_.unterminated = nul == nullptr;
    text_end_ = at + std::min(size + 1, rest.size());
    const bool bad =
        m_.unterminated && (options_.mode == Mode::kStrict || options_.quirks.empty_text_is_short);
    return bad || (size == 0 && options_.quirks.empty_text_is_short) ? Defect::kTextUnterminated
                                                                     : Defect::kNone;
  }

  Defect read_build() {
    if (m_.subtype != std::to_underlying(Build::kLong)) return Defect::kUnknownSubtype;
    if (m_.payload.size() < 8) return Defect::kBuildShort;
    m_.value = load_le<std::uint64_t>(m_.payload.data());
    return m_.payload.size() == 8 ? Defect::kNone : read_text(8);
  }

  Defect read_string() {
    const Defect defect = read_text(0);
    if (defect != Defect::kNone) return defect;
    if (subtype_name(m_.type, m_.subtype) == "??") return Defect::kUnknownSubtype;
    if (m_.is_printf()) m_.data = m_.payload.subspan(text_end_);
    return Defect::kNone;
  }

  Defect read_catalog() {
    if (subtype_name(m_.type, m_.subtype) == "??") return Defect::kUnknownSubtype;
    const std::size_t size = m_.is_id64() ? 8 : 4;
    if (m_.payload.size() < size) return Defect::kCatalogIdShort;
    m_.value = size == 8 ? load_le<std::uint64_t>(m_.payload.data())
                         : load_le<std::uint32_t>(m_.payload.data());
    m_.data = m_.payload.subspan(size);
    return Defect::kNone;
  }

  Defect read_clock() {
    if (m_.subtype != std::to_underlying(Clock::kSync)) return Defect::kUnknownSubtype;
    if (m_.payload.size() < 16) return Defect::kClockShort;
    m_.value = load_le<std::uint64_t>(m_.payload.data());
    m_.extra = load_le<std::uint64_t>(m_.payload.data() + 8);
    return m_.payload.size() > 16 && options_.mode == Mode::kStrict ? Defect::kPayloadSurplus
                                                                    : Defect::kNone;
  }

  Defect read_sbd() {
    if (m_.subtype > 0xF) return Defect::kUnknownSubtype;
    const std::size_t id_size = m_.is_id64() ? 8 : 4;
    constexpr std::size_t kAddressSizes[] = {0, 2, 4, 8};
    const std::size_t address_size = kAddressSizes[m_.subtype >> 2 & 3];
    if (m_.payload.size() < id_size + address_size) return Defect::kSbdShort;
    const auto number = [&](std::size_t at, std::size_t size) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{m_.payload[at + i]} << (8 * i);
      return value;
    };
    m_.value = number(0, id_size);
    m_.extra = number(id_size, address_size);
    std::size_t at = id_size + address_size;
    if ((m_.subtype & kSbdName) != 0) {
      (void)read_text(at);
      if (m_.unterminated) return Defect::kSbdShort;
      at = text_end_;
    }
    m_.data = m_.payload.subspan(at);
    return Defect::kNone;
  }

  Message& m_;
  const ParseOptions& options_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t text_end_ = 0;  ///< In the payload, after the NUL.
};

}  // namespace

// It is in another translation unit, so that it is copied: for this many zero bytes, compilers use
// an instruction that takes longer than the rest of a short message.
extern const Message kEmptyMessage;

Message parse_message(Bytes bytes, const ParseOptions& options) {
  Message message = kEmptyMessage;
  message.raw = bytes;
  message.defect = Reader(message, options).read();
  return message;
}

Extent message_extent(Bytes bytes) {
  using enum Extent::Kind;
  if (bytes.size() < 4) return {kNeedMore, 4};
  const auto header = load_le<std::uint32_t>(bytes.data());
  const auto type = static_cast<Type>(header & 0xF);
  const unsigned subtype = header >> 24 & 0x3F;
  if (type == Type::kShort32 || (type == Type::kBuild && subtype == 0)) return {kKnown, 4};
  if (type == Type::kShort64 || (type == Type::kBuild && subtype == 1)) return {kKnown, 8};
  std::size_t at = 4;
  if ((header & kHeaderGuid) != 0) at += 16;
  if ((header & kHeaderLocation) != 0) {
    if (bytes.size() <= at) return {kNeedMore, at + 1};
    at += location_size(bytes[at]);
  }
  const std::size_t length_at = at;
  if ((header & kHeaderLength) != 0) at += 2;
  if ((header & kHeaderTimestamp) != 0) at += 8;
  if ((header & kHeaderChecksum) != 0) at += 4;
  if ((header & kHeaderLength) != 0) {
    if (bytes.size() < length_at + 2) return {kNeedMore, length_at + 2};
    return {kKnown, at + load_le<std::uint16_t>(bytes.data() + length_at)};
  }
  if (type == Type::kClock && subtype == std::to_underlying(Clock::kSync)) return {kKnown, at + 16};
  return {kOpen, at};
}

}  // namespace waymark::syst

// SyS-T messages as values.  See mipi-syst.md 1 and 2.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "waymark/base/bits.h"
#include "waymark/base/types.h"
#include "waymark/syst/guid.h"

namespace waymark::syst {

enum class Type : std::uint8_t {
  kBuild = 0,
  kShort32 = 1,
  kString = 2,
  kCatalog = 3,
  kRaw = 6,
  kShort64 = 7,
  kClock = 8,
  kSbd = 9,  ///< Structured binary data.
};

enum class Severity : std::uint8_t {
  kMax = 0,  ///< None.
  kFatal = 1,
  kError = 2,
  kWarning = 3,
  kInfo = 4,
  kUser1 = 5,
  kUser2 = 6,
  kDebug = 7,
};

enum class Build : std::uint8_t { kCompact32 = 0, kCompact64 = 1, kLong = 2 };
enum class String : std::uint8_t {
  kGeneric = 1,
  kFunctionEnter = 2,
  kFunctionExit = 3,
  kInvalidParam = 5,
  kAssert = 7,
  kPrintf32 = 11,
  kPrintf64 = 12,
};
enum class Catalog : std::uint8_t { kId32P32 = 1, kId64P32 = 2, kId32P64 = 5, kId64P64 = 6 };
enum class Clock : std::uint8_t { kSync = 1 };

/// Bits of the subtype of SBD.
inline constexpr unsigned kSbdId64 = 1U << 0;
inline constexpr unsigned kSbdName = 1U << 1;

/// Bits of the header.
inline constexpr std::uint32_t kHeaderLocation = 1U << 8;
inline constexpr std::uint32_t kHeaderLength = 1U << 9;
inline constexpr std::uint32_t kHeaderChecksum = 1U << 10;
inline constexpr std::uint32_t kHeaderTimestamp = 1U << 11;
inline constexpr std::uint32_t kHeaderGuid = 1U << 23;
inline constexpr std::uint32_t kHeaderReserved = 1U << 7 | 3U << 30;

/// The longest message without its payload (65535 bytes).
inline constexpr std::size_t kMaxOverhead = 4 + 16 + 9 + 2 + 8 + 4;
inline constexpr std::size_t kMaxMessage = 65535 + kMaxOverhead;

/// The first thing that is wrong with a message.
enum class Defect : std::uint8_t {
  kNone,
  // The header and what follows it do not fit.
  kHeaderShort,    ///< Fewer than 4 bytes, or 8 in a 64-bit short message.
  kChecksumShort,  ///< No room for the checksum.
  kGuidShort,
  kLocationShort,
  kLengthShort,
  kTimestampShort,
  kPayloadShort,  ///< Fewer bytes than the length field says.
  kPayloadLong,   ///< More bytes than the length field says.
  kChecksum,      ///< Does not match.
  // About the payload:
  kReservedType,
  kUnknownSubtype,
  kBuildShort,
  kTextUnterminated,  ///< Or empty, with Quirks::empty_text_is_short.
  kCatalogIdShort,
  kClockShort,
  kSbdShort,
  // Only in strict mode:
  kReservedBits,
  kLocationFormat,
  kPayloadSurplus,  ///< In a CLOCK message.
};

/// True if only the payload is unreadable, and everything before it is valid.
constexpr bool is_payload_defect(Defect defect) { return defect >= Defect::kReservedType; }

/// The reference's verdicts.
enum class Status : std::uint8_t {
  kOk,
  kUnknownType,
  kTooShort,
  kTooLong,
  kChecksumError,
  kMissingCollateral,
};
Status status_of(Defect defect);

/// Where in the program a message was sent.
struct Location {
  enum class Kind : std::uint8_t { kNone, kFileLine, kAddress32, kAddress64 };
  Kind kind = Kind::kNone;
  std::uint8_t format = 0;  ///< As sent.
  std::uint32_t file = 0;   ///< For kFileLine: an ID that the collateral names.
  std::uint32_t line = 0;
  std::uint64_t address = 0;  ///< For kAddress32 and kAddress64.
};

/// One message; views into the bytes that were parsed, which must outlive it.
///
/// | type | value | extra | text | data |
/// |---|---|---|---|---|
/// | kShort32, kShort64 | 28 or 60 bits | | | |
/// | kBuild | number | | text, if any | |
/// | kString | | | text or format, without NUL | arguments |
/// | kCatalog | ID | | | arguments |
/// | kRaw | protocol | | | payload |
/// | kClock | clock | frequency in Hz | | |
/// | kSbd | ID | address | name | blob |
///
/// In a message with a defect, everything before the defect is valid.
struct Message {
  Bytes raw;      ///< All of it.
  Bytes payload;  ///< Without the checksum.
  Bytes data;
  std::string_view text;
  std::uint64_t value = 0;
  std::uint64_t extra = 0;
  std::uint64_t timestamp = 0;  ///< Ticks of the source's clock.
  Location location;
  Guid guid;
  std::uint32_t header = 0;
  std::uint32_t checksum = 0;  ///< As sent.
  std::uint16_t length = 0;
  std::uint16_t unit = 0;
  std::uint8_t origin = 0;   ///< The module, in messages without GUID.
  Type type = Type::kBuild;  ///< May be a reserved type.
  std::uint8_t subtype = 0;
  Severity severity = Severity::kMax;
  Defect defect = Defect::kHeaderShort;
  bool is_short = false;      ///< No optional field, severity or origin.
  bool unterminated = false;  ///< The text ends with the message instead of a NUL.

  [[nodiscard]] bool has_guid() const { return has(kHeaderGuid); }
  [[nodiscard]] bool has_location() const { return has(kHeaderLocation); }
  [[nodiscard]] bool has_length() const { return has(kHeaderLength); }
  [[nodiscard]] bool has_checksum() const { return has(kHeaderChecksum); }
  [[nodiscard]] bool has_timestamp() const { return has(kHeaderTimestamp); }
  [[nodiscard]] bool ok() const { return defect == Defect::kNone; }
  [[nodiscard]] bool is_printf() const {
    return type == Type::kString && (subtype == 11 || subtype == 12);
  }
  /// Whether the arguments are those of a 64-bit sender.
  [[nodiscard]] bool is_64bit() const {
    return type == Type::kString ? subtype == 12 : (subtype & 4) != 0;
  }
  [[nodiscard]] bool is_id64() const {
    return type == Type::kCatalog ? subtype == 2 || subtype == 6 : (subtype & kSbdId64) != 0;
  }

 private:
  [[nodiscard]] bool has(std::uint32_t flag) const { return !is_short && (header & flag) != 0; }
};

static_assert(std::is_trivially_copyable_v<Message>);

/// "MAX", "FATAL", … as the reference prints them.
std::string_view severity_name(Severity severity);
/// "BUILD", "SHORT32", …; "" for a reserved type.
std::string_view type_name(Type type);
/// "LONG", "GENERIC", "ID32P32"; "SYNC" for CLOCK; "" for RAW, SBD and types without subtypes; "??"
/// for unknown subtypes.
std::string_view subtype_name(Type type, std::uint8_t subtype);
/// "UNKNOWN_TYPE"; "TOO_LONG" for kTooLong.
std::string_view status_name(Status status);
/// The problem, in words: "the checksum does not match".
std::string_view defect_sentence(Defect defect);

}  // namespace waymark::syst

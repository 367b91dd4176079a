#include "waymark/syst/message.h"

#include <utility>

namespace waymark::syst {

extern const Message kEmptyMessage;  // For parser.cc.
const Message kEmptyMessage{};

Status status_of(Defect defect) {
  switch (defect) {
    case Defect::kNone:
    case Defect::kReservedBits:
    case Defect::kLocationFormat:
      return Status::kOk;
    case Defect::kPayloadLong:
    case Defect::kPayloadSurplus:
      return Status::kTooLong;
    case Defect::kChecksum:
      return Status::kChecksumError;
    case Defect::kReservedType:
    case Defect::kUnknownSubtype:
      return Status::kUnknownType;
    default:
      return Status::kTooShort;
  }
}

std::string_view severity_name(Severity severity) {
  constexpr std::string_view kNames[] = {"MAX",  "FATAL", "ERROR", "WARNING",
                                         "INFO", "USER1", "USER2", "DEBUG"};
  return kNames[std::to_underlying(severity) & 7U];
}

std::string_view type_name(Type type) {
  constexpr std::string_view kNames[] = {"BUILD", "SHORT32", "STRING",  "CATALOG", "",
                                         "",      "RAW",     "SHORT64", "CLOCK",   "SBD"};
  const auto number = std::to_underlying(type);
  return number < std::size(kNames) ? kNames[number] : std::string_view();
}

std::string_view subtype_name(Type type, std::uint8_t subtype) {
  switch (type) {
    case Type::kBuild:
      switch (static_cast<Build>(subtype)) {
        case Build::kCompact32:
          return "COMPACT32";
        case Build::kCompact64:
          return "COMPACT64";
        case Build::kLong:
          return "LONG";
      }
      return "??";
    case Type::kString:
      switch (static_cast<String>(subtype)) {
        case String::kGeneric:
          return "GENERIC";
        case String::kFunctionEnter:
          return "ENTER";
        case String::kFunctionExit:
          return "EXIT";
        case String::kInvalidParam:
          return "INVPARAM";
        case String::kAssert:
          return "ASSERT";
        case String::kPrintf32:
          return "PRINTF32";
        case String::kPrintf64:
          return "PRINTF64";
      }
      return "??";
    case Type::kCatalog:
      switch (static_cast<Catalog>(subtype)) {
        case Catalog::kId32P32:
          return "ID32P32";
        case Catalog::kId64P32:
          return "ID64P32";
        case Catalog::kId32P64:
          return "ID32P64";
        case Catalog::kId64P64:
          return "ID64P64";
      }
      return "??";
    case Type::kClock:
      return static_cast<Clock>(subtype) == Clock::kSync ? "SYNC" : "??";
    default:
      return "";
  }
}

std::string_view status_name(Status status) {
  constexpr std::string_view kNames[] = {"OK",       "UNKNOWN_TYPE",   "TOO_SHORT",
                                         "TOO_LONG", "CHECKSUM_ERROR", "MISSING_COLLATERAL"};
  return kNames[std::to_underlying(status)];
}

std::string_view defect_sentence(Defect defect) {
  switch (defect) {
    case Defect::kNone:
      return "";
    case Defect::kHeaderShort:
      return "it ends within its header";
    case Defect::kChecksumShort:
      return "it has no room for its checksum";
    case Defect::kGuidShort:
      return "it ends within its GUID";
    case Defect::kLocationShort:
      return "it ends within its location";
    case Defect::kLengthShort:
      return "it ends within its length field";
    case Defect::kTimestampShort:
      return "it ends within its timestamp";
    case Defect::kPayloadShort:
      return "its payload is shorter than its length field says";
    case Defect::kPayloadLong:
      return "its payload is longer than its length field says";
    case Defect::kChecksum:
      return "its checksum does not match";
    case Defect::kReservedType:
      return "its type is reserved";
    case Defect::kUnknownSubtype:
      return "its subtype is unknown";
    case Defect::kBuildShort:
      return "it ends within its build number";
    case Defect::kTextUnterminated:
      return "its text has no end";
    case Defect::kCatalogIdShort:
      return "it ends within its catalog ID";
    case Defect::kClockShort:
      return "it ends within its clock values";
    case Defect::kSbdShort:
      return "it ends within its ID, address or name";
    case Defect::kReservedBits:
      return "reserved bits of its header are set";
    case Defect::kLocationFormat:
      return "the format of its location is reserved";
    case Defect::kPayloadSurplus:
      return "bytes follow its clock values";
  }
  return "";
}

}  // namespace waymark::syst

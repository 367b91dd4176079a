// The fields of elements: their names in JSON and their columns in CSV, once for each kind.
// docs/output-formats.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "itm_words.h"
#include "json_object.h"
#include "software_words.h"
#include "waymark/element/dwt.h"
#include "waymark/element/element.h"
#include "waymark/element/text.h"
#include "waymark/outputs/element_row.h"
#include "waymark/outputs/names.h"

namespace waymark::outputs {

constexpr bool always(const Element& /*element*/) { return true; }

/// One field of a kind of element.
struct ElementField {
  std::string_view name{};  ///< In JSON; empty: only in CSV.
  FieldForm form = FieldForm::kNumber;
  Column column = Column::kNone;  ///< kNone: only in JSON.
  /// Not for words.
  std::uint64_t (*value)(const Element& element) = nullptr;
  std::string_view (*word)(const Element& element) = nullptr;
  bool (*present)(const Element& element) = always;
  /// Writes one or more members of JSON, instead of the name and the value.
  void (*members)(Object& object, const Element& element) = nullptr;
};

// -- Parts of the rows.
// ----------------------------------------------------------------------------

template <auto kMember>
constexpr std::uint64_t member(const Element& element) {
  return static_cast<std::uint64_t>(element.*kMember);
}
template <ElementFlag kFlag>
constexpr bool has(const Element& element) {
  return (element.flags & kFlag) != 0;
}
template <ElementFlag kFlag>
constexpr std::uint64_t flag_value(const Element& element) {
  return has<kFlag>(element) ? 1 : 0;
}
/// A bit of Element::extra.
template <auto kBit>
constexpr bool extra(const Element& element) {
  return (element.extra & kBit) != 0;
}
constexpr std::uint64_t one(const Element& /*element*/) { return 1; }

constexpr DataPlace place_of(const Element& element) {
  return DataPlace::unpack(element.extra_value);
}

/// A mark: "name":true, if it is present.
constexpr ElementField mark(std::string_view name, bool (*present)(const Element&)) {
  return {.name = name, .form = FieldForm::kMark, .value = one, .present = present};
}

inline constexpr ElementField kReasonField = {
    .name = "reason", .form = FieldForm::kWord, .column = Column::kReason, .word = reason_word};
inline constexpr ElementField kWhatField = {
    .name = "what", .form = FieldForm::kWord, .column = Column::kReason, .word = reason_word};
inline constexpr ElementField kNumberField = {
    .name = "number", .column = Column::kNumber, .value = member<&Element::number>};
inline constexpr ElementField kTimestampField = {.name = "timestamp",
                                                 .form = FieldForm::kTimestamp,
                                                 .column = Column::kTimestamp,
                                                 .value = member<&Element::timestamp>};
/// Not of a number in Gray code without its upper bits.
inline constexpr ElementField kElementTimeField = {.name = "timestamp",
                                                   .form = FieldForm::kTimestamp,
                                                   .column = Column::kTimestamp,
                                                   .value = member<&Element::timestamp>,
                                                   .present = [](const Element& e) {
                                                     return has<kElementHasTimestamp>(e) ||
                                                            !has<kElementTimeIsPartial>(e);
                                                   }};
inline constexpr ElementField kStartField = {.name = "start",
                                             .form = FieldForm::kHex,
                                             .column = Column::kStart,
                                             .value = member<&Element::start>};
inline constexpr ElementField kEndField = {
    .name = "end", .form = FieldForm::kHex, .column = Column::kEnd, .value = member<&Element::end>};
inline constexpr ElementField kInstructionsField = {
    .name = "instructions", .column = Column::kCount, .value = member<&Element::count>};
inline constexpr ElementField kIsaField = {
    .name = "isa", .form = FieldForm::kWord, .column = Column::kIsa, .word = [](const Element& e) {
      return isa_name(e.isa);
    }};
inline constexpr ElementField kElField = {
    .name = "el", .column = Column::kEl, .value = member<&Element::exception_level>};
inline constexpr ElementField kPartialMark = mark("partial", has<kElementTimeIsPartial>);
inline constexpr ElementField kFrequencyMark =
    mark("frequency_change", has<kElementFrequencyChange>);

/// After the fields of every kind.
inline constexpr ElementField kCyclesField = {.name = "cycles",
                                              .column = Column::kCycles,
                                              .value = member<&Element::cycle_count>,
                                              .present = has<kElementHasCycleCount>};

// -- The fields of each kind, in the order of JSON.
// ------------------------------------------------

inline constexpr std::array kNoFields = {kCyclesField};
inline constexpr std::array kReasonFields = {kReasonField, kCyclesField};
inline constexpr std::array kNumberedFields = {kReasonField, kNumberField, kCyclesField};

inline constexpr std::array kContextFields = {
    kIsaField,
    ElementField{.name = "el",
                 .column = Column::kEl,
                 .value = member<&Element::exception_level>,
                 .present = has<kElementElValid>},
    ElementField{.name = "security",
                 .form = FieldForm::kWord,
                 .column = Column::kSecurity,
                 .word = [](const Element& e) { return security_word(e.security); }},
    ElementField{
        .name = "bits",
        .column = Column::kBits,
        .value = [](const Element& e) -> std::uint64_t { return has<kElement64Bit>(e) ? 64 : 32; }},
    ElementField{.name = "context_id",
                 .form = FieldForm::kHex,
                 .column = Column::kContextId,
                 .value = member<&Element::context_id>,
                 .present = has<kElementContextIdValid>},
    ElementField{.name = "vmid",
                 .form = FieldForm::kHex,
                 .column = Column::kVmid,
                 .value = member<&Element::vmid>,
                 .present = has<kElementVmidValid>},
    kCyclesField,
};

inline constexpr std::array kRangeFields = {
    kStartField,
    kEndField,
    kInstructionsField,
    kIsaField,
    ElementField{.name = "taken",
                 .form = FieldForm::kFlag,
                 .column = Column::kTaken,
                 .value = flag_value<kElementExecuted>},
    ElementField{.name = "last",
                 .form = FieldForm::kWord,
                 .column = Column::kLast,
                 .word = [](const Element& e) { return instruction_word(e.last_type); }},
    ElementField{.name = "subtype",
                 .form = FieldForm::kWord,
                 .column = Column::kSubtype,
                 .word = [](const Element& e) { return subtype_word(e.last_subtype); }},
    ElementField{.name = "conditional",
                 .form = FieldForm::kFlag,
                 .column = Column::kConditional,
                 .value = flag_value<kElementConditional>},
    ElementField{.name = "last_size", .value = member<&Element::last_size>},
    kCyclesField,
};

inline constexpr std::array kPathlessFields = {kStartField, kEndField, kInstructionsField,
                                               kCyclesField};

inline constexpr std::array kNotAccessibleFields = {
    ElementField{.name = "address",
                 .form = FieldForm::kHex,
                 .column = Column::kStart,
                 .value = member<&Element::start>},
    ElementField{.name = "space",
                 .form = FieldForm::kHex,
                 .column = Column::kNumber,
                 .value = member<&Element::number>},
    kCyclesField,
};

inline constexpr std::array kExceptionFields = {
    kNumberField,
    ElementField{.name = "return_address",
                 .form = FieldForm::kHex,
                 .column = Column::kEnd,
                 .value = member<&Element::end>,
                 .present = has<kElementReturnAddress>},
    mark("return_is_target", has<kElementReturnIsTarget>),
    mark("data_marker", has<kElementDataMarker>),
    kCyclesField,
};

inline constexpr std::array kTimestampFields = {kElementTimeField, kPartialMark, kFrequencyMark,
                                                kCyclesField};

inline constexpr std::array kInstrumentationFields = {
    kElField,
    ElementField{.name = "value",
                 .form = FieldForm::kHex,
                 .column = Column::kValue,
                 .value = member<&Element::value>},
    kCyclesField,
};

inline bool has_known_master(const Element& element) {
  return has_master(element) && extra<kSwIdValid>(element);
}

inline constexpr std::array kSoftwareFields = {
    kWhatField,
    ElementField{.name = "master",
                 .column = Column::kMaster,
                 .value = [](const Element& e) -> std::uint64_t { return e.sw_id.master; },
                 .present = has_known_master},
    ElementField{.name = "channel",
                 .column = Column::kChannel,
                 .value = [](const Element& e) -> std::uint64_t { return e.sw_id.channel; },
                 .present = has_known_master},
    ElementField{.name = "payload_bits",
                 .value = member<&Element::extra_value>,
                 .present = [](const Element& e) { return e.extra_value != 0; }},
    ElementField{.name = "value",
                 .form = FieldForm::kHex,
                 .column = Column::kValue,
                 .value = member<&Element::start>,
                 .present = [](const Element& e) { return e.extra_value != 0; }},
    mark("marker", extra<kSwMarker>),
    mark("trigger", extra<kSwTrigger>),
    mark("frequency", extra<kSwFrequency>),
    mark("master_error", extra<kSwMasterError>),
    mark("global_error", extra<kSwGlobalError>),
    ElementField{.name = "timestamp",
                 .form = FieldForm::kTimestamp,
                 .column = Column::kTimestamp,
                 .value = member<&Element::timestamp>,
                 .present = has<kElementHasTimestamp>},
    mark("partial",
         [](const Element& e) {
           return has<kElementHasTimestamp>(e) && has<kElementTimeIsPartial>(e);
         }),
    kCyclesField,
};

// -- ITM: the fields depend on the packet. --------------------------------------------------------

inline constexpr ElementField kItmField = {
    .name = "what", .form = FieldForm::kWord, .column = Column::kReason, .word = itm_word};
inline constexpr ElementField kItmSizeField = {
    .name = "size", .column = Column::kCount, .value = member<&Element::extra_value>};
inline constexpr ElementField kItmValueField = {.name = "value",
                                                .form = FieldForm::kHex,
                                                .column = Column::kValue,
                                                .value = member<&Element::start>};
inline constexpr ElementField kOverflowMark = mark("overflow", extra<kItmOverflow>);

/// The text of a write to a stimulus port, if it is text.
void write_stimulus_text(Object& object, const Element& element);
/// The content of an event of the DWT.
void write_dwt_event(Object& object, const Element& element);

inline constexpr std::array kStimulusFields = {
    kItmField,
    ElementField{.name = "port", .column = Column::kNumber, .value = member<&Element::number>},
    kItmSizeField,
    kItmValueField,
    ElementField{.name = "text", .members = write_stimulus_text},
    kOverflowMark,
    kCyclesField,
};

inline constexpr std::array kHardwareFields = {
    kItmField,
    ElementField{
        .name = "discriminator", .column = Column::kNumber, .value = member<&Element::number>},
    kItmSizeField,
    kItmValueField,
    ElementField{.name = "event", .members = write_dwt_event},
    ElementField{.column = Column::kStart,
                 .value = itm_address,
                 .present = [](const Element& e) { return itm_address(e) != kNoAddress; }},
    kOverflowMark,
    kCyclesField,
};

inline constexpr std::array kLocalTimestampFields = {
    kItmField,
    ElementField{.name = "delta", .column = Column::kValue, .value = member<&Element::start>},
    ElementField{.name = "delayed",
                 .form = FieldForm::kWord,
                 .word = [](const Element& e) { return delay_word(itm_kind(e)); }},
    kTimestampField,
    mark("lower_bound", has<kElementTimeIsPartial>),
    kOverflowMark,
    kCyclesField,
};

inline constexpr std::array kGlobalTimestampFields = {
    kItmField, kTimestampField, kPartialMark, kFrequencyMark, kOverflowMark, kCyclesField};

/// Of packets that no version has yet.
inline constexpr std::array kOtherItmFields = {
    kItmField,
    ElementField{.column = Column::kTimestamp, .value = member<&Element::timestamp>},
    kOverflowMark,
    kCyclesField,
};

// -- Data trace. ----------------------------------------------------------------------------------

constexpr bool is_data_value(const Element& element) {
  return element.kind == ElementKind::kDataValue;
}

inline constexpr std::array kTransferFields = {
    kReasonField,
    ElementField{.name = "address",
                 .form = FieldForm::kHex,
                 .value = member<&Element::start>,
                 .present =
                     [](const Element& e) {
                       return e.kind == ElementKind::kDataAddress || place_of(e).known_bits != 0;
                     }},
    ElementField{.column = Column::kStart,
                 .value = member<&Element::start>,
                 .present = [](const Element& e) { return place_of(e).known_bits != 0; }},
    ElementField{.name = "address_bits",
                 .value = [](const Element& e) -> std::uint64_t { return place_of(e).known_bits; },
                 .present =
                     [](const Element& e) {
                       return place_of(e).known_bits != 0 && place_of(e).known_bits < 32;
                     }},
    ElementField{.name = "value",
                 .form = FieldForm::kHex,
                 .column = Column::kValue,
                 .value = member<&Element::value>,
                 .present = is_data_value},
    ElementField{.name = "size",
                 .column = Column::kCount,
                 .value = member<&Element::count>,
                 .present = is_data_value},
    ElementField{.name = "instruction",
                 .form = FieldForm::kHex,
                 .column = Column::kEnd,
                 .value = member<&Element::end>,
                 .present = extra<kDataOwned>},
    ElementField{.name = "access", .value = member<&Element::end>, .present = extra<kDataAccess>},
    ElementField{.name = "by",
                 .form = FieldForm::kWord,
                 .word = [](const Element&) -> std::string_view { return "exception_entry"; },
                 .present = extra<kDataStacking>},
    ElementField{.name = "by",
                 .form = FieldForm::kWord,
                 .word = [](const Element&) -> std::string_view { return "exception_return"; },
                 .present = extra<kDataUnstacking>},
    ElementField{.name = "transfer",
                 .value = [](const Element& e) -> std::uint64_t { return place_of(e).number; }},
    ElementField{.name = "tag",
                 .value = [](const Element& e) -> std::uint64_t { return place_of(e).tag; },
                 .present = [](const Element& e) { return place_of(e).tag != 0; }},
    mark("inferred", extra<kDataInferred>),
    ElementField{
        .name = "big_endian",
        .form = FieldForm::kFlag,
        .value = [](const Element& e) -> std::uint64_t { return extra<kDataBigEndian>(e) ? 1 : 0; },
        .present = extra<kDataEndianKnown>},
    mark("cancelled", extra<kDataCancelled>),
    kCyclesField,
};

/// Calls `visit.template operator()<kFields>()` with the fields of the element, so that the code
/// for each of them is made at compile time.
template <class Visit>
void with_fields(const Element& element, Visit visit) {
  using enum ElementKind;
  switch (element.kind) {
    case kInstrRange:
      return visit.template operator()<kRangeFields>();
    case kInstrRangeNoPath:
      return visit.template operator()<kPathlessFields>();
    case kPeContext:
      return visit.template operator()<kContextFields>();
    case kNoSync:
    case kTraceOn:
    case kEndOfTrace:
    case kMemTrans:
      return visit.template operator()<kReasonFields>();
    case kEvent:
    case kSyncMarker:
      return visit.template operator()<kNumberedFields>();
    case kAddrNacc:
      return visit.template operator()<kNotAccessibleFields>();
    case kException:
      return visit.template operator()<kExceptionFields>();
    case kTimestamp:
      return visit.template operator()<kTimestampFields>();
    case kInstrumentation:
      return visit.template operator()<kInstrumentationFields>();
    case kSwTrace:
      return visit.template operator()<kSoftwareFields>();
    case kDataAddress:
    case kDataValue:
    case kDataEvent:
      return visit.template operator()<kTransferFields>();
    case kItmTrace:
      switch (itm_kind(element)) {
        case ItmKind::kSoftware:
          return visit.template operator()<kStimulusFields>();
        case ItmKind::kHardware:
          return visit.template operator()<kHardwareFields>();
        case ItmKind::kTimestampSync:
        case ItmKind::kTimestampDelay:
        case ItmKind::kPacketDelay:
        case ItmKind::kBothDelay:
          return visit.template operator()<kLocalTimestampFields>();
        case ItmKind::kGlobalTimestamp:
          return visit.template operator()<kGlobalTimestampFields>();
      }
      return visit.template operator()<kOtherItmFields>();
    case kUnknown:
    case kAddrUnknown:
    case kExceptionReturn:
    case kCycleCount:
    case kCustom:
      return visit.template operator()<kNoFields>();
  }
}

/// The field of a kind that is in a column; the number of fields: none.
template <const auto& kFields>
constexpr std::size_t field_in(Column column) {
  std::size_t at = 0;
  while (at < kFields.size() && kFields[at].column != column) ++at;
  return at;
}

}  // namespace waymark::outputs

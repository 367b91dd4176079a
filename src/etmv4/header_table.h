// The header bytes of ETMv4 and ETE as data.  See etmv4-ete.md 2.1.
#pragma once

#include <array>

#include "waymark/etmv4/config.h"
#include "waymark/etmv4/parser.h"
#include "waymark/protocol/header_pattern.h"

namespace waymark::etmv4 {

/// When a header is legal.
enum class Gate : std::uint8_t {
  kAlways,
  kV8M42,        ///< v8-M and version 4.2 or later.
  kEtmOnly,      ///< Not ETE: there it is reserved for this configuration.
  kEte13,        ///< ETE 1.3 and later.
  kEte,          ///< Major version 5 and later.
  kConditional,  ///< Conditional tracing; otherwise reserved for this configuration.
  kDataTrace,    ///< Data trace; otherwise reserved for this configuration.
  kV43,          ///< Version 4.3 and later.
  kV46,          ///< Version 4.6 and later.
  kQ,            ///< Q elements supported.
};

struct HeaderRow {
  protocol::HeaderPattern pattern;
  PacketType type;
  Layout layout;
  Gate gate = Gate::kAlways;
};

inline constexpr HeaderRow kHeaderRows[] = {
    {"0000 0000", PacketType::kExtension, Layout::kExtension},
    {"0000 0001", PacketType::kTraceInfo, Layout::kTraceInfo},
    {"0000 001x", PacketType::kTimestamp, Layout::kTimestamp},
    {"0000 0100", PacketType::kTraceOn, Layout::kSingle},
    {"0000 0101", PacketType::kFunctionReturn, Layout::kSingle, Gate::kV8M42},
    {"0000 0110", PacketType::kException, Layout::kException},
    {"0000 0111", PacketType::kExceptionReturn, Layout::kSingle, Gate::kEtmOnly},
    {"0000 1001", PacketType::kInstrumentation, Layout::kInstrumentation, Gate::kEte13},
    {"0000 1010", PacketType::kTransactionStart, Layout::kSingle, Gate::kEte},
    {"0000 1011", PacketType::kTransactionCommit, Layout::kSingle, Gate::kEte},
    {"0000 110x", PacketType::kCycleCountF2, Layout::kCycleCountF2},
    {"0000 111x", PacketType::kCycleCountF1, Layout::kCycleCountF1},
    {"0001 xxxx", PacketType::kCycleCountF3, Layout::kCycleCountF3},
    {"0010 0xxx", PacketType::kNumberedDataSync, Layout::kValue, Gate::kDataTrace},
    {"0010 10xx", PacketType::kUnnumberedDataSync, Layout::kValue, Gate::kDataTrace},
    {"0010 1100", PacketType::kUnnumberedDataSync, Layout::kValue, Gate::kDataTrace},
    {"0010 1101", PacketType::kCommit, Layout::kCommit},
    {"0010 1110", PacketType::kCancelF1, Layout::kCancelF1},
    {"0010 1111", PacketType::kCancelF1Mispredict, Layout::kCancelF1},
    {"0011 00xx", PacketType::kMispredict, Layout::kMispredict},
    {"0011 01xx", PacketType::kCancelF2, Layout::kCancelF2},
    {"0011 1xxx", PacketType::kCancelF3, Layout::kCancelF3},
    {"0100 000x", PacketType::kCondInstrF2, Layout::kValue, Gate::kConditional},
    {"0100 0010", PacketType::kCondInstrF2, Layout::kValue, Gate::kConditional},
    {"0100 0011", PacketType::kCondFlush, Layout::kSingle, Gate::kConditional},
    {"0100 010x", PacketType::kCondResultF4, Layout::kValue, Gate::kConditional},
    {"0100 0110", PacketType::kCondResultF4, Layout::kValue, Gate::kConditional},
    {"0100 100x", PacketType::kCondResultF2, Layout::kValue, Gate::kConditional},
    {"0100 1010", PacketType::kCondResultF2, Layout::kValue, Gate::kConditional},
    {"0100 110x", PacketType::kCondResultF2, Layout::kValue, Gate::kConditional},
    {"0100 1110", PacketType::kCondResultF2, Layout::kValue, Gate::kConditional},
    {"0101 xxxx", PacketType::kCondResultF3, Layout::kCondResultF3, Gate::kConditional},
    {"0110 10xx", PacketType::kCondResultF1, Layout::kCondResultF1, Gate::kConditional},
    {"0110 111x", PacketType::kCondResultF1, Layout::kCondResultF1, Gate::kConditional},
    {"0110 1100", PacketType::kCondInstrF1, Layout::kCondInstrF1, Gate::kConditional},
    {"0110 1101", PacketType::kCondInstrF3, Layout::kCondInstrF3, Gate::kConditional},
    {"0111 0000", PacketType::kIgnore, Layout::kSingle, Gate::kV43},
    {"0111 xxxx", PacketType::kEvent, Layout::kValue},
    {"1000 000x", PacketType::kContext, Layout::kContext},
    {"1000 0010", PacketType::kAddressContext32Is0, Layout::kAddressContext},
    {"1000 0011", PacketType::kAddressContext32Is1, Layout::kAddressContext},
    {"1000 0101", PacketType::kAddressContext64Is0, Layout::kAddressContext},
    {"1000 0110", PacketType::kAddressContext64Is1, Layout::kAddressContext},
    {"1000 1000", PacketType::kTimestampMarker, Layout::kSingle, Gate::kV46},
    {"1001 000x", PacketType::kAddressMatch, Layout::kAddress},
    {"1001 0010", PacketType::kAddressMatch, Layout::kAddress},
    {"1001 0101", PacketType::kAddressShortIs0, Layout::kAddress},
    {"1001 0110", PacketType::kAddressShortIs1, Layout::kAddress},
    {"1001 1010", PacketType::kAddress32Is0, Layout::kAddress},
    {"1001 1011", PacketType::kAddress32Is1, Layout::kAddress},
    {"1001 1101", PacketType::kAddress64Is0, Layout::kAddress},
    {"1001 1110", PacketType::kAddress64Is1, Layout::kAddress},
    {"1010 000x", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 0010", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 0101", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 0110", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 101x", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 1100", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1010 1111", PacketType::kQ, Layout::kQ, Gate::kQ},
    {"1011 000x", PacketType::kSourceMatch, Layout::kAddress, Gate::kEte},
    {"1011 0010", PacketType::kSourceMatch, Layout::kAddress, Gate::kEte},
    {"1011 0100", PacketType::kSourceShortIs0, Layout::kAddress, Gate::kEte},
    {"1011 0101", PacketType::kSourceShortIs1, Layout::kAddress, Gate::kEte},
    {"1011 0110", PacketType::kSource32Is0, Layout::kAddress, Gate::kEte},
    {"1011 0111", PacketType::kSource32Is1, Layout::kAddress, Gate::kEte},
    {"1011 1000", PacketType::kSource64Is0, Layout::kAddress, Gate::kEte},
    {"1011 1001", PacketType::kSource64Is1, Layout::kAddress, Gate::kEte},
    {"1100 xxxx", PacketType::kAtomF6, Layout::kAtoms},
    {"1101 00xx", PacketType::kAtomF6, Layout::kAtoms},
    {"1101 0100", PacketType::kAtomF6, Layout::kAtoms},
    {"1101 0101", PacketType::kAtomF5, Layout::kAtoms},
    {"1101 011x", PacketType::kAtomF5, Layout::kAtoms},
    {"1101 10xx", PacketType::kAtomF2, Layout::kAtoms},
    {"1101 11xx", PacketType::kAtomF4, Layout::kAtoms},
    {"1110 xxxx", PacketType::kAtomF6, Layout::kAtoms},
    {"1111 00xx", PacketType::kAtomF6, Layout::kAtoms},
    {"1111 0100", PacketType::kAtomF6, Layout::kAtoms},
    {"1111 0101", PacketType::kAtomF5, Layout::kAtoms},
    {"1111 011x", PacketType::kAtomF1, Layout::kAtoms},
    {"1111 1xxx", PacketType::kAtomF3, Layout::kAtoms},
};

/// etmv4-ete.md 2.1 names exactly these as reserved for every configuration.
inline constexpr protocol::HeaderPattern kReservedHeaders[] = {
    "0000 1000", "0100 0111", "0100 1x11", "0110 0xxx", "1000 0100", "1000 0111",
    "1000 1001", "1000 101x", "1000 11xx", "1001 0011", "1001 0100", "1001 0111",
    "1001 100x", "1001 1100", "1001 1111", "1010 0011", "1010 0100", "1010 0111",
    "1010 100x", "1010 1101", "1010 1110", "1011 0011", "1011 101x", "1011 11xx"};

inline constexpr protocol::HeaderIndex kRowOfHeader =
    protocol::index_headers(kHeaderRows, kReservedHeaders);

// The atom table of the public header must agree with these rows.
consteval bool atoms_agree_with_the_rows() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint8_t row = kRowOfHeader[byte];
    const bool atoms = row != protocol::kNoRow && kHeaderRows[row].layout == Layout::kAtoms;
    if (atoms != (byte >= kFirstAtomHeader)) return false;
    if (atoms && kHeaderRows[row].type != atom_packet(static_cast<std::uint8_t>(byte)).type)
      return false;
  }
  return true;
}
static_assert(atoms_agree_with_the_rows());

}  // namespace waymark::etmv4

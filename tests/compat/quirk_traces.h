// For each quirk a trace that shows it, and what a client of the C API sees with it and without.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string_view>

namespace waymark::compat {

/// One trace, without frames except for kFrames.
enum class QuirkTrace : std::uint8_t { kFrames, kEtmV3, kPtm, kEtmV4, kEtmV4M, kEte, kStm, kItm };

struct QuirkRow {
  std::string_view quirk = {};
  QuirkTrace trace{};
  /// Bits that are inverted in the registers of quirk_traces.cc; ETMCR and ETMCCER, or TRCIDR0,
  /// TRCCONFIGR, TRCIDR8 and TRCDEVARCH.
  std::array<std::uint32_t, 4> registers{};
  /// Hexadecimal words at 0x1000.
  std::string_view code = {};
  /// Bytes from 0x1000 on, with zeros after the code; 0: those of the code.
  std::size_t memory = 0;
  /// Hexadecimal bytes (for STM, nibbles); `A` is the synchronisation of the protocol, `S` the
  /// packets up to execution at 0x1000, `R` a RESET, `E` the end of the trace.
  std::string_view bytes = {};
  bool framed = false;    ///< The bytes are frames; the ID is 0x11.
  std::size_t block = 0;  ///< Bytes per call; 0: all.
  bool packets_only = false;
  /// The first line that differs, with the quirk and without.
  std::string_view with = {};
  std::string_view without = {};
};

/// For messages of failed tests.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name.
inline void PrintTo(const QuirkRow& row, std::ostream* out) { *out << row.quirk; }

std::span<const QuirkRow> quirk_rows();

/// Packets (P), elements (E), log (L), answers other than CONT (R), and for kFrames the count of
/// bytes of frames that are no data (S), one per line.
std::string quirk_listing(const QuirkRow& row);

}  // namespace waymark::compat

// The names of exceptions, as Arm's manuals have them.  Listings in the format of the reference
// have other words: those of the packets of each protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace waymark {

/// How the numbers of exceptions in a trace are to be read.
enum class ExceptionNumbers : std::uint8_t {
  kNone,    ///< The trace has none.
  kEtmV4,   ///< ETMv4 and ETE of an A or R profile.  etmv4-ete.md 3.6
  kEtmV4M,  ///< ETMv4 of an M profile.  The same
  kV7,      ///< PTM and ETMv3 of an A or R profile.  ptm.md 5.4
  kEtmV3M,  ///< ETMv3 of an M profile.  etmv3.md 5.4
  kIpsr,    ///< MTB, and the exception trace of an ITM: as in the IPSR.  live-sources.md 8
};

/// The name; empty: the number has none.  Interrupts have the number that the interrupt controller
/// gives them: "IRQ5".  Safe from any thread.
std::string exception_name(ExceptionNumbers numbers, std::uint32_t number);

/// The same for the numbers of the IPSR, of those that are not interrupts.
std::string_view system_exception_name(std::uint32_t number);

/// The number in the IPSR of the exception with this name: 11 for "SVCall", 21 for "IRQ5".
std::optional<std::uint32_t> ipsr_number(std::string_view name);

/// The number with which an ETM of the M profile states the exception of the IPSR's number `ipsr`;
/// nothing: it has none for it.  `numbers`: kEtmV4M or kEtmV3M.
std::optional<std::uint32_t> traced_number(ExceptionNumbers numbers, std::uint32_t ipsr);

}  // namespace waymark

#include "waymark/element/exception_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "waymark/base/number.h"

namespace waymark {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 16> kSystem = {
    "", "Reset", "NMI", "HardFault", "MemManage",    "BusFault", "UsageFault", "SecureFault",
    "", "",      "",    "SVCall",    "DebugMonitor", "",         "PendSV",     "SysTick"};

constexpr std::array<std::string_view, 16> kEtmV4 = {
    "PE Reset",   "Debug Halt", "Call", "Trap", "System Error", "",
    "Inst Debug", "Data Debug", "",     "",     "Alignment",    "Inst Fault",
    "Data Fault", "",           "IRQ",  "FIQ"};

constexpr std::array<std::string_view, 16> kV7 = {"",
                                                  "Debug Halt",
                                                  "SMC",
                                                  "Hyp",
                                                  "Async Data Abort",
                                                  "Jazelle",
                                                  "",
                                                  "",
                                                  "PE Reset",
                                                  "Undefined Instr",
                                                  "SVC",
                                                  "Prefetch Abort",
                                                  "Data Fault",
                                                  "Generic",
                                                  "IRQ",
                                                  "FIQ"};

/// From 24 on, in an ETMv4 of an M profile.
constexpr std::array<std::string_view, 3> kEtmV4MOthers = {"DebugHalt", "LazyFP Push", "Lockup"};

/// The numbers of the IPSR, by those of an ETMv3; 0: it is an interrupt or reserved.
constexpr std::array<std::uint8_t, 24> kEtmV3M = {0,  0, 0,  0,  0, 0, 0, 0, 0, 6, 2, 11,
                                                  12, 4, 14, 15, 0, 1, 0, 3, 0, 5, 0, 0};

std::string_view name_in(Names names, std::uint32_t number) {
  return number < names.size() ? names[number] : std::string_view{};
}

/// The number of the first interrupt in the IPSR.
constexpr std::uint32_t kFirstInterrupt = kSystem.size();

// The interrupts of an ETMv4: the first eight follow the system exceptions.
constexpr std::uint32_t kFewEtmV4 = 8;
constexpr std::uint32_t kMoreEtmV4 = 0x200;
constexpr std::uint32_t kLastEtmV4 = 0x3EF;

std::optional<std::uint32_t> interrupt_of_etmv4(std::uint32_t number) {
  if (number >= kFirstInterrupt && number < kFirstInterrupt + kFewEtmV4)
    return number - kFirstInterrupt;
  if (number >= kMoreEtmV4 + kFewEtmV4 && number <= kLastEtmV4) return number - kMoreEtmV4;
  return std::nullopt;
}

std::optional<std::uint32_t> etmv4_of_interrupt(std::uint32_t interrupt) {
  if (interrupt < kFewEtmV4) return kFirstInterrupt + interrupt;
  if (interrupt <= kLastEtmV4 - kMoreEtmV4) return kMoreEtmV4 + interrupt;
  return std::nullopt;
}

// Those of an ETMv3.
constexpr std::uint32_t kInterrupt0EtmV3 = 8;
constexpr std::uint32_t kLastEtmV3 = 0x1FF;

std::optional<std::uint32_t> etmv3_of_interrupt(std::uint32_t interrupt) {
  if (interrupt == 0) return kInterrupt0EtmV3;
  if (interrupt < kInterrupt0EtmV3) return interrupt;
  if (interrupt + kFirstInterrupt <= kLastEtmV3) return interrupt + kFirstInterrupt;
  return std::nullopt;
}

constexpr std::string_view kInterrupt = "IRQ";
std::string interrupt(std::uint32_t number) {
  return std::string(kInterrupt) + std::to_string(number);
}

std::string name_of_etmv4m(std::uint32_t number) {
  if (const auto irq = interrupt_of_etmv4(number)) return interrupt(*irq);
  constexpr std::uint32_t kFirstOther = 24;
  if (number >= kFirstOther) return std::string(name_in(kEtmV4MOthers, number - kFirstOther));
  return std::string(system_exception_name(number));
}

std::string name_of_etmv3m(std::uint32_t number) {
  if (number >= 1 && number < kInterrupt0EtmV3) return interrupt(number);
  if (number == kInterrupt0EtmV3) return interrupt(0);
  if (number >= kEtmV3M.size()) return interrupt(number - kFirstInterrupt);
  return std::string(system_exception_name(kEtmV3M[number]));
}

}  // namespace

std::string_view system_exception_name(std::uint32_t number) { return name_in(kSystem, number); }

std::string exception_name(ExceptionNumbers numbers, std::uint32_t number) {
  switch (numbers) {
    case ExceptionNumbers::kNone:
      break;
    case ExceptionNumbers::kEtmV4:
      return std::string(name_in(kEtmV4, number));
    case ExceptionNumbers::kEtmV4M:
      return name_of_etmv4m(number);
    case ExceptionNumbers::kV7:
      return std::string(name_in(kV7, number));
    case ExceptionNumbers::kEtmV3M:
      return name_of_etmv3m(number);
    case ExceptionNumbers::kIpsr:
      // An MTB does not say which one it is.
      if (number == 0) return "unknown";
      return number >= kFirstInterrupt ? interrupt(number - kFirstInterrupt)
                                       : std::string(system_exception_name(number));
  }
  return {};
}

std::optional<std::uint32_t> ipsr_number(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (const auto* const known = std::ranges::find(kSystem, name); known != kSystem.end())
    return static_cast<std::uint32_t>(known - kSystem.begin());
  if (!name.starts_with(kInterrupt)) return std::nullopt;
  constexpr std::uint32_t kMost = 0x1FF - kFirstInterrupt;
  const std::optional<std::uint64_t> number = parse_number(name.substr(kInterrupt.size()));
  if (!number || *number > kMost) return std::nullopt;
  return kFirstInterrupt + static_cast<std::uint32_t>(*number);
}

std::optional<std::uint32_t> traced_number(ExceptionNumbers numbers, std::uint32_t ipsr) {
  const bool etmv3 = numbers == ExceptionNumbers::kEtmV3M;
  if (ipsr >= kFirstInterrupt) {
    const std::uint32_t interrupt = ipsr - kFirstInterrupt;
    return etmv3 ? etmv3_of_interrupt(interrupt) : etmv4_of_interrupt(interrupt);
  }
  if (system_exception_name(ipsr).empty()) return std::nullopt;
  if (!etmv3) return ipsr;
  const auto* const found = std::ranges::find(kEtmV3M, ipsr);
  if (found == kEtmV3M.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - kEtmV3M.begin());
}

}  // namespace waymark

#include "waymark/element/exception_names.h"

#include <array>
#include <optional>
#include <span>

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

/// The interrupts of an ETMv4: the first eight follow the system exceptions.
std::optional<std::uint32_t> interrupt_of_etmv4(std::uint32_t number) {
  constexpr std::uint32_t kFirst = 16;
  constexpr std::uint32_t kFew = 8;
  constexpr std::uint32_t kMore = 0x200;
  constexpr std::uint32_t kLast = 0x3EF;
  if (number >= kFirst && number < kFirst + kFew) return number - kFirst;
  if (number >= kMore + kFew && number <= kLast) return number - kMore;
  return std::nullopt;
}

std::string interrupt(std::uint32_t number) { return "IRQ" + std::to_string(number); }

std::string name_of_etmv4m(std::uint32_t number) {
  if (const auto irq = interrupt_of_etmv4(number)) return interrupt(*irq);
  constexpr std::uint32_t kFirstOther = 24;
  if (number >= kFirstOther) return std::string(name_in(kEtmV4MOthers, number - kFirstOther));
  return std::string(system_exception_name(number));
}

std::string name_of_etmv3m(std::uint32_t number) {
  if (number >= 1 && number <= 7) return interrupt(number);
  if (number == 8) return interrupt(0);
  if (number >= kEtmV3M.size()) return interrupt(number - 16);
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
      return number >= kSystem.size()
                 ? interrupt(number - static_cast<std::uint32_t>(kSystem.size()))
                 : std::string(system_exception_name(number));
  }
  return {};
}

}  // namespace waymark

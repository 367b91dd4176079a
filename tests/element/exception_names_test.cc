// One name for an exception, whatever protocol traces it.
#include "waymark/element/exception_names.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

using enum ExceptionNumbers;

TEST(ExceptionNames, an_exception_has_one_name_in_all_protocols) {
  struct Same {
    std::uint32_t ipsr;
    std::uint32_t etmv4;
    std::uint32_t etmv3;
    std::string_view name;
  };
  for (const Same& same :
       {Same{1, 1, 17, "Reset"}, Same{2, 2, 10, "NMI"}, Same{3, 3, 19, "HardFault"},
        Same{4, 4, 13, "MemManage"}, Same{5, 5, 21, "BusFault"}, Same{6, 6, 9, "UsageFault"},
        Same{11, 11, 11, "SVCall"}, Same{12, 12, 12, "DebugMonitor"}, Same{14, 14, 14, "PendSV"},
        Same{15, 15, 15, "SysTick"}, Same{16, 16, 8, "IRQ0"}, Same{23, 23, 7, "IRQ7"},
        Same{24, 0x208, 24, "IRQ8"}, Same{255, 0x2EF, 255, "IRQ239"}}) {
    EXPECT_EQ(exception_name(kIpsr, same.ipsr), same.name);
    EXPECT_EQ(exception_name(kEtmV4M, same.etmv4), same.name);
    EXPECT_EQ(exception_name(kEtmV3M, same.etmv3), same.name);
    EXPECT_EQ(ipsr_number(same.name), same.ipsr);
    EXPECT_EQ(traced_number(kEtmV4M, same.ipsr), same.etmv4);
    EXPECT_EQ(traced_number(kEtmV3M, same.ipsr), same.etmv3);
  }
}

TEST(ExceptionNames, the_number_in_a_trace_is_that_of_the_name) {
  for (const ExceptionNumbers numbers : {kEtmV4M, kEtmV3M}) {
    for (std::uint32_t ipsr = 1; ipsr < 0x200; ++ipsr) {
      const auto traced = traced_number(numbers, ipsr);
      if (!traced) continue;
      const std::string name = exception_name(numbers, *traced);
      EXPECT_EQ(name, exception_name(kIpsr, ipsr));
      EXPECT_EQ(ipsr_number(name), ipsr);
    }
  }
}

TEST(ExceptionNames, some_exceptions_have_no_number) {
  EXPECT_EQ(traced_number(kEtmV3M, 7), std::nullopt);  // SecureFault is newer.
  EXPECT_EQ(traced_number(kEtmV4M, 13), std::nullopt);
  EXPECT_EQ(traced_number(kEtmV4M, 0), std::nullopt);
  EXPECT_EQ(traced_number(kEtmV4M, 0x200), std::nullopt);
  for (const std::string_view name : {"", "IRQ", "IRQ-1", "IRQ496", "irq0", "Nonsense"})
    EXPECT_EQ(ipsr_number(name), std::nullopt) << name;
}

TEST(ExceptionNames, of_a_secure_core) {
  EXPECT_EQ(exception_name(kEtmV4M, 7), "SecureFault");
  EXPECT_EQ(exception_name(kIpsr, 7), "SecureFault");
  EXPECT_EQ(exception_name(kEtmV4M, 26), "Lockup");
}

TEST(ExceptionNames, of_application_processors) {
  EXPECT_EQ(exception_name(kEtmV4, 14), "IRQ");
  EXPECT_EQ(exception_name(kEtmV4, 2), "Call");
  EXPECT_EQ(exception_name(kV7, 10), "SVC");
}

TEST(ExceptionNames, reserved_numbers_have_none) {
  for (const ExceptionNumbers numbers : {kEtmV4, kEtmV4M, kV7, kEtmV3M, kIpsr})
    EXPECT_EQ(exception_name(numbers, numbers == kV7       ? 6
                                      : numbers == kEtmV4  ? 8
                                      : numbers == kEtmV3M ? 16
                                                           : 13),
              "");
  EXPECT_EQ(exception_name(kEtmV4, 1000), "");
  EXPECT_EQ(exception_name(kNone, 3), "");
}

}  // namespace
}  // namespace waymark

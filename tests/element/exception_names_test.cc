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
  }
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

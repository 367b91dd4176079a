#include "pft_unit.h"

namespace waymark::synth {

std::uint16_t pft_exception_number(ExceptionCause cause) {
  switch (cause) {
    case ExceptionCause::kIrq:
      return 14;
    case ExceptionCause::kFiq:
      return 15;
    case ExceptionCause::kCall:
      return 10;
    case ExceptionCause::kUndefined:
      return 9;
    case ExceptionCause::kDataFault:
      return 12;
    case ExceptionCause::kFetchFault:
      return 11;
  }
  return 14;
}

}  // namespace waymark::synth

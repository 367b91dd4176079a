#include "waymark/etm4x/assumed_unit.h"

#include <fmt/format.h>

namespace waymark::etm4x {
namespace {

constexpr std::uint32_t kAssumedIdr3 = 0x8D7F0000;
constexpr std::uint32_t kAssumedIdr4 = 0x888F4008;
constexpr std::uint32_t kAssumedIdr5 = 0x48C70820;

constexpr std::uint32_t kSecureLevels = 0xF0000;  // Of TRCIDR3 and of TRCVICTLR.

constexpr std::uint32_t kEteArchitecture = 0x47705A13;
constexpr std::uint32_t kEtmV4Architecture = 0x47704A13;

}  // namespace

AssumedUnit assumed_unit(const RegisterImage& image, bool ete) {
  AssumedUnit unit;
  IdRegisters& id = unit.id;
  id.idr[3] = kAssumedIdr3;
  id.idr[4] = kAssumedIdr4;
  id.idr[5] = kAssumedIdr5;
  unit.known = true;
  for (unsigned i = 0; i < id.idr.size(); ++i) {
    const auto value = image.find(fmt::format("TRCIDR{}", i));
    if (value) id.idr[i] = static_cast<std::uint32_t>(*value);
    if (!value && i >= 3) unit.known = false;
  }
  // A unit excludes only secure levels that exist; what reset leaves excludes none.
  const auto secure = static_cast<std::uint32_t>(image.value("TRCVICTLR")) & kSecureLevels;
  if (!image.find("TRCIDR3") && secure != 0) id.idr[3] = (kAssumedIdr3 & ~kSecureLevels) | secure;
  const auto devarch = image.find("TRCDEVARCH");
  id.devarch = devarch ? static_cast<std::uint32_t>(*devarch)
               : ete   ? kEteArchitecture
                       : kEtmV4Architecture | (id.idr[1] >> 4 & 0xF) << 16;
  Environment& environment = unit.environment;
  if ((id.devarch >> 12 & 0xF) == 5) environment.access = RegisterAccess::kSystemRegisters;
  for (unsigned i = 0; i < environment.sscsr.size(); ++i) {
    const auto status = image.find(fmt::format("TRCSSCSR{}", i));
    environment.sscsr[i] = static_cast<std::uint32_t>(status.value_or(0));
    if (!status) environment.unknown_sscsr |= static_cast<std::uint8_t>(1U << i);
  }
  return unit;
}

}  // namespace waymark::etm4x

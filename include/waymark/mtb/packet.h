// Records of an MTB as values.  See mtb.md 1.
#pragma once

#include <cstdint>
#include <type_traits>

#include "waymark/base/types.h"

namespace waymark::mtb {

inline constexpr std::size_t kRecordBytes = 8;

enum class PacketType : std::uint8_t {
  kBranch,           ///< An instruction has changed the PC.
  kException,        ///< An exception was taken, or a debugger has changed the PC.
  kExceptionReturn,  ///< The second record of a return: from EXC_RETURN to where execution goes on.
  kFunctionReturn,   ///< The same from FNC_RETURN.
  kUnused,           ///< No record: all bits of both words are 0, or all are 1.
  kIncompleteEot,    ///< The trace ends inside it.
};

/// Values of an address that are not an address: the core returns when it goes there.
constexpr bool is_exception_return(std::uint32_t address) { return address >= 0xFF00'0000; }
constexpr bool is_function_return(std::uint32_t address) { return (address & ~1U) == 0xFEFF'FFFE; }
constexpr bool is_return_value(std::uint32_t address) {
  return is_exception_return(address) || is_function_return(address);
}

/// One record.
struct Packet {
  TraceIndex index = 0;  ///< That of its first byte.
  /// kBranch: the address of the instruction.  kException: the preferred return address.
  /// kExceptionReturn: EXC_RETURN.  kFunctionReturn: FNC_RETURN.
  std::uint32_t source = 0;
  std::uint32_t destination = 0;  ///< Where execution goes on, or EXC_RETURN without its bit 0.
  PacketType type = PacketType::kUnused;
  std::uint8_t length = 0;  ///< In bytes.
  bool start = false;       ///< The first record after tracing was started.
  bool ones = false;        ///< kUnused: all bits are 1.
};

static_assert(std::is_trivially_copyable_v<Packet>);

/// A record of the core's execution.
constexpr bool is_record(PacketType type) { return type < PacketType::kUnused; }

}  // namespace waymark::mtb

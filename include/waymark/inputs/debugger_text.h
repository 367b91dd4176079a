// Memory and the PC as debuggers print them: GDB's `x`, OpenOCD's `mdw`, U-Boot's `md`, and dumps
// of xxd and `hexdump -C`, and plain hexadecimal digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::inputs {

/// Consecutive bytes of target memory.
struct MemoryBlock {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes{};

  [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
  [[nodiscard]] bool contains(std::uint64_t begin, std::uint64_t size) const {
    return address <= begin && begin - address <= bytes.size() &&
           size <= bytes.size() - (begin - address);
  }
  /// The little-endian word number `index`, which must be in the block.
  [[nodiscard]] std::uint32_t word(std::size_t index) const;
};

/// The content of a session with a debugger.
struct DebuggerText {
  /// In the order in which they were printed.  What was printed again later replaces the same
  /// addresses.
  std::vector<MemoryBlock> blocks{};
  std::optional<std::uint32_t> pc{};  ///< The last one.
};

/// Whether a file is text with a line that shows memory, or has only hexadecimal digits.
bool is_debugger_text(Bytes content);

/// Lines that show something else are passed over.  A line "*" of a dump repeats the line before
/// it. Plain digits are bytes in their order, at address 0.  kParse: a line shows memory in a form
/// that is not read, or its debugger could not read the memory; the detail names the line, and is a
/// sentence without the name of the file.
Result<DebuggerText> read_debugger_text(std::string_view text);

/// The registers of an MTB among the blocks of a session.
struct MtbRegisters {
  std::uint64_t address = 0;  ///< Where the registers are.
  std::uint32_t position = 0;
  std::uint32_t master = 0;
  std::uint32_t base = 0;  ///< The address of the SRAM; 0: not printed, or not implemented.
};

/// Nothing: no block has them.  kInvalidArgument: several blocks may be them.
Result<std::optional<MtbRegisters>> find_mtb_registers(const DebuggerText& text);

}  // namespace waymark::inputs

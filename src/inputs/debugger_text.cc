#include "waymark/inputs/debugger_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace waymark::inputs {
namespace {

/// The hexadecimal digits at the front.
std::string_view digits_of(std::string_view text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size()));
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Takes the text up to the end of a line, without "\r\n".
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// "0x20000000 <buffer+16>:" (GDB), "0x20000000:" (OpenOCD), "20000000:" (U-Boot, xxd) or "20000000
/// " (hexdump), and what follows it.
struct ListingLine {
  std::uint64_t address = 0;
  bool prefixed = false;  ///< The address begins with 0x.
  bool hexdump = false;   ///< Of `hexdump -C`; its last line has no values.
  std::string_view values{};
};

/// After the address: "  21 01 ... |!.|", or nothing.
std::optional<ListingLine> hexdump_line(std::uint64_t address, std::string_view text) {
  ListingLine line{.address = address, .hexdump = true};
  if (text.empty()) return line;
  const std::size_t characters = text.find('|');
  if (!text.starts_with("  ") || !text.ends_with('|') || characters + 1 == text.size())
    return std::nullopt;
  line.values = text.substr(0, characters);
  return line;
}

std::optional<ListingLine> listing_line(std::string_view text) {
  constexpr std::size_t kMostDigits = 16;
  constexpr std::size_t kLeastUnprefixed = 8;
  ListingLine line;
  line.prefixed = text.starts_with("0x");
  if (line.prefixed) text.remove_prefix(2);
  const std::string_view digits = digits_of(text);
  if (digits.size() > kMostDigits || (!line.prefixed && digits.size() < kLeastUnprefixed))
    return std::nullopt;
  const auto address = number_of(digits);
  if (!address) return std::nullopt;
  line.address = *address;
  text.remove_prefix(digits.size());
  if (text.starts_with(" <")) {
    // The name of a function of C++ may contain ">:".
    const std::size_t end = text.rfind(">:");
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  if (!text.starts_with(":"))
    return line.prefixed ? std::nullopt : hexdump_line(line.address, text);
  line.values = text.substr(1);
  return line;
}

/// The value at the front of the values of a line.
struct Value {
  std::string_view digits{};
  std::size_t length = 0;  ///< With "0x" and the space before it.
  std::size_t spaces = 0;  ///< How many characters of space.
};

/// Nothing: the line ends.
std::optional<Value> front_value(std::string_view text) {
  Value value;
  value.spaces = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(value.spaces);
  if (text.empty()) return std::nullopt;
  const bool prefixed = text.starts_with("0x");
  if (prefixed) text.remove_prefix(2);
  value.digits = text.substr(0, std::min(text.find_first_of(" \t"), text.size()));
  value.length = value.spaces + (prefixed ? 2 : 0) + value.digits.size();
  return value;
}

/// Words of an even number of hexadecimal digits, and nothing else.
bool is_plain_digits(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  constexpr std::size_t kLeast = 32;
  std::size_t digits = 0;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    const std::string_view word = digits_of(text);
    text.remove_prefix(word.size());
    if (word.size() % 2 != 0 || (!text.empty() && !kBlank.contains(text.front()))) return false;
    digits += word.size();
  }
  return digits >= kLeast;
}

/// Reads the lines of a text, one after the other.
class Reader {
 public:
  Result<DebuggerText> read(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      const std::string_view line = take_line(text);
      if (const auto listing = listing_line(line)) {
        if (listing->hexdump && listing->values.empty()) {
          WAYMARK_TRY(repeat_to(listing->address));
        } else {
          WAYMARK_TRY(add(*listing));
        }
      } else if (line == "*") {
        repeats_ = true;
      } else {
        look_for_pc(line);
      }
    }
    finish_block();
    return std::move(found_);
  }

  /// Only digits and white space.
  Result<DebuggerText> read_digits(std::string_view text) {
    // The digits of a byte are never in two words.
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
      const auto byte = number_of(text.substr(at, 2));
      if (!byte) continue;
      block_.bytes.push_back(static_cast<std::uint8_t>(*byte));
      ++at;
      if (block_.bytes.size() > kMostBytes) return std::unexpected(too_much().error());
    }
    finish_block();
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kMostBlocks = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  Result<void> add(const ListingLine& line) {
    WAYMARK_TRY(repeat_to(line.address));
    const std::size_t before = continues(line.address) ? block_.bytes.size() : 0;
    if (!continues(line.address)) {
      finish_block();
      if (found_.blocks.size() == kMostBlocks) return too_many();
      block_.address = line.address;
    }
    if (!in_order_) in_order_ = !line.prefixed && is_xxd(line.values);
    std::string_view values = line.values;
    std::size_t width = 0;
    while (const auto value = front_value(values)) {
      // After two or more spaces, the bytes follow as characters.
      if (width != 0 && value->spaces > 1 && !line.hexdump) break;
      if (width == 0) width = value->digits.size();
      const auto number = number_of(value->digits);
      const bool known = width == 2 || width == 4 || width == 8 || width == 16;
      if (!number || !known || value->digits.size() != width) return refuse(values);
      append(*number, width / 2);
      values.remove_prefix(value->length);
    }
    if (width == 0) return refuse(line.values);
    row_ = block_.bytes.size() - before;
    return block_.bytes.size() > kMostBytes ? too_much() : Result<void>();
  }

  /// After "*": the last line again, up to an address.
  Result<void> repeat_to(std::uint64_t address) {
    if (!std::exchange(repeats_, false) || block_.bytes.empty() || address <= block_.end())
      return {};
    const std::uint64_t size = address - block_.end();
    if (size > kMostBytes - std::min(kMostBytes, block_.bytes.size())) return too_much();
    block_.bytes.reserve(block_.bytes.size() + in_memory(size));
    for (std::uint64_t i = 0; i != size; ++i)
      block_.bytes.push_back(block_.bytes[block_.bytes.size() - row_]);
    return {};
  }

  static Result<void> too_much() {
    return fail(ErrorCode::kLimit, "It shows more than 256 MiB of memory; dump it as bytes.");
  }

  [[nodiscard]] bool continues(std::uint64_t address) const {
    return !block_.bytes.empty() && block_.end() == address;
  }

  /// xxd writes bytes in their order, whatever the size of its groups, and two spaces before the
  /// characters; U-Boot writes values, and four spaces.
  static bool is_xxd(std::string_view values) {
    const std::size_t gap = values.find("  ");
    if (gap == std::string_view::npos) return false;
    const std::string_view groups = values.substr(0, gap);
    const auto spaces = static_cast<std::size_t>(std::ranges::count(groups, ' '));
    return 2 * (values.size() - gap - 2) == groups.size() - spaces;
  }

  void append(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i != size; ++i) {
      const std::size_t byte = *in_order_ ? size - 1 - i : i;
      block_.bytes.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
    }
  }

  [[nodiscard]] std::unexpected<Error> refuse(std::string_view values) const {
    const std::size_t begin = std::min(values.find_first_not_of(" \t"), values.size());
    if (values.substr(begin).starts_with("Cannot access memory"))
      return fail(ErrorCode::kParse,
                  fmt::format("Line {}: the debugger could not read this memory; halt the core, "
                              "and check the address.",
                              number_));
    return fail(
        ErrorCode::kParse,
        fmt::format("Line {}: the values are not hexadecimal numbers of 2, 4, 8 or 16 "
                    "digits; print them with `x/64wx ADDRESS` in GDB or `mdw ADDRESS 64` in "
                    "OpenOCD.",
                    number_));
  }

  void finish_block() {
    if (block_.bytes.empty()) return;
    std::erase_if(found_.blocks, [&](const MemoryBlock& earlier) {
      return block_.contains(earlier.address, earlier.bytes.size());
    });
    found_.blocks.push_back(std::move(block_));
    block_ = {};
  }

  static std::unexpected<Error> too_many() {
    return fail(ErrorCode::kLimit,
                "It shows memory at more than 4096 places; keep those that are needed.");
  }

  /// "pc             0x10c" (GDB), "pc (/32): 0x0000010c" or "pc: 0x0000010c" (OpenOCD).
  void look_for_pc(std::string_view line) {
    for (std::size_t at = line.find("pc"); at != std::string_view::npos;
         at = line.find("pc", at + 1)) {
      if (at != 0 && line[at - 1] != ' ') continue;
      std::string_view rest = line.substr(at + 2);
      if (rest.starts_with(" (/32)")) rest.remove_prefix(6);
      if (rest.starts_with(":")) rest.remove_prefix(1);
      const auto value = front_value(rest);
      if (!value || value->spaces == 0 || !rest.substr(value->spaces).starts_with("0x")) continue;
      const auto pc = number_of(value->digits);
      if (pc && *pc <= 0xFFFF'FFFF) found_.pc = static_cast<std::uint32_t>(*pc);
    }
  }

  DebuggerText found_;
  MemoryBlock block_;
  std::size_t number_ = 0;        ///< The number of the line, from 1 on.
  std::size_t row_ = 0;           ///< The bytes of the last line.
  bool repeats_ = false;          ///< The line before this was "*".
  std::optional<bool> in_order_;  ///< Values are bytes in their order, not little-endian.
};

// -- Registers of an MTB, see mtb.md 2 and 6
// --------------------------------------------------------

constexpr std::array<std::uint64_t, 6> kMtbAddresses = {0x4100'6000, 0x4100'8000, 0x4100'A000,
                                                        0x1400'0000, 0xF000'0000, 0xE004'3000};

bool is_known(const MemoryBlock& block) {
  return std::ranges::find(kMtbAddresses, block.address) != kMtbAddresses.end();
}

/// Components are at multiples of 4 KiB, and the bits that POSITION and MASTER do not have are 0.
bool may_be_registers(const MemoryBlock& block) {
  constexpr std::uint64_t kComponent = 0x1000;
  constexpr std::size_t kLeast = 8;
  constexpr std::uint64_t kPeripherals = 0x4000'0000;  // Below is memory, in the M profile.
  if (block.address % kComponent != 0 || block.bytes.size() < kLeast ||
      block.bytes.size() > kComponent)
    return false;
  if (block.address < kPeripherals && !is_known(block)) return false;
  return (block.word(0) & 3) == 0 && (block.word(1) & 0x7FFF'FC00) == 0;
}

}  // namespace

std::uint32_t MemoryBlock::word(std::size_t index) const {
  std::uint32_t value = 0;
  for (std::size_t byte = 4; byte != 0; --byte) value = value << 8 | bytes[4 * index + byte - 1];
  return value;
}

bool is_debugger_text(Bytes content) {
  constexpr std::size_t kLooked = 64 * 1024;
  const Bytes looked = content.first(std::min(content.size(), kLooked));
  const auto is_text = [](std::uint8_t byte) {
    return (byte >= 0x20 && byte != 0x7F) || byte == '\t' || byte == '\r' || byte == '\n' ||
           byte == 0x1B;
  };
  if (!std::ranges::all_of(looked, is_text)) return false;
  std::string_view text(reinterpret_cast<const char*>(looked.data()), looked.size());
  if (looked.size() != content.size()) text = text.substr(0, text.rfind('\n') + 1);
  if (is_plain_digits(text)) return true;
  while (!text.empty()) {
    const auto line = listing_line(take_line(text));
    if (!line) continue;
    const auto value = front_value(line->values);
    if (value && value->spaces != 0 && number_of(value->digits)) return true;
  }
  return false;
}

Result<DebuggerText> read_debugger_text(std::string_view text) {
  return is_plain_digits(text) ? Reader().read_digits(text) : Reader().read(text);
}

Result<std::optional<MtbRegisters>> find_mtb_registers(const DebuggerText& text) {
  std::vector<const MemoryBlock*> found;
  for (const MemoryBlock& block : text.blocks)
    if (may_be_registers(block)) found.push_back(&block);
  if (std::ranges::any_of(found, [](const auto* block) { return is_known(*block); }))
    std::erase_if(found, [](const auto* block) { return !is_known(*block); });
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    std::vector<std::string> places;
    places.reserve(found.size());
    for (const MemoryBlock* block : found) places.push_back(fmt::format("{:#x}", block->address));
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The registers of an MTB may be at {}; keep only one of them in the "
                            "text, or state POSITION and MASTER with --reg.",
                            fmt::join(places, " or ")));
  }
  const MemoryBlock& block = *found.front();
  constexpr std::size_t kBase = 3;
  MtbRegisters registers{
      .address = block.address, .position = block.word(0), .master = block.word(1)};
  if (block.bytes.size() >= 4 * (kBase + 1)) registers.base = block.word(kBase);
  return registers;
}

}  // namespace waymark::inputs

#include "waymark/protocol/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "waymark/base/bits.h"
#include "waymark/base/number.h"
#include "waymark/isa/instruction.h"

namespace waymark {
namespace {

Result<std::uint64_t> parse_atoms(std::string_view text, unsigned most) {
  if (text.empty() || text.size() > most)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} atoms: one to {} letters E and N are allowed.", text.size(), most));
  std::uint32_t atoms = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != 'E' && text[i] != 'N')
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' is not a sequence of atoms: only the letters E and N are allowed.",
                      text));
    if (text[i] == 'E') atoms |= 1U << i;
  }
  return atom_value(atoms, static_cast<unsigned>(text.size()));
}

}  // namespace

void write_field(TextBuffer& out, const FieldValue& field) {
  switch (field.kind) {
    case FieldKind::kFlag:
    case FieldKind::kDecimal:
      out.dec(field.value);
      return;
    case FieldKind::kHex:
      out.put("0x");
      out.hex(field.value);
      return;
    case FieldKind::kWord:
      out.put(field.word);
      return;
    case FieldKind::kAtoms:
      for (std::uint64_t rest = field.value; rest > 1; rest >>= 1)
        out.put((rest & 1) != 0 ? 'E' : 'N');
      return;
  }
}

Result<std::uint64_t> parse_field(std::string_view name, FieldKind kind, unsigned bits,
                                  std::string_view text) {
  if (kind == FieldKind::kAtoms) return parse_atoms(text, bits);
  const std::optional<std::uint64_t> value = parse_number(text);
  if (!value)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not a number; the field {} takes one.", text, name));
  if (*value > low_mask(bits))
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} does not fit the field {}, which has {} bits.", text, name, bits));
  return *value;
}

std::string_view isa_word(std::uint64_t value) {
  switch (static_cast<isa::Isa>(value)) {
    case isa::Isa::kA32:
      return "a32";
    case isa::Isa::kT32:
      return "t32";
    case isa::Isa::kThumbEE:
      return "tee";
    case isa::Isa::kJazelle:
      return "jazelle";
    case isa::Isa::kUnknown:
      return "unknown";
    default:
      return {};
  }
}

std::string_view sync_reason_word(std::uint64_t value) {
  constexpr std::array<std::string_view, 4> kWords = {"periodic", "trace_enable", "overflow",
                                                      "debug_exit"};
  return value < kWords.size() ? kWords[static_cast<std::size_t>(value)] : std::string_view{};
}

Result<std::uint64_t> parse_word(std::string_view name, unsigned bits,
                                 std::string_view (*word)(std::uint64_t), std::string_view text) {
  const std::uint64_t end = std::uint64_t{1} << std::min(bits, 8U);
  for (std::uint64_t value = 0; value < end; ++value)
    if (!text.empty() && word(value) == text) return value;
  return fail(ErrorCode::kInvalidArgument,
              fmt::format("'{}' is not a value of the field {}.", text, name));
}

}  // namespace waymark

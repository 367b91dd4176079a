// The named fields of packets.  Each protocol declares them once, as tables; JSON and CSV output
// and the trace-script assembler use these tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"

namespace waymark {

enum class FieldKind : std::uint8_t {
  kFlag,     ///< 0 or 1.
  kDecimal,  ///< A count or a small number.
  kHex,      ///< An address, a mask or an ID.
  kAtoms,    ///< Letters E and N, oldest first; the value is an atom_value().
  kWord,     ///< A name that the value selects.
};

/// Up to 32 atoms as a field's value: the oldest in bit 0, and a 1 above the newest.
constexpr std::uint64_t atom_value(std::uint32_t atoms, unsigned count) {
  const std::uint64_t end = std::uint64_t{1} << count;
  return end | (atoms & (end - 1));
}
constexpr unsigned atom_count(std::uint64_t value) {
  unsigned count = 0;
  while (value >> count > 1) ++count;
  return count;
}

/// The value of one field of one packet.
struct FieldValue {
  std::string_view name;
  FieldKind kind = FieldKind::kDecimal;
  std::uint64_t value = 0;
  std::string_view word;  ///< For kWord.  Static storage.
};

/// As text: decimal, "0x" and hexadecimal, atoms as letters, or the word.
void write_field(TextBuffer& out, const FieldValue& field);

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void on_field(const FieldValue& field) = 0;
};

/// One field of a packet type.  `get` is meaningful only if `present` says so.
template <class Packet>
struct BasicField {
  std::string_view name;
  FieldKind kind;
  std::uint8_t bits;  ///< The width of the value; for atoms, their greatest number.
  std::uint64_t (*get)(const Packet& packet);
  /// Also sets what makes the field present.  nullptr: the field can only be read.
  void (*set)(Packet& packet, std::uint64_t value);
  bool (*present)(const Packet& packet);
  std::string_view (*word)(std::uint64_t value) = nullptr;  ///< For kWord.

  [[nodiscard]] FieldValue value_of(const Packet& packet) const {
    const std::uint64_t value = get(packet);
    return {name, kind, value, word != nullptr ? word(value) : std::string_view{}};
  }
};

/// A field that is one member of the packet and always present.
template <class Packet, auto Member>
constexpr BasicField<Packet> member_field(std::string_view name, FieldKind kind,
                                          std::uint8_t width) {
  return {name,
          kind,
          width,
          [](const Packet& p) { return static_cast<std::uint64_t>(p.*Member); },
          [](Packet& p, std::uint64_t v) {
            p.*Member = static_cast<std::remove_reference_t<decltype(p.*Member)>>(v);
          },
          [](const Packet&) { return true; }};
}

/// `visitor(const FieldValue&)` for each of `fields` that `packet` has.
template <class Packet, class Visitor>
void for_each_field(std::type_identity_t<std::span<const BasicField<Packet>>> fields,
                    const Packet& packet, Visitor&& visitor) {
  for (const BasicField<Packet>& field : fields)
    if (field.present(packet)) visitor(field.value_of(packet));
}

/// The value of `text` for a field: numbers in decimal or, after "0x", hexadecimal; atoms as
/// letters.  kInvalidArgument: the text is not a value, or the value has more than `bits` bits.
Result<std::uint64_t> parse_field(std::string_view name, FieldKind kind, unsigned bits,
                                  std::string_view text);

/// Words that several protocols share: instruction sets (isa::Isa), and the reason for an I-sync
/// (the two bits of ETMv3 and PTM).  Empty: no such value.
std::string_view isa_word(std::uint64_t value);
std::string_view sync_reason_word(std::uint64_t value);

/// The value, of at most 8 `bits`, whose word is `text`.  kInvalidArgument: there is none.
Result<std::uint64_t> parse_word(std::string_view name, unsigned bits,
                                 std::string_view (*word)(std::uint64_t), std::string_view text);

/// Sets one of `fields`, those of the packet's type, from text.  kNotFound: there is no such field,
/// or it can only be read; otherwise like parse_field().
template <class Packet>
Result<void> set_field(std::type_identity_t<std::span<const BasicField<Packet>>> fields,
                       std::string_view keyword, Packet& packet, std::string_view name,
                       std::string_view text) {
  for (const BasicField<Packet>& field : fields) {
    if (field.name != name || field.set == nullptr) continue;
    const Result<std::uint64_t> value = field.kind == FieldKind::kWord
                                            ? parse_word(name, field.bits, field.word, text)
                                            : parse_field(name, field.kind, field.bits, text);
    if (!value) return std::unexpected(value.error());
    field.set(packet, *value);
    return {};
  }
  return fail(ErrorCode::kNotFound, "The packet " + std::string(keyword) + " has no field '" +
                                        std::string(name) + "' to be set.");
}

}  // namespace waymark

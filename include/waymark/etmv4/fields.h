// The named fields of every packet type, declared once: packet output as JSON and CSV, and the
// trace-script assembler, are made from this.  Fact sheet etmv4-ete.md section 2.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/etmv4/packet.h"

namespace waymark::etmv4 {

enum class FieldKind : std::uint8_t {
  kFlag,     ///< 0 or 1.
  kDecimal,  ///< A count or a small number.
  kHex,      ///< An address, a mask or an ID.
  kAtoms,    ///< Letters E and N, oldest first; the value is Packet::atoms.
  kType,     ///< A packet type; the value is its number.
};

/// One field.  `get` is meaningful where `present` says so.
struct Field {
  std::string_view name;
  FieldKind kind;
  std::uint8_t bits;  ///< Width of the value.
  std::uint64_t (*get)(const Packet& packet);
  /// Also sets what makes the field present.  nullptr: only to be read.
  void (*set)(Packet& packet, std::uint64_t value);
  bool (*present)(const Packet& packet);
};

/// The fields of a type, in the order of the packet's bytes.  Static storage.
std::span<const Field> fields_of(PacketType type);

/// `visitor(const Field&, std::uint64_t value)` for each field that `packet` has.
template <class Visitor>
void for_each_field(const Packet& packet, Visitor&& visitor) {
  for (const Field& field : fields_of(packet.type))
    if (field.present(packet)) visitor(field, field.get(packet));
}

/// The value as text: decimal, "0x" and hexadecimal, or atoms as letters.
void write_field(TextBuffer& out, const Packet& packet, const Field& field);

/// Sets a field from text: numbers in decimal or, after "0x", hexadecimal; atoms as letters.
/// kNotFound: the type has no such field; kInvalidArgument: the text is no value of the field.
Result<void> set_field(Packet& packet, std::string_view name, std::string_view text);

/// The keyword of a packet type: "address64", "atom_f3".  Types that differ only in the instruction
/// set share one; their field `is` tells them apart.
std::string_view packet_keyword(PacketType type);

/// An empty packet of the type with this keyword (IS0 where there are two).  kNotFound.
Result<Packet> packet_of_keyword(std::string_view keyword);

/// All keywords, in the order of the header bytes.
std::span<const std::string_view> packet_keywords();

}  // namespace waymark::etmv4

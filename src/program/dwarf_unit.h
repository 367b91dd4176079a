// Units of .debug_info, and the attributes of their entries (DIEs).  DWARF 2 to 5.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_reader.h"
#include "dwarf_file.h"

namespace waymark::program {

/// The names that are used here, with their numbers in the standard.
enum DwarfTag : std::uint16_t {
  kTagCompileUnit = 0x11,
  kTagInlinedSubroutine = 0x1d,
  kTagSubprogram = 0x2e,
  kTagPartialUnit = 0x3c,
  kTagSkeletonUnit = 0x4a,
};

enum DwarfAttribute : std::uint16_t {
  kAttrSibling = 0x01,
  kAttrName = 0x03,
  kAttrStmtList = 0x10,
  kAttrLowPc = 0x11,
  kAttrHighPc = 0x12,
  kAttrCompDir = 0x1b,
  kAttrAbstractOrigin = 0x31,
  kAttrDeclLine = 0x3b,
  kAttrSpecification = 0x47,
  kAttrRanges = 0x55,
  kAttrCallColumn = 0x57,
  kAttrCallFile = 0x58,
  kAttrCallLine = 0x59,
  kAttrLinkageName = 0x6e,
  kAttrStrOffsetsBase = 0x72,
  kAttrAddrBase = 0x73,
  kAttrRnglistsBase = 0x74,
  kAttrDwoName = 0x76,
  kAttrMipsLinkageName = 0x2007,
  kAttrGnuDwoName = 0x2130,
  kAttrGnuDwoId = 0x2131,
  kAttrGnuRangesBase = 0x2132,
  kAttrGnuAddrBase = 0x2133,
  kAttrGnuDiscriminator = 0x2136,
};

struct AbbrevAttribute {
  std::uint16_t name = 0;
  std::uint16_t form = 0;
  std::int64_t constant = 0;  ///< Of DW_FORM_implicit_const.
};

struct Abbrev {
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool has_children = false;
  std::uint32_t first = 0;  ///< Among the attributes of the table.
  std::uint32_t count = 0;
};

/// The shapes of the entries of a unit.
struct AbbrevTable {
  std::vector<Abbrev> abbrevs{};  ///< In ascending order of their codes.
  std::vector<AbbrevAttribute> attributes{};

  static AbbrevTable read(ByteReader in);
  /// nullptr: there is none with this code.
  [[nodiscard]] const Abbrev* find(std::uint64_t code) const;
};

/// A value as it is in the entry.
struct DwarfValue {
  std::uint16_t form = 0;  ///< 0: there is none.
  std::uint64_t number = 0;
  std::string_view text{};  ///< Of DW_FORM_string.

  explicit operator bool() const { return form != 0; }
};

/// The addresses of an entry: from `low` to `high`, or a list.
struct DwarfExtent {
  std::optional<std::uint64_t> low{};
  DwarfValue high{};
  DwarfValue ranges{};
};

struct DwarfInfo;
struct DwarfUnit;

/// The link between a split unit and its skeleton.
struct DwarfSplit {
  std::string_view name{};  ///< In a skeleton: the file of the split unit.
  std::uint64_t id = 0;     ///< The same in both.
  /// For a split unit: the unit that says where its addresses are.
  const DwarfUnit* skeleton = nullptr;
};

/// Where the tables of a unit begin in their sections.
struct DwarfBases {
  std::uint64_t str_offsets = 0;
  std::uint64_t addr = 0;
  std::uint64_t rnglists = 0;
  std::uint64_t ranges = 0;  ///< For entries of the split unit only.
};

struct DwarfUnit {
  const DwarfInfo* info = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;
  std::uint64_t first_die = 0;
  std::uint16_t version = 0;
  std::uint8_t type = 0;  ///< DW_UT_*; 0 before DWARF 5.
  std::uint8_t address_size = 8;
  std::uint8_t offset_size = 4;
  const AbbrevTable* abbrevs = nullptr;

  // From its first entry.
  bool has_code = false;  ///< It may have code: it is not a unit of types or of parts.
  DwarfExtent extent{};
  std::optional<std::uint64_t> line_table{};
  std::string_view directory{};
  DwarfSplit split{};
  DwarfBases bases{};

  /// The unit whose file has the addresses.
  [[nodiscard]] const DwarfUnit& addresses() const {
    return split.skeleton == nullptr ? *this : *split.skeleton;
  }
};

/// All units of a file.
struct DwarfInfo {
  DwarfSections sections{};
  const DwarfInfo* alternate = nullptr;  ///< The file with what dwz took out of this one.
  std::vector<std::unique_ptr<DwarfUnit>> units{};  ///< In ascending order of their offsets.

  /// `skeleton`: of split units.
  void read_units(const DwarfUnit* skeleton = nullptr);
  /// The unit that contains an offset of .debug_info; nullptr: none does.
  [[nodiscard]] const DwarfUnit* unit_at(std::uint64_t offset) const;

 private:
  std::optional<DwarfUnit> read_header(ByteReader& in);
  void read_first_die(DwarfUnit& unit) const;
  const AbbrevTable* abbrevs_at(std::uint64_t offset);

  std::map<std::uint64_t, std::unique_ptr<AbbrevTable>> tables_{};
  std::uint64_t abbrevs_read_ = 0;
};

/// An entry.
struct DwarfDie {
  const DwarfUnit* unit = nullptr;
  const Abbrev* abbrev = nullptr;  ///< nullptr: the end of a list of children, or damage.
  std::uint64_t offset = 0;
};

/// Reads the entry at the position of `in`, whose values follow.
DwarfDie read_die(const DwarfUnit& unit, ByteReader& in);

/// Reads the value of an attribute, and so passes it.
DwarfValue read_value(const DwarfUnit& unit, const AbbrevAttribute& attribute, ByteReader& in);

/// Calls take(name, value) for each attribute of an entry whose values are at `in`.
template <class Take>
void each_attribute(const DwarfDie& die, ByteReader& in, Take take) {
  const AbbrevAttribute* const first =
      die.unit->abbrevs->attributes.data() + static_cast<std::ptrdiff_t>(die.abbrev->first);
  for (std::uint32_t i = 0; i < die.abbrev->count && in.ok(); ++i)
    take(first[i].name, read_value(*die.unit, first[i], in));
}

// The meaning of values.
std::optional<std::uint64_t> as_address(const DwarfUnit& unit, const DwarfValue& value);
std::string_view as_text(const DwarfUnit& unit, const DwarfValue& value);
/// The unit and offset of the entry that is meant; nullptr: it is not there.
std::pair<const DwarfUnit*, std::uint64_t> as_reference(const DwarfUnit& unit,
                                                        const DwarfValue& value);

struct DwarfRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;  ///< Exclusive.
};

/// Adds the addresses of an entry to `out`, at most `most` ranges.
void add_ranges(const DwarfUnit& unit, const DwarfExtent& extent, std::size_t most,
                std::vector<DwarfRange>& out);

/// Calls take(unit, range) for the addresses that .debug_aranges gives to units.
template <class Take>
void each_address_range(const DwarfInfo& info, Take take) {
  const DwarfSections& sections = info.sections;
  for (ByteReader in(sections.aranges, sections.big_endian); !in.at_end();) {
    unsigned offset_size = 4;
    const std::uint64_t begin = in.position();
    std::uint64_t length = in.u32();
    if (length == 0xFFFF'FFFF) {
      length = in.u64();
      offset_size = 8;
    }
    if (!in.ok() || length > in.remaining()) return;
    const std::uint64_t end = in.position() + length;
    const std::uint16_t version = in.u16();
    const DwarfUnit* const unit = info.unit_at(in.integer(offset_size));
    const std::uint8_t address_size = in.u8();
    in.skip(1);  // The size of segment selectors, which is 0 on these machines.
    if (version == 2 && unit != nullptr && (address_size == 4 || address_size == 8)) {
      // The pairs are aligned to their size, counted from the start of the set.
      const std::uint64_t pair = 2U * address_size;
      in.seek(begin + (in.position() - begin + pair - 1) / pair * pair);
      while (in.ok() && in.position() + pair <= end) {
        const std::uint64_t low = in.integer(address_size);
        const std::uint64_t size = in.integer(address_size);
        if (low == 0 && size == 0) break;
        if (low < low + size) take(*unit, DwarfRange{low, low + size});
      }
    }
    in.seek(end);
  }
}

}  // namespace waymark::program

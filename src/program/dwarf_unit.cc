#include "dwarf_unit.h"

#include <algorithm>

namespace waymark::program {
namespace {

enum Form : std::uint16_t {
  kAddr = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRefAddr = 0x10,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kIndirect = 0x16,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kRefSup4 = 0x1c,
  kStrpSup = 0x1d,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kRefSig8 = 0x20,
  kImplicitConst = 0x21,
  kLoclistx = 0x22,
  kRnglistx = 0x23,
  kRefSup8 = 0x24,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx2 = 0x2a,
  kAddrx3 = 0x2b,
  kAddrx4 = 0x2c,
  kGnuAddrIndex = 0x1f01,
  kGnuStrIndex = 0x1f02,
  kGnuRefAlt = 0x1f20,
  kGnuStrpAlt = 0x1f21,
};

enum UnitType : std::uint8_t {
  kCompile = 1,
  kType = 2,
  kSkeleton = 4,
  kSplitCompile = 5,
  kSplitType = 6
};

std::string_view text_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  return ByteReader(bytes, false, offset).text();
}

/// Number `index` of the addresses of a unit.
std::optional<std::uint64_t> address_number(const DwarfUnit& unit, std::uint64_t index) {
  const DwarfUnit& owner = unit.addresses();
  const DwarfSections& sections = owner.info->sections;
  if (index > sections.addr.size()) return std::nullopt;
  ByteReader in(sections.addr, sections.big_endian, owner.bases.addr);
  in.skip(index * owner.address_size);
  const std::uint64_t address = in.integer(owner.address_size);
  return in.ok() ? std::optional(address) : std::nullopt;
}

std::uint64_t most_of(const DwarfUnit& unit) {
  return unit.address_size >= 8 ? ~std::uint64_t{0}
                                : (std::uint64_t{1} << (8 * unit.address_size)) - 1;
}

/// A list of .debug_ranges, before DWARF 5.
void add_old_ranges(const DwarfUnit& unit, std::uint64_t offset, std::size_t most,
                    std::vector<DwarfRange>& out) {
  const DwarfUnit& owner = unit.addresses();
  if (unit.split.skeleton != nullptr) offset += owner.bases.ranges;
  ByteReader in(owner.info->sections.ranges, owner.info->sections.big_endian, offset);
  std::uint64_t base = owner.extent.low.value_or(0);
  while (out.size() < most) {
    const std::uint64_t low = in.integer(unit.address_size);
    const std::uint64_t high = in.integer(unit.address_size);
    if (!in.ok() || (low == 0 && high == 0)) return;
    if (low == most_of(unit)) {
      base = high;
    } else if (low < high) {
      out.push_back({base + low, base + high});
    }
  }
}

/// A list of .debug_rnglists, from DWARF 5 on.
void add_new_ranges(const DwarfUnit& unit, std::uint64_t offset, std::size_t most,
                    std::vector<DwarfRange>& out) {
  const DwarfSections& sections = unit.info->sections;
  ByteReader in(sections.rnglists, sections.big_endian, offset);
  std::uint64_t base = unit.addresses().extent.low.value_or(0);
  const auto add = [&](std::optional<std::uint64_t> low, std::optional<std::uint64_t> high) {
    if (low && high && *low < *high && in.ok()) out.push_back({*low, *high});
  };
  while (in.ok() && out.size() < most) {
    switch (in.u8()) {
      case 1: {  // A base address, by number.
        base = address_number(unit, in.uleb()).value_or(0);
        break;
      }
      case 2: {  // Two numbers of addresses.
        const auto low = address_number(unit, in.uleb());
        add(low, address_number(unit, in.uleb()));
        break;
      }
      case 3: {  // The number of an address, and a length.
        const auto low = address_number(unit, in.uleb());
        const std::uint64_t length = in.uleb();
        if (low) add(low, *low + length);
        break;
      }
      case 4: {  // Two distances from the base.
        const std::uint64_t low = base + in.uleb();
        add(low, base + in.uleb());
        break;
      }
      case 5:  // A base address.
        base = in.integer(unit.address_size);
        break;
      case 6: {  // Two addresses.
        const std::uint64_t low = in.integer(unit.address_size);
        add(low, in.integer(unit.address_size));
        break;
      }
      case 7: {  // An address and a length.
        const std::uint64_t low = in.integer(unit.address_size);
        add(low, low + in.uleb());
        break;
      }
      default:  // The end, or damage.
        return;
    }
  }
}

/// Passes a value that has only bytes.  False: the form is another one.
bool skip_block(std::uint16_t form, ByteReader& in) {
  switch (form) {
    case kBlock1:
      in.skip(in.u8());
      return true;
    case kBlock2:
      in.skip(in.u16());
      return true;
    case kBlock4:
      in.skip(in.u32());
      return true;
    case kBlock:
    case kExprloc:
      in.skip(in.uleb());
      return true;
    case kData16:
      in.skip(16);
      return true;
    default:
      return false;
  }
}

}  // namespace

AbbrevTable AbbrevTable::read(ByteReader in) {
  AbbrevTable table;
  bool sorted = true;
  while (in.ok()) {
    Abbrev abbrev;
    abbrev.code = in.uleb();
    if (abbrev.code == 0) break;
    abbrev.tag = static_cast<std::uint16_t>(in.uleb());
    abbrev.has_children = in.u8() != 0;
    abbrev.first = static_cast<std::uint32_t>(table.attributes.size());
    while (in.ok()) {
      AbbrevAttribute attribute;
      attribute.name = static_cast<std::uint16_t>(in.uleb());
      attribute.form = static_cast<std::uint16_t>(in.uleb());
      if (attribute.form == kImplicitConst) attribute.constant = in.sleb();
      if (attribute.name == 0 && attribute.form == 0) break;
      table.attributes.push_back(attribute);
    }
    abbrev.count = static_cast<std::uint32_t>(table.attributes.size()) - abbrev.first;
    if (!in.ok()) break;
    sorted = sorted && (table.abbrevs.empty() || table.abbrevs.back().code < abbrev.code);
    table.abbrevs.push_back(abbrev);
  }
  if (!sorted) std::ranges::stable_sort(table.abbrevs, {}, &Abbrev::code);
  return table;
}

const Abbrev* AbbrevTable::find(std::uint64_t code) const {
  // Nearly always, the codes are 1, 2, 3 and so on.
  if (code - 1 < abbrevs.size()) {
    const Abbrev& usual = abbrevs[in_memory(code - 1)];
    if (usual.code == code) return &usual;
  }
  const auto at = std::ranges::lower_bound(abbrevs, code, {}, &Abbrev::code);
  return at != abbrevs.end() && at->code == code ? &*at : nullptr;
}

DwarfDie read_die(const DwarfUnit& unit, ByteReader& in) {
  DwarfDie die{.unit = &unit, .offset = in.position()};
  const std::uint64_t code = in.uleb();
  if (code != 0 && in.ok()) die.abbrev = unit.abbrevs->find(code);
  // An unknown code cannot be passed.
  if (code != 0 && die.abbrev == nullptr) in.skip(in.remaining() + 1);
  return die;
}

DwarfValue read_value(const DwarfUnit& unit, const AbbrevAttribute& attribute, ByteReader& in) {
  DwarfValue value{.form = attribute.form};
  if (value.form == kIndirect) value.form = static_cast<std::uint16_t>(in.uleb());
  switch (value.form) {
    case kAddr:
      value.number = in.integer(unit.address_size);
      break;
    case kString:
      value.text = in.text();
      break;
    case kData1:
    case kFlag:
    case kRef1:
    case kStrx1:
    case kAddrx1:
      value.number = in.u8();
      break;
    case kData2:
    case kRef2:
    case kStrx2:
    case kAddrx2:
      value.number = in.u16();
      break;
    case kStrx3:
    case kAddrx3:
      value.number = in.integer(3);
      break;
    case kData4:
    case kRef4:
    case kRefSup4:
    case kStrx4:
    case kAddrx4:
      value.number = in.u32();
      break;
    case kData8:
    case kRef8:
    case kRefSig8:
    case kRefSup8:
      value.number = in.u64();
      break;
    case kSdata:
      value.number = static_cast<std::uint64_t>(in.sleb());
      break;
    case kUdata:
    case kRefUdata:
    case kStrx:
    case kAddrx:
    case kLoclistx:
    case kRnglistx:
    case kGnuAddrIndex:
    case kGnuStrIndex:
      value.number = in.uleb();
      break;
    case kRefAddr:
      value.number = in.integer(unit.version <= 2 ? unit.address_size : unit.offset_size);
      break;
    case kStrp:
    case kSecOffset:
    case kLineStrp:
    case kStrpSup:
    case kGnuRefAlt:
    case kGnuStrpAlt:
      value.number = in.integer(unit.offset_size);
      break;
    case kFlagPresent:
      value.number = 1;
      break;
    case kImplicitConst:
      value.number = static_cast<std::uint64_t>(attribute.constant);
      break;
    default:
      if (skip_block(value.form, in)) break;
      in.skip(in.remaining() + 1);  // An unknown form cannot be passed.
      return {};
  }
  if (!in.ok()) return {};
  return value;
}

std::optional<std::uint64_t> as_address(const DwarfUnit& unit, const DwarfValue& value) {
  switch (value.form) {
    case kAddr:
      return value.number;
    case kAddrx:
    case kAddrx1:
    case kAddrx2:
    case kAddrx3:
    case kAddrx4:
    case kGnuAddrIndex:
      return address_number(unit, value.number);
    default:
      return std::nullopt;
  }
}

std::string_view as_text(const DwarfUnit& unit, const DwarfValue& value) {
  const DwarfSections& sections = unit.info->sections;
  switch (value.form) {
    case kString:
      return value.text;
    case kStrp:
      return text_at(sections.str, value.number);
    case kLineStrp:
      return text_at(sections.line_str, value.number);
    case kStrpSup:
    case kGnuStrpAlt:
      return unit.info->alternate == nullptr
                 ? std::string_view()
                 : text_at(unit.info->alternate->sections.str, value.number);
    case kStrx:
    case kStrx1:
    case kStrx2:
    case kStrx3:
    case kStrx4:
    case kGnuStrIndex: {
      if (value.number > sections.str_offsets.size()) return {};
      ByteReader in(sections.str_offsets, sections.big_endian, unit.bases.str_offsets);
      in.skip(value.number * unit.offset_size);
      const std::uint64_t offset = in.integer(unit.offset_size);
      return in.ok() ? text_at(sections.str, offset) : std::string_view();
    }
    default:
      return {};
  }
}

std::pair<const DwarfUnit*, std::uint64_t> as_reference(const DwarfUnit& unit,
                                                        const DwarfValue& value) {
  const DwarfInfo* info = unit.info;
  switch (value.form) {
    case kRef1:
    case kRef2:
    case kRef4:
    case kRef8:
    case kRefUdata: {
      const std::uint64_t offset = unit.offset + value.number;
      if (offset < unit.first_die || offset >= unit.end) return {};
      return {&unit, offset};
    }
    case kRefAddr:
      break;
    case kGnuRefAlt:
    case kRefSup4:
    case kRefSup8:
      info = unit.info->alternate;
      break;
    default:
      return {};
  }
  if (info == nullptr) return {};
  const DwarfUnit* const owner = info->unit_at(value.number);
  if (owner == nullptr || value.number < owner->first_die) return {};
  return {owner, value.number};
}

void add_ranges(const DwarfUnit& unit, const DwarfExtent& extent, std::size_t most,
                std::vector<DwarfRange>& out) {
  const auto& [low, high, ranges] = extent;
  if (ranges) {
    if (unit.version < 5) {
      add_old_ranges(unit, ranges.number, most, out);
      return;
    }
    std::uint64_t offset = ranges.number;
    if (ranges.form == kRnglistx) {
      const DwarfSections& sections = unit.info->sections;
      if (offset > sections.rnglists.size()) return;
      ByteReader in(sections.rnglists, sections.big_endian, unit.bases.rnglists);
      in.skip(offset * unit.offset_size);
      offset = unit.bases.rnglists + in.integer(unit.offset_size);
      if (!in.ok()) return;
    }
    add_new_ranges(unit, offset, most, out);
    return;
  }
  if (!low || !high || out.size() >= most) return;
  const auto end = as_address(unit, high);
  const std::uint64_t last = end ? *end : *low + high.number;
  if (*low < last) out.push_back({*low, last});
}

const AbbrevTable* DwarfInfo::abbrevs_at(std::uint64_t offset) {
  const auto [at, is_new] = tables_.try_emplace(offset);
  if (is_new) {
    // Tables may overlap in a damaged file: all of them together are bounded.
    const std::uint64_t most = std::uint64_t{1} << 24 | 8 * sections.abbrev.size();
    if (offset <= sections.abbrev.size() && abbrevs_read_ < most) {
      at->second = std::make_unique<AbbrevTable>(
          AbbrevTable::read(ByteReader(sections.abbrev, sections.big_endian, offset)));
      abbrevs_read_ += 4 * at->second->abbrevs.size() + 2 * at->second->attributes.size() + 1;
    } else {
      at->second = std::make_unique<AbbrevTable>();
    }
  }
  return at->second.get();
}

std::optional<DwarfUnit> DwarfInfo::read_header(ByteReader& in) {
  DwarfUnit unit;
  unit.info = this;
  unit.offset = in.position();
  std::uint64_t length = in.u32();
  if (length == 0xFFFF'FFFF) {
    length = in.u64();
    unit.offset_size = 8;
  }
  if (!in.ok() || length > in.remaining()) return std::nullopt;
  unit.end = in.position() + length;
  unit.version = in.u16();
  std::uint64_t abbrevs = 0;
  if (unit.version >= 5) {
    unit.type = in.u8();
    unit.address_size = in.u8();
    abbrevs = in.integer(unit.offset_size);
    if (unit.type == kSkeleton || unit.type == kSplitCompile) unit.split.id = in.u64();
    if (unit.type == kType || unit.type == kSplitType) in.skip(8U + unit.offset_size);
  } else {
    abbrevs = in.integer(unit.offset_size);
    unit.address_size = in.u8();
  }
  unit.first_die = in.position();
  in.seek(unit.end);
  if (unit.first_die > unit.end) return std::nullopt;
  const bool known =
      unit.version >= 2 && unit.version <= 5 && (unit.address_size == 4 || unit.address_size == 8);
  // A unit that cannot be read is passed.
  static const AbbrevTable kNone;
  unit.abbrevs = known ? abbrevs_at(abbrevs) : &kNone;
  return unit;
}

void DwarfInfo::read_first_die(DwarfUnit& unit) const {
  // Where the tables of a unit begin by themselves.
  if (unit.version >= 5 && (unit.type == kSplitCompile || unit.type == kSplitType)) {
    unit.bases.str_offsets = unit.offset_size == 8 ? 16 : 8;
    unit.bases.rnglists = unit.offset_size == 8 ? 20 : 12;
  }
  ByteReader in(sections.info.first(in_memory(unit.end)), sections.big_endian, unit.first_die);
  const DwarfDie die = read_die(unit, in);
  if (die.abbrev == nullptr) return;
  const std::uint16_t tag = die.abbrev->tag;
  unit.has_code = tag == kTagCompileUnit || tag == kTagSkeletonUnit;
  DwarfValue low;
  DwarfValue directory;
  DwarfValue dwo_name;
  each_attribute(die, in, [&](std::uint16_t name, const DwarfValue& value) {
    switch (name) {
      case kAttrLowPc:
        low = value;
        break;
      case kAttrHighPc:
        unit.extent.high = value;
        break;
      case kAttrRanges:
        unit.extent.ranges = value;
        break;
      case kAttrStmtList:
        unit.line_table = value.number;
        break;
      case kAttrCompDir:
        directory = value;
        break;
      case kAttrDwoName:
      case kAttrGnuDwoName:
        dwo_name = value;
        break;
      case kAttrGnuDwoId:
        unit.split.id = value.number;
        break;
      case kAttrStrOffsetsBase:
        unit.bases.str_offsets = value.number;
        break;
      case kAttrAddrBase:
      case kAttrGnuAddrBase:
        unit.bases.addr = value.number;
        break;
      case kAttrRnglistsBase:
        unit.bases.rnglists = value.number;
        break;
      case kAttrGnuRangesBase:
        unit.bases.ranges = value.number;
        break;
      default:
        break;
    }
  });
  unit.extent.low = as_address(unit, low);
  unit.directory = as_text(unit, directory);
  unit.split.name = as_text(unit, dwo_name);
}

void DwarfInfo::read_units(const DwarfUnit* skeleton) {
  ByteReader in(sections.info, sections.big_endian);
  while (!in.at_end()) {
    auto unit = read_header(in);
    if (!unit) return;
    unit->split.skeleton = skeleton;
    read_first_die(*unit);
    units.push_back(std::make_unique<DwarfUnit>(*unit));
  }
}

const DwarfUnit* DwarfInfo::unit_at(std::uint64_t offset) const {
  const auto after =
      std::ranges::upper_bound(units, offset, {}, [](const auto& it) { return it->offset; });
  if (after == units.begin() || (*std::prev(after))->end <= offset) return nullptr;
  return std::prev(after)->get();
}

}  // namespace waymark::program

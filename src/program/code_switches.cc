#include "waymark/program/code_switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "byte_reader.h"
#include "elf.h"
#include "waymark/isa/instruction.h"

namespace waymark::program {
namespace {

constexpr std::uint32_t kNopWord = 0xD503201F;
// Relocations of a module: the address minus that of the field.
constexpr std::uint32_t kRelative64 = 260;
constexpr std::uint32_t kRelative32 = 261;
// The text that a callback writes instead of a replacement.
constexpr std::uint32_t kCallback = 0x8000;
constexpr std::string_view kWritesNops = "alt_cb_patch_nops";

/// Where something is: an address as linked, or a place in a section of a module.
struct Location {
  std::uint32_t section = 0;  ///< 0: an address.
  std::uint64_t value = 0;
  std::string_view name{};  ///< The symbol, if another file defines it.

  friend auto operator<=>(const Location&, const Location&) = default;
};

/// A table of the kernel, whose entries say where things are relative to themselves.
struct Table {
  Bytes bytes{};
  std::uint64_t address = 0;
  std::uint32_t section = 0;
};

std::int64_t signed_bits(std::uint64_t value, unsigned bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

std::optional<std::uint32_t> branch_to(std::uint64_t from, std::uint64_t to) {
  const auto distance = static_cast<std::int64_t>(to - from);
  if (distance % 4 != 0 || signed_bits(static_cast<std::uint64_t>(distance), 28) != distance)
    return std::nullopt;
  return 0x14000000U | (static_cast<std::uint32_t>(distance >> 2) & 0x3FFFFFFU);
}

/// The instruction when it is copied from one address to another: branches out of the copied bytes
/// and ADRP keep their targets.  Nothing: it cannot be copied.
std::optional<std::uint32_t> copied(std::uint32_t word, std::uint64_t from, std::uint64_t to,
                                    std::uint64_t first, std::uint64_t size) {
  const auto move = [&](unsigned shift, unsigned bits) -> std::optional<std::uint32_t> {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    const std::int64_t distance = signed_bits(word >> shift & mask, bits) * 4;
    const std::uint64_t target = from + static_cast<std::uint64_t>(distance);
    if (target - first < size) return word;
    const auto moved = static_cast<std::int64_t>(target - to) >> 2;
    if (signed_bits(static_cast<std::uint64_t>(moved), bits) != moved) return std::nullopt;
    return (word & ~(mask << shift)) | (static_cast<std::uint32_t>(moved) & mask) << shift;
  };
  if ((word & 0x7C000000U) == 0x14000000U) return move(0, 26);  // B, BL
  if ((word & 0xFF000000U) == 0x54000000U) return move(5, 19);  // B.cond, BC.cond
  if ((word & 0x7E000000U) == 0x34000000U) return move(5, 19);  // CBZ, CBNZ
  if ((word & 0x7E000000U) == 0x36000000U) return move(5, 14);  // TBZ, TBNZ
  if ((word & 0x9F000000U) == 0x90000000U) {                    // ADRP
    const std::uint32_t pages = (word >> 5 & 0x7FFFF) << 2 | (word >> 29 & 3);
    const std::uint64_t target =
        (from >> 12) + static_cast<std::uint64_t>(signed_bits(pages, 21)) - (to >> 12);
    const auto moved = signed_bits(target, 52);
    if (signed_bits(static_cast<std::uint64_t>(moved), 21) != moved) return std::nullopt;
    const auto bits = static_cast<std::uint32_t>(moved) & 0x1FFFFF;
    return (word & ~(3U << 29 | 0x7FFFFU << 5)) | (bits & 3) << 29 | (bits >> 2) << 5;
  }
  return word;
}

/// The meaning of the word for any trace unit.
isa::InstrType type_of(std::uint32_t word) {
  constexpr isa::Options kOptions{
      .arch = isa::Arch::kAA64, .dsb_dmb_waypoints = true, .wfi_wfe_waypoints = true};
  std::uint8_t it = 0;
  isa::Instruction out;
  const auto outcome = isa::classify(kOptions, isa::Isa::kA64, 0, word, it, out);
  return outcome == isa::Outcome::kOk ? out.type : isa::InstrType::kOther;
}

bool is_waypoint(std::uint32_t word) { return type_of(word) != isa::InstrType::kOther; }

/// Reads the tables of one file.
class SwitchReader {
 public:
  explicit SwitchReader(const Elf& elf, Bytes file) : elf_(elf), file_(file) {
    if (elf.type == Elf::kRelocatable) {
      if (const ElfSection* const text = elf.section(".text"))
        text_ = static_cast<std::uint32_t>(text - elf.sections.data());
    }
  }

  std::vector<CodeSwitch> read() {
    if (elf_.type == Elf::kRelocatable && text_ == 0) return {};
    read_static_keys();
    read_alternatives();
    std::vector<CodeSwitch> all;
    for (auto& [key, each] : keys_) {
      each.name = name_of(key);
      all.push_back(std::move(each));
    }
    for (auto& [number, each] : capabilities_) {
      // The trace shows nothing of a feature that changes no waypoint.
      if (!std::ranges::any_of(each.sites, has_waypoint)) continue;
      each.name = fmt::format("capability {}", number);
      all.push_back(std::move(each));
    }
    for (CodeSwitch& each : all) std::ranges::stable_sort(each.sites, {}, &CodeSite::file_offset);
    return all;
  }

 private:
  static bool has_waypoint(const CodeSite& site) {
    return site.on != site.off && (std::ranges::any_of(site.on, is_waypoint) ||
                                   std::ranges::any_of(site.off, is_waypoint));
  }

  /// A table by the name of its section, or of the symbols around it.
  [[nodiscard]] std::optional<Table> table(std::string_view section, std::string_view begin,
                                           std::string_view end) {
    if (const ElfSection* const found = elf_.section(section)) {
      return Table{.bytes = found->bytes,
                   .address = found->address,
                   .section = elf_.type == Elf::kRelocatable
                                  ? static_cast<std::uint32_t>(found - elf_.sections.data())
                                  : 0};
    }
    if (elf_.type == Elf::kRelocatable) return std::nullopt;
    const ElfSection* const symbols = elf_.section_of_type(ElfSection::kSymbolTable);
    if (symbols == nullptr) return std::nullopt;
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last;
    for (const ElfName& symbol : elf_.names(*symbols)) {
      if (symbol.name == begin) first = symbol.value;
      if (symbol.name == end) last = symbol.value;
    }
    if (!first || !last || *last <= *first) return std::nullopt;
    const auto offset = offset_of(*first, *last - *first);
    if (!offset) return std::nullopt;
    return Table{.bytes = file_.subspan(static_cast<std::size_t>(*offset),
                                        static_cast<std::size_t>(*last - *first)),
                 .address = *first};
  }

  /// The place in the file of bytes at an address.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(std::uint64_t address,
                                                       std::uint64_t size) const {
    for (const ElfLoad& load : elf_.loads) {
      if (address < load.address || address - load.address >= load.file_size) continue;
      const std::uint64_t inside = address - load.address;
      if (size > load.file_size - inside || load.offset > file_.size() ||
          inside > file_.size() - load.offset || size > file_.size() - load.offset - inside)
        continue;
      return load.offset + inside;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::uint64_t> offset_of(const Location& location,
                                                       std::uint64_t size) const {
    if (!location.name.empty()) return std::nullopt;
    if (location.section == 0) return offset_of(location.value, size);
    const ElfSection& section = elf_.sections[location.section];
    if (location.value > section.bytes.size() || size > section.bytes.size() - location.value)
      return std::nullopt;
    return section.offset + location.value;
  }

  /// The relocations of a section: what its fields refer to.
  void read_relocations(std::uint32_t section) {
    fields_.clear();
    if (section == 0) return;
    const std::vector<ElfSymbolPlace> symbols = symbol_places();
    for (const ElfSection& table : elf_.sections) {
      if (table.type != ElfSection::kRela || table.info != section) continue;
      constexpr std::uint64_t kEntry = 24;
      ByteReader in(table.bytes, elf_.big_endian, 0);
      for (std::uint64_t i = 0; i < table.bytes.size() / kEntry; ++i) {
        const std::uint64_t offset = in.u64();
        const std::uint64_t info = in.u64();
        const std::uint64_t addend = in.u64();
        const auto type = static_cast<std::uint32_t>(info);
        const std::uint64_t number = info >> 32;
        if ((type != kRelative32 && type != kRelative64) || number >= symbols.size()) continue;
        const ElfSymbolPlace& symbol = symbols[static_cast<std::size_t>(number)];
        const bool here = symbol.section != 0 && symbol.section < elf_.sections.size();
        if (!here && symbol.name.empty()) continue;
        fields_[offset] = {.section = here ? symbol.section : 0,
                           .value = symbol.value + addend,
                           .name = here ? std::string_view() : symbol.name};
      }
    }
  }

  struct ElfSymbolPlace {
    std::uint32_t section = 0;
    std::uint64_t value = 0;
    std::string_view name{};
  };
  [[nodiscard]] std::vector<ElfSymbolPlace> symbol_places() const {
    std::vector<ElfSymbolPlace> all;
    const ElfSection* const table = elf_.section_of_type(ElfSection::kSymbolTable);
    if (table == nullptr) return all;
    const std::vector<std::string_view> names = elf_.all_names(*table);
    ByteReader in(table->bytes, elf_.big_endian, 0);
    for (const std::string_view name : names) {
      in.skip(6);
      const std::uint32_t section = in.u16();
      const std::uint64_t value = in.u64();
      in.skip(8);
      all.push_back({.section = section >= 0xFF00 ? 0 : section, .value = value, .name = name});
    }
    return all;
  }

  /// The target of a field of a table.
  [[nodiscard]] std::optional<Location> field(const Table& table, std::uint64_t offset,
                                              unsigned size) const {
    if (table.section != 0) {
      const auto found = fields_.find(offset);
      return found == fields_.end() ? std::nullopt : std::optional(found->second);
    }
    ByteReader in(table.bytes, elf_.big_endian, offset);
    const std::uint64_t distance = in.integer(size);
    return Location{.value = table.address + offset +
                             static_cast<std::uint64_t>(signed_bits(distance, 8 * size))};
  }

  [[nodiscard]] std::vector<std::uint32_t> words(std::uint64_t offset, std::uint64_t size) const {
    // Instructions are little-endian, whatever data is.
    std::vector<std::uint32_t> all;
    ByteReader in(file_, false, offset);
    for (std::uint64_t at = 0; at < size; at += 4) all.push_back(in.u32());
    return all;
  }

  [[nodiscard]] bool is_code(const Location& location) const {
    if (elf_.type == Elf::kRelocatable) return location.section == text_ && location.name.empty();
    return location.section == 0 && location.name.empty();
  }

  void read_static_keys() {
    const auto found = table("__jump_table", "__start___jump_table", "__stop___jump_table");
    if (!found) return;
    read_relocations(found->section);
    constexpr std::uint64_t kEntry = 16;
    for (std::uint64_t at = 0; at + kEntry <= found->bytes.size(); at += kEntry) {
      const auto code = field(*found, at, 4);
      const auto target = field(*found, at + 4, 4);
      auto key = field(*found, at + 8, 8);
      if (!code || !target || !key || !is_code(*code) || !is_code(*target)) continue;
      const bool branch_is_off = (key->value & 1) != 0;
      key->value &= ~std::uint64_t{3};
      const auto offset = offset_of(*code, 4);
      const auto branch = branch_to(code->value, target->value);
      if (!offset || !branch || *branch == kNopWord || code->value % 4 != 0) continue;
      const std::uint32_t word = words(*offset, 4).front();
      if (word != kNopWord && word != *branch) continue;
      keys_[*key].sites.push_back({.file_offset = *offset,
                                   .off = {branch_is_off ? *branch : kNopWord},
                                   .on = {branch_is_off ? kNopWord : *branch}});
    }
  }

  void read_alternatives() {
    const auto found = table(".altinstructions", "__alt_instructions", "__alt_instructions_end");
    if (!found) return;
    read_relocations(found->section);
    constexpr std::uint64_t kEntry = 12;
    for (std::uint64_t at = 0; at + kEntry <= found->bytes.size(); at += kEntry) {
      const auto code = field(*found, at, 4);
      const auto replacement = field(*found, at + 4, 4);
      ByteReader in(found->bytes, elf_.big_endian, at + 8);
      const std::uint32_t capability = in.u16();
      const std::uint64_t size = in.u8();
      const std::uint64_t replacement_size = in.u8();
      if (!code || !replacement || !is_code(*code) || code->value % 4 != 0 || size == 0 ||
          size % 4 != 0)
        continue;
      const auto offset = offset_of(*code, size);
      if (!offset) continue;
      CodeSite site{.file_offset = *offset, .off = words(*offset, size)};
      if ((capability & kCallback) != 0) {
        if (name_of(*replacement) != kWritesNops) continue;
        site.on.assign(site.off.size(), kNopWord);
      } else {
        if (replacement_size != size) continue;
        site.on = replaced(*code, *replacement, size);
      }
      if (site.on.empty()) continue;
      CodeSwitch& each = capabilities_[capability & (kCallback - 1)];
      each.kind = CodeSwitch::Kind::kCapability;
      each.sites.push_back(std::move(site));
    }
  }

  /// The replacement as the kernel copies it; empty: it cannot.
  [[nodiscard]] std::vector<std::uint32_t> replaced(const Location& code,
                                                    const Location& replacement,
                                                    std::uint64_t size) const {
    const auto offset = offset_of(replacement, size);
    if (!offset) return {};
    std::vector<std::uint32_t> result = words(*offset, size);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (replacement.section != code.section) {
        // Relocations of the replacement would give its branches their targets.
        if (type_of(result[i]) == isa::InstrType::kBranch) return {};
        continue;
      }
      const auto word =
          copied(result[i], replacement.value + 4 * i, code.value + 4 * i, replacement.value, size);
      if (!word) return {};
      result[i] = *word;
    }
    return result;
  }

  std::string name_of(const Location& location) {
    if (!location.name.empty()) return std::string(location.name);
    if (names_.empty()) {
      const ElfSection* const table = elf_.section_of_type(ElfSection::kSymbolTable);
      if (table != nullptr) {
        for (const ElfName& symbol : elf_.names(*table)) {
          if (!symbol.name.starts_with('$')) names_.emplace(symbol.value, symbol.name);
        }
      }
    }
    std::uint64_t address = location.value;
    if (location.section != 0) address += elf_.sections[location.section].address;
    // A key may be a member of a structure.
    const auto after = names_.upper_bound(address);
    if (after != names_.begin()) {
      const auto& [start, name] = *std::prev(after);
      constexpr std::uint64_t kNear = 0x100;
      if (start == address) return std::string(name);
      if (address - start < kNear) return fmt::format("{}+0x{:x}", name, address - start);
    }
    return fmt::format("0x{:x}", address);
  }

  const Elf& elf_;
  Bytes file_;
  std::uint32_t text_ = 0;  ///< The number of the section .text of a module.
  std::unordered_map<std::uint64_t, Location> fields_;
  std::map<std::uint64_t, std::string_view> names_;
  std::map<Location, CodeSwitch> keys_;
  std::map<std::uint32_t, CodeSwitch> capabilities_;
};

void put_word(std::uint8_t* at, std::uint32_t word) {
  for (unsigned i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

std::uint32_t get_word(const std::uint8_t* at) {
  return at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 |
         std::uint32_t{at[3]} << 24;
}

}  // namespace

std::vector<CodeSwitch> code_switches(Bytes elf_file) {
  const auto elf = Elf::read(elf_file);
  if (!elf || elf->machine != Elf::kAarch64 || !elf->is_64bit) return {};
  return SwitchReader(*elf, elf_file).read();
}

std::unique_ptr<SwitchedCode> SwitchedCode::make(Bytes elf_file) {
  auto code = std::unique_ptr<SwitchedCode>(new SwitchedCode);
  code->switches_ = code_switches(elf_file);
  if (code->switches_.empty()) return nullptr;
  if (auto module = module_code(elf_file)) {
    code->parts_.push_back({module->file_offset, std::move(module->bytes)});
  } else {
    for (const LoadedPart& loaded : executable_parts(elf_file)) {
      const Bytes bytes = elf_file.subspan(static_cast<std::size_t>(loaded.file_offset),
                                           static_cast<std::size_t>(loaded.size));
      code->parts_.push_back({loaded.file_offset, {bytes.begin(), bytes.end()}});
    }
  }
  for (std::size_t number = 0; number < code->switches_.size(); ++number) {
    const std::vector<CodeSite>& sites = code->switches_[number].sites;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      const std::uint64_t size = 4 * sites[i].off.size();
      const Part* const part = code->part_of(sites[i].file_offset, size);
      if (part == nullptr) continue;
      Place& place = code->places_.emplace_back();
      place = {.file_offset = sites[i].file_offset,
               .size = size,
               .number = number,
               .site = i,
               .part = static_cast<std::size_t>(part - code->parts_.data())};
      for (std::uint64_t at = 0; at < size; at += 4)
        place.in_file.push_back(
            get_word(part->bytes.data() + (place.file_offset - part->file_offset + at)));
      code->longest_ = std::max(code->longest_, size);
    }
  }
  if (code->places_.empty()) return nullptr;
  std::ranges::stable_sort(code->places_, {}, &Place::file_offset);
  code->settings_.assign(code->switches_.size(), Setting::kAsInFile);
  return code;
}

const SwitchedCode::Part* SwitchedCode::part_of(std::uint64_t file_offset,
                                                std::uint64_t size) const {
  for (const Part& part : parts_) {
    if (file_offset < part.file_offset || file_offset - part.file_offset >= part.bytes.size())
      continue;
    return size <= part.bytes.size() - (file_offset - part.file_offset) ? &part : nullptr;
  }
  return nullptr;
}

Bytes SwitchedCode::from(std::uint64_t file_offset) const {
  const Part* const part = part_of(file_offset, 1);
  if (part == nullptr) return {};
  return Bytes(part->bytes).subspan(static_cast<std::size_t>(file_offset - part->file_offset));
}

const std::vector<std::uint32_t>& SwitchedCode::form(const Place& place, Setting setting) const {
  const CodeSite& site = switches_[place.number].sites[place.site];
  if (setting == Setting::kAsInFile) return place.in_file;
  return setting == Setting::kOn ? site.on : site.off;
}

bool SwitchedCode::would_change(std::size_t number, Setting setting) const {
  return std::ranges::any_of(places_, [&](const Place& place) {
    return place.number == number && form(place, setting) != form(place, settings_[number]);
  });
}

void SwitchedCode::set(std::size_t number, Setting setting) {
  settings_[number] = setting;
  for (const Place& place : places_) {
    if (place.number != number) continue;
    Part& part = parts_[place.part];
    std::uint8_t* at = part.bytes.data() + (place.file_offset - part.file_offset);
    for (const std::uint32_t word : form(place, setting)) {
      put_word(at, word);
      at += 4;
    }
  }
}

void SwitchedCode::switches_in(std::uint64_t file_offset, std::uint64_t size,
                               std::vector<std::size_t>& out) const {
  const std::uint64_t from = file_offset < longest_ ? 0 : file_offset - longest_;
  for (auto at = std::ranges::lower_bound(places_, from, {}, &Place::file_offset);
       at != places_.end() && at->file_offset < file_offset + size; ++at) {
    if (at->file_offset + at->size > file_offset) out.push_back(at->number);
  }
}

}  // namespace waymark::program

#include "waymark/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "debug_files.h"
#include "dwarf.h"
#include "dwarf_file.h"
#include "elf.h"
#include "plt.h"
#include "symbols.h"
#include "waymark/base/bits.h"
#include "waymark/base/mapped_file.h"
#include "waymark/program/code_line.h"

namespace waymark::program {

struct Program::State {
  std::unique_ptr<LoadedFile> file{};  ///< nullptr: the code is in no file.
  std::string name{};
  DebugSearch search{};
  Elf no_elf{};
  std::vector<CodeRange> code{};

  std::once_flag debug_once{};
  std::unique_ptr<LoadedFile> debug_file{};

  std::once_flag symbols_once{};
  std::vector<Function> functions{};
  std::vector<ContentChange> contents{};

  /// The parts and copies of a function.
  struct Family {
    const Function* parent = nullptr;  ///< nullptr: the program does not have it.
    const Function* first = nullptr;
    bool several = false;  ///< They have several names.
  };
  std::once_flag families_once{};
  std::unordered_map<std::string_view, Family> families{};  ///< By the name of the function.

  SourceLines lines{};  ///< Of code that is in no file.

  std::once_flag dwarf_once{};
  std::unique_ptr<Dwarf> dwarf{};

  [[nodiscard]] const Elf& elf() const { return file == nullptr ? no_elf : file->elf; }
  /// nullptr: the program has no debug file.
  LoadedFile* debug();
  void read_symbols();
  void read_dwarf();
  void find_families();
  /// The line of an address in a function, of `lines`.
  [[nodiscard]] std::optional<Frame> frame_in(const Function& function,
                                              std::uint64_t address) const;

 private:
  void add_symbols(const Elf& from, std::uint32_t kind, std::vector<NamedPlace>& places);
  void add_plt();
};

LoadedFile* Program::State::debug() {
  std::call_once(debug_once, [this] {
    if (file != nullptr) debug_file = find_debug_file(*file, search);
  });
  return debug_file.get();
}

void Program::State::add_symbols(const Elf& from, std::uint32_t kind,
                                 std::vector<NamedPlace>& places) {
  const ElfSection* const table = from.section_of_type(kind);
  if (table == nullptr) return;
  const std::vector<NamedPlace> more = named_places(from, *table, code);
  places.insert(places.end(), more.begin(), more.end());
  if (contents.empty()) contents = contents_of(from, *table);
}

void Program::State::add_plt() {
  const auto last_of = [](const Function& it) { return it.last; };
  std::vector<Function> entries = plt_entries(elf(), functions);
  std::erase_if(entries, [&](const Function& entry) {
    const auto at = std::ranges::lower_bound(functions, entry.start, {}, last_of);
    return at != functions.end() && at->start <= entry.last;
  });
  std::vector<Function> all;
  all.reserve(functions.size() + entries.size());
  std::ranges::merge(
      std::make_move_iterator(functions.begin()), std::make_move_iterator(functions.end()),
      std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()),
      std::back_inserter(all), {}, &Function::start, &Function::start);
  functions = std::move(all);
}

void Program::State::read_symbols() {
  if (file == nullptr) return;
  std::vector<NamedPlace> places;
  std::unique_ptr<LoadedFile> mini;
  add_symbols(elf(), ElfSection::kSymbolTable, places);
  if (places.empty() && debug() != nullptr)
    add_symbols(debug()->elf, ElfSection::kSymbolTable, places);
  if (places.empty()) {
    // Both have only some of the symbols.
    mini = mini_debug_file(*file);
    if (mini != nullptr) add_symbols(mini->elf, ElfSection::kSymbolTable, places);
    add_symbols(elf(), ElfSection::kDynamicSymbols, places);
  }
  functions = functions_of(std::move(places));
  add_plt();
}

void Program::State::find_families() {
  for (const Function& function : functions) {
    const std::string_view parent = parent_name(function.name);
    if (parent == function.name) continue;
    Family& family = families[parent];
    if (family.first == nullptr) family.first = &function;
    family.several = family.several || family.first->name != function.name;
  }
  if (families.empty()) return;
  for (const Function& function : functions) {
    const auto family = families.find(function.name);
    if (family != families.end() && family->second.parent == nullptr)
      family->second.parent = &function;
  }
}

void Program::State::read_dwarf() {
  if (file == nullptr) return;
  LoadedFile* const found = file->has_dwarf() ? file.get() : debug();
  if (found == nullptr || !found->has_dwarf()) return;
  dwarf = std::make_unique<Dwarf>(*found, name, search);
}

std::optional<Frame> Program::State::frame_in(const Function& function,
                                              std::uint64_t address) const {
  const auto after =
      std::ranges::upper_bound(lines.lines, address, {}, &SourceLines::Line::address);
  if (after == lines.lines.begin()) return std::nullopt;
  const SourceLines::Line& line = *std::prev(after);
  if (line.address < function.start || line.file >= lines.files.size()) return std::nullopt;
  return Frame{.file = lines.files[line.file], .line = line.line, .column = line.column};
}

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::make(std::unique_ptr<State> state) {
  if (state->file == nullptr) {
    return fail(ErrorCode::kBadData,
                fmt::format("'{}' is not an ELF file, or is damaged.", state->name));
  }
  state->code = code_ranges(state->elf());
  return std::shared_ptr<const Program>(new Program(std::move(state)));
}

Result<std::shared_ptr<const Program>> Program::open(const std::string& path,
                                                     const DebugSearch& search) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return std::unexpected(std::move(mapped).error());
  auto state = std::make_unique<State>();
  state->file = LoadedFile::map(*std::move(mapped));
  state->name = path;
  state->search = search;
  return make(std::move(state));
}

Result<std::shared_ptr<const Program>> Program::view(Bytes bytes, std::string name,
                                                     const DebugSearch& search) {
  auto state = std::make_unique<State>();
  state->file = LoadedFile::view(bytes, name);
  state->name = std::move(name);
  state->search = search;
  return make(std::move(state));
}

std::shared_ptr<const Program> Program::of(std::vector<Function> functions, std::string name,
                                           SourceLines lines) {
  image::Symbols symbols;
  symbols.add(std::move(functions));
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  std::ranges::stable_sort(lines.lines, {}, &SourceLines::Line::address);
  state->lines = std::move(lines);
  std::call_once(state->symbols_once, [&] { state->functions = symbols.functions(); });
  return std::shared_ptr<const Program>(new Program(std::move(state)));
}

const std::string& Program::path() const { return state_->name; }
unsigned Program::machine() const { return state_->elf().machine; }
const std::vector<std::uint8_t>& Program::build_id() const { return state_->elf().build_id; }
const std::vector<CodeRange>& Program::code() const { return state_->code; }

std::vector<Segment> Program::segments() const {
  std::vector<Segment> all;
  for (const ElfLoad& load : state_->elf().loads)
    all.push_back({load.address, load.offset, load.memory_size, load.executable});
  return all;
}

std::optional<std::uint64_t> Program::address_of(std::uint64_t file_offset) const {
  for (const ElfLoad& load : state_->elf().loads) {
    if (file_offset >= load.offset && file_offset - load.offset < load.file_size)
      return load.address + (file_offset - load.offset);
  }
  if (state_->elf().type != Elf::kRelocatable) return std::nullopt;
  for (const ElfSection& section : state_->elf().sections) {
    if ((section.flags & ElfSection::kAlloc) != 0 && file_offset >= section.offset &&
        file_offset - section.offset < section.bytes.size())
      return section.address + (file_offset - section.offset);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Program::offset_of(std::uint64_t address) const {
  for (const ElfLoad& load : state_->elf().loads) {
    if (address >= load.address && address - load.address < load.file_size)
      return load.offset + (address - load.address);
  }
  if (state_->elf().type != Elf::kRelocatable) return std::nullopt;
  for (const ElfSection& section : state_->elf().sections) {
    if ((section.flags & ElfSection::kAlloc) != 0 && address >= section.address &&
        address - section.address < section.bytes.size())
      return section.offset + (address - section.address);
  }
  return std::nullopt;
}

const std::vector<Function>& Program::functions() const {
  std::call_once(state_->symbols_once, [this] { state_->read_symbols(); });
  return state_->functions;
}

const Function* Program::function(std::uint64_t address) const {
  return image::code_at(functions(), address).function;
}

Whole Program::whole(const Function& function) const {
  const std::string_view name = parent_name(function.name);
  if (name == function.name) return {.function = &function, .name = function.name};
  (void)functions();
  std::call_once(state_->families_once, [this] { state_->find_families(); });
  const auto found = state_->families.find(name);
  if (found == state_->families.end()) return {.function = &function, .name = function.name};
  const State::Family& family = found->second;
  if (family.parent != nullptr) return {.function = family.parent, .name = family.parent->name};
  if (family.several) return {.function = family.first, .name = found->first};
  return {.function = &function, .name = function.name};
}

std::optional<Content> Program::content(std::uint64_t address) const {
  std::call_once(state_->symbols_once, [this] { state_->read_symbols(); });
  const auto after =
      std::ranges::upper_bound(state_->contents, address, {}, &ContentChange::address);
  return after == state_->contents.begin() ? std::nullopt : std::prev(after)->content;
}

void Program::frames(std::uint64_t address, std::vector<Frame>& out) const {
  out.clear();
  std::call_once(state_->dwarf_once, [this] { state_->read_dwarf(); });
  if (state_->dwarf != nullptr) state_->dwarf->add_frames(address, out);
  const Function* const symbol = function(address);
  if (symbol == nullptr) return;
  if (out.empty()) out.push_back(state_->frame_in(*symbol, address).value_or(Frame{}));
  // The linker knows the name of a copy or a part of a function.
  out.back().function = symbol->name;
}

unsigned Program::dwarf_version() const {
  std::call_once(state_->dwarf_once, [this] { state_->read_dwarf(); });
  return state_->dwarf == nullptr ? 0 : state_->dwarf->version();
}

void Program::each_line(const std::function<void(const CodeLine&)>& take) const {
  std::call_once(state_->dwarf_once, [this] { state_->read_dwarf(); });
  if (state_->dwarf != nullptr) {
    // In a linked file, 0 is also the address of all code that the linker left out.
    const bool all = state_->elf().type == Elf::kRelocatable;
    const Function* const first = all ? nullptr : function(0);
    state_->dwarf->each_line(
        [&](std::uint64_t low, std::uint64_t high) {
          return all || low != 0 || (first != nullptr && first->start == 0 && high > first->last);
        },
        take);
  }
  const std::vector<SourceLines::Line>& lines = state_->lines.lines;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Function* const owner = function(lines[i].address);
    if (owner == nullptr || lines[i].file >= state_->lines.files.size()) continue;
    std::uint64_t end = owner->last + 1;
    if (i + 1 < lines.size()) end = std::min(end, lines[i + 1].address);
    take({.address = lines[i].address,
          .end = end,
          .file = state_->lines.files[lines[i].file],
          .line = lines[i].line,
          .is_statement = true});
  }
}

Bytes Program::bytes_from(std::uint64_t address) const {
  for (const ElfSection& section : state_->elf().sections) {
    if ((section.flags & ElfSection::kAlloc) != 0 && address >= section.address &&
        address - section.address < section.bytes.size())
      return section.bytes.subspan(in_memory(address - section.address));
  }
  return {};
}

std::optional<std::uint16_t> Program::halfword(std::uint64_t address) const {
  const Bytes bytes = bytes_from(address);
  if (bytes.size() < 2) return std::nullopt;
  return load_le<std::uint16_t>(bytes.data());
}

}  // namespace waymark::program

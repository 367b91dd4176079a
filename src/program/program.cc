#include "waymark/program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "elf.h"
#include "symbols.h"
#include "waymark/base/mapped_file.h"

namespace waymark::program {

struct Program::State {
  MappedFile file{};
  std::string name{};
  DebugSearch search{};
  Elf elf{};
  std::vector<CodeRange> code{};

  std::once_flag symbols_once{};
  std::vector<Function> functions{};
  std::vector<ContentChange> contents{};

  void read_symbols();
};

void Program::State::read_symbols() {
  const ElfSection* table = elf.section_of_type(ElfSection::kSymbolTable);
  if (table == nullptr || table->bytes.empty())
    table = elf.section_of_type(ElfSection::kDynamicSymbols);
  if (table == nullptr) return;
  functions = functions_of(named_places(elf, *table, code));
  contents = contents_of(elf, *table);
}

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::~Program() = default;

Result<std::shared_ptr<const Program>> Program::open(const std::string& path,
                                                     const DebugSearch& search) {
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(std::move(file).error());
  auto elf = Elf::read(file->bytes());
  if (!elf)
    return fail(ErrorCode::kBadData, fmt::format("'{}' is not an ELF file, or is damaged.", path));
  auto state = std::make_unique<State>();
  state->file = *std::move(file);
  state->name = path;
  state->search = search;
  state->elf = *std::move(elf);
  state->code = code_ranges(state->elf);
  return std::shared_ptr<const Program>(new Program(std::move(state)));
}

std::shared_ptr<const Program> Program::of(std::vector<Function> functions, std::string name) {
  image::Symbols symbols;
  symbols.add(std::move(functions));
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  std::call_once(state->symbols_once, [&] { state->functions = symbols.functions(); });
  return std::shared_ptr<const Program>(new Program(std::move(state)));
}

const std::string& Program::path() const { return state_->name; }
unsigned Program::machine() const { return state_->elf.machine; }
const std::vector<std::uint8_t>& Program::build_id() const { return state_->elf.build_id; }
const std::vector<CodeRange>& Program::code() const { return state_->code; }

std::optional<std::uint64_t> Program::address_of(std::uint64_t file_offset) const {
  for (const ElfLoad& load : state_->elf.loads) {
    if (file_offset >= load.offset && file_offset - load.offset < load.file_size)
      return load.address + (file_offset - load.offset);
  }
  if (state_->elf.type != Elf::kRelocatable) return std::nullopt;
  for (const ElfSection& section : state_->elf.sections) {
    if ((section.flags & ElfSection::kAlloc) != 0 && file_offset >= section.offset &&
        file_offset - section.offset < section.bytes.size())
      return section.address + (file_offset - section.offset);
  }
  return std::nullopt;
}

const std::vector<Function>& Program::functions() const {
  std::call_once(state_->symbols_once, [this] { state_->read_symbols(); });
  return state_->functions;
}

const Function* Program::function(std::uint64_t address) const {
  const std::vector<Function>& all = functions();
  const auto at = std::ranges::lower_bound(all, address, {}, &Function::last);
  return at != all.end() && at->start <= address ? &*at : nullptr;
}

std::optional<Content> Program::content(std::uint64_t address) const {
  std::call_once(state_->symbols_once, [this] { state_->read_symbols(); });
  const auto after =
      std::ranges::upper_bound(state_->contents, address, {}, &ContentChange::address);
  return after == state_->contents.begin() ? std::nullopt : std::prev(after)->content;
}

void Program::frames(std::uint64_t address, std::vector<Frame>& out) const {
  out.clear();
  const Function* const symbol = function(address);
  if (symbol != nullptr) out.push_back({.function = symbol->name});
}

}  // namespace waymark::program

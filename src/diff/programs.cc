#include "waymark/diff/programs.h"

#include <algorithm>

namespace waymark::diff {
namespace {

/// FNV-1a.
class Digest {
 public:
  void add(Bytes bytes) {
    for (const std::uint8_t byte : bytes) value_ = (value_ ^ byte) * 0x100000001B3ULL;
  }
  void add(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      value_ = (value_ ^ (number >> shift & 0xFF)) * 0x100000001B3ULL;
  }
  void add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

std::string_view file_name(const program::Program& program) {
  const std::string_view path = program.path();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string identity_of(const program::Program& program) {
  const std::vector<std::uint8_t>& id = program.build_id();
  if (!id.empty()) return {id.begin(), id.end()};
  Digest digest;
  for (const program::CodeRange& range : program.code()) {
    digest.add(range.first);
    Bytes bytes = program.bytes_from(range.first);
    digest.add(bytes.first(
        in_memory(std::min<std::uint64_t>(bytes.size(), range.last - range.first + 1))));
  }
  for (const program::Function& function : program.functions()) {
    digest.add(function.start);
    digest.add(function.last);
    digest.add(function.name);
  }
  return "digest " + std::to_string(digest.value());
}

void Programs::join(std::uint32_t pair, Side side, const program::Program& program, Match match) {
  pairs_[pair].programs[side] = &program;
  pairs_[pair].match = match;
  known_[side][&program].number = pair;
}

Programs::Known& Programs::known(Side side, const program::Program& program) {
  const auto [at, is_new] = known_[side].try_emplace(&program);
  if (!is_new) return at->second;
  const std::string identity = identity_of(program);
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    if (identities_[pair] != identity) continue;
    // A run may have opened one program twice.
    const bool other_had_it = pairs_[pair].programs[1 - side] != nullptr;
    at->second.number = pair;
    if (pairs_[pair].programs[side] == nullptr)
      join(pair, side, program, other_had_it ? Match::kSame : pairs_[pair].match);
    return at->second;
  }
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    const ProgramPair& each = pairs_[pair];
    if (each.programs[side] != nullptr || each.programs[1 - side] == nullptr) continue;
    if (file_name(program).empty() || file_name(*each.programs[1 - side]) != file_name(program))
      continue;
    join(pair, side, program, Match::kBuilds);
    return at->second;
  }
  at->second.number = static_cast<std::uint32_t>(pairs_.size());
  ProgramPair& pair = pairs_.emplace_back();
  pair.programs[side] = &program;
  identities_.push_back(identity);
  return at->second;
}

void Programs::pair_rest() {
  std::array<std::vector<std::uint32_t>, kSides> alone;
  for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) {
    if (pairs_[pair].match != Match::kOneRun) continue;
    alone[pairs_[pair].programs[0] != nullptr ? 0 : 1].push_back(pair);
  }
  if (alone[0].size() != 1 || alone[1].size() != 1) return;
  const program::Program& second = *pairs_[alone[1][0]].programs[1];
  join(alone[0][0], 1, second, Match::kBuilds);
  // Nothing was named yet, so the number of the second is free; it stays, without a program.
  pairs_[alone[1][0]] = {};
  identities_[alone[1][0]].clear();
}

const Programs::ByName& Programs::by_name(Known& known, const program::Program& program) {
  if (known.by_name.empty()) {
    for (const program::Function& function : program.functions())
      known.by_name[function.name].push_back(&function);
  }
  return known.by_name;
}

/// The function in the other build; nullptr: there is no other build, or it has none of that name.
const program::Function* Programs::counterpart(Side side, std::uint32_t number,
                                               const program::Function& own, std::size_t ordinal) {
  const ProgramPair& pair = pairs_[number];
  if (pair.match != Match::kBuilds) return nullptr;
  const program::Program& other = *pair.programs[1 - side];
  const ByName& names = by_name(known_[1 - side].at(&other), other);
  const auto same_name = names.find(own.name);
  if (same_name == names.end() || same_name->second.size() <= ordinal) return nullptr;
  return same_name->second[ordinal];
}

/// Whether both builds know the source lines of a function, which starts at these addresses.
bool Programs::have_lines(std::uint32_t number, const std::array<std::uint64_t, kSides>& starts) {
  for (Side side = 0; side < kSides; ++side) {
    pairs_[number].programs[side]->frames(starts[side], frames_);
    if (frames_.empty() || frames_.front().line == 0) return false;
  }
  return true;
}

FunctionNumber Programs::number_of(Side side, Known& known, const program::Program& program,
                                   const program::Function* function) {
  const auto [at, is_new] = known.functions.try_emplace(function);
  if (!is_new) return at->second;
  std::size_t ordinal = 0;
  if (function != nullptr) {
    const auto& same_name = by_name(known, program).at(function->name);
    ordinal = static_cast<std::size_t>(std::ranges::find(same_name, function) - same_name.begin());
  }
  const std::string name = function == nullptr ? std::string() : function->name;
  const auto [identity, is_new_name] = by_identity_.try_emplace(
      {known.number, name, ordinal}, static_cast<FunctionNumber>(functions_.size()));
  if (is_new_name) {
    Named named{.name = {.name = name, .program = known.number}};
    const program::Function* const other =
        function == nullptr ? nullptr : counterpart(side, known.number, *function, ordinal);
    if (other != nullptr && other->last - other->start != function->last - function->start) {
      named.name.differs = true;
      std::array<std::uint64_t, kSides> starts{function->start, other->start};
      if (side == 1) std::swap(starts[0], starts[1]);
      named.by_line = have_lines(known.number, starts);
    }
    functions_.push_back(std::move(named));
  }
  return at->second = identity->second;
}

std::uint64_t Programs::line_at(const program::Program& program, std::uint64_t address) {
  program.frames(address, frames_);
  if (frames_.empty()) return 0;
  const program::Frame& frame = frames_.front();
  const std::string_view file = frame.file.substr(frame.file.rfind('/') + 1);
  return lines_.try_emplace({std::string(file), frame.line}, lines_.size() + 1).first->second;
}

NamedPlace Programs::name(Side side, const program::Place& place) {
  if (place.program == nullptr) {
    last_function_ = 0;
    return {.at = place.address};
  }
  Known& program = known(side, *place.program);
  const program::Function* const function = place.program->function(place.address);
  last_function_ = number_of(side, program, *place.program, function);
  if (function == nullptr) return {.unit = 1 + program.number, .at = place.address};
  if (functions_[last_function_].by_line) {
    if (const std::uint64_t line = line_at(*place.program, place.address); line != 0)
      return {NamedPlace::Form::kLine, last_function_, line};
  }
  return {NamedPlace::Form::kFunction, last_function_, place.address - function->start};
}

}  // namespace waymark::diff

#include "function_table.h"

#include <algorithm>

#include "waymark/base/cut_text.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::view {

FunctionTable::FunctionTable() { add({.kind = stacks::CodeKind::kUnknown}); }

FunctionNumber FunctionTable::add(const stacks::Code& code) {
  if (entries_.size() >= kMost) return kUnknown;
  const auto [known, added] =
      numbers_.try_emplace(Identity{code.kind, code.name, code.start, code.program},
                           static_cast<FunctionNumber>(entries_.size()));
  if (!added) return known->second;
  const bool has_name =
      code.kind == stacks::CodeKind::kFunction || code.kind == stacks::CodeKind::kInlined;
  const std::string name = has_name ? outputs::readable_name(code.name) : stacks::name_of(code);
  entries_.push_back({.code = code,
                      .name = {.number = known->second,
                               .kind = code.kind,
                               .name = cut_text(name, kLongest),
                               .program = cut_text(code.program, kLongest)}});
  return known->second;
}

FunctionNumber FunctionTable::number(const stacks::Code& code) {
  const std::lock_guard lock(mutex_);
  const auto known = numbers_.find(Identity{code.kind, code.name, code.start, code.program});
  return known != numbers_.end() ? known->second : add(code);
}

FunctionNumber FunctionTable::number(const program::Program& program,
                                     const program::Function& function) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_function_.find(&function); known != by_function_.end())
    return known->second;
  const std::string_view name = program::parent_name(function.name);
  const program::Function* whole = &function;
  if (name != function.name) {
    const auto parent = std::ranges::find(program.functions(), name, &program::Function::name);
    if (parent != program.functions().end()) whole = &*parent;
  }
  const FunctionNumber number = add({.kind = stacks::CodeKind::kFunction,
                                     .name = std::string(name),
                                     .program = program.path(),
                                     .start = whole->start,
                                     .source = &program});
  if (by_function_.size() < kMost) by_function_.emplace(&function, number);
  return number;
}

std::optional<stacks::Code> FunctionTable::code(FunctionNumber number) const {
  const std::lock_guard lock(mutex_);
  if (number >= entries_.size()) return std::nullopt;
  return entries_[number].code;
}

std::optional<FunctionName> FunctionTable::name(FunctionNumber number) const {
  const std::lock_guard lock(mutex_);
  if (number >= entries_.size()) return std::nullopt;
  return entries_[number].name;
}

std::vector<FunctionName> FunctionTable::names(const std::set<FunctionNumber>& numbers) const {
  const std::lock_guard lock(mutex_);
  std::vector<FunctionName> names;
  for (const FunctionNumber number : numbers)
    if (number < entries_.size()) names.push_back(entries_[number].name);
  return names;
}

FunctionNumber CodeNumbers::number(const stacks::Tree& tree, stacks::CodeId id) {
  if (known_.size() <= id) known_.resize(std::max<std::size_t>(id + 1, tree.codes().size()));
  if (!known_[id]) known_[id] = table_.number(tree.code(id));
  return *known_[id];
}

}  // namespace waymark::view

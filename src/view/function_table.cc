#include "function_table.h"

#include <algorithm>

#include "waymark/base/cut_text.h"
#include "waymark/exports/frame_name.h"

namespace waymark::view {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

FunctionNumber FunctionTable::add(const stacks::Code& code) {
  Identity identity{code.kind, code.program, code.start, code.name};
  const auto known = numbers_.find(identity);
  if (known != numbers_.end()) return known->second;
  if (entries_.size() >= kMost) return kUnknown;
  const auto number = static_cast<FunctionNumber>(entries_.size());
  numbers_.emplace(std::move(identity), number);
  entries_.push_back({.code = code, .name = cut_text(exports::frame_name(code), kLongest)});
  entries_.back().code.source = nullptr;
  return number;
}

FunctionNumber FunctionTable::number(const stacks::Code& code) {
  const std::scoped_lock lock(mutex_);
  return add(code);
}

FunctionNumber FunctionTable::number(const program::Program& program,
                                     const program::Function& function) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = by_function_.find(&function); known != by_function_.end())
    return known->second;
  const auto [whole, name] = program.whole(function);
  const FunctionNumber number = add({.kind = stacks::CodeKind::kFunction,
                                     .name = std::string(name),
                                     .program = program.path(),
                                     .start = whole->start});
  if (by_function_.size() < kMost) by_function_.emplace(&function, number);
  return number;
}

std::size_t FunctionTable::size() const {
  const std::scoped_lock lock(mutex_);
  return entries_.size();
}

FunctionName FunctionTable::name(FunctionNumber number) const {
  const std::scoped_lock lock(mutex_);
  if (number >= entries_.size()) return {.number = number};
  const Entry& entry = entries_[number];
  return {.number = number,
          .kind = entry.code.kind,
          .name = entry.name,
          .program = cut_text(entry.code.program, kLongest)};
}

std::vector<FunctionName> FunctionTable::names(const std::set<FunctionNumber>& numbers) const {
  std::vector<FunctionName> names;
  for (const FunctionNumber number : numbers)
    if (has(number)) names.push_back(name(number));
  return names;
}

stacks::Code FunctionTable::code(FunctionNumber number) const {
  const std::scoped_lock lock(mutex_);
  return number < entries_.size() ? entries_[number].code : stacks::Code{};
}

std::vector<stacks::Code> FunctionTable::codes(std::size_t first) const {
  const std::scoped_lock lock(mutex_);
  std::vector<stacks::Code> codes;
  for (std::size_t i = first; i < entries_.size(); ++i) codes.push_back(entries_[i].code);
  return codes;
}

std::vector<FunctionNumber> FunctionTable::find(std::string_view text) const {
  const std::scoped_lock lock(mutex_);
  std::vector<FunctionNumber> found;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto at = std::ranges::search(entries_[i].name, text, {}, lower, lower);
    if (!at.empty() || text.empty()) found.push_back(static_cast<FunctionNumber>(i));
  }
  return found;
}

}  // namespace waymark::view

#include "function_table.h"

#include <algorithm>

#include "waymark/exports/frame_name.h"

namespace waymark::view {
namespace {

constexpr std::size_t kLongestName = 1024;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

FunctionNumber FunctionTable::number(const stacks::Code& code) {
  const std::scoped_lock lock(mutex_);
  Identity identity{code.kind, code.program, code.start, code.name};
  const auto known = numbers_.find(identity);
  if (known != numbers_.end()) return known->second;
  if (codes_.size() >= kMost) return 0;
  const auto number = static_cast<FunctionNumber>(codes_.size());
  numbers_.emplace(std::move(identity), number);
  codes_.push_back(code);
  codes_.back().source = nullptr;
  std::string name = exports::frame_name(code);
  if (name.size() > kLongestName) name.resize(kLongestName);
  readable_.push_back(std::move(name));
  return number;
}

FunctionName FunctionTable::name(FunctionNumber number) const {
  const std::scoped_lock lock(mutex_);
  if (number >= codes_.size()) return {.number = number};
  return {.number = number,
          .kind = codes_[number].kind,
          .name = readable_[number],
          .program = codes_[number].program};
}

stacks::Code FunctionTable::code(FunctionNumber number) const {
  const std::scoped_lock lock(mutex_);
  return number < codes_.size() ? codes_[number] : stacks::Code{};
}

std::size_t FunctionTable::size() const {
  const std::scoped_lock lock(mutex_);
  return codes_.size();
}

std::vector<stacks::Code> FunctionTable::codes(std::size_t first) const {
  const std::scoped_lock lock(mutex_);
  if (first >= codes_.size()) return {};
  return {codes_.begin() + static_cast<std::ptrdiff_t>(first), codes_.end()};
}

std::vector<FunctionNumber> FunctionTable::find(std::string_view text) const {
  const std::scoped_lock lock(mutex_);
  std::vector<FunctionNumber> found;
  for (std::size_t i = 0; i < readable_.size(); ++i) {
    const auto at = std::ranges::search(readable_[i], text, {}, lower, lower);
    if (!at.empty() || text.empty()) found.push_back(static_cast<FunctionNumber>(i));
  }
  return found;
}

}  // namespace waymark::view

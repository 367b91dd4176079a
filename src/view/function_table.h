// The functions of a session, with numbers that stay.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "waymark/stacks/tree.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// Any number of threads may use it.
class FunctionTable {
 public:
  /// Beyond these, functions have the number of unknown code.
  static constexpr std::size_t kMost = stacks::Tree::kMostCodes;

  FunctionTable() { (void)number({.kind = stacks::CodeKind::kUnknown}); }

  FunctionNumber number(const stacks::Code& code);
  /// Nothing is known of a number that number() has not given: an empty name.
  [[nodiscard]] FunctionName name(FunctionNumber number) const;
  /// Without its program.
  [[nodiscard]] stacks::Code code(FunctionNumber number) const;
  [[nodiscard]] std::size_t size() const;
  /// All of them from `first` on.
  [[nodiscard]] std::vector<stacks::Code> codes(std::size_t first = 0) const;
  /// The functions whose readable name contains the text, in any case.
  [[nodiscard]] std::vector<FunctionNumber> find(std::string_view text) const;

 private:
  using Identity = std::tuple<stacks::CodeKind, std::string, std::uint64_t, std::string>;

  mutable std::mutex mutex_;
  std::map<Identity, FunctionNumber> numbers_;
  std::vector<stacks::Code> codes_;
  std::vector<std::string> readable_;
};

/// The numbers of the codes of one tree, which only grows.  One owner; not thread safe.
class FunctionNumbers {
 public:
  explicit FunctionNumbers(FunctionTable& table) : table_(table) {}
  FunctionNumber number(const stacks::Tree& tree, stacks::CodeId code) {
    while (numbers_.size() <= code)
      numbers_.push_back(table_.number(tree.code(static_cast<stacks::CodeId>(numbers_.size()))));
    return numbers_[code];
  }

 private:
  FunctionTable& table_;
  std::vector<FunctionNumber> numbers_;
};

}  // namespace waymark::view

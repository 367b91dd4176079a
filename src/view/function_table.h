// The functions of a session, with numbers that stay.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "waymark/program/program.h"
#include "waymark/stacks/tree.h"
#include "waymark/view/answers.h"

namespace waymark::view {

/// Gives the same code the same number, whichever replay met it.  Any number of threads may use it.
class FunctionTable {
 public:
  /// Beyond these, functions have the number of unknown code.
  static constexpr std::size_t kMost = stacks::Tree::kMostCodes;
  /// Longer names are cut.
  static constexpr std::size_t kLongest = 1024;
  /// Code of which nothing is known.
  static constexpr FunctionNumber kUnknown = 0;

  FunctionTable() { (void)number({.kind = stacks::CodeKind::kUnknown}); }

  FunctionNumber number(const stacks::Code& code);
  /// A function of a program, as engines name it: a part that a compiler moved away belongs to its
  /// function.  The program must outlive the table.
  FunctionNumber number(const program::Program& program, const program::Function& function);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool has(FunctionNumber number) const { return number < size(); }
  /// Nothing is known of a number that number() has not given: an empty name.
  [[nodiscard]] FunctionName name(FunctionNumber number) const;
  /// The names of these functions, by number.
  [[nodiscard]] std::vector<FunctionName> names(const std::set<FunctionNumber>& numbers) const;
  /// Without its program.
  [[nodiscard]] stacks::Code code(FunctionNumber number) const;
  /// All of them from `first` on.
  [[nodiscard]] std::vector<stacks::Code> codes(std::size_t first = 0) const;
  /// The functions whose readable name contains the text, in any case.
  [[nodiscard]] std::vector<FunctionNumber> find(std::string_view text) const;

 private:
  struct Entry {
    stacks::Code code;
    std::string name;
  };
  using Identity = std::tuple<stacks::CodeKind, std::string, std::uint64_t, std::string>;

  FunctionNumber add(const stacks::Code& code);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::map<Identity, FunctionNumber> numbers_;
  std::unordered_map<const program::Function*, FunctionNumber> by_function_;
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

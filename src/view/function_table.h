// The numbers of functions, which hold as long as a session lives.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
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
  static constexpr std::size_t kMost = std::size_t{1} << 20;
  /// Longer names are cut.
  static constexpr std::size_t kLongest = 1024;
  /// Code of which nothing is known; also what is beyond kMost.
  static constexpr FunctionNumber kUnknown = 0;

  FunctionTable();

  FunctionNumber number(const stacks::Code& code);
  /// The function of a program that is at an address of it, as an engine names it: a part that a
  /// compiler moved away belongs to its function.
  FunctionNumber number(const program::Program& program, const program::Function& function);

  /// Nothing: there is no such number.
  [[nodiscard]] std::optional<stacks::Code> code(FunctionNumber number) const;
  [[nodiscard]] std::optional<FunctionName> name(FunctionNumber number) const;
  /// The names of these functions, by number.
  [[nodiscard]] std::vector<FunctionName> names(const std::set<FunctionNumber>& numbers) const;

 private:
  struct Entry {
    stacks::Code code;
    FunctionName name;
  };
  using Identity = std::tuple<stacks::CodeKind, std::string, std::uint64_t, std::string>;

  FunctionNumber add(const stacks::Code& code);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  std::map<Identity, FunctionNumber> numbers_;
  std::unordered_map<const program::Function*, FunctionNumber> by_function_;
};

/// Numbers of the codes of one tree, each asked for once.  One owner.
class CodeNumbers {
 public:
  explicit CodeNumbers(FunctionTable& table) : table_(table) {}
  FunctionNumber number(const stacks::Tree& tree, stacks::CodeId id);

 private:
  FunctionTable& table_;
  std::vector<std::optional<FunctionNumber>> known_;
};

}  // namespace waymark::view

// The names of code at addresses of target memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::image {

/// A function, or code that begins at a label.
struct Function {
  std::uint64_t start = 0;
  std::uint64_t last = 0;  ///< Its last byte; at least `start`.
  std::string name{};      ///< The linker's name, cut after kLongestName bytes.
  friend bool operator==(const Function&, const Function&) = default;
};

/// The functions of programs, by address. An addition only fills in names where none are known yet:
/// among functions that share an address, the first counts. Plain data once it is made, which any
/// thread may read.
class Symbols {
 public:
  /// The maximum number of functions, because an image may contain one program many times.
  static constexpr std::size_t kMost = std::size_t{1} << 22;
  explicit Symbols(std::size_t most = kMost) : most_(most) {}

  /// Adds functions from another source, such as a JIT. A function that ends before it starts is
  /// ignored.
  void add(std::vector<Function> functions);

  /// nullptr: no function is known there. The pointer is valid until something is added.
  [[nodiscard]] const Function* find(std::uint64_t address) const;

  /// In ascending order, without overlaps.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  std::size_t most_;
  std::vector<Function> functions_;
};

/// The functions among `functions`, which are in ascending order without overlaps, at an address.
struct CodeAt {
  const Function* function = nullptr;  ///< nullptr: the code has no name.
  /// Where other code begins: the function ends, or the next one begins.  kNoAddress: nowhere.
  std::uint64_t end = kNoAddress;
};
CodeAt code_at(const std::vector<Function>& functions, std::uint64_t address);

/// The name of the function that a compiler took `name` from: without ".cold", ".part.0",
/// ".constprop.0", ".isra.0", ".llvm.123" and the like.
std::string_view parent_name(std::string_view name);

}  // namespace waymark::image

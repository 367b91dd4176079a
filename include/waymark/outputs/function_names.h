// The names of functions at addresses, for outputs that show one for each range.
#pragma once

#include <cstdint>
#include <string>

#include "waymark/image/symbols.h"

namespace waymark::outputs {

/// Remembers the last function, since one often follows itself.  Not thread safe.
class FunctionNames {
 public:
  /// `symbols` must outlive it.
  explicit FunctionNames(const image::Symbols& symbols) : symbols_(&symbols) {}

  /// Finds the function at `address`; false: none is known there.
  bool find(std::uint64_t address);

  /// The function that was found.
  [[nodiscard]] const image::Function& function() const { return *function_; }
  /// Its name as in the source if the source is C++; otherwise as the linker has it.
  [[nodiscard]] const std::string& readable() const { return readable_; }

 private:
  const image::Symbols* symbols_;
  const image::Function* function_ = nullptr;
  std::string readable_;
};

}  // namespace waymark::outputs

// The names of functions at addresses, for outputs that show one for each range.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "waymark/element/element.h"
#include "waymark/image/symbols.h"

namespace waymark::outputs {

/// A function, and the distance of an address from its start.
struct FunctionPlace {
  const image::Function* function = nullptr;  ///< nullptr: none is known there.
  std::uint64_t offset = 0;
};

/// Finds the function at an address of the process that an element is about.  Several threads may
/// call a copy each.
using FunctionLookup = std::function<FunctionPlace(const Element& element, std::uint64_t address)>;

/// For memory that is the same for all processes.  `symbols` must outlive the result.
FunctionLookup lookup_in(const image::Symbols& symbols);

/// Remembers the last function, since one often follows itself.  Not thread safe.
class FunctionNames {
 public:
  explicit FunctionNames(FunctionLookup lookup) : lookup_(std::move(lookup)) {}
  /// `symbols` must outlive it.
  explicit FunctionNames(const image::Symbols& symbols) : FunctionNames(lookup_in(symbols)) {}

  /// Finds the function in which the range of `element` begins; false: none is known there.
  bool find(const Element& element);

  /// The function that was found.
  [[nodiscard]] const image::Function& function() const { return *place_.function; }
  /// How far into the function the range begins.
  [[nodiscard]] std::uint64_t offset() const { return place_.offset; }
  /// Its name as in the source if the source is C++; otherwise as the linker has it.
  [[nodiscard]] const std::string& readable() const { return readable_; }

 private:
  FunctionLookup lookup_;
  FunctionPlace place_;
  const image::Function* named_ = nullptr;  ///< The function that readable_ is of.
  std::string readable_;
};

}  // namespace waymark::outputs

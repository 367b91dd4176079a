// The function at an address.
#pragma once

#include <cstdint>

#include "knowledge.h"
#include "waymark/element/element.h"

namespace waymark::view {

struct FunctionAt {
  bool known = false;  ///< A function with a name is there.
  FunctionNumber number = FunctionTable::kUnknown;
  std::uint64_t offset = 0;  ///< From its start.
};

/// `places`: a copy of those of `knowledge` that this thread owns.
inline FunctionAt function_at(const Knowledge& knowledge, const program::PlaceLookup& places,
                              const Element& element, std::uint64_t address) {
  const program::Place place = places ? places(element, address) : program::Place();
  const program::Function* const function =
      place.program == nullptr ? nullptr : place.program->function(place.address);
  if (function == nullptr) return {};
  return {.known = true,
          .number = knowledge.functions->number(*place.program, *function),
          .offset = place.address - function->start};
}

}  // namespace waymark::view

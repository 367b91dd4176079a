// Which program is at an address of the target, when an element was made.
#pragma once

#include <cstdint>
#include <functional>

#include "waymark/program/program.h"

namespace waymark {
struct Element;
}

namespace waymark::program {

/// Finds the program that the process of an element has at an address.  Several threads may call a
/// copy each.
using PlaceLookup = std::function<Place(const Element& element, std::uint64_t address)>;

}  // namespace waymark::program

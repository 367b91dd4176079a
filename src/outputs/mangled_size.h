// A bound of the length of a readable C++ name, known before the name is made.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waymark::outputs {

/// The maximum number of bytes that abi::__cxa_demangle() writes for a name of the Itanium C++ ABI
/// ("_Z...").  Nothing: this function does not know the form of the name.  A substitution repeats
/// everything that it stands for, so that a few bytes can mean gigabytes.  The time and memory of a
/// call are proportional to the size of the name.
std::optional<std::uint64_t> demangled_size_bound(std::string_view mangled);

}  // namespace waymark::outputs

// How long the readable form of a C++ name can be, before anybody makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace waymark::outputs {

/// At most so many bytes does abi::__cxa_demangle() write for a name of the Itanium C++ ABI
/// ("_Z..."); nothing: the name has a form that is not known here.  A substitution repeats all that
/// it stands for, so that a few bytes can mean gigabytes.  Takes time and memory in proportion to
/// the size of the name.
std::optional<std::uint64_t> demangled_size_bound(std::string_view mangled);

}  // namespace waymark::outputs

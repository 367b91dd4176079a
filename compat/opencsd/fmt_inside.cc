// The functions of fmt that Waymark calls, so that libopencsd needs no library that the reference
// does not need.
#define FMT_HEADER_ONLY  // NOLINT(readability-identifier-naming): the name is that of fmt.
#include <fmt/format.h>

namespace {

// Taking the address of an inline function makes the compiler emit it.
[[gnu::used]] std::string (*const kVformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace

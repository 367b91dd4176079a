#include "waymark/outputs/readable_name.h"

#include <algorithm>
#include <string_view>

#include "waymark/base/cut_text.h"

#if WAYMARK_HAVE_LIBIBERTY
#include <csetjmp>
// Its own declaration of basename() would contradict that of the C library.
// NOLINTNEXTLINE(readability-identifier-naming): the name is that of the library.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>
#endif

namespace waymark::outputs {

#if WAYMARK_HAVE_LIBIBERTY
namespace {

/// Receives a readable name in parts, and ends the work once it is long enough: a substitution
/// repeats all that it stands for, so that a few bytes can mean gigabytes.
struct Text {
  std::string text{};
  std::jmp_buf full{};
};

void put(const char* part, std::size_t size, void* to) {
  auto& [text, full] = *static_cast<Text*>(to);
  text.append(part, std::min(size, kLongestName + 1 - text.size()));
  // No function between here and setjmp() has anything to clean up: they are those of libiberty,
  // which do not allocate.
  if (text.size() > kLongestName) std::longjmp(full, 1);  // NOLINT(cert-err52-cpp)
}

using Demangle = int (*)(const char* name, int options, demangle_callbackref put, void* to);

/// False: this is not a mangled name.
bool demangle(Demangle demangle, const std::string& name, Text& to) {
  to.text.clear();
  if (setjmp(to.full) != 0) return true;  // NOLINT(cert-err52-cpp)
  return demangle(name.c_str(), DMGL_PARAMS | DMGL_TYPES, put, &to) != 0;
}

/// To expand a pack, libiberty looks for it in all that is repeated, however large, before it
/// writes anything.  Programs hardly ever have more than ten references in or after such a pattern.
bool looks_far(std::string_view name) {
  constexpr unsigned kMostReferences = 16;
  unsigned references = 0;
  bool pattern = false;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char next = name[i + 1];
    pattern = pattern || (name[i] == 'D' && next == 'p') ||
              (name[i] == 's' && (next == 'p' || next == 'Z' || next == 'P'));
    const bool numbered =
        next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z');
    if (pattern && (name[i] == 'S' || name[i] == 'T') && numbered) ++references;
  }
  return references > kMostReferences;
}

}  // namespace

std::string readable_name(const std::string& name) {
  const bool rust = name.starts_with("_R");
  if ((!rust && !name.starts_with("_Z")) || name.size() > kLongestName || looks_far(name))
    return cut_text(name, kLongestName);
  Text text;
  // The older names of Rust look like those of C++.
  const bool done = demangle(rust_demangle_callback, name, text) ||
                    (!rust && demangle(cplus_demangle_v3_callback, name, text));
  return done ? cut_text(text.text, kLongestName) : name;
}

#else

std::string readable_name(const std::string& name) { return cut_text(name, kLongestName); }

#endif

}  // namespace waymark::outputs

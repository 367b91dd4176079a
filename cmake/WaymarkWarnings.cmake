# The warning set of all Waymark targets, as an interface target that is never installed.
add_library(waymark_warnings INTERFACE)
target_compile_options(waymark_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
# Clang warns of a deprecated function that libstdc++ 12 itself uses inside std::stable_sort.  g++ still
# reports deprecated functions in Waymark's code.
target_compile_options(waymark_warnings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(WAYMARK_WERROR)
  target_compile_options(waymark_warnings INTERFACE -Werror)
endif()

# The warning set of all Waymark targets, as an interface target that is never installed.
add_library(waymark_warnings INTERFACE)
target_compile_options(waymark_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
# Clang warns of a deprecated function that libstdc++ 12 itself uses inside std::stable_sort.  g++ still
# reports deprecated functions in Waymark's code.
target_compile_options(waymark_warnings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# g++ 12 warns wrongly of code that it inlines with -O3. Builds without -O3 report these faults.
target_compile_options(waymark_warnings INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-dangling-pointer;-Wno-maybe-uninitialized>)
if(WAYMARK_WERROR)
  target_compile_options(waymark_warnings INTERFACE -Werror)
endif()

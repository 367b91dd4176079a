# The warning set that all our targets share.  Interface target, never installed.
add_library(waymark_warnings INTERFACE)
target_compile_options(waymark_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
# Clang takes what libstdc++ 12 itself does inside std::stable_sort for a deprecated use of ours; g++
# still reports the real ones.
target_compile_options(waymark_warnings INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(WAYMARK_WERROR)
  target_compile_options(waymark_warnings INTERFACE -Werror)
endif()

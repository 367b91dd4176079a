# The warning set that all our targets share.  Interface target, never installed.
add_library(waymark_warnings INTERFACE)
target_compile_options(waymark_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(WAYMARK_WERROR)
  target_compile_options(waymark_warnings INTERFACE -Werror)
endif()

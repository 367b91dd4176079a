# waymark_find(PACKAGE DEBIAN_PACKAGE WHAT_FOR OPTION): finds a CMake package, or stops with an
# error that names the Debian package and the option that makes it unnecessary.
function(waymark_find package debian what option)
  find_package(${package} QUIET ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} is missing; ${what} needs it. "
                        "Install the package ${debian}, or configure with -D${option}=OFF.")
  endif()
endfunction()

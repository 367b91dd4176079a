# Finding what others provide. What is missing ends the configuration with an error that names the
# Debian package, and the option that makes it unnecessary.

# waymark_need(FOUND NAME DEBIAN_PACKAGE WHAT_FOR OPTION): FOUND says whether it was found.
function(waymark_need found name debian what option)
  if(NOT found)
    message(FATAL_ERROR "${name} is missing; ${what} needs it. "
                        "Install the package ${debian}, or configure with -D${option}=OFF.")
  endif()
endfunction()

# waymark_find(PACKAGE DEBIAN_PACKAGE WHAT_FOR OPTION): a CMake package.
function(waymark_find package debian what option)
  find_package(${package} QUIET GLOBAL ${ARGN})
  waymark_need("${${package}_FOUND}" ${package} ${debian} "${what}" ${option})
endfunction()

# waymark_find_pkg(MODULE DEBIAN_PACKAGE WHAT_FOR OPTION): a module of pkg-config, as the target
# PkgConfig::MODULE.
function(waymark_find_pkg module debian what option)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND AND NOT TARGET PkgConfig::${module})
    pkg_check_modules(${module} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
  waymark_need("${${module}_FOUND}" ${module} ${debian} "${what}" ${option})
endfunction()

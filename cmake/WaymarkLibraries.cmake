# The libraries of others. For each there is a target waymark_with_NAME, which waymark_module(LIBRARIES
# NAME) links; a source then sees WAYMARK_HAVE_NAME=1. If the library's option is off, the target is empty.

# waymark_library(NAME OPTION TARGET [INSTALLED]): TARGET is what links it. INSTALLED is its name for a
# linker, if an installed waymark cannot find TARGET as a CMake package.
function(waymark_library name option target)
  add_library(waymark_with_${name} INTERFACE)
  if(NOT ${option})
    return()
  endif()
  string(TOUPPER ${name} upper)
  target_link_libraries(waymark_with_${name} INTERFACE ${target})
  target_compile_definitions(waymark_with_${name} INTERFACE WAYMARK_HAVE_${upper}=1)
  if(ARGN)
    set(target $<BUILD_INTERFACE:${target}> $<INSTALL_INTERFACE:${ARGN}>)
  endif()
  target_link_libraries(waymark PRIVATE ${target})
endfunction()

if(WAYMARK_COLLATERAL)
  waymark_find(pugixml libpugixml-dev "the collateral of MIPI SyS-T" WAYMARK_COLLATERAL)
endif()
waymark_library(pugixml WAYMARK_COLLATERAL pugixml::pugixml)

if(WAYMARK_ELF)
  waymark_find_pkg(libelf libelf-dev "reading programs and their symbols" WAYMARK_ELF)
endif()
waymark_library(libelf WAYMARK_ELF PkgConfig::libelf elf)

if(WAYMARK_DEMANGLE)
  find_path(WAYMARK_IBERTY_INCLUDE libiberty/demangle.h)
  find_library(WAYMARK_IBERTY iberty)
  mark_as_advanced(WAYMARK_IBERTY_INCLUDE WAYMARK_IBERTY)
  set(found OFF)
  if(WAYMARK_IBERTY_INCLUDE AND WAYMARK_IBERTY)
    set(found ON)
  endif()
  waymark_need(${found} libiberty libiberty-dev "names of C++ and Rust functions" WAYMARK_DEMANGLE)
endif()
waymark_library(libiberty WAYMARK_DEMANGLE "${WAYMARK_IBERTY}" iberty)
if(WAYMARK_DEMANGLE)
  target_include_directories(waymark_with_libiberty INTERFACE ${WAYMARK_IBERTY_INCLUDE})
endif()

if(WAYMARK_SQLITE)
  waymark_find(SQLite3 libsqlite3-dev "indexes in files and databases" WAYMARK_SQLITE)
endif()
waymark_library(sqlite WAYMARK_SQLITE SQLite::SQLite3)

if(WAYMARK_ZSTD)
  waymark_find_pkg(libzstd libzstd-dev "compressed recordings of perf" WAYMARK_ZSTD)
endif()
waymark_library(zstd WAYMARK_ZSTD PkgConfig::libzstd zstd)

if(WAYMARK_ZLIB)
  waymark_find(ZLIB zlib1g-dev "compressed debug information" WAYMARK_ZLIB)
endif()
waymark_library(zlib WAYMARK_ZLIB ZLIB::ZLIB z)

if(WAYMARK_LZMA)
  waymark_find(LibLZMA liblzma-dev "the symbols of stripped programs" WAYMARK_LZMA)
endif()
waymark_library(lzma WAYMARK_LZMA LibLZMA::LibLZMA lzma)

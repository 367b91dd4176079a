# What `cmake --install` installs, by component:
#   library        the shared library
#   development    public headers, the CMake package (find_package(waymark), target waymark::waymark), waymark.pc, and
#                  without BUILD_SHARED_LIBS the static library
#   tools          programs, man pages, completions
#   opencsd        compat/opencsd/opencsd_install.cmake
#   python         python/CMakeLists.txt
#   documentation  licence, examples, samples
include(CMakePackageConfigHelpers)

set(library waymark)
if(BUILD_SHARED_LIBS)
  set(library waymark_shared)
endif()
install(TARGETS ${library} EXPORT waymark-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
# The headers of the C++ API.
get_property(api GLOBAL PROPERTY WAYMARK_API)
install(CODE "set(headers \"${api}\")
set(from \"${PROJECT_SOURCE_DIR}/include\")
set(to \"${CMAKE_INSTALL_INCLUDEDIR}\")" COMPONENT development)
install(SCRIPT cmake/InstallHeaders.cmake COMPONENT development)
# The same headers in build/PRESET/api, for the API reference.
add_custom_target(waymark_api_headers
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${PROJECT_BINARY_DIR}/api
  COMMAND ${CMAKE_COMMAND} "-Dheaders=${api}" -Dfrom=${PROJECT_SOURCE_DIR}/include
    -Dto=${PROJECT_BINARY_DIR}/api -P ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake
  VERBATIM)

# The programs of a folder that are for users: those without the property WAYMARK_INTERNAL.
function(waymark_executables folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(internal ${target} WAYMARK_INTERNAL)
    if(type STREQUAL "EXECUTABLE" AND NOT internal)
      list(APPEND ${result} ${target})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    waymark_executables(${subfolder} ${result})
  endforeach()
  set(${result} ${${result}} PARENT_SCOPE)
endfunction()

set(WAYMARK_PROGRAMS)
if(WAYMARK_COMPAT)
  waymark_executables(compat/opencsd WAYMARK_PROGRAMS)
  waymark_executables(compat/mipi-syst WAYMARK_PROGRAMS)
endif()
if(WAYMARK_TOOLS)
  waymark_executables(tools/waymark WAYMARK_PROGRAMS)
endif()
foreach(program ${WAYMARK_PROGRAMS})
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endforeach()

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY examples samples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation USE_SOURCE_PERMISSIONS)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/waymark)
install(EXPORT waymark-targets NAMESPACE waymark:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/waymark-config.cmake.in ${PROJECT_BINARY_DIR}/waymark-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/waymark-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/waymark-config.cmake
  ${PROJECT_BINARY_DIR}/waymark-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# Users of the static library must link the libraries that it uses. The shared library links them itself, and the
# headers include none of theirs.
set(WAYMARK_PC_REQUIRES)
set(WAYMARK_PC_LIBS)
if(NOT BUILD_SHARED_LIBS)
  set(requires)
  if(NOT WAYMARK_FMT_HEADERS)
    list(APPEND requires "fmt >= 9")
  endif()
  foreach(pair COLLATERAL:pugixml SQLITE:sqlite3 ELF:libelf ZSTD:libzstd ZLIB:zlib LZMA:liblzma)
    string(REGEX MATCH "(.*):(.*)" pair ${pair})
    if(WAYMARK_${CMAKE_MATCH_1})
      list(APPEND requires ${CMAKE_MATCH_2})
    endif()
  endforeach()
  list(JOIN requires ", " requires)
  set(WAYMARK_PC_REQUIRES "Requires: ${requires}")
  # libiberty has no pkg-config file, and is only a static library.
  if(WAYMARK_DEMANGLE)
    set(WAYMARK_PC_LIBS " -liberty")
  endif()
endif()
# waymark.pc finds the prefix relative to itself, so that the installed tree can be moved; absolute
# folders stay absolute.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(WAYMARK_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  cmake_path(APPEND WAYMARK_PC_PREFIX "\${pcfiledir}" ${pc_to_prefix})
endif()
foreach(kind LIBDIR INCLUDEDIR)
  cmake_path(APPEND WAYMARK_PC_${kind} "\${prefix}" "${CMAKE_INSTALL_${kind}}")
endforeach()
configure_file(cmake/waymark.pc.in ${PROJECT_BINARY_DIR}/waymark.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/waymark.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

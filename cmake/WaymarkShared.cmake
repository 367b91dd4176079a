# The shared library: the objects of `waymark`, of which it exports what the installed headers declare.
#
# Objects are compiled with hidden visibility. Their compiler finds a wrapper of each installed header before the header
# itself, and the wrapper makes the visibility of what it declares default. So no header needs a macro for each
# function, and a header that becomes public is exported.
include(${CMAKE_CURRENT_LIST_DIR}/HeaderClosure.cmake)
set(waymark_exported ${PROJECT_BINARY_DIR}/exported)
set(waymark_map ${CMAKE_CURRENT_LIST_DIR}/libwaymark.map)

# waymark_hide(OBJECTS): the shared library will contain these objects.
function(waymark_hide objects)
  set_target_properties(${objects} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${objects} BEFORE PRIVATE ${waymark_exported})
endfunction()

# Writes the wrappers. A wrapper that is the same as before is not written again.
function(waymark_write_wrappers)
  get_property(api GLOBAL PROPERTY WAYMARK_API)
  waymark_header_closure(headers ${PROJECT_SOURCE_DIR}/include ${api})
  file(GLOB_RECURSE obsolete RELATIVE ${waymark_exported} ${waymark_exported}/*.h)
  foreach(header IN LISTS headers)
    file(CONFIGURE OUTPUT ${waymark_exported}/${header} CONTENT [[
#pragma once
#pragma GCC visibility push(default)
#include_next "@header@"
#pragma GCC visibility pop
]] @ONLY)
    list(REMOVE_ITEM obsolete ${header})
    # It may include a further header.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/${header})
  endforeach()
  foreach(header IN LISTS obsolete)
    file(REMOVE ${waymark_exported}/${header})
  endforeach()
endfunction()

# Adds the target waymark_shared, after all modules.
function(waymark_shared_library)
  waymark_write_wrappers()
  get_target_property(objects waymark SOURCES)
  get_target_property(libraries waymark LINK_LIBRARIES)
  add_library(waymark_shared SHARED ${objects})
  target_compile_features(waymark_shared PUBLIC cxx_std_23)
  target_include_directories(waymark_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(waymark_shared PRIVATE ${libraries})
  target_link_options(waymark_shared PRIVATE LINKER:--version-script=${waymark_map})
  set_target_properties(waymark_shared PROPERTIES
    EXPORT_NAME waymark
    LINK_DEPENDS ${waymark_map}
    LINKER_LANGUAGE CXX
    OUTPUT_NAME waymark
    SOVERSION ${PROJECT_VERSION_MAJOR}
    VERSION ${PROJECT_VERSION})
endfunction()

# The modules of the library waymark, and their tests.
#
# With WAYMARK_UNITE, files of several modules are compiled together, which halves the time of a whole
# build. Otherwise each file is compiled alone, and an edit costs little.
include(${CMAKE_CURRENT_LIST_DIR}/WaymarkUnity.cmake)

if(WAYMARK_UNITE)
  foreach(objects waymark_decoding waymark_others)
    add_library(${objects} OBJECT)
  endforeach()
endif()

# waymark_module(NAME [USES MODULE...] [LIBRARIES NAME...] [API HEADER...] SOURCES FILE...)
#
# Adds the object library waymark_NAME, a part of waymark. USES is the row of the module in
# docs/architecture.md; scripts/check-layers compares them. LIBRARIES are those of
# WaymarkLibraries.cmake. API are the headers that are installed; those that they include are installed
# with them.
function(waymark_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBRARIES;API;SOURCES")
  set(module waymark_${name})
  if(WAYMARK_UNITE)
    add_library(${module} INTERFACE)
    set(scope INTERFACE)
    set(objects waymark_others)
    if(name IN_LIST WAYMARK_DECODING)
      set(objects waymark_decoding)
    endif()
    list(TRANSFORM arg_SOURCES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    target_sources(${objects} PRIVATE ${arg_SOURCES})
    target_link_libraries(${objects} PRIVATE ${module})
  else()
    add_library(${module} OBJECT ${arg_SOURCES})
    set(scope PUBLIC)
    set(objects ${module})
    waymark_part(${module})
    if(name IN_LIST WAYMARK_DECODING)
      waymark_trust_decoding(${module})
    endif()
  endif()
  target_compile_features(${module} ${scope} cxx_std_23)
  target_include_directories(${module} ${scope} ${PROJECT_SOURCE_DIR}/include)
  foreach(use IN LISTS arg_USES)
    if(NOT TARGET waymark_${use})
      message(FATAL_ERROR "The module ${name} uses ${use}, which is not above it.")
    endif()
    target_link_libraries(${module} ${scope} waymark_${use})
  endforeach()
  foreach(library IN LISTS arg_LIBRARIES)
    target_link_libraries(${objects} PRIVATE waymark_with_${library})
  endforeach()
  list(TRANSFORM arg_API PREPEND waymark/${name}/)
  set_property(GLOBAL APPEND PROPERTY WAYMARK_API ${arg_API})
endfunction()

# waymark_loads_libraries(SOURCE...): these load libraries while they run, which a static program cannot do. With
# WAYMARK_STATIC they see WAYMARK_STATIC=1, and take another way.
function(waymark_loads_libraries)
  if(WAYMARK_STATIC)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set_property(SOURCE ${ARGN} DIRECTORY ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}
      APPEND PROPERTY COMPILE_DEFINITIONS WAYMARK_STATIC=1)
  endif()
endfunction()

# waymark_part(OBJECTS): these objects are a part of the library.
function(waymark_part objects)
  target_link_libraries(${objects} PRIVATE fmt::fmt waymark_warnings)
  target_sources(waymark PRIVATE $<TARGET_OBJECTS:${objects}>)
  if(BUILD_SHARED_LIBS)
    waymark_hide(${objects})
  endif()
endfunction()

# waymark_trust_decoding(OBJECTS): a release does not check the bounds in the loops of decoders. Tests of the same code,
# with sanitizers and with checks, and the fuzz targets do.
function(waymark_trust_decoding objects)
  if(WAYMARK_CHECKED AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${objects} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-U_GLIBCXX_ASSERTIONS>)
  endif()
endfunction()

# After all modules.
function(waymark_unite_modules)
  if(WAYMARK_UNITE)
    foreach(objects waymark_decoding waymark_others)
      waymark_part(${objects})
    endforeach()
    waymark_unite(waymark_others)
    # g++ inlines less of a decoder that shares a file with others: up to 3 % more instructions.
    if(WAYMARK_QUICK_BUILD)
      waymark_unite(waymark_decoding)
    endif()
    waymark_trust_decoding(waymark_decoding)
    waymark_precompile(waymark_decoding)
    waymark_precompile(waymark_others <fmt/format.h> <fmt/ranges.h>)
    if(WAYMARK_QUICK_OTHERS)
      target_compile_options(waymark_others PRIVATE -O0)
    endif()
  endif()
endfunction()

# waymark_take_modules(TARGET MODULE...): the target also consists of these modules. With WAYMARK_UNITE
# they can only be WAYMARK_DECODING.
function(waymark_take_modules target)
  if(NOT WAYMARK_UNITE)
    foreach(module IN LISTS ARGN)
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:waymark_${module}>)
    endforeach()
  elseif("${ARGN}" STREQUAL "${WAYMARK_DECODING}")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:waymark_decoding>)
  else()
    message(FATAL_ERROR "With WAYMARK_UNITE, ${target} can only take the modules that decode.")
  endif()
endfunction()

# What all programs of unit tests need.
function(waymark_test_program program)
  target_link_libraries(${program}
    PRIVATE waymark waymark_warnings fmt::fmt GTest::gtest_main GTest::gmock)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# waymark_module_tests(NAME [READ_TREE FILE...] [OPTIMISED FILE...] SOURCES FILE...)
#
# The unit tests of a module, in the program waymark_NAME_tests; with WAYMARK_UNITE, in waymark_tests.
# `test_program` then names it. READ_TREE are those of the files that see WAYMARK_SOURCE_DIR; a compiler
# cache serves the others in any checkout. OPTIMISED are those that take longer to run than to compile.
function(waymark_module_tests name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "READ_TREE;OPTIMISED;SOURCES")
  if(WAYMARK_UNITE)
    set(program waymark_tests)
  else()
    set(program waymark_${name}_tests)
    add_executable(${program})
    waymark_test_program(${program})
    waymark_discover_tests(${program})
    add_dependencies(waymark_tests ${program})
  endif()
  target_sources(${program} PRIVATE ${arg_SOURCES})
  set_property(SOURCE ${arg_READ_TREE} TARGET_DIRECTORY ${program} APPEND PROPERTY
    COMPILE_DEFINITIONS "WAYMARK_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
  if(WAYMARK_QUICK_BUILD)
    set_property(SOURCE ${arg_OPTIMISED} TARGET_DIRECTORY ${program} APPEND PROPERTY COMPILE_OPTIONS -O1)
    # Common headers are parsed with the options of the others.
    set_property(SOURCE ${arg_OPTIMISED} TARGET_DIRECTORY ${program} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set(test_program ${program} PARENT_SCOPE)
endfunction()

# A process per test starts slowly under a sanitizer; with WAYMARK_TEST_SHARDS, each process runs a
# share of the tests. Otherwise ctest asks a program for its tests when it first runs it.
function(waymark_discover_tests program)
  if(NOT WAYMARK_TEST_SHARDS)
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST)
    return()
  endif()
  math(EXPR last_shard "${WAYMARK_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last_shard})
    add_test(NAME ${program}.${shard} COMMAND ${program} --gtest_brief=1)
    set_tests_properties(${program}.${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${WAYMARK_TEST_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

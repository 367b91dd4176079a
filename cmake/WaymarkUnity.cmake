# waymark_unite(TARGET): compiles sources together, at most one from each folder.  Every module has its own
# namespace, so that internal names of two modules cannot clash.
function(waymark_unite target)
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" key)
    if(NOT key IN_LIST folders)
      list(APPEND folders "${key}")
      set(count_${key} 0)
    endif()
    set_source_files_properties("${source}" DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      PROPERTIES UNITY_GROUP "together_${count_${key}}")
    math(EXPR count_${key} "${count_${key}} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# waymark_unite_by(COUNT TARGET...): with WAYMARK_UNITE, compiles so many sources of a target together.  Their
# internal names must not clash.  Sources with options of their own are compiled alone.
function(waymark_unite_by count)
  if(WAYMARK_UNITE)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# waymark_precompile(TARGET [HEADER...]): with WAYMARK_PRECOMPILE, parses these headers, and those of the standard
# library that most sources include, once for the target. Headers still include what they need: other builds check it.
function(waymark_precompile target)
  if(WAYMARK_UNITE AND WAYMARK_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cstdint> <expected> <filesystem>
      <functional> <map> <memory> <optional> <ranges> <set> <span> <string> <string_view> <unordered_map> <vector>
      ${ARGN})
  endif()
endfunction()

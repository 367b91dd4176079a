# waymark_unite(TARGET [APART REGEX]): compiles sources together, one of each folder at most: every
# room has a namespace of its own, so that what two files of different rooms keep to themselves
# cannot meet.  Those that REGEX finds, below this folder, are with one another only, in objects
# Unity/unity_apart_*.
function(waymark_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" APART "")
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      OUTPUT_VARIABLE below)
    set(group rooms)
    if(arg_APART AND below MATCHES "^(${arg_APART})")
      set(group apart)
    endif()
    string(MAKE_C_IDENTIFIER "${group}${folder}" key)
    if(NOT key IN_LIST folders)
      list(APPEND folders "${key}")
      set(count_${key} 0)
    endif()
    set_source_files_properties("${source}" DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      PROPERTIES UNITY_GROUP "${group}_${count_${key}}")
    math(EXPR count_${key} "${count_${key}} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

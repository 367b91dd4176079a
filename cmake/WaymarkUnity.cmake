# waymark_unite(TARGET [APART REGEX]): compiles sources together, at most one from each folder.  Every
# module has its own namespace, so that internal names of two modules cannot clash.  Sources below this
# folder that match REGEX are only compiled with one another, into objects Unity/unity_apart_*.
function(waymark_unite target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" APART "")
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      OUTPUT_VARIABLE below)
    set(group modules)
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

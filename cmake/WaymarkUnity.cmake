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

# Compiles sources of TARGET together, one of each folder at most: every room has a namespace of its
# own, so that what two files of different rooms keep to themselves cannot meet.
function(waymark_unite target)
  get_target_property(sources ${target} SOURCES)
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" key)
    if(NOT folder IN_LIST folders)
      list(APPEND folders "${folder}")
      set(count_${key} 0)
    endif()
    set_source_files_properties("${source}" DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      PROPERTIES UNITY_GROUP "rooms_${count_${key}}")
    math(EXPR count_${key} "${count_${key}} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

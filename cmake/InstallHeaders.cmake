# Installs `headers` of the folder `from` into the folder `to` of the prefix, with all headers of Waymark that
# they include. This is a part of the script that `cmake --install` runs.
cmake_policy(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/HeaderClosure.cmake)
if(NOT IS_ABSOLUTE "${to}")
  string(PREPEND to "${CMAKE_INSTALL_PREFIX}/")
endif()
waymark_header_closure(installed ${from} ${headers})
foreach(header IN LISTS installed)
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL ${from}/${header} DESTINATION ${to}/${folder})
endforeach()

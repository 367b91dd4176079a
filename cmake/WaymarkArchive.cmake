# `cpack` in a build folder makes an archive of what is installed, in one folder that can be moved:
# waymark-VERSION-SYSTEM-PROCESSOR.tar.zst. `cpack -D CPACK_COMPONENTS_ALL="tools;library"` chooses components; those
# of WaymarkInstall.cmake.
set(CPACK_GENERATOR TZST)
set(CPACK_PACKAGE_NAME waymark)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME waymark-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_STRIP_FILES ON)
include(CPack)

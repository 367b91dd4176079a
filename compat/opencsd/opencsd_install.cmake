# The component `opencsd` of the installation: libraries, headers, pkg-config file and CMake package under the
# reference's names.
include(CMakePackageConfigHelpers)

foreach(target opencsd opencsd_c_api)
  install(TARGETS ${target} EXPORT OpenCSDTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT opencsd NAMELINK_COMPONENT opencsd)
  install(TARGETS ${target}_static
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT opencsd)
endforeach()
install(DIRECTORY include/opencsd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT opencsd
  FILES_MATCHING PATTERN "*.h"
  PATTERN "trc_cmp_cfg_*" EXCLUDE
  PATTERN "trc_pkt_elem_*" EXCLUDE
  PATTERN "trc_pkt_proc_*" EXCLUDE
  PATTERN "*_decoder.h" EXCLUDE)
# The C++ interface has folders named common and interfaces, which are not for all to see.
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/opencsd-cpp COMPONENT opencsd
  FILES_MATCHING PATTERN "*.h")

if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(OPENCSD_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  cmake_path(APPEND OPENCSD_PC_PREFIX "\${pcfiledir}" ${pc_to_prefix})
endif()
foreach(kind LIBDIR INCLUDEDIR)
  cmake_path(APPEND OPENCSD_PC_${kind} "\${prefix}" "${CMAKE_INSTALL_${kind}}")
endforeach()
configure_file(libopencsd.pc.in ${CMAKE_CURRENT_BINARY_DIR}/libopencsd.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libopencsd.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT opencsd)

# find_package(OpenCSD), as versions from 1.8.3 on install it: targets OpenCSD::opencsd (the C++ interface) and
# OpenCSD::opencsd_c_api.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/OpenCSD)
install(EXPORT OpenCSDTargets NAMESPACE OpenCSD:: DESTINATION ${package_dir} COMPONENT opencsd)
configure_package_config_file(OpenCSDConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/OpenCSDConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/OpenCSDConfigVersion.cmake
  VERSION ${OPENCSD_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/OpenCSDConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/OpenCSDConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT opencsd)

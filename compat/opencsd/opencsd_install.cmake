# The component `opencsd` of the installation: libraries, headers and pkg-config file under the
# reference's names.
foreach(target opencsd opencsd_c_api)
  install(TARGETS ${target}
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

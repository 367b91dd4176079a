# Installs BUILD into PREFIX, which it empties first, and looks for what a package must hold.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

foreach(pattern
    "include/waymark/base/types.h" "lib*/libwaymark.*" "lib*/cmake/waymark/waymark-config.cmake"
    "lib*/cmake/waymark/waymark-config-version.cmake" "lib*/pkgconfig/waymark.pc"
    "share/doc/waymark/LICENSE")
  # libdir may have an architecture's folder in it.
  string(REPLACE "lib*/" "lib*/*-linux-gnu/" deeper ${pattern})
  file(GLOB found ${PREFIX}/${pattern} ${PREFIX}/${deeper})
  if(NOT found)
    message(SEND_ERROR "The install tree ${PREFIX} has no ${pattern}.")
  endif()
endforeach()

if("waymark" IN_LIST PROGRAMS)
  foreach(file man/man1/waymark.1 man/man1/waymark-decode.1 man/man1/waymark-etm4-apply.1
      bash-completion/completions/waymark zsh/site-functions/_waymark
      fish/vendor_completions.d/waymark.fish)
    if(NOT EXISTS ${PREFIX}/share/${file})
      message(SEND_ERROR "The install tree ${PREFIX} has no share/${file}.")
    endif()
  endforeach()
endif()
file(GLOB programs RELATIVE ${PREFIX}/bin ${PREFIX}/bin/*)
foreach(program ${programs})
  if(program MATCHES "test|reference")
    message(SEND_ERROR "${program} is not for users, but was installed.")
  endif()
endforeach()

# Headers that an installed header includes are installed too. A source hides its parser and decoder, and a capture for
# tests comes from `waymark synth`.
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include ${PREFIX}/include/waymark/*.h)
foreach(header ${headers})
  if(header MATCHES "/decoder\\.h$|^waymark/synth/|/packet_source\\.h$|^waymark/element/words\\.h$")
    message(SEND_ERROR "${header} is not for users, but was installed.")
  endif()
  file(STRINGS ${PREFIX}/include/${header} included REGEX "^ *# *include +\"waymark/")
  foreach(line ${included})
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" name "${line}")
    if(NOT EXISTS ${PREFIX}/include/${name})
      message(SEND_ERROR "${header} includes ${name}, which was not installed.")
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE private ${PREFIX}/include/*.cc ${PREFIX}/include/*_internal.h)
if(private)
  message(SEND_ERROR "Private files were installed: ${private}")
endif()

# The programs find their libraries where they are now.
foreach(program ${PROGRAMS})
  execute_process(COMMAND ldd ${PREFIX}/bin/${program} OUTPUT_VARIABLE libraries
                  COMMAND_ERROR_IS_FATAL ANY)
  if(libraries MATCHES "not found")
    message(SEND_ERROR "The installed ${program} lacks a library:\n${libraries}")
  endif()
endforeach()

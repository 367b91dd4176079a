# 32-bit Arm, as Debian's architecture armhf.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(debian_architecture armhf)
# Notes on a change of GCC 7.1, which say nothing about this code.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
set(triple arm-linux-gnueabihf)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)

# 32-bit Arm, as Debian's architecture armhf.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(debian_architecture armhf)
set(triple arm-linux-gnueabihf)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)

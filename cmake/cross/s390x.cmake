# A big-endian machine of 64 bits, as Debian's architecture s390x.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(debian_architecture s390x)
set(triple s390x-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian.cmake)

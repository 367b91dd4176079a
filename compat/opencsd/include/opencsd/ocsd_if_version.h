/* Version of the OpenCSD interface that these headers describe. */
#ifndef OPENCSD_OCSD_IF_VERSION_H
#define OPENCSD_OCSD_IF_VERSION_H

#include <stdint.h>

#define OCSD_VER_MAJOR 1
#define OCSD_VER_MINOR 8
#define OCSD_VER_PATCH 0

/* 0x010800: one byte each for major, minor, patch. */
#define OCSD_VER_NUM ((OCSD_VER_MAJOR << 16) | (OCSD_VER_MINOR << 8) | OCSD_VER_PATCH)

#define OCSD_VER_STRING "1.8.0"
#define OCSD_LIB_NAME "OpenCSD Library"
#define OCSD_LIB_SHORT_NAME "OCSD"

#endif

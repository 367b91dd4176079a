/*
 * The version of OpenCSD whose behaviour Waymark's libraries show.  These functions are in
 * libopencsd; OpenCSD does not have them.
 */
#ifndef OPENCSD_WAYMARK_LEVEL_H
#define OPENCSD_WAYMARK_LEVEL_H

#include "ocsd_if_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "1.3.3", "1.5.5", "1.8.0" or "1.8.3", for the trees that are made from now on, and for texts.  It
 * goes before the environment variable WAYMARK_OPENCSD_LEVEL; NULL or "" gives the choice back to
 * the variable.  OCSD_ERR_INVALID_PARAM_VAL: another version. */
ocsd_err_t waymark_opencsd_set_level(const char *version);

/* The level of the last tree that was made; before the first one, that of the next. */
const char *waymark_opencsd_level(void);

#ifdef __cplusplus
}
#endif

#endif

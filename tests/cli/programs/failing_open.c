// For LD_PRELOAD: files whose paths end with FAILING_OPEN cannot be opened any more after they were
// opened FAILING_OPEN_AFTER times, as if a disk were gone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int opened;

static int fails(const char* path) {
  const char* end = getenv("FAILING_OPEN");
  const char* most = getenv("FAILING_OPEN_AFTER");
  if (end == NULL || most == NULL || strlen(path) < strlen(end)) return 0;
  if (strcmp(path + strlen(path) - strlen(end), end) != 0) return 0;
  return atomic_fetch_add(&opened, 1) >= atoi(most);
}

static int open_unless_it_fails(const char* name, const char* path, int flags, mode_t mode) {
  if (fails(path)) {
    errno = EIO;
    return -1;
  }
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, name);
  return real(path, flags, mode);
}

#define DEFINE_OPEN(name)                                                            \
  int name(const char* path, int flags, ...) {                                       \
    va_list arguments;                                                               \
    va_start(arguments, flags);                                                      \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(arguments, int) : 0; \
    va_end(arguments);                                                               \
    return open_unless_it_fails(#name, path, flags, mode);                           \
  }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

// Threads whose work can wait.
#pragma once

#include <sys/resource.h>

namespace waymark::view {

/// The calling thread gives way to the others: it gets a core only where none of them wants it, or
/// little of one.  Slow questions and the overview do this, so that pictures and the browser, which
/// draws them on the same machine, do not wait for them.  It lasts until the thread ends, because
/// the system raises a priority only for privileged users.
inline void give_way() {
  // On Linux, 0 means the calling thread, although POSIX speaks of the process.
  constexpr int kNice = 10;
  if (::getpriority(PRIO_PROCESS, 0) < kNice) (void)::setpriority(PRIO_PROCESS, 0, kNice);
}

}  // namespace waymark::view

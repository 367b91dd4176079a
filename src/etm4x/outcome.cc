#include "waymark/etm4x/outcome.h"

namespace waymark::etm4x {

std::string_view errno_name(Errno error) {
  switch (error) {
    case Errno::kPerm:
      return "-EPERM";
    case Errno::kNoEnt:
      return "-ENOENT";
    case Errno::kAcces:
      return "-EACCES";
    case Errno::kBusy:
      return "-EBUSY";
    case Errno::kInval:
      return "-EINVAL";
    case Errno::kNoSpc:
      return "-ENOSPC";
    case Errno::kRange:
      return "-ERANGE";
    case Errno::kOpNotSupp:
      return "-EOPNOTSUPP";
    case Errno::kNotSupp:
      return "-ENOTSUPP";
  }
  return "-EINVAL";
}

}  // namespace waymark::etm4x

// A file without a name, for targets of what opens files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "waymark/base/types.h"

namespace waymark::fuzz {

class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  /// Replaces its content.
  [[nodiscard]] bool write(Bytes bytes) const {
    return ::ftruncate(descriptor_, 0) == 0 && ::pwrite(descriptor_, bytes.data(), bytes.size(),
                                                        0) == static_cast<ssize_t>(bytes.size());
  }

 private:
  int descriptor_;
};

}  // namespace waymark::fuzz

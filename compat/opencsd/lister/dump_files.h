// The memory dumps of a snapshot, with the rules of the reference's memory accessors for files; see
// snapshot-format.md 3.
#pragma once

#include <string>
#include <vector>

#include "core/uncovered.h"
#include "error_text.h"
#include "waymark/base/text_buffer.h"
#include "waymark/image/image.h"
#include "waymark/inputs/snapshot.h"

namespace waymark::compat {

/// One accessor for each file, with all regions of it.
class DumpFiles {
 public:
  /// `image` receives the memory, and outlives this.
  explicit DumpFiles(image::Image& image) : image_(&image) {}

  /// Adds a region of the file `path`.  kOk also if a region that is there begins where the dump
  /// does.
  ErrorNumber add(const std::string& path, const inputs::Dump& dump);

  /// "FileAcc; Range::0x80000:80007; Mem Space::Any" for each region.
  void write(TextBuffer& out) const;

 private:
  struct Region : Stretch {
    std::uint64_t offset = 0;
  };
  struct File {
    std::string path;
    std::uint64_t size = 0;
    std::vector<Region> regions;
  };

  ErrorNumber add_file(const std::string& path, const inputs::Dump& dump, image::SpaceMask space);
  ErrorNumber add_region(File& file, const Region& region);
  void show(const std::string& path, const Region& region);

  image::Image* image_;
  std::vector<File> files_;
  std::vector<Stretch> shown_;
};

}  // namespace waymark::compat

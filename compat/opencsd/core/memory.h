// The memory accessors of a tree, with the reference's rules over waymark's image.  See
// opencsd-c-api.md 3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "error_text.h"
#include "opencsd/ocsd_if_types.h"
#include "uncovered.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/text_buffer.h"
#include "waymark/image/image.h"

namespace waymark::compat {

/// The spaces that a caller means: up to version 1.3.3, OCSD_MEM_SPACE_ANY was 0x1F, and there were
/// no other spaces.
image::SpaceMask space_of(ocsd_mem_space_acc_t space);

/// A file of an accessor, in any tree: a path can only be mapped at one address.
class SharedFile {
 public:
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// kMemAccFileDiffRange: it is already mapped at another address.
  /// kNotInit: it cannot be opened.
  static ErrorNumber claim(const std::string& path, std::uint64_t address,
                           std::unique_ptr<SharedFile>& out);
  [[nodiscard]] Bytes bytes() const { return file_.bytes(); }

 private:
  SharedFile(std::string path, MappedFile file) : path_(std::move(path)), file_(std::move(file)) {}
  std::string path_;
  MappedFile file_;
};

class Memory {
 public:
  [[nodiscard]] const image::Image& image() const { return image_; }
  /// An accessor was added, or refused: the tree has a mapper.
  [[nodiscard]] bool exists() const { return exists_; }
  /// A new number means that earlier reads must not be used again.
  [[nodiscard]] std::uint64_t version() const { return image_.version() + caching_changes_; }
  /// False: the answers of memory functions are only valid during one call of the client.
  [[nodiscard]] bool caches() const { return caches_; }

  ErrorNumber add_file(std::uint64_t address, ocsd_mem_space_acc_t space, const char* path);
  ErrorNumber add_file_regions(std::span<const ocsd_file_mem_region_t> regions,
                               ocsd_mem_space_acc_t space, const char* path);
  ErrorNumber add_buffer(std::uint64_t address, ocsd_mem_space_acc_t space,
                         const std::uint8_t* bytes, std::uint32_t size);
  /// One of the two functions.
  ErrorNumber add_callback(std::uint64_t first, std::uint64_t last, ocsd_mem_space_acc_t space,
                           Fn_MemAcc_CB function, Fn_MemAccID_CB id_function, const void* context);
  ErrorNumber remove(std::uint64_t address, ocsd_mem_space_acc_t space);

  /// Memory functions are asked for at most one page at once; without caching for one opcode, and
  /// again in each call of the client.  kInvalidParamVal: outside the limits.
  ErrorNumber set_caching(bool enable, unsigned page_size, int pages);

  /// "Gen_Info : Mapped Memory Accessors" and the lines after it; nothing before the first
  /// accessor was added.
  void log_ranges() const;

  /// The number of bytes; 0: not readable; std::nullopt: a function returned more than it was asked
  /// for.  With caching, a request that fits in a page is not
  /// filled in part.
  std::optional<std::uint32_t> read(std::uint64_t address, TraceId trace_id,
                                    ocsd_mem_space_acc_t space, std::span<std::uint8_t> out);

 private:
  struct Part : Stretch {
    std::uint64_t offset = 0;  ///< In the bytes of the accessor.
  };
  struct Accessor {
    image::RegionKind kind;
    std::vector<Part> parts;  ///< The first one added, then the others by address.
    Bytes bytes;              ///< The content of a buffer or a file.
    image::ReadCallback function;
    std::string path;
    std::unique_ptr<SharedFile> file;
    [[nodiscard]] image::SpaceMask space() const { return parts.front().space; }
  };
  ErrorNumber add(Accessor accessor);
  bool show(const Accessor& accessor);
  void show_all();
  void begin();

  static constexpr unsigned kLeastPage = 64;
  static constexpr unsigned kGreatestPage = 16384;
  static constexpr unsigned kDefaultPage = 2048;
  static constexpr unsigned kPage133 = 256;
  static constexpr int kLeastPages = 4;
  static constexpr int kMostPages = 256;

  image::Image image_;
  std::vector<Accessor> accessors_;
  std::vector<Stretch> shown_;  ///< The parts of all accessors, in the order of their addition.
  bool exists_ = false;
  bool caches_ = true;
  bool bad_length_ = false;
  std::uint32_t page_size_ = kDefaultPage;
  std::uint64_t caching_changes_ = 0;
};

}  // namespace waymark::compat

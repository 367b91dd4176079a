// Target memory, into which the program counter points: buffers, files, callbacks.  Each region is
// visible in a set of memory spaces.  See snapshot-format.md 7, opencsd-c-api.md 3 ("Memory
// mapper"), etmv4-ete.md 4.5.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"

namespace waymark::image {

/// A set of memory spaces, one bit each.
using SpaceMask = std::uint8_t;
inline constexpr SpaceMask kSpaceNone = 0x00;
inline constexpr SpaceMask kSpaceEl1S = 0x01;
inline constexpr SpaceMask kSpaceEl1N = 0x02;
inline constexpr SpaceMask kSpaceEl2 = 0x04;
inline constexpr SpaceMask kSpaceEl3 = 0x08;
inline constexpr SpaceMask kSpaceEl2S = 0x10;
inline constexpr SpaceMask kSpaceEl1R = 0x20;
inline constexpr SpaceMask kSpaceEl2R = 0x40;
inline constexpr SpaceMask kSpaceRoot = 0x80;
inline constexpr SpaceMask kSpaceSecure = 0x19;
inline constexpr SpaceMask kSpaceNonSecure = 0x06;
inline constexpr SpaceMask kSpaceRealm = 0x60;
inline constexpr SpaceMask kSpaceAny = 0xFF;

/// Answers a read: fills at most `out.size()` bytes with the memory at `address` that `trace_id`
/// sees in `space`, and returns the number of bytes filled (0: not readable).
using ReadCallback = std::function<std::size_t(std::uint64_t address, SpaceMask space,
                                               TraceId trace_id, std::span<std::uint8_t> out)>;

/// One stretch of a file: `length` bytes at `offset` appear at `address`.
struct FileRegion {
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< 0: all from `offset` to the end, rounded down to an even size.
};

enum class RegionKind : std::uint8_t { kBuffer, kFile, kCallback };

/// A description of a region for listings.  `last` is inclusive.
struct RegionInfo {
  RegionKind kind;
  std::uint64_t first;
  std::uint64_t last;
  SpaceMask space;
  std::string name;          ///< The path of a file; otherwise the caller's name.
  std::uint64_t offset = 0;  ///< Where in the file `first` is; files only.
};

class ImageSelector;

/// The memory of one target. Only one thread at a time may add and remove, and not while decoders
/// read. Any number of threads may read (callbacks must be safe for that).
///
/// Two regions may share addresses if they are not in exactly the same spaces (else kConflict).  A
/// read takes the region in the fewest spaces, so a region in EL1N hides one in all spaces; of
/// several of these, the one added first.
class Image {
 public:
  Image();
  ~Image();
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  /// Copies `bytes`.  kInvalidArgument: empty, or past the end of the address space, or (for any
  /// kind of region) in no memory space.  kConflict: overlap, with both ranges in `detail`.
  Result<void> add_buffer(std::uint64_t address, Bytes bytes, SpaceMask space = kSpaceAny,
                          std::string name = {});

  /// As add_buffer(), but does not copy: `bytes` must live, unchanged, for as long as the region.
  Result<void> add_view(std::uint64_t address, Bytes bytes, SpaceMask space = kSpaceAny,
                        std::string name = {});

  /// Maps `path` read-only.  A region whose start address is already a region of this file and
  /// space is accepted and ignored.  kNotFound, kIo: the file; kInvalidArgument: offset or length
  /// beyond its end; kConflict: overlap, with both ranges in `detail`.  Do not cut the file short
  /// while it is mapped: reads of what is gone would raise SIGBUS.  Replacing it by renaming is
  /// harmless.
  Result<void> add_file(const std::string& path, FileRegion region, SpaceMask space = kSpaceAny);

  /// Asks `callback` for first..last, both included. kInvalidArgument: first > last, or no
  /// function.
  /// kConflict: overlap.
  Result<void> add_callback(std::uint64_t first, std::uint64_t last, SpaceMask space,
                            ReadCallback callback, std::string name = {});

  /// Removes the regions that start at `address` and share a bit with `space`.  kNotFound if there
  /// is none.
  Result<void> remove(std::uint64_t address, SpaceMask space);

  /// Readable bytes from `address` on, inside one region, up to where another one hides it: a view
  /// into the region, or, for a callback, what it wrote into `scratch`.  Empty: not readable.  The
  /// view lives until the image changes or `scratch` does.
  [[nodiscard]] Bytes read(std::uint64_t address, SpaceMask space, TraceId trace_id,
                           std::span<std::uint8_t> scratch) const;

  /// True if some region is a callback, so that what is read can depend on context and trace ID.
  [[nodiscard]] bool has_callbacks() const;

  /// True if what is read can depend on the memory space.
  [[nodiscard]] bool has_spaces() const;

  /// From now on, decoders read the images that the selector chooses, and the regions here are not
  /// read.  It must outlive the image and the decoders.  nullptr: none.
  void set_selector(const ImageSelector* selector);
  [[nodiscard]] const ImageSelector* selector() const;

  /// Changes whenever a region is added or removed, or the selector is set.
  [[nodiscard]] std::uint64_t version() const;

  [[nodiscard]] std::vector<RegionInfo> regions() const;  ///< In the order in which they were
                                                          ///< added.

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The name of a space set as listings print it ("EL1N", "Any S"); trc-pkt-lister.md 3.
std::string space_name(SpaceMask space);

/// The value of a snapshot's `space=`; kNotFound for a name that is not known.
Result<SpaceMask> space_by_name(std::string_view name);

}  // namespace waymark::image

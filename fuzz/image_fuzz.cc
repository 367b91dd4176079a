// Regions of target memory in any order: buffers, views, files and callbacks, added and removed.  A
// model that looks at each region for each byte gives the expected answers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "require.h"
#include "support/random.h"
#include "waymark/image/image.h"

namespace {

using namespace waymark;
using fuzz::require;
using image::SpaceMask;

/// A file whose byte at an offset is the low byte of the offset.
class File {
 public:
  static constexpr std::uint64_t kBytes = 0x300;

  File() : descriptor_(::memfd_create("memory", MFD_CLOEXEC)) {
    std::vector<std::uint8_t> bytes(kBytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
    require(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(kBytes),
            "the file cannot be written");
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

/// The content of a region at an address.
struct Region {
  std::uint64_t first;
  std::uint64_t last;
  SpaceMask space;
  bool callback;
  std::uint8_t start;  ///< The first byte; each next one is greater by 1.

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= first && address <= last;
  }
  [[nodiscard]] std::uint8_t at(std::uint64_t address) const {
    return static_cast<std::uint8_t>(start + (address - first));
  }
  [[nodiscard]] bool conflicts(const Region& other) const {
    return first <= other.last && other.first <= last && space == other.space;
  }
};

class Model {
 public:
  explicit Model(support::Random& random) : random_(random) {}

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        add_bytes();
        break;
      case 2:
        add_file();
        break;
      case 3:
        add_callback();
        break;
      case 4:
        remove();
        break;
      default:
        read();
        break;
    }
    require(image_.regions().size() == regions_.size(), "another number of regions");
    require(image_.has_callbacks() == std::ranges::any_of(regions_, &Region::callback),
            "another answer about callbacks");
  }

 private:
  /// Mostly near others, sometimes at the end of the address space.
  std::uint64_t address() {
    const std::uint64_t low = random_.below(0x400);
    return random_.one_in(8) ? ~std::uint64_t{0} - low : low;
  }
  SpaceMask space() {
    return random_.one_in(2) ? image::kSpaceAny : static_cast<SpaceMask>(random_.byte());
  }

  void keep(const Region& region, const Result<void>& done, std::uint64_t version) {
    const bool free = std::ranges::none_of(
        regions_, [&](const Region& other) { return region.conflicts(other); });
    require(done.has_value() == (free && region.space != 0),
            "a region is wrongly taken or refused");
    require(done.has_value() || !done.error().detail.empty(), "an error without a reason");
    require((image_.version() != version) == done.has_value(), "another version");
    if (done) regions_.push_back(region);
  }

  void add_bytes() {
    const std::uint64_t start = address();
    std::vector<std::uint8_t> bytes(random_.below(0x80));
    const std::uint8_t first = random_.byte();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
    const SpaceMask spaces = space();
    const std::uint64_t version = image_.version();
    const bool view = random_.one_in(2);
    if (view) kept_.push_back(bytes);
    const auto done = view ? image_.add_view(start, kept_.back(), spaces, "view")
                           : image_.add_buffer(start, bytes, spaces, "buffer");
    if (bytes.empty() || start + (bytes.size() - 1) < start) {
      require(!done, "a region that cannot be is taken");
      return;
    }
    keep({start, start + bytes.size() - 1, spaces, false, first}, done, version);
  }

  void add_file() {
    const image::FileRegion part{
        .address = address(), .offset = random_.below(0x400), .length = random_.below(0x180)};
    const SpaceMask spaces = space();
    const std::uint64_t version = image_.version();
    const std::size_t before = image_.regions().size();
    const auto done = image_.add_file(kFile.path(), part, spaces);
    // The same file again at the same place is accepted, and nothing changes.
    if (done && image_.regions().size() == before) return;
    if (!done && image_.version() == version && part.offset + part.length > File::kBytes) return;
    if (!done) return;
    const image::RegionInfo added = image_.regions().back();
    require(added.first == part.address, "a file is elsewhere");
    require(part.length == 0 || added.last - added.first + 1 == part.length, "another length");
    keep({added.first, added.last, spaces, false, static_cast<std::uint8_t>(part.offset)}, done,
         version);
  }

  void add_callback() {
    const std::uint64_t first = address();
    const std::uint64_t last = random_.one_in(8) ? first - 1 : first + random_.below(0x80);
    const SpaceMask spaces = space();
    const Region region{first, last, spaces, true, random_.byte()};
    const std::uint64_t version = image_.version();
    const auto done = image_.add_callback(
        first, last, spaces,
        [region](std::uint64_t at, SpaceMask, TraceId, std::span<std::uint8_t> out) {
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = region.at(at + i);
          return out.size();
        },
        "callback");
    if (last < first) {
      require(!done, "a region that ends before it begins is taken");
      return;
    }
    keep(region, done, version);
  }

  void remove() {
    const std::uint64_t start =
        regions_.empty() || random_.one_in(8)
            ? address()
            : regions_[random_.below(static_cast<std::uint32_t>(regions_.size()))].first;
    const SpaceMask spaces = space();
    const std::size_t gone = std::erase_if(regions_, [&](const Region& region) {
      return region.first == start && (region.space & spaces) != 0;
    });
    require(image_.remove(start, spaces).has_value() == (gone != 0), "another answer to remove()");
  }

  /// The region in the fewest spaces, and of several such the one that was added first.
  [[nodiscard]] const Region* region_at(std::uint64_t address, SpaceMask spaces) const {
    const Region* found = nullptr;
    for (const Region& region : regions_) {
      if (!region.contains(address) || (region.space & spaces) == 0) continue;
      if (found == nullptr || std::popcount(region.space) < std::popcount(found->space))
        found = &region;
    }
    return found;
  }

  void read() {
    const std::uint64_t start = address();
    const SpaceMask spaces = space();
    std::array<std::uint8_t, 64> scratch{};
    const std::span<std::uint8_t> room(scratch.data(), 1 + random_.below(64));
    const Bytes bytes = image_.read(start, spaces, 0x10, room);
    require(bytes.empty() == (region_at(start, spaces) == nullptr), "another answer to read()");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const Region* region = region_at(start + i, spaces);
      require(region != nullptr, "bytes past the end of a region");
      require(bytes[i] == region->at(start + i), "other bytes");
    }
  }

  support::Random& random_;
  image::Image image_;
  std::vector<Region> regions_;  ///< In the order in which they were added.
  std::deque<std::vector<std::uint8_t>> kept_;
  static inline const File kFile;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  support::Random random(waymark::Bytes(data, size));
  Model model(random);
  for (std::size_t i = 0; i < size / 4; ++i) model.step();
  return 0;
}

// The names of functions at addresses, for outputs that show one for each range.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/image/address_text.h"
#include "waymark/image/image.h"
#include "waymark/program/place_lookup.h"
#include "waymark/program/program.h"

namespace waymark::outputs {

using program::PlaceLookup;

/// For one program at its link-time addresses, which all processes have.
PlaceLookup lookup_in(std::shared_ptr<const program::Program> program);

/// A program that the user names, because the image does not show that it is one.
struct GivenProgram {
  std::shared_ptr<const program::Program> program{};
  std::uint64_t bias = 0;  ///< How far above its link-time addresses it was loaded.
};

/// Two programs at the same addresses of the target.
struct ProgramOverlap {
  std::array<const program::Program*, 2> programs{};
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The programs of memory that is the same for all processes: those that are given, where they have
/// a function, and the ELF files in the regions of an image.
class ImagePrograms {
 public:
  ImagePrograms(std::vector<GivenProgram> given, const image::Image& image,
                const program::DebugSearch& search = {});

  [[nodiscard]] program::Place find(std::uint64_t address) const;
  /// Whether any function has a name.
  [[nodiscard]] bool has_functions() const;
  /// Each once.
  [[nodiscard]] std::vector<const program::Program*> programs() const;
  /// Where the code of a function of one of the programs is in memory, for each copy of it.
  [[nodiscard]] std::vector<image::AddressRange> addresses(const program::Program& program,
                                                           const program::Function& function) const;
  /// Where a program that is given overlaps another one, so that names would be those of the wrong
  /// one: a second that is given, unless it is the same at the same address, or one of the image
  /// with another build ID or, without build IDs, with other code.
  [[nodiscard]] std::optional<ProgramOverlap> overlap() const;
  /// All functions that begin in the memory, by the addresses that they have there.
  [[nodiscard]] image::Symbols symbols() const;
  /// The result keeps what it needs.
  static PlaceLookup lookup(std::shared_ptr<const ImagePrograms> programs);

 private:
  struct Region {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t file_offset;
    std::shared_ptr<const program::Program> program;
  };

  static std::optional<image::AddressRange> range_in(const Region& region,
                                                     const program::Function& function);
  [[nodiscard]] std::optional<ProgramOverlap> overlap(const GivenProgram& given,
                                                      const Region& region) const;

  std::vector<GivenProgram> given_;
  std::vector<Region> regions_;  ///< In the order of the image; the first that matches counts.
};

/// The details to show besides the name of a function.
struct NameDetails {
  bool lines = false;    ///< The source line.
  bool inlines = false;  ///< The functions that were inlined, with their source lines.
};

/// Not thread safe.
class FunctionNames {
 public:
  explicit FunctionNames(PlaceLookup lookup, NameDetails details = {})
      : lookup_(std::move(lookup)), details_(details) {}

  [[nodiscard]] const NameDetails& details() const { return details_; }

  /// Looks for the code that an element is about: where its range begins, or what an ITM sampled.
  /// False: nothing is known there, or the element is about no code.
  bool find(const Element& element);

  /// The place of the code, as find() found it.
  [[nodiscard]] const program::Place& place() const { return place_; }
  /// Whether a function was found.  If not, a source line was.
  [[nodiscard]] bool has_function() const { return function_ != nullptr; }
  [[nodiscard]] const program::Function& function() const { return *function_; }
  /// How far into the function the code is.
  [[nodiscard]] std::uint64_t offset() const { return place_.address - function_->start; }
  /// Its name as in the source if the source is C++ or Rust; otherwise as the linker has it.
  [[nodiscard]] const std::string& readable() const { return readable_; }

  /// The functions that contain the start of the range, the innermost inlined one first.  Empty if
  /// no details are wanted, or nothing but the name of the function is known.
  [[nodiscard]] const std::vector<program::Frame>& frames() const { return frames_; }
  /// The name of the function of a frame as in the source; empty: it is not known.
  const std::string& readable(const program::Frame& frame);

 private:
  PlaceLookup lookup_;
  NameDetails details_;
  program::Place place_;
  std::vector<program::Frame> frames_;
  std::unordered_map<std::string_view, std::string> frame_names_;
  const program::Function* function_ = nullptr;
  const program::Function* named_ = nullptr;  ///< The function that readable_ is of.
  std::string readable_;
};

}  // namespace waymark::outputs

// Linked programs: their parts in memory, and the names in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/base/result.h"

namespace waymark::elf {

/// A loaded part that has bytes in the file.
struct Segment {
  std::uint64_t address = 0;  ///< With the bias.
  std::uint64_t offset = 0;   ///< In the file.
  std::uint64_t size = 0;     ///< In the file.
  bool executable = false;
};

struct Symbol {
  std::uint64_t address = 0;  ///< With the bias; for T32 code bit 0 is set.
  std::uint64_t size = 0;
  std::string name{};
  bool function = false;
  bool label = false;  ///< Neither a function nor an object; most often from assembler source.
};

/// Plain data once it is open, which any thread may read.
class File {
 public:
  static constexpr unsigned kArm = 40;
  static constexpr unsigned kAarch64 = 183;

  /// `path`, loaded `bias` above the addresses that it was linked for.  kNotFound, kIo: the file;
  /// kBadData: not an ELF file, or damaged; kUnsupported: this build has no libelf.
  static Result<File> open(const std::string& path, std::uint64_t bias = 0);

  /// In file order.
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  /// The bytes of one of the segments, valid while the file is open.
  [[nodiscard]] Bytes contents(const Segment& segment) const {
    // open() has checked that they are in the file.
    return file_.bytes().subspan(static_cast<std::size_t>(segment.offset),
                                 static_cast<std::size_t>(segment.size));
  }

  /// Functions, objects and labels that the file defines, in its order; from the symbol table or,
  /// without one, from the dynamic one.
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }
  /// The first one with this name, or nullptr.
  [[nodiscard]] const Symbol* find(std::string_view name) const;

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] unsigned machine() const { return machine_; }
  [[nodiscard]] bool big_endian() const { return big_endian_; }
  /// With the bias; 0: there is none.
  [[nodiscard]] std::uint64_t entry() const { return entry_; }

 private:
  friend class Reader;

  MappedFile file_;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;
  std::map<std::string, std::size_t, std::less<>> index_;  // Index into symbols_ by name.
  unsigned machine_ = 0;
  bool big_endian_ = false;
  std::uint64_t entry_ = 0;
};

}  // namespace waymark::elf

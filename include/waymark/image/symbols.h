// What the code at an address of target memory is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "waymark/image/elf_file.h"
#include "waymark/image/image.h"

namespace waymark::image {

/// A function, or code behind a label.
struct Function {
  std::uint64_t start = 0;
  std::uint64_t last = 0;  ///< Of its bytes; at least `start`.
  std::string name{};      ///< As the linker knows it, cut after kLongestName bytes.
  friend bool operator==(const Function&, const Function&) = default;
};

/// The functions of programs, by address.  What is added has names where none are known yet: of
/// functions that share an address the first counts.  Plain data once it is made; may be read from
/// any thread.
class Symbols {
 public:
  /// More than `most` functions are not kept: an image may show one program many times.
  static constexpr std::size_t kMost = std::size_t{1} << 22;
  explicit Symbols(std::size_t most = kMost) : most_(most) {}

  /// Those that somebody else knows, such as a JIT.  One that ends before it starts is none.
  void add(std::vector<Function> functions);

  void add(const ElfFile& file);

  /// Those of the ELF files of which regions of `image` show parts, at the addresses at which they
  /// show them.  Other files, and what cannot be read, have none.
  void add(const Image& image);

  /// nullptr: none is known there.  The pointer lives until something is added.
  [[nodiscard]] const Function* find(std::uint64_t address) const;

  /// Ascending; none overlaps another.
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  std::size_t most_;
  std::vector<Function> functions_;
};

}  // namespace waymark::image

// Source lines of a tree: where its instructions are, and where its calls came from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "waymark/program/program.h"
#include "waymark/stacks/tree.h"

namespace waymark::stacks {

/// Instructions of one address.
struct AddressCost {
  std::uint64_t address = 0;  ///< As its program was linked.
  std::uint64_t instructions = 0;
};

/// By node: what was executed at each address, in ascending order.  The tree must have ranges.  A
/// range whose instructions have different sizes is divided evenly among its halfwords.
std::vector<std::vector<AddressCost>> costs_by_address(const Tree& tree);

/// Remembers the source lines of addresses.  One owner; not thread safe.
class Lines {
 public:
  /// The functions at an address, the innermost inlined one first; valid until the next call.
  /// Empty: nothing is known.
  std::span<const program::Frame> frames(const program::Program* program, std::uint64_t address);

 private:
  std::unordered_map<const program::Program*,
                     std::unordered_map<std::uint64_t, std::vector<program::Frame>>>
      known_;
};

/// The same tree with the functions that compilers inlined as nodes of their own, kInlined.  Needs
/// a tree with ranges and sites.  The result has neither.
Tree with_inlines(const Tree& tree);

}  // namespace waymark::stacks

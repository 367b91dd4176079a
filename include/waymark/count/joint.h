// Counts of several programs together: each address of each program gets an address of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "waymark/count/counts.h"

namespace waymark::count {

/// An address in one of several programs, which the caller numbers.
struct ProgramAddress {
  std::uint32_t program = 0;
  std::uint64_t address = 0;
  friend bool operator==(const ProgramAddress&, const ProgramAddress&) = default;
};

/// Maps the addresses of programs into one address space, 4 GiB at a time.  Neighbours in a program
/// stay neighbours, except at the end of such a part.
class JointAddresses {
 public:
  std::uint64_t join(const ProgramAddress& place);
  /// The inverse, for what join() returned and for addresses near it.
  [[nodiscard]] ProgramAddress split(std::uint64_t joint) const;

 private:
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parts_;  ///< Program and upper 32 bits.
};

/// Says which program a task has at an address.
using Locate = std::function<ProgramAddress(TaskId task, std::uint64_t address)>;

/// The counts of all tasks together, by joint addresses and without contexts.
Counts fold(const Counts& counts, JointAddresses& addresses, const Locate& locate);

}  // namespace waymark::count

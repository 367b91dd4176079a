// The counts of a program by function and source line, as compilers find them again.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

#include "waymark/profile/profile.h"

namespace waymark::exports {

/// A place in a function.
struct SampleLocation {
  std::uint32_t offset = 0;  ///< Lines from the line that declares the function, modulo 65536.
  std::uint32_t discriminator = 0;  ///< Only the base part.
  friend auto operator<=>(const SampleLocation&, const SampleLocation&) = default;
};

/// The views are names of the program.
struct FunctionSamples {
  struct Record {
    std::uint64_t times = 0;  ///< The count of its most frequent instruction.
    std::map<std::string_view, std::uint64_t> targets{};  ///< How often each function was called.
  };

  std::uint64_t total = 0;  ///< Bytes of instructions that were executed, as llvm-profgen counts.
  std::uint64_t head = 0;   ///< Calls from elsewhere.
  std::map<SampleLocation, Record> records{};
  /// The inlined functions, by the place of the call and the name of the function.
  std::map<SampleLocation, std::map<std::string_view, FunctionSamples>> inlined{};
};

using Samples = std::map<std::string_view, FunctionSamples>;

/// The functions that were executed and have debug information.
Samples samples_of(const profile::Profile& profile, const profile::ProgramProfile& program);

/// The parts of a DWARF discriminator: what tells blocks of one line apart, and how many copies of
/// an instruction the compiler made one of.
std::uint32_t base_discriminator(std::uint32_t discriminator);
std::uint32_t duplication_factor(std::uint32_t discriminator);

/// The name that the compiler knows a function by: without ".llvm.123", ".part.0" and ".cold".
std::string_view compilers_name(std::string_view name);

}  // namespace waymark::exports

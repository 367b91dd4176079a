// What a call is.
#pragma once

#include <cstdint>

#include "waymark/isa/instruction.h"

namespace waymark::count {

enum class Call : std::uint8_t {
  kNone,
  kCall,      ///< A branch with link.
  kTailCall,  ///< A branch without link to the start of another function.
};

/// What a taken branch is.  This is the rule of docs/quantities.md for everything that has no call
/// stacks.
///
/// @param subtype   Of the branch, as count::branches() gives it.
/// @param to_start  The target is the first instruction of a function.
/// @param within    Branch and target are in one function, or in parts of one
/// (image::parent_name()).
constexpr Call call_of(isa::InstrSubtype subtype, bool to_start, bool within) {
  if (subtype == isa::InstrSubtype::kBranchLink) return Call::kCall;
  return subtype == isa::InstrSubtype::kNone && to_start && !within ? Call::kTailCall : Call::kNone;
}

}  // namespace waymark::count

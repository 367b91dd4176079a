// Registers in plain language: what a unit will trace, what a decoder will see, what looks wrong.
#pragma once

#include <string>
#include <vector>

#include "waymark/etm4x/compile.h"

namespace waymark::etm4x {

/// The origin of the registers decides what can be said about missing ones.
struct Explanation {
  Plan plan{};                        ///< The registers as a plan.
  std::vector<std::string> traces{};  ///< Complete sentences, also in the next two members.
  std::vector<std::string> decoder{};
  std::vector<std::string> problems{};
};

/// etm4x-programming.md 5 to 9.  `image` may lack registers: sentences about those are left out.
/// `all_comparators` false: only the comparator that addr_idx selects is known.
Explanation explain(const RegisterImage& image, const IdRegisters& id, const Capabilities& caps,
                    bool all_comparators = true);

/// The registers that a decoder needs, as options of `waymark decode`.
std::string decoder_options(const RegisterImage& image, const IdRegisters& id);

/// As text for people, with headings.
std::string explanation_text(const Explanation& explanation);

/// The fields of each register in the image, one per line.
std::string register_fields_text(const RegisterImage& image);

}  // namespace waymark::etm4x

// Words that the forms of a comparison share.
#pragma once

#include <string>
#include <string_view>

#include "waymark/outputs/differences.h"

namespace waymark::outputs {

inline constexpr std::array<std::string_view, diff::kSides> kRunNames{"A", "B"};

/// "branch_outcome".
std::string_view cause_word(diff::Cause cause);
/// "partition+0x38 (quicksort.c:27)"; the address where no function is known.
std::string place_text(const program::Place& place);
/// The name of a thread: "cpu_0", "context 0x100", "make 2".
std::string thread_text(const diff::ThreadPair& pair);
/// The name of a function as in the source; "[unknown]" where there is none.
std::string function_text(const diff::Programs& programs, diff::FunctionNumber number);
/// "1a2b", or "none".
std::string build_id_text(const program::Program& program);
/// The place of a block in the first run that executed it.
const diff::BlockPlace& shown_place(const diff::Block& block);

}  // namespace waymark::outputs

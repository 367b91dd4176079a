// Commands that a user can type as they are shown.
#pragma once

#include <string>
#include <string_view>

namespace waymark {

/// One word of a shell, quoted where it must be.
std::string shell_word(std::string_view text);

}  // namespace waymark

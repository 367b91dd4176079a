// The values that options take: words that are enumerated, words that are well known, and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"

namespace waymark::cli {

struct NumberLimits;
struct ValueCheck;

/// "'jsn' is not text, json or csv; did you mean `json`?"
std::string refusal(std::string_view text, const std::vector<std::string>& words);

/// One of `words`.  Any other is refused with a sentence that names the nearest of them.
ValueCheck one_of(std::vector<std::string> words);

/// Any word.  `words` are those that completion offers.
ValueCheck such_as(const std::vector<std::string>& words);

/// The path of a file or folder: not an empty text, which a script passes for a variable that is
/// not set.
ValueCheck some_path();

/// A number as every command reads it: decimal, or hexadecimal after 0x.  `text` becomes decimal,
/// which the option library cannot take for octal.  What is wrong, or nothing.
std::string read_number(std::string& text, const NumberLimits& limits);

/// The same for an option that keeps the text.
ValueCheck number();

/// A size in bytes: a number, or one with K, M, G or T for powers of 1024 (also KB, KiB and so on).
/// The option gets the bytes in decimal.
ValueCheck size_in_bytes(const NumberLimits& limits);

/// kInvalidArgument: "--source a=b: expected <form>."
std::unexpected<Error> wrong(std::string_view option, std::string_view text, std::string_view form);

/// With capital letters only, as protocols spell registers, and catalogs of messages spell names.
/// Other bytes than a to z stay.
std::string upper(std::string_view text);

}  // namespace waymark::cli

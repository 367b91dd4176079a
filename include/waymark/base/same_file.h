// Detects that a program is about to write to a file that it reads.
#pragma once

#include <span>
#include <string>

namespace waymark {

/// The first of `files` that is the regular file `path`, by device and inode, whatever its name.
/// nullptr: none is, or `path` is not a regular file. Files that do not exist never match.
const std::string* find_same_file(const std::string& path, std::span<const std::string> files);

/// The same of an open descriptor.
const std::string* find_same_file(int descriptor, std::span<const std::string> files);

}  // namespace waymark

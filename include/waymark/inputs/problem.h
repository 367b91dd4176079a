// Problems of a readable input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/diagnostic.h"

namespace waymark::inputs {

/// The kinds of problem of a snapshot; in brackets the contents of Problem::values, in order.
enum class ProblemKind : std::uint8_t {
  // Files that the snapshot names.
  kDeviceFileMissing,  ///< [path] Cannot be opened.
  kTraceFileNotNamed,  ///< [] snapshot.ini has no `metadata`: no buffers.
  kTraceFileMissing,   ///< [path] The trace ini cannot be opened: no buffers.
  kBufferFileMissing,  ///< [path] The capture of a buffer.
  kBufferFileEmpty,    ///< [path]
  kPathLeavesFolder,   ///< [name] A `..` component.
  kPathAbsolute,       ///< [name] A leading `/`, which is still read below the folder.
  // snapshot.ini and devices.
  kVersionMissing,     ///< []
  kDeviceNameMissing,  ///< [file] Only the empty name finds the device.
  kDeviceReplaced,     ///< [name, file replaced] Two files describe one device; the later one
                       ///< counts.
  kRegisterNotNumber,  ///< [name, text] The value is read up to the first odd character.
  kRegisterNameBlank,  ///< [name] A blank before `(`: look-ups miss it.
  // trace.ini.
  kBufferListMissing,     ///< [] No `buffers` list with at least one name.
  kBufferNameUntrimmed,   ///< [item, item without blanks] The blank counts: no section matches.
  kBufferSectionMissing,  ///< [item] The list names a section that does not exist.
  kBufferSectionEarly,    ///< [section] It precedes the list and is therefore ignored.
  kBufferRepeated,        ///< [section] A second section of this name; both are kept.
  kEntryReplaced,         ///< [key, old value, new value]
  kUnknownSourceDevice,   ///< [source, buffer]
  kUnknownBuffer,         ///< [source, buffer]
  kUnknownCoreDevice,     ///< [source, core]
  kBufferWithoutSources,  ///< [buffer]
  kSourceIgnored,         ///< [buffer, source] A buffer of one stream takes its first source only.
  kUnknownFormat,         ///< [buffer, format] Read as memory-aligned frames.
  // Memory dumps.
  kDumpFileMissing,   ///< [path]
  kDumpFileEmpty,     ///< [path]
  kDumpFileShort,     ///< [path, bytes needed, bytes there]
  kDumpOffsetUnused,  ///< [path, offset] An offset needs a length.
  kDumpWraps,         ///< [path, address, length] Past the end of the address space.
  kDumpOverlap,       ///< [path, address, path of the other, address of the other]
  kDumpRepeated,      ///< [path, address] A second time in one device: skipped.
  kUnknownSpace,      ///< [space] Read as ANY.
  // Syntax that is legal but may be unintended.
  kUnknownSection,      ///< [section]
  kSectionWithoutName,  ///< []
  kHeaderInsideLine,    ///< [line] A `key=value` line with brackets is a section header.
  kLineIgnored,         ///< [line] Before the first section.
  kBinaryText,          ///< [] Control characters: perhaps not an ini file.
  kMoreProblems,        ///< [] The list is full; further ones were dropped.
};

/// One problem. `sentence` is a whole sentence with the remedy, but without the place; text() has
/// both.
struct Problem {
  ProblemKind kind = ProblemKind::kMoreProblems;
  Severity severity = Severity::kWarning;
  std::string file{};      ///< The ini file, with the folder.
  std::uint32_t line = 0;  ///< 0: the problem does not belong to one line.
  std::string sentence{};
  std::vector<std::string> values{};

  /// "file:line: sentence".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// A list of problems that never grows past kMaxProblems; the last is then kMoreProblems.
inline constexpr std::size_t kMaxProblems = 1000;
void add_problem(std::vector<Problem>& problems, Problem problem);

/// "file:line", or "file" where line is 0.
std::string ini_place(const std::string& file, std::uint32_t line);

}  // namespace waymark::inputs

// The formats that an execution can be exported to, each read by other programs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/exports/branch_list.h"
#include "waymark/exports/call_trees.h"
#include "waymark/exports/database.h"
#include "waymark/exports/event_writer.h"
#include "waymark/exports/findings.h"
#include "waymark/exports/timelines.h"
#include "waymark/profile/profile.h"

namespace waymark::exports {

struct Options {
  /// For autofdo: addresses are counted from the start of the file, as newer releases of its tools
  /// and those of Android expect, and not from the first segment.
  bool file_offsets = false;
  /// For formats with source files: the path to write for one of the debug information.  Empty: the
  /// same.
  std::function<std::string(const std::string&)> source_path{};
  /// When the file is written, since 1970.
  std::int64_t seconds = 0;
};

/// Writes what was executed of one program of a profile.  kUnsupported, with a sentence that begins
/// with the name of the program: the format cannot say it.
using WriteProgram = Result<void> (*)(const profile::Profile& profile,
                                      const profile::ProgramProfile& program,
                                      const Options& options, TextBuffer& out);

/// Writes what was executed of several programs of a profile, as one text or as bytes.  The same
/// errors.
using WriteProfile = Result<void> (*)(const profile::Profile& profile,
                                      std::span<const profile::ProgramProfile* const> programs,
                                      const Options& options, TextBuffer& out);

using MakeDatabase = Result<std::unique_ptr<Database>> (*)(const std::string& path,
                                                           const std::string& name);
using WriteBranches = Result<std::string> (*)(const BranchList& list, bool compressed);
using MakeEventWriter = std::unique_ptr<EventWriter> (*)();

/// Writes what was executed below each chain of callers.
using WriteTree = Result<void> (*)(const stacks::Tree& tree, const TreeOptions& options,
                                   TextBuffer& out);

/// Writes what looks wrong with the inputs.
using WriteFindings = Result<void> (*)(std::span<const CaptureFindings> captures, TextBuffer& out);

using MakeTimeline = std::unique_ptr<TimelineWriter> (*)(TextBuffer& out);

/// The parts of call stacks that trees and timelines need.
struct StackNeeds {
  bool wants_lines = false;  ///< The tree should have ranges and sites.
  /// Each track of the timeline has a time of its own, if times are instructions.
  bool tracks_apart = false;
  bool wants_roots = false;  ///< The tree should tell processes apart.
};

struct Format {
  std::string_view name;
  std::string_view purpose;  ///< What it is for, as the end of "For ...".
  std::string_view readers;  ///< The programs that read it.
  std::string_view suffix;   ///< What the names of its files end with.
  // Exactly one of these writes it.
  WriteProgram write_program = nullptr;    ///< One file for each program.
  WriteProfile write_profile = nullptr;    ///< One file for all of them.
  MakeDatabase make_database = nullptr;    ///< The same, with what happened.
  WriteBranches write_branches = nullptr;  ///< One file for all inputs, made of packets.
  MakeEventWriter make_events = nullptr;   ///< One file for one input.
  WriteTree write_tree = nullptr;          ///< One file for everything.
  MakeTimeline make_timeline = nullptr;    ///< One file for one input.
  WriteFindings write_findings = nullptr;  ///< One file for all inputs; nothing is decoded.
  bool is_tables = false;  ///< Or a folder with the files of tables.h for each input.

  /// The highest version of DWARF that all its readers take; 0: any.
  unsigned most_dwarf = 0;
  // What it needs of programs; all need the addresses of what was executed.
  bool any_program = false;  ///< Also writes programs whose files were not found.
  bool needs_names = false;  ///< The functions have names; otherwise, stripped programs will do.
  StackNeeds stacks{};
};

/// All formats, in the order in which they are listed.
std::span<const Format> formats();

/// nullptr: there is none of this name.  "flamegraph" is another name of "folded".
const Format* find_format(std::string_view name);

}  // namespace waymark::exports

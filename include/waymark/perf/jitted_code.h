// The code that JIT compilers made in the processes of a recording, where they wrote it down for
// perf.  See jitdump.h and perf_map.h.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "waymark/perf/jitdump.h"
#include "waymark/perf/program_files.h"
#include "waymark/perf/recording.h"
#include "waymark/program/program.h"

namespace waymark::perf {

/// A function of a jitdump file.  Any number of threads may use it.
class JittedFunction {
 public:
  /// `function` refers to the bytes of `file`, which must outlive the object.
  JittedFunction(const ProgramFile& file, std::string path, JitFunction function)
      : file_(file), path_(std::move(path)), function_(std::move(function)) {}

  [[nodiscard]] const ProgramFile& file() const { return file_; }
  /// The path of the file in the recording.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Bytes code() const { return function_.code; }
  /// The offset of the code in the file.
  [[nodiscard]] std::uint64_t file_offset() const {
    return static_cast<std::uint64_t>(function_.code.data() - file_.bytes().data());
  }
  /// Where it was loaded: the address that it has in program().
  [[nodiscard]] std::uint64_t address() const { return function_.address; }
  /// Only this function.  It lives as long as the object.
  [[nodiscard]] const program::Program* program() const;

 private:
  const ProgramFile& file_;
  std::string path_;
  JitFunction function_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const program::Program> program_;
};

/// The record that a process with a JIT compiler wrote.
struct JittedProcess {
  std::int32_t pid = -1;
  std::string path{};         ///< The jitdump file or the map, as the recording names it.
  std::string problem{};      ///< Why it is not used, a whole sentence; empty: it is.
  bool has_code = true;       ///< False: a map, which has only names.
  std::size_t functions = 0;  ///< How many it has.
};

struct JittedCode {
  std::vector<JittedProcess> processes{};  ///< By pid.
  std::vector<Note> notes{};               ///< Whole sentences.
};

/// Finds the jitdump files that the processes of a recording mapped, and adds their code to the
/// events; then the maps of processes that have executable memory without a file.
///
/// A function is in memory from the time at which the file says that it was loaded, until another
/// one or a file takes its address.  Where nothing else was at its address since the process began,
/// it is there from that time on: then no comparison of times is needed, and the memory of the
/// process changes seldom.
///
/// Maps are looked for below the roots of `files`, as "tmp/perf-PID.map".  Without roots, those of
/// this machine are used if it has the name and the kernel of the recorded one: another machine can
/// have another process of that number.
///
/// `files` must outlive the recording.
JittedCode add_jitted_code(Recording& recording, ProgramFiles& files);

}  // namespace waymark::perf

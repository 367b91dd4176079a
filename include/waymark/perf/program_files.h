// Finds the files that a recording names, perhaps on another machine.  See perf-cs-etm.md 5 and
// simpleperf.md 4.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "waymark/base/mapped_file.h"
#include "waymark/program/code_switches.h"
#include "waymark/program/kernel.h"
#include "waymark/program/program.h"

namespace waymark::perf {

/// A file that was found.  Any number of threads may use it.
class ProgramFile {
 public:
  /// A file that is compressed as a whole, such as "loop.ko.xz", is unpacked.
  explicit ProgramFile(MappedFile file, program::DebugSearch search = {});

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// The program, as it was before it was compressed.
  [[nodiscard]] Bytes bytes() const { return unpacked_.empty() ? file_.bytes() : Bytes(unpacked_); }
  [[nodiscard]] const std::vector<std::uint8_t>& build_id() const { return build_id_; }

  /// Its names and addresses; nullptr: this is not an ELF file.  It is read when it is first asked
  /// for, and lives as long as this object.
  [[nodiscard]] const program::Program* program() const;
  /// Its code if it is a kernel module; else nullptr.  The same.
  [[nodiscard]] const program::ModuleCode* module_code() const;
  /// Its code if the kernel changes it in memory, as a copy that can be changed too; else nullptr.
  /// The same.  The code must not be read while it is changed.
  [[nodiscard]] program::SwitchedCode* switched_code() const;

 private:
  MappedFile file_;
  std::vector<std::uint8_t> unpacked_;  ///< Empty: the file is not compressed.
  std::vector<std::uint8_t> build_id_;
  program::DebugSearch search_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const program::Program> program_;
  mutable std::once_flag module_once_;
  mutable std::optional<program::ModuleCode> module_;
  mutable std::once_flag switched_once_;
  mutable std::unique_ptr<program::SwitchedCode> switched_;
};

/// A file that was not found.
struct MissingFile {
  std::string path{};    ///< As the recording names it.
  std::string reason{};  ///< A whole sentence.
  bool is_file = true;   ///< False: memory without a file, such as "[vdso]".
};

/// Where to look for programs.
struct ProgramSearch {
  /// Folders with the file system of the recorded machine, or with programs of any name.  Without
  /// one, the files of this machine are used.
  std::vector<std::string> roots{};
  /// Programs that are tried first, if the recording names their build ID or, without one, a file
  /// of that name.
  std::vector<std::string> given{};
  /// Folders as `perf buildid-cache` and `perf archive` make them.
  std::vector<std::string> caches{};
  std::string vmlinux{};        ///< The kernel with its symbols.
  std::string kallsyms{};       ///< A copy of /proc/kallsyms.
  std::string kcore{};          ///< A copy of /proc/kcore.
  std::string guest_vmlinux{};  ///< The same of the kernel that guests run.
  std::string guest_kallsyms{};
  /// Asks debuginfod for what is nowhere else.  Nothing: it is not asked.
  std::function<std::optional<std::string>(const std::vector<std::uint8_t>& build_id)> fetch{};
};

/// Any number of threads may look for files.
class ProgramFiles {
 public:
  explicit ProgramFiles(ProgramSearch search) : search_(std::move(search)) {}

  /// The file with this path and build ID; an empty ID matches any file.  The given programs come
  /// first, then the path below each root, then any file below the roots with that build ID, then
  /// the caches.
  /// nullptr: it is missing.  What is returned lives as long as the object.
  const ProgramFile* find(const std::string& path, const std::vector<std::uint8_t>& recorded_id);

  /// A file that a process of the recording wrote: below each root also without its folders.
  /// nullptr: it was not found; it is missing only if `needed`.
  const ProgramFile* find_written(const std::string& path, bool needed);
  /// Whether there are folders to look in, in place of the files of this machine.
  [[nodiscard]] bool has_roots() const { return !search_.roots.empty(); }

  /// The program of the kernel: the one that was given, else one with this build ID.  nullptr: it
  /// is missing.
  const ProgramFile* kernel(const std::vector<std::uint8_t>& build_id);
  /// The kernel of guests; nullptr: none was given.
  const ProgramFile* guest_kernel();
  /// Its functions, where they ran; nullptr: none were given.
  const program::Program* guest_names();
  /// The memory of the kernel; nullptr: none was given.
  const ProgramFile* kcore();
  /// The functions of the kernel, where they ran; nullptr: none were given.
  const program::Program* kernel_names();
  /// Files given for the kernel that cannot be used, as whole sentences.
  [[nodiscard]] std::vector<std::string> problems() const;

  /// Those that find() did not find, in order of their paths.
  [[nodiscard]] std::vector<MissingFile> missing() const;
  /// The paths of those that it found, as they are on this machine.
  [[nodiscard]] std::vector<std::string> found() const;
  /// The same files.
  [[nodiscard]] std::vector<const ProgramFile*> found_files() const;

 private:
  struct Search;
  const ProgramFile* open(const std::string& path, Search& search);
  /// The same, or a kernel module that is compressed: with an ending after its name.
  const ProgramFile* open_packed(const std::string& path, Search& search);
  const ProgramFile* find_given(Search& search);
  const ProgramFile* find_by_id(Search& search);
  const ProgramFile* find_in_caches(Search& search);
  const ProgramFile* find_anywhere(Search& search);
  void list_roots();

  mutable std::mutex mutex_;
  ProgramSearch search_;
  std::map<std::string, std::unique_ptr<ProgramFile>> files_;  ///< By path on this machine.
  /// The answers: by path and build ID of the recording.
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, const ProgramFile*> known_;
  std::map<std::string, std::string> reasons_;  ///< Why a file is missing, by its path.
  /// The functions of a copy of /proc/kallsyms, which `option` named.
  const program::Program* names_of(std::optional<std::shared_ptr<const program::Program>>& known,
                                   std::string_view option, const std::string& path);

  std::optional<std::shared_ptr<const program::Program>> kernel_names_;
  std::optional<std::shared_ptr<const program::Program>> guest_names_;
  std::vector<std::string> problems_;
  bool listed_ = false;
  std::vector<std::string> below_roots_;
};

}  // namespace waymark::perf

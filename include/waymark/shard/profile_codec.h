// Profiles as the content of parts.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/perf/program_files.h"
#include "waymark/profile/profile.h"

namespace waymark::shard {

/// The content: the same profile always gives the same bytes, if its programs are the same files.
std::string encode(const profile::Profile& profile);

/// Opens the programs that parts name, each once.
class ProgramOpener {
 public:
  /// `names_suffice`: code that is in no file, as a JIT makes it, needs only its name.
  explicit ProgramOpener(bool names_suffice) : names_suffice_(names_suffice) {}

  /// The program in the file at `path`, which had this size and digest.  kNotFound, kIo: the file;
  /// kConflict: it is another one now; kUnsupported: the code is in no file.  Equal files that
  /// profile::Profile takes for one program, because of the build ID or the name, stay open once.
  Result<const program::Program*> open(const std::string& path, std::uint64_t bytes,
                                       std::uint64_t digest, const std::string& name,
                                       const std::vector<std::uint8_t>& build_id = {});

 private:
  bool names_suffice_;
  std::list<perf::ProgramFile> files_;
  std::map<std::string, const program::Program*> known_;  ///< By path, size and digest.
  std::map<std::string, const program::Program*> equal_;  ///< By build ID or name, and these.
  std::vector<std::shared_ptr<const program::Program>> without_file_;
};

/// Adds the content to a profile, whose programs belong to `opener`.  kBadData: it is not one; the
/// errors of ProgramOpener::open().  Then nothing is added.
Result<void> add_profile(Bytes content, ProgramOpener& opener, profile::Profile& sum);

}  // namespace waymark::shard

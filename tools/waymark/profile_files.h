// Files of profiles: for export and merge.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "export_options.h"
#include "waymark/exports/table.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

/// The output to write, and the files that were read, which must not be lost.
struct ProfileSum {
  const profile::Profile& profile;
  const std::vector<std::string>& files;
};

/// A folder is written as "DIR/", or exists.
bool is_folder(const std::string& path);

/// All programs of the profile, or those that --program names.
std::expected<std::vector<const profile::ProgramProfile*>, int> choose_any(
    const profile::Profile& profile, const ExportOptions& options);

/// Writes one file for each program, or the file of one.
int write_programs(const exports::Format& format, const ProfileSum& sum,
                   const ExportOptions& options);

/// Writes one file for all programs.
int write_profile(const exports::Format& format, const ProfileSum& sum,
                  const ExportOptions& options);

}  // namespace waymark::cli

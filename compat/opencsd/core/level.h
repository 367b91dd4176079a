// The version of the reference whose behaviour is given.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "waymark/base/result.h"

namespace waymark::compat {

/// A version of the reference, and the quirks that it does not have: a list as in
/// WAYMARK_OPENCSD_QUIRKS, empty or beginning with `-`.
struct Level {
  std::string_view version;
  std::uint32_t number;  ///< As OCSD_VER_NUM.
  std::string_view quirks;
};

inline constexpr std::uint32_t kLevel155 = 0x010505;
inline constexpr std::uint32_t kLevel180 = 0x010800;
inline constexpr std::uint32_t kLevel181 = 0x010801;

/// In the order of their age.
inline constexpr auto kLevels = std::to_array<Level>({
    {"1.3.3", 0x010303, ""},
    {"1.5.5", kLevel155,
     "-etmv4.exception_walk_goes_back,-etmv4.pauth_lr_unknown,-stm.version_keeps_ids"},
    {"1.8.0", kLevel180,
     "-etmv4.exception_walk_goes_back,-etmv4.cycle_counts_do_not_commit,"
     "-etmv4.newer_branches_unknown,-etmv4.it_blocks_ignored,-etmv4.unseen_elements_missing,"
     "-etmv4.pauth_lr_unknown,"
     "-etmv4.trace_info_is_not_queued,-stm.version_keeps_ids"},
    {"1.8.3", 0x010803,
     "-etmv4.exception_walk_goes_back,-etmv4.cycle_counts_do_not_commit,"
     "-etmv4.newer_branches_unknown,-etmv4.it_blocks_ignored,-etmv4.unseen_elements_missing,"
     "-etmv4.pauth_lr_unknown,"
     "-etmv4.trace_info_is_not_queued,-stm.version_keeps_ids,"
     "-etmv4.v8m_exception_return_is_not_p0,-etmv4.exception_walk_runs_over,"
     "-etmv4.exception_pops_stated_target,-etmv4.markers_since_ete_1_1,"
     "-etmv4.trace_info_empties_stack,"
     "-stm.unsynced_bytes_miscounted,-stm.version_leaves_ids_unknown"},
});

/// Versions before 1.8.0 do not decode ITM.
inline bool decodes(const Level& level, std::string_view decoder) {
  return level.number >= kLevel180 || decoder != "ITM";
}

/// 1.3.3 knows ETE 1.2: no instrumentation packets.
inline std::uint32_t trcdevarch_at(const Level& level, std::uint32_t trcdevarch) {
  constexpr std::uint32_t kRevision = 0xFU << 16;
  constexpr std::uint32_t kEte12 = 2U << 16;
  if (level.number >= kLevel155 || (trcdevarch & kRevision) <= kEte12) return trcdevarch;
  return (trcdevarch & ~kRevision) | kEte12;
}

inline constexpr const char* kLevelVariable = "WAYMARK_OPENCSD_LEVEL";

/// The level that CMake's WAYMARK_OPENCSD_LEVEL selected.
const Level& default_level();

/// kInvalidArgument for a version that is not in the table; the sentence names those that are.
Result<Level> level_by_version(std::string_view version);

/// From now on, the whole process has this level, whatever the environment says; "" gives the
/// choice back to the environment.
Result<void> set_level(std::string_view version);

/// The level of set_level(), of the variable WAYMARK_OPENCSD_LEVEL, or the default.  A tree takes
/// it when it is made, and from then on it is also level_in_use().
Result<Level> chosen_level();

/// For what belongs to no tree: texts, names of decoders.  Before the first tree: the chosen level,
/// or the default if that is not known.
const Level& level_in_use();

}  // namespace waymark::compat

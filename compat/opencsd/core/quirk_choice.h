// The quirks that are on: all of them, unless the environment says otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "level.h"
#include "waymark/frames/demux.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {

/// The quirks that are off, by group ("frames" or a protocol): bit i is row i of the group's table.
/// ETE belongs to the group "etmv4".
class QuirkChoice {
 public:
  /// Commas separate the items of `text`, which apply in order: `all`, `none`, a group or
  /// `group.quirk` switches on; with `-` before it, it switches off.  A list that begins with `-`
  /// starts with all quirks on, any other list with all off; an empty list means `all`.  `unknown`
  /// gets the unknown names.  `all` are those of the level.
  static QuirkChoice parse(std::string_view text, std::vector<std::string>& unknown,
                           const Level& level = default_level());

  /// The present choice of the level and of WAYMARK_OPENCSD_QUIRKS.  Where the level is
  /// not known, the default: whoever makes a tree checks the level first.
  static QuirkChoice of_environment(std::vector<std::string>& unknown);
  static QuirkChoice of_environment();

  /// After a bad packet, software trace continues at the next synchronisation point.
  void search_after_bad_packet();

  /// As SourceOptions::quirks.
  [[nodiscard]] QuirkSet on(Protocol protocol) const;
  [[nodiscard]] frames::Quirks frames() const;

 private:
  static constexpr std::size_t kGroups = 6;
  bool set(std::string_view item);

  std::array<std::uint64_t, kGroups> off_{};
};

inline constexpr const char* kQuirksVariable = "WAYMARK_OPENCSD_QUIRKS";

/// "group.quirk" of each.
std::vector<std::string> quirk_names();

}  // namespace waymark::compat

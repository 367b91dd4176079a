// Which departures of the reference are on: all, unless the environment says otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/frames/demux.h"
#include "waymark/tree/source.h"

namespace waymark::compat {

/// By group, "frames" or a protocol, those that are off: bit i is row i of the group's table.  ETE
/// is of the group "etmv4".
class QuirkChoice {
 public:
  /// Items of `text` are parted by commas and count one after the other: `all`, `none`, a group or
  /// `group.quirk` to switch on, with `-` before it to switch off.  A list that begins with `-`
  /// begins with all on, another one with all off; nothing is `all`.  `unknown` gets what names
  /// nothing.
  static QuirkChoice parse(std::string_view text, std::vector<std::string>& unknown);

  /// Of WAYMARK_OPENCSD_QUIRKS, as it is now.
  static QuirkChoice of_environment(std::vector<std::string>& unknown);
  static QuirkChoice of_environment();

  /// Software trace goes on at the next synchronisation after a bad packet.
  void search_after_bad_packet();

  /// SourceOptions::reference_quirks and native_quirks.
  void apply(Protocol protocol, SourceOptions& options) const;
  [[nodiscard]] std::uint64_t off(Protocol protocol) const;
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

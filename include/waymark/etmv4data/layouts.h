// The lengths of data packets, for users who have the architecture manual.  No public source states
// them, so none is built in; see etmv4-data.md 4 and 6.4.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/etmv4data/packet.h"

namespace waymark::etmv4data {

/// The bytes after the header byte (for an extension: after both header bytes).
struct Layout {
  std::uint8_t fixed = 0;      ///< The number of bytes that are always present.
  std::uint8_t continued = 0;  ///< At most this many more, each except the last with bit 7 set.
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The layout of each packet type that can have one.
class Layouts {
 public:
  static constexpr std::size_t kCount = 15;

  /// The types that can have a layout: P1, P2, trace info and event.
  static std::span<const PacketType> types();

  [[nodiscard]] std::optional<Layout> find(PacketType type) const;
  /// kInvalidArgument: this type cannot have a layout.
  Result<void> set(PacketType type, Layout layout);
  /// Sets the layout of types()[row]; row < kCount.
  void set_row(std::size_t row, Layout layout) { rows_[row] = layout; }

 private:
  std::array<std::optional<Layout>, kCount> rows_{};
};

/// Reads layouts from text, one per line:
///   D_P1_F1 fixed=2 continued=9   # comment
/// Either count may be left out and is then 0.  kParse: `detail` begins with "line N: ".
Result<Layouts> parse_layouts(std::string_view text);

}  // namespace waymark::etmv4data

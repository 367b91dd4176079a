// The statements of a plan and the resources of its events: each once, in tables.  The parser, the
// text, the compiler and the decompiler of plans read them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan_words.h"
#include "waymark/etm4x/capabilities.h"
#include "waymark/etm4x/plan.h"
#include "waymark/etm4x/register_image.h"

namespace waymark::etm4x {

/// The registers that a plan is made from.
struct PlanRegisters {
  const RegisterImage& image;
  const Capabilities& caps;
  /// The event of a byte that selects resources.
  std::function<Event(std::uint32_t byte)> event;
  /// The match of an address comparator, or of a pair.
  std::function<Match(unsigned index, bool range)> match;

  [[nodiscard]] bool known(std::string_view name) const { return image.find(name).has_value(); }
  [[nodiscard]] std::uint32_t reg(std::string_view name) const {
    return static_cast<std::uint32_t>(image.value(name));
  }
};

/// A word of a setting, and its value.
struct Choice {
  std::string_view word;
  std::uint32_t value;
};

/// A feature that a unit must have.
struct Need {
  bool (*met)(const Capabilities& caps) = nullptr;
  std::string_view what{};
  std::string_view reg{};     ///< The register that says that the unit does not have it.
  std::string_view remedy{};  ///< What may be done instead.
  /// If that depends on the unit.
  std::string_view (*remedy_for)(const Capabilities& caps) = nullptr;
};
/// "the unit has no return stack (TRCIDR0.RETSTACK is 0)".
std::string lacks(std::string_view what, std::string_view reg);

/// A kind of line.  Where a function is missing, there is nothing to do: the row of another word
/// does it, or the compiler and the decompiler do it themselves, because they allocate comparators
/// and selectors.
struct Statement {
  std::string_view word;
  std::string_view form;
  bool once = false;  ///< A second line would replace the first one.
  /// The words after the first one.
  Parsed<void> (*parse)(const Statement& row, PlanWords& words, Plan& plan) = nullptr;
  /// All lines of the plan with this word.
  void (*print)(const Statement& row, const Plan& plan, std::vector<std::string>& lines) = nullptr;
  /// The line of the setting; nothing: it was not given.
  std::optional<std::uint32_t> (*line)(const Plan& plan) = nullptr;
  /// The bits of the file `mode`, if the setting was given.
  std::uint32_t (*mode)(const Statement& row, const Plan& plan) = nullptr;
  /// The setting as the registers have it.
  void (*read)(const Statement& row, const PlanRegisters& registers, Plan& plan) = nullptr;
  Need need{};
  /// The problem of the value, for a unit that has the needed features.
  std::optional<PlanProblem> (*check)(const Plan& plan, const Capabilities& caps) = nullptr;
  std::span<const Choice> choices{};
  std::uint32_t mode_bits = 0;  ///< The bits that are set, or the place of the value.
  std::string_view reg{};
  std::uint32_t mask = 0;  ///< Its field in the register.
};

/// A line number, which marks settings that were read from registers as given.
inline constexpr std::uint32_t kReadLine = 1;

/// All statements, in the order of their names in messages.
std::span<const Statement> plan_statements();
/// Their three parts.
std::span<const Statement> filter_statements();
std::span<const Statement> feature_statements();
std::span<const Statement> control_statements();

enum class ResourceArgument : std::uint8_t { kNumber, kAddress, kRange, kContextId, kVmid };

/// A kind of resource.
struct ResourceRow {
  ResourceKind kind;
  std::string_view word;
  ResourceArgument argument;
  unsigned most = 0;        ///< For kNumber.
  std::string_view what{};  ///< For kNumber: what the unit may lack.
  std::uint32_t group;      ///< TRCRSCTLRn.GROUP.
  unsigned first = 0;       ///< The bits of TRCRSCTLRn.SELECT for this kind.
  unsigned bits = 8;
};

/// In the order of ResourceKind.
inline constexpr std::array kResources = {
    ResourceRow{.kind = ResourceKind::kExternal,
                .word = "external",
                .argument = ResourceArgument::kNumber,
                .most = 255,
                .what = "external input",
                .group = 0,
                .bits = 4},
    ResourceRow{.kind = ResourceKind::kPeInput,
                .word = "pe-input",
                .argument = ResourceArgument::kNumber,
                .most = 7,
                .what = "PE comparator input",
                .group = 1},
    ResourceRow{.kind = ResourceKind::kCounter,
                .word = "counter",
                .argument = ResourceArgument::kNumber,
                .most = 3,
                .what = "counter",
                .group = 2,
                .bits = 4},
    ResourceRow{.kind = ResourceKind::kSequencer,
                .word = "sequencer",
                .argument = ResourceArgument::kNumber,
                .most = 3,
                .what = "sequencer state",
                .group = 2,
                .first = 4,
                .bits = 4},
    ResourceRow{.kind = ResourceKind::kSingleShot,
                .word = "single-shot",
                .argument = ResourceArgument::kNumber,
                .most = 7,
                .what = "single-shot control",
                .group = 3},
    ResourceRow{.kind = ResourceKind::kAddress,
                .word = "address",
                .argument = ResourceArgument::kAddress,
                .group = 4,
                .bits = 16},
    ResourceRow{.kind = ResourceKind::kRange,
                .word = "range",
                .argument = ResourceArgument::kRange,
                .group = 5},
    ResourceRow{.kind = ResourceKind::kContextId,
                .word = "context-id",
                .argument = ResourceArgument::kContextId,
                .group = 6},
    ResourceRow{.kind = ResourceKind::kVmid,
                .word = "vmid",
                .argument = ResourceArgument::kVmid,
                .group = 7},
};

constexpr const ResourceRow& resource_row(ResourceKind kind) {
  return kResources[static_cast<std::size_t>(kind)];
}
static_assert([] {
  for (std::size_t i = 0; i < kResources.size(); ++i)
    if (kResources[i].kind != static_cast<ResourceKind>(i)) return false;
  return true;
}());

}  // namespace waymark::etm4x

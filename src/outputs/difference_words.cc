#include <fmt/format.h>

#include <array>

#include "differences.h"
#include "waymark/base/plural.h"
#include "waymark/outputs/readable_name.h"

namespace waymark::outputs {
namespace {

using diff::Cause;
using diff::Side;

constexpr std::array<std::string_view, diff::kCauses> kCauseWords{
    "branch_outcome", "indirect_target",
    "exception",      "handler",
    "other_code",     "gap",
    "start",          "end"};

std::string exception_text(const DifferenceReport& report, std::size_t number, Side side) {
  const diff::Divergence& divergence = report.comparison.divergences()[number];
  if (number < report.places.size() && !report.places[number][side].exception.empty())
    return report.places[number][side].exception;
  const diff::BlockNumber block = divergence.at[side].block;
  return fmt::format("{}", report.comparison.blocks()[block].exception);
}

/// Where a run went; "nowhere" if it ended.
std::string target_text(const DifferenceReport& report, const diff::Position& at, Side side) {
  if (at.block == diff::kNoBlock) return "nowhere";
  return place_text(report.comparison.blocks()[at.block].places[side].start);
}

}  // namespace

std::string_view cause_word(Cause cause) { return kCauseWords[static_cast<std::size_t>(cause)]; }

std::string place_text(const program::Place& place) {
  const program::Function* const function =
      place.program == nullptr ? nullptr : place.program->function(place.address);
  if (function == nullptr) return fmt::format("0x{:x}", place.address);
  std::string text = readable_name(function->name);
  if (place.address != function->start)
    text += fmt::format("+0x{:x}", place.address - function->start);
  std::vector<program::Frame> frames;
  place.program->frames(place.address, frames);
  if (!frames.empty() && frames.front().line != 0) {
    const std::string_view file = frames.front().file;
    text += fmt::format(" ({}:{})", file.substr(file.rfind('/') + 1), frames.front().line);
  }
  return text;
}

std::string thread_text(const diff::ThreadPair& pair) {
  if (pair.name.group.empty()) return pair.name.name.empty() ? "the core" : pair.name.name;
  if (pair.name.name.empty()) return pair.name.group;
  return pair.name.group + ", " + pair.name.name;
}

std::string function_text(const diff::Programs& programs, diff::FunctionNumber number) {
  const diff::FunctionName& function = programs.function(number);
  return function.name.empty() ? "[unknown]" : readable_name(function.name);
}

std::string build_id_text(const program::Program& program) {
  std::string text;
  for (const std::uint8_t byte : program.build_id()) text += fmt::format("{:02x}", byte);
  return text.empty() ? "none" : text;
}

const diff::BlockPlace& shown_place(const diff::Block& block) {
  return block.places[block.places[0].known ? 0 : 1];
}

std::string sentence_of(const DifferenceReport& report, std::size_t number) {
  const diff::Divergence& divergence = report.comparison.divergences()[number];
  const Side left = divergence.left.value_or(0);
  const std::string_view one = kRunNames[left];
  const std::string_view other = kRunNames[1 - left];
  const auto went = [&](Side side) { return target_text(report, divergence.at[side], side); };
  switch (divergence.cause) {
    case Cause::kBranchOutcome:
      return fmt::format("A conditional branch was taken in {}, but not in {}.", one, other);
    case Cause::kIndirectTarget:
      return fmt::format("An indirect branch went to {} in A, and to {} in B.", went(0), went(1));
    case Cause::kException:
      if (divergence.left) {
        return fmt::format("Exception {} was taken in {}, but not in {}.",
                           exception_text(report, number, left), one, other);
      }
      return fmt::format("Exception {} was taken in A, and {} in B.",
                         exception_text(report, number, 0), exception_text(report, number, 1));
    case Cause::kHandler:
      return fmt::format("The exception went to {} in A, and to {} in B.", went(0), went(1));
    case Cause::kOtherCode:
      return fmt::format("The code is not the same: A executed {}, and B {}.", went(0), went(1));
    case Cause::kGap:
      return fmt::format("Trace of {} is missing from here on.", one);
    case Cause::kStart:
      return fmt::format("The traces start or continue at different places: A at {}, B at {}.",
                         went(0), went(1));
    case Cause::kEnd:
      return fmt::format("The trace of {} ends here; {} executed {} more.", one, other,
                         counted(divergence.detours[1 - left].instructions, "instruction"));
  }
  return {};
}

}  // namespace waymark::outputs

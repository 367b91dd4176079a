// The data that answers need besides a replay.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "function_table.h"
#include "waymark/base/result.h"
#include "waymark/outputs/instructions.h"
#include "waymark/program/place_lookup.h"
#include "waymark/view/answers.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// A message, and its place on the axis.
struct MessageAt {
  double at = 0;
  TrackNumber track = 0;
  std::string text{};
};

/// The messages of a part of the axis, in order.
struct MessagesFound {
  std::vector<MessageAt> messages{};
  bool complete = false;   ///< The whole part was searched.
  double searched_to = 0;  ///< How far.
};

/// How much one answer may decode.
struct AnswerLimits {
  /// Of trace, in a window whose answer is exact.  While such an answer is made, pictures may wait.
  std::uint64_t window_bytes = std::uint64_t{4} << 20;
  /// Of trace, that a step or a search passes.
  std::uint64_t search_bytes = std::uint64_t{64} << 20;
};

/// Facts of a session.  Any number of threads may use it; each takes a copy of `places`.
struct Knowledge {
  /// As inputs::CodeMemory.
  std::function<Bytes(const Element& element, std::uint64_t address,
                      std::span<std::uint8_t> scratch)>
      read{};
  std::function<isa::Profile(TraceId id)> profile{};
  std::shared_ptr<const program::Llvm> llvm{};       ///< nullptr: instructions show as ".inst".
  outputs::InstructionPool* instructions = nullptr;  ///< Over the same memory and places.
  program::PlaceLookup places{};                     ///< Empty: no function has a name.
  FunctionTable* functions = nullptr;
  /// The track of a thread on a source; `thread` as in stacks::Sink::on_track().
  std::function<TrackNumber(TraceId source, std::uint64_t thread)> track{};
  std::function<std::string(TraceId source, std::uint32_t number)> exception_name{};
  /// May be empty: there are none.
  std::function<Result<MessagesFound>(double from, double to, const Stop& stop)> messages{};
  std::function<Axis()> axis{};
  std::vector<std::string> source_places{};  ///< As SourceFiles takes them.
  AnswerLimits limits{};
};

}  // namespace waymark::view

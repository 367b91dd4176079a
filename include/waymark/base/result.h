// Errors as values.  Nothing in Waymark throws across a public boundary.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "waymark/base/types.h"

namespace waymark {

enum class ErrorCode : std::uint8_t {
  kInvalidArgument,  ///< The caller broke the contract of the function.
  kNotFound,         ///< A path, device, register or name does not exist.
  kIo,               ///< The operating system refused to read or write.
  kParse,            ///< A text file breaks its grammar.
  kUnsupported,      ///< Valid, but nothing here can decode it.
  kBadData,          ///< The bytes of a capture or an image cannot be what they claim to be.
  kConflict,         ///< Two statements contradict each other, such as overlapping ranges.
  kLimit,            ///< A stated bound was exceeded.
};

/// The problem and its place.  `detail` is a whole sentence for the user: it names the place and,
/// where there is one, the remedy.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string detail;
  TraceIndex index = kNoIndex;
  TraceId trace_id = kNoTraceId;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string detail,
                                                 TraceIndex index = kNoIndex,
                                                 TraceId trace_id = kNoTraceId) {
  return std::unexpected(Error{code, std::move(detail), index, trace_id});
}

}  // namespace waymark

/// Leaves the enclosing function with the error of `expression`, if it has one.
#define WAYMARK_TRY(expression)                                                   \
  do {                                                                            \
    if (auto waymark_try_result = (expression); !waymark_try_result) [[unlikely]] \
      return std::unexpected(std::move(waymark_try_result).error());              \
  } while (false)

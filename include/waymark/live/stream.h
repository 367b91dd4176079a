// Bytes as they arrive, and what else happens on their way.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "waymark/base/result.h"
#include "waymark/base/types.h"

namespace waymark::live {

enum class PieceKind : std::uint8_t {
  kBytes,
  kIdle,     ///< Nothing came in the time that the caller waits.
  kGap,      ///< Bytes are missing before the next ones.
  kRelease,  ///< A recording says that lines which waited for more were written here.
  kEnd,      ///< Nothing more comes.
};

/// Nanoseconds since 1970; 0: not known.
using ArrivalTime = std::int64_t;

struct Piece {
  PieceKind kind = PieceKind::kEnd;
  Bytes bytes{};  ///< kBytes: valid until the next call.
  ArrivalTime arrival = 0;
};

using Milliseconds = std::chrono::milliseconds;

/// A source of pieces.  One owner; not thread safe.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Waits for the next piece, at most `patience`.  After kEnd it always gives kEnd.  kIo: the
  /// system refuses, or the caller asked to stop.
  virtual Result<Piece> next(Milliseconds patience) = 0;

  /// The caller wrote lines that waited for more, because nothing came.  A recording keeps this.
  virtual void released() {}

  /// Its name in sentences.
  [[nodiscard]] virtual std::string name() const = 0;
};

/// Asked several times a second while a stream waits.  True: waiting ends with an error.
using Stop = std::function<bool()>;
/// Gets a sentence for the user about something that ends nothing.
using Notify = std::function<void(const std::string&)>;

/// Now, as a time of arrival.
ArrivalTime arrival_now();

}  // namespace waymark::live

// A live stream kept as a file: the bytes of the trace, and next to them a file of marks.
//
// FILE has the bytes that the decoder got, nothing else.  FILE.live is there only if something
// happened between them.  Its first line is "waymark-live 1"; each other line is a mark:
//
//   gap OFFSET            bytes are missing before this byte of FILE
//   release OFFSET        lines that waited for more were written after the bytes before it
//   at OFFSET NANOSECONDS the bytes from here on arrived at this time, counted from 1970
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "waymark/base/mapped_file.h"
#include "waymark/live/stream.h"

namespace waymark::live {

inline constexpr std::string_view kMarksSuffix = ".live";

struct RecordOptions {
  std::string path;
  bool arrivals = false;  ///< The times of arrival are kept, too.
  Notify notify{};
};

/// The pieces of `stream`, whose bytes and marks are written to files before they are given.  If a
/// write fails, `tell` gets a sentence and the stream goes on without being kept.  kIo: the file
/// cannot be made.
Result<std::unique_ptr<Stream>> record(std::unique_ptr<Stream> stream,
                                       const RecordOptions& options);

struct Mark {
  PieceKind kind = PieceKind::kGap;  ///< kGap, kRelease, or kBytes for a time of arrival.
  std::uint64_t offset = 0;
  ArrivalTime arrival = 0;
};

/// Reads a file of marks, line by line, from the beginning.
class Marks {
 public:
  /// The marks of a recording; nothing: it has none.  kParse: the file is not one of marks.
  static Result<std::optional<Marks>> open(const std::string& recording);

  /// The next mark; nothing at the end.  kParse: the line is not a mark, or its offset is lower
  /// than that of the mark before it.
  Result<std::optional<Mark>> next();
  /// Begins again.
  void rewind();

 private:
  explicit Marks(MappedFile file) : file_(std::move(file)) { rewind(); }

  MappedFile file_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::uint64_t last_ = 0;
};

/// The pieces of a recording: its bytes, divided at its marks.
class Playback final : public Stream {
 public:
  /// `bytes` must outlive the stream.
  Playback(std::string name, Bytes bytes, Marks marks)
      : name_(std::move(name)), bytes_(bytes), marks_(std::move(marks)) {}

  /// Never waits.
  Result<Piece> next(Milliseconds patience) override;
  [[nodiscard]] std::string name() const override { return name_; }

  /// The next bytes begin at `offset`, or at the end.
  void seek(std::uint64_t offset);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10;

  std::string name_;
  Bytes bytes_;
  Marks marks_;
  std::optional<Mark> mark_;  ///< The next one.
  bool looked_ = false;       ///< mark_ is valid.
  std::size_t at_ = 0;
  ArrivalTime arrival_ = 0;
};

}  // namespace waymark::live

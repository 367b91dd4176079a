// An index of a capture: which trace IDs, synchronisation points, times and landmarks are in which
// of its blocks.  docs/index-format.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/frames/demux.h"
#include "waymark/index/file_digest.h"
#include "waymark/protocol/landmark.h"

namespace waymark::index {

/// Bytes of capture in a block.  Every granule is a multiple of kMinGranule, and so of the frames.
inline constexpr std::uint64_t kDefaultGranule = std::uint64_t{64} << 10;
inline constexpr std::uint64_t kMinGranule = std::uint64_t{4} << 10;
inline constexpr std::uint64_t kMaxGranule = std::uint64_t{64} << 20;

/// The formatter's ID of triggers.
inline constexpr TraceId kTriggerId = 0x7D;

enum class Form : std::uint8_t {
  kSparse,  ///< For each block: counts, and the first and last positions and times.
  kFull,    ///< Every landmark as well.
};
std::string_view form_name(Form form);

/// Sums of packets and bytes, as in SourceStatistics.
struct Tally {
  std::uint64_t bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t sync_points = 0;
  std::uint64_t unsynced_bytes = 0;
  std::uint64_t bad_headers = 0;
  std::uint64_t bad_sequences = 0;
  friend bool operator==(const Tally&, const Tally&) = default;
};

using LandmarkCounts = std::array<std::uint64_t, kLandmarkKindCount>;

/// The contents of the frames of one block of capture.  Without frames, only the number is set.
struct SourceBlock {
  std::uint64_t number = 0;
  /// Where a demultiplexer can begin to read the whole block.  Nothing: only in an earlier block.
  std::optional<frames::Demux::Place> place;
  std::uint64_t frame_syncs = 0;
  TraceIndex first_frame_sync = kNoIndex;
  std::uint64_t triggers = 0;  ///< Bytes of kTriggerId.
  TraceIndex first_trigger = kNoIndex;
  std::uint64_t resets = 0;  ///< Runs of frame syncs that reset everything.
  std::uint64_t errors = 0;  ///< Errors of the frame layer.
  std::vector<std::pair<TraceId, std::uint32_t>> bytes;  ///< By ID, ascending; ID 0 is left out.
  friend bool operator==(const SourceBlock&, const SourceBlock&) = default;
};

/// The contents of one source in one block of capture.  A packet belongs to the block of its last
/// byte, so a position can be before the block.  A kSync landmark has the index of the kAlign
/// before it, at which a decoder can start.
struct StreamBlock {
  std::uint64_t number = 0;
  Tally tally;
  LandmarkCounts counts{};
  std::uint64_t whole_timestamps = 0;
  std::uint64_t lasting_contexts = 0;  ///< Those that later synchronisation points do not repeat.
  TraceIndex first_sync = kNoIndex;
  TraceIndex last_sync = kNoIndex;
  std::uint64_t first_timestamp = 0;  ///< These three have meaning if `counts` has timestamps.
  std::uint64_t last_timestamp = 0;
  std::uint64_t highest_timestamp = 0;
  std::vector<Landmark> landmarks;  ///< In order; only in the full form.
  friend bool operator==(const StreamBlock&, const StreamBlock&) = default;

  [[nodiscard]] std::uint64_t count(LandmarkKind kind) const {
    return counts[static_cast<std::size_t>(kind)];
  }
  /// Counts the landmark, and keeps it if the form is full.
  void add(const Landmark& landmark, Form form);
};

/// A source of the capture, with sums over its blocks.
struct Stream {
  TraceId id = 0;
  std::string protocol;
  std::uint64_t config_hash = 0;  ///< inputs::CaptureSource::config_hash.
  bool starts_in_sync = false;    ///< Its first byte begins a packet.
  Tally tally;
  LandmarkCounts counts{};
  friend bool operator==(const Stream&, const Stream&) = default;
};

/// The capture to which the index belongs, and how far the index goes.
struct Header {
  std::uint64_t granule = kDefaultGranule;
  Form form = Form::kSparse;
  std::string framing;            ///< inputs::framing_name().
  std::uint64_t indexed = 0;      ///< Everything before this index is in the blocks.
  bool complete = false;          ///< The capture ended there.
  std::uint64_t file_size = 0;    ///< Bytes of the capture's file up to `indexed`,
  std::uint64_t file_digest = 0;  ///< and the FileDigest of them.
  std::uint64_t frame_syncs = 0;
  std::uint64_t triggers = 0;
  std::uint64_t resets = 0;
  std::uint64_t errors = 0;
  std::array<std::uint64_t, kTraceIdCount> id_bytes{};
  std::vector<Stream> streams;  ///< Ascending by ID.
  friend bool operator==(const Header&, const Header&) = default;

  [[nodiscard]] bool framed() const { return framing != "none"; }
  [[nodiscard]] std::uint64_t blocks() const { return (indexed + granule - 1) / granule; }
  /// nullptr: there is no such source.
  [[nodiscard]] const Stream* stream(TraceId id) const;
  void add(const SourceBlock& block);
  void add(TraceId id, const StreamBlock& block);
  void remove(const SourceBlock& block);
  void remove(TraceId id, const StreamBlock& block);
};

/// The landmarks that Index::find() looks for in the blocks of a stream.
struct Want {
  std::optional<LandmarkKind> kind{};                 ///< A landmark of this kind.
  std::optional<std::uint64_t> timestamp_at_least{};  ///< A timestamp of this value or above.
  bool lasting_context = false;                       ///< StreamBlock::lasting_contexts is not 0.
  [[nodiscard]] bool holds(const StreamBlock& block) const;
};

enum class Walk : std::uint8_t { kForward, kBackward };

/// The data of a capture that a viewer keeps next to its index.  This module does not know what the
/// records mean.
struct ViewRecord {
  std::uint64_t kind = 0;
  std::uint64_t number = 0;  ///< Within the kind.
  std::vector<std::uint8_t> record{};
};
struct ViewRecords {
  std::uint64_t version = 0;          ///< The form of the records has it.
  std::string fingerprint{};          ///< What the records depend on besides the capture.
  std::vector<ViewRecord> records{};  ///< By kind, then by number.

  /// More bytes are not read.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
};

/// The blocks, in memory or in a file (store.h). One owner; not thread safe.
///
/// Only an index in a file can fail to read: kIo; kBadData if it is damaged.  Empty blocks may be
/// missing.
///
/// Whatever a damaged file contains, an answer is on the requested side of the requested block, so
/// that every walk from block to block ends.  The size of the file bounds the work of a Question.
class Index {
 public:
  virtual ~Index() = default;
  Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  [[nodiscard]] const Header& header() const { return header_; }
  /// The file of the index, for messages; empty: in memory.
  [[nodiscard]] virtual std::string place() const { return {}; }

  /// While the capture's file has these times, it has not changed.
  [[nodiscard]] const FileTimes& file_times() const { return file_times_; }
  /// Notes that the file has not changed, and has these times.
  virtual void confirm(const FileTimes& times) { file_times_ = times; }

  virtual Result<std::optional<SourceBlock>> source_block(std::uint64_t number) = 0;
  /// The last block that has a place, up to `number`.
  virtual Result<std::optional<SourceBlock>> find_place(std::uint64_t number) = 0;
  /// The first block with triggers, from `number` on.
  virtual Result<std::optional<SourceBlock>> find_triggers(std::uint64_t number) = 0;
  /// The first block of `id`, from `number` on in that direction, that has what is wanted; without
  /// its landmarks.
  virtual Result<std::optional<StreamBlock>> find(TraceId id, std::uint64_t number, Walk walk,
                                                  const Want& want) = 0;
  /// The landmarks of a block; only in the full form.
  virtual Result<std::vector<Landmark>> landmarks(TraceId id, std::uint64_t number) = 0;

  // -- For viewers. ----------------------------------------------------------------------------
  /// Nothing: there are none.
  virtual Result<std::optional<ViewRecords>> view() { return std::nullopt; }
  /// Replaces them.  kUnsupported: in memory.
  virtual Result<void> write_view(const ViewRecords& view);

  // -- For the builder: blocks in ascending order, then a header with their sums. ----------------
  virtual Result<void> append(const SourceBlock& block) = 0;
  virtual Result<void> append(TraceId id, const StreamBlock& block) = 0;
  /// Makes what was appended permanent.
  virtual Result<void> commit(const Header& header) = 0;
  /// Removes the blocks from `number` on; `header` has the sums of the rest.
  virtual Result<void> truncate(std::uint64_t number, const Header& header) = 0;

 protected:
  Header header_;
  FileTimes file_times_;

  [[nodiscard]] bool in_question() const { return questions_ != 0; }
  /// The outermost question begins.
  virtual void begin_question() {}

 private:
  friend class Question;
  unsigned questions_ = 0;
};

/// While a Question lives, all calls of an index belong to it.  A question within another one
/// belongs to the outer one.  Without a Question, every call is a question.
class Question {
 public:
  explicit Question(Index& index) : index_(index) {
    if (index_.questions_++ == 0) index_.begin_question();
  }
  ~Question() { --index_.questions_; }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  Index& index_;
};

/// An index in memory.
std::unique_ptr<Index> make_memory_index();

/// Landmarks as bytes, and back; docs/index-format.md.  Decoding can fail with kBadData.
std::vector<std::uint8_t> encode_landmarks(const std::vector<Landmark>& landmarks);
Result<std::vector<Landmark>> decode_landmarks(Bytes bytes);

}  // namespace waymark::index

#include "waymark/index/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "pass.h"
#include "waymark/frames/dstream.h"

namespace waymark::index {
namespace {

constexpr std::uint64_t kCommitBytes = std::uint64_t{64} << 20;
/// With this many sources per granule, a sparse index is at most 1 % of the capture.
constexpr std::size_t kSourcesPerGranule = 8;

std::uint64_t granule_for(std::size_t sources) {
  return kDefaultGranule * std::bit_ceil((sources + kSourcesPerGranule - 1) / kSourcesPerGranule);
}

std::string name_of(const Index& index) {
  return index.place().empty() ? "the index" : index.place();
}

std::string remedy(const Index& index) {
  if (index.place().empty()) return "build it again.";
  return "rebuild it with `waymark index --rebuild`, or choose another one with -o.";
}

class Builder final : public PassSink {
 public:
  Builder(inputs::Capture& capture, Index& index, const BuildOptions& options)
      : capture_(capture), index_(index), options_(options), header_(index.header()) {}

  Result<BuildReport> run() {
    if (header_.streams.empty()) {
      begin();
    } else {
      bool stopped = false;
      const auto checked = check(capture_, index_, [&] { return stopped = stops(); });
      if (stopped) return BuildReport{.from = header_.indexed, .to = header_.indexed};
      if (!checked) return std::unexpected(checked.error());
      WAYMARK_TRY(check_all_are_read());
    }
    BuildReport report;
    report.from = header_.indexed;
    if (!header_.complete || header_.indexed != capture_.trace_bytes()) {
      const auto first = first_block();
      if (!first) return std::unexpected(first.error());
      if (!*first) return BuildReport{.from = report.from, .to = report.from};
      WAYMARK_TRY(pass(**first));
    }
    report.to = header_.indexed;
    report.complete = header_.complete;
    return report;
  }

  void on_landmark(TraceId id, const Landmark& landmark) override {
    // Triggers of the formatter are counted together with the frames.
    if (attached_[id]) streams_[id].add(landmark, header_.form);
  }

  Result<bool> on_block(const SourceBlock& block, std::span<const StreamCounts> streams) override {
    header_.add(block);
    if (header_.framed()) WAYMARK_TRY(index_.append(block));
    for (const StreamCounts& counts : streams) {
      StreamBlock& stream = streams_[counts.id];
      stream.number = block.number;
      stream.tally = counts.tally;
      header_.add(counts.id, stream);
      WAYMARK_TRY(index_.append(counts.id, stream));
      stream = {};
    }
    header_.indexed = std::min((block.number + 1) * header_.granule, capture_.trace_bytes());
    digest_.read(file(), file_bytes(header_.indexed));
    const bool stop = stops();
    if (header_.indexed == capture_.trace_bytes()) return true;
    if (!stop && header_.indexed - committed_ < kCommitBytes) return true;
    WAYMARK_TRY(commit(false));
    return !stop;
  }

 private:
  [[nodiscard]] bool stops() const override {
    return options_.stop && options_.stop(header_.indexed);
  }
  [[nodiscard]] Bytes file() const { return capture_.trace().bytes(); }

  /// Without one of its sources, the index would have no blocks of it from here on, as if the
  /// source had sent nothing.
  Result<void> check_all_are_read() const {
    for (const Stream& stream : header_.streams) {
      if (std::ranges::find(capture_.sources(), stream.id, &inputs::CaptureSource::id) !=
          capture_.sources().end()) {
        continue;
      }
      return fail(ErrorCode::kConflict,
                  fmt::format("{} also has the trace ID 0x{:02x}, which is left out now; index "
                              "the same sources, or make another index with -o.",
                              name_of(index_), stream.id));
    }
    return {};
  }

  void begin() {
    header_ = {};
    // Before the first byte is read, so that a later change does not get these times.
    index_.confirm(file_times(capture_.trace().path()));
    header_.form = options_.form;
    const std::uint64_t granule =
        options_.granule != 0 ? options_.granule : granule_for(capture_.sources().size());
    header_.granule = std::clamp(granule, kMinGranule, kMaxGranule) / kMinGranule * kMinGranule;
    header_.framing = inputs::framing_name(capture_.framing());
    for (const inputs::CaptureSource& source : capture_.sources()) {
      Stream stream;
      stream.id = source.id;
      stream.protocol = protocol_name(source.source->protocol());
      stream.config_hash = source.config_hash;
      stream.starts_in_sync = source.starts_in_sync;
      header_.streams.push_back(std::move(stream));
    }
    std::ranges::sort(header_.streams, {}, &Stream::id);
  }

  /// Where the build continues.  The last block of a capture that has grown is built again, since
  /// the packet at its end may be longer now.
  /// Nothing: a stop was asked for.
  Result<std::optional<std::uint64_t>> first_block() {
    if (header_.indexed == 0) return 0;
    if (!header_.complete) return header_.indexed / header_.granule;
    const std::uint64_t last = (header_.indexed - 1) / header_.granule;
    const auto frames = index_.source_block(last);
    if (!frames) return std::unexpected(frames.error());
    if (*frames) header_.remove(**frames);
    for (const Stream& stream : index_.header().streams) {
      const auto block = index_.find(stream.id, last, Walk::kForward, {});
      if (!block) return std::unexpected(block.error());
      if (*block && (*block)->number == last) header_.remove(stream.id, **block);
    }
    header_.complete = false;
    header_.indexed = last * header_.granule;
    header_.file_size = file_bytes(header_.indexed);
    if (!digest_.read(file(), header_.file_size, [this] { return stops(); })) return std::nullopt;
    header_.file_digest = digest_.value(file(), header_.file_size);
    WAYMARK_TRY(index_.truncate(last, header_));
    return last;
  }

  Result<void> pass(std::uint64_t first) {
    const std::vector<TraceId> ids = source_ids(capture_);
    for (const TraceId id : ids) attached_.set(id);
    Entry entry;
    if (first != 0) {
      auto found = seek(index_, ids, first * header_.granule,
                        {.reach = SeekOptions::kAny, .skip_ended = false});
      if (!found) return std::unexpected(found.error());
      entry = std::move(*found);
    }
    committed_ = header_.indexed;
    if (!continue_digest()) return {};
    Pass pass(capture_, header_.granule, *this);
    const Result<bool> done = pass.run(entry, first, ~std::uint64_t{0});
    if (!done) return std::unexpected(done.error());
    if (!*done) return {};
    header_.indexed = capture_.trace_bytes();
    return commit(true);
  }

  Result<void> commit(bool complete) {
    header_.complete = complete;
    set_indexed(header_.indexed);
    committed_ = header_.indexed;
    return index_.commit(header_);
  }

  /// The bytes of the file that belong to this index.
  [[nodiscard]] std::uint64_t file_bytes(std::uint64_t indexed) const {
    std::uint64_t size = indexed;
    if (capture_.framing() == inputs::Framing::kDstream) {
      size = indexed / frames::kDstreamPayloadSize * frames::kDstreamRecordSize +
             indexed % frames::kDstreamPayloadSize;
    }
    return std::min<std::uint64_t>(size, file().size());
  }

  void set_indexed(std::uint64_t indexed) {
    header_.indexed = indexed;
    header_.file_size = file_bytes(indexed);
    header_.file_digest = digest_.value(file(), header_.file_size);
  }

  /// The digest of what was read before can be continued if it ended with a whole piece.  False: a
  /// stop was asked for.
  bool continue_digest() {
    const std::uint64_t size = header_.file_size;
    if (size % FileDigest::kPiece == 0) {
      digest_ = {size, header_.file_digest};
      return true;
    }
    digest_ = {};
    return digest_.read(file(), size, [this] { return stops(); });
  }

  inputs::Capture& capture_;
  Index& index_;
  const BuildOptions& options_;
  Header header_;
  frames::IdSet attached_;
  std::array<StreamBlock, kTraceIdCount> streams_;  ///< The present block.
  FileDigest digest_;                               ///< Digest of the file up to Header::indexed.
  std::uint64_t committed_ = 0;
};

}  // namespace

Result<BuildReport> build(inputs::Capture& capture, Index& index, const BuildOptions& options) {
  return Builder(capture, index, options).run();
}

Result<void> check_file(const MappedFile& file, std::string_view framing, Index& index,
                        const FileDigest::Stop& stop) {
  const Header& header = index.header();
  const std::string name = name_of(index);
  if (header.framing != framing) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} was made with --framing {}, but this capture is read with {}; {}",
                            name, header.framing, framing, remedy(index)));
  }
  const auto known = inputs::framing_by_name(framing);
  // The second number is the index's own claim: no reader must be sent past the end of the capture.
  if (file.size() < header.file_size ||
      (known && inputs::trace_bytes(*known, file.size()) < header.indexed)) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} belongs to a capture of at least {} bytes, but this one has {}: it was cut "
                    "off, or is another capture; {}",
                    name, std::max(header.file_size, header.indexed), file.size(), remedy(index)));
  }
  // Before the bytes are read, so that a later change does not get these times.
  const FileTimes times = file_times(file.path());
  if (times.known() && times == index.file_times()) return {};
  FileDigest digest;
  if (!digest.read(file.bytes(), header.file_size, stop))
    return fail(ErrorCode::kLimit,
                fmt::format("{} was not compared with its trace: stopped.", name));
  if (digest.value(file.bytes(), header.file_size) != header.file_digest) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} belongs to another capture, or the capture has changed since: its first "
                    "{} bytes differ; {}",
                    name, header.file_size, remedy(index)));
  }
  if (times.known()) index.confirm(times);
  return {};
}

Result<void> check(const inputs::Capture& capture, Index& index, const FileDigest::Stop& stop) {
  WAYMARK_TRY(check_file(capture.trace(), inputs::framing_name(capture.framing()), index, stop));
  return check_sources(capture, index);
}

Result<void> check_sources(const inputs::Capture& capture, const Index& index) {
  const std::string name = name_of(index);
  for (const inputs::CaptureSource& source : capture.sources()) {
    const Stream* stream = index.header().stream(source.id);
    if (stream == nullptr) {
      return fail(ErrorCode::kConflict, fmt::format("{} does not have the trace ID 0x{:02x}; {}",
                                                    name, source.id, remedy(index)));
    }
    if (stream->config_hash != source.config_hash ||
        stream->protocol != protocol_name(source.source->protocol())) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} was made with other registers, another core or another protocol "
                              "for the trace ID 0x{:02x}; {}",
                              name, source.id, remedy(index)));
    }
  }
  return {};
}

}  // namespace waymark::index

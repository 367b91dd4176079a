#include "waymark/index/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "pass.h"
#include "waymark/frames/dstream.h"

namespace waymark::index {
namespace {

constexpr std::uint64_t kCommitBytes = std::uint64_t{64} << 20;
/// So many sources fit a sparse index into 1 % of the capture.
constexpr std::size_t kSourcesPerGranule = 8;

std::uint64_t granule_for(std::size_t sources) {
  return kDefaultGranule * std::bit_ceil((sources + kSourcesPerGranule - 1) / kSourcesPerGranule);
}

std::string name_of(const Index& index) {
  return index.place().empty() ? "the index" : index.place();
}

std::string remedy(const Index& index) {
  if (index.place().empty()) return "build it anew.";
  return fmt::format("delete {}, or keep another with -o.", index.place());
}

class Builder final : public PassSink {
 public:
  Builder(inputs::Capture& capture, Index& index, const BuildOptions& options)
      : capture_(capture), index_(index), options_(options), header_(index.header()) {}

  Result<BuildReport> run() {
    if (header_.streams.empty()) {
      begin();
    } else {
      WAYMARK_TRY(check(capture_, index_));
      WAYMARK_TRY(check_all_are_read());
    }
    BuildReport report;
    report.from = header_.indexed;
    if (!header_.complete || header_.indexed != capture_.trace_bytes()) {
      const auto first = first_block();
      if (!first) return std::unexpected(first.error());
      WAYMARK_TRY(pass(*first));
    }
    report.to = header_.indexed;
    report.complete = header_.complete;
    return report;
  }

  void on_landmark(TraceId id, const Landmark& landmark) override {
    // Triggers of the formatter are counted with the frames.
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
    const bool stop = options_.stop && options_.stop(header_.indexed);
    if (header_.indexed == capture_.trace_bytes()) return true;
    if (!stop && header_.indexed - committed_ < kCommitBytes) return true;
    WAYMARK_TRY(commit(false));
    return !stop;
  }

 private:
  /// A source that is left out would have no blocks from here on, as if it had sent nothing.
  Result<void> check_all_are_read() const {
    for (const Stream& stream : header_.streams) {
      if (std::ranges::find(capture_.sources(), stream.id, &inputs::CaptureSource::id) !=
          capture_.sources().end()) {
        continue;
      }
      return fail(ErrorCode::kConflict,
                  fmt::format("{} has the trace ID 0x{:02x}, too, which is left out now: index the "
                              "same sources again, or keep another index with -o.",
                              name_of(index_), stream.id));
    }
    return {};
  }

  void begin() {
    header_ = {};
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

  /// Where the build goes on.  The last block of a capture that has grown is made anew: what was
  /// unfinished at its end goes on now.
  Result<std::uint64_t> first_block() {
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
    set_indexed(last * header_.granule);
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

  void set_indexed(std::uint64_t indexed) {
    header_.indexed = indexed;
    const Bytes file = capture_.trace().bytes();
    std::uint64_t size = indexed;
    if (capture_.framing() == inputs::Framing::kDstream) {
      size = indexed / frames::kDstreamPayloadSize * frames::kDstreamRecordSize +
             indexed % frames::kDstreamPayloadSize;
    }
    header_.file_size = std::min<std::uint64_t>(size, file.size());
    header_.file_hash = sample_hash(file.first(header_.file_size));
  }

  inputs::Capture& capture_;
  Index& index_;
  const BuildOptions& options_;
  Header header_;
  frames::IdSet attached_;
  std::array<StreamBlock, kTraceIdCount> streams_;  ///< The present block.
  std::uint64_t committed_ = 0;
};

}  // namespace

Result<BuildReport> build(inputs::Capture& capture, Index& index, const BuildOptions& options) {
  return Builder(capture, index, options).run();
}

Result<void> check_file(Bytes file, std::string_view framing, const Index& index) {
  const Header& header = index.header();
  const std::string name = name_of(index);
  if (header.framing != framing) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} was made with --framing {}, and this capture is read with {}: {}",
                            name, header.framing, framing, remedy(index)));
  }
  const auto known = inputs::framing_by_name(framing);
  // Whoever made the index, nobody is sent behind the end.
  if (file.size() < header.file_size ||
      (known && inputs::trace_bytes(*known, file.size()) < header.indexed)) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} is of a capture of at least {} bytes, and this one has {}: it was "
                    "cut, or is another; {}",
                    name, std::max(header.file_size, header.indexed), file.size(), remedy(index)));
  }
  if (sample_hash(file.first(header.file_size)) != header.file_hash) {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is of another capture, its first {} bytes differ: {}", name,
                            header.file_size, remedy(index)));
  }
  return {};
}

Result<void> check(const inputs::Capture& capture, const Index& index) {
  WAYMARK_TRY(check_file(capture.trace().bytes(), inputs::framing_name(capture.framing()), index));
  const std::string name = name_of(index);
  for (const inputs::CaptureSource& source : capture.sources()) {
    const Stream* stream = index.header().stream(source.id);
    if (stream == nullptr) {
      return fail(ErrorCode::kConflict, fmt::format("{} does not have the trace ID 0x{:02x}: {}",
                                                    name, source.id, remedy(index)));
    }
    if (stream->config_hash != source.config_hash ||
        stream->protocol != protocol_name(source.source->protocol())) {
      return fail(ErrorCode::kConflict,
                  fmt::format("{} was made with other registers, core or protocol for the trace ID "
                              "0x{:02x}: {}",
                              name, source.id, remedy(index)));
    }
  }
  return {};
}

}  // namespace waymark::index

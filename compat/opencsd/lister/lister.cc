#include "lister.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "listing.h"
#include "snapshot_log.h"
#include "tree_builder.h"
#include "waymark/base/mapped_file.h"
#include "waymark/frames/dstream.h"
#include "waymark/frames/text.h"

namespace waymark::compat {
namespace {

// The size of a block is visible where unsynchronised bytes are printed: at most one packet per
// block.
constexpr std::size_t kBlockSize = 1024;
constexpr std::size_t kElementBatch = 1024;
constexpr int kExitInput = 1;
/// The bytes at the end of a block in which an FSYNC can begin that the block does not have.
constexpr std::size_t kFsyncRest = frames::kFsyncBytes.size() - 1;

class Run {
 public:
  Run(const ListerOptions& options, const inputs::Snapshot& snapshot, Log& log)
      : options_(options), snapshot_(snapshot), log_(log), listing_(options, log) {
    elements_.resize(kElementBatch);
  }

  void list(const inputs::TraceBuffer& first) {
    std::optional<BuiltTree> built = build_tree(snapshot_, first, options_, log_);
    if (!built) return;
    built_ = std::move(*built);
    listing_.attach(*built_.tree, built_.refused);
    if (!listing_.prints()) {
      log_.line(fmt::format("{}No supported protocols found.", kLister));
      return;
    }
    if (options_.decode) {
      log_.line(fmt::format("{}Set trace element decode printer", kLister));
      log_accessors(*built_.dumps, log_);
    }
    if (!options_.multi_session) {
      list_buffer(first);
    } else {
      list_sessions();
    }
    if (options_.profile) listing_.log_profile();
  }

 private:
  [[nodiscard]] DecodeTree& tree() const { return *built_.tree; }

  void list_sessions() {
    const std::size_t count = snapshot_.buffers.size();
    for (std::size_t i = 0; i < count; ++i) {
      const inputs::TraceBuffer& buffer = snapshot_.buffers[i];
      log_.line(fmt::format("####### Multi Session decode: Buffer {} of {}; Source name = {}.\n",
                            i + 1, count, buffer.name));
      const bool good = list_buffer(buffer);
      tree().reset();
      if (!good) {
        log_.line(fmt::format("{}ERROR : Multi-session decode for buffer {} failed. Aborting.\n",
                              kLister, buffer.name));
        return;
      }
      log_.line(fmt::format("####### Buffer {} : {} Complete\n", i + 1, buffer.name));
    }
  }

  /// False: the decode path failed.
  bool list_buffer(const inputs::TraceBuffer& buffer) {
    const auto file = MappedFile::open(snapshot_.path_of(buffer.file));
    if (!file) {
      log_.line(fmt::format("{}Error : Unable to open trace buffer.", kLister));
      return false;
    }
    if (tree().formatted() && tree().alignment() != frames::kFrameSize)
      bytes_before_fsync_ = tree().frame_statistics().total();
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t processed =
        options_.dstream ? feed_dstream(file->bytes()) : feed_blocks(file->bytes());
    if (fatal_) {
      log_.line(fmt::format("{}Data Path fatal error", kLister));
      log_.text().put(log_.last_error());
    } else {
      finish();
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    log_.line(options_.print_time
                  ? fmt::format("{}Trace buffer done, processed {} bytes in {:.8g} seconds.",
                                kLister, processed, time.count())
                  : fmt::format("{}Trace buffer done, processed {} bytes.", kLister, processed));
    if (options_.statistics) log_statistics();
    return !fatal_;
  }

  std::uint64_t feed_blocks(Bytes bytes) {
    std::size_t at = 0;
    while (at < bytes.size() && !done()) {
      const std::size_t size = std::min(kBlockSize, bytes.size() - at);
      at += feed(at, bytes.subspan(at, size), at + size == bytes.size());
    }
    return at;
  }

  /// The index leaves the footers out.  A record and then its footer are read to the beginning of
  /// the same buffer, and the footer is printed even if the file ended before it: what is missing
  /// of it shows what the buffer held.
  std::uint64_t feed_dstream(Bytes bytes) {
    constexpr std::size_t kFooterSize = frames::kDstreamRecordSize - frames::kDstreamPayloadSize;
    std::array<std::uint8_t, kFooterSize> footer{};
    std::uint64_t index = 0;
    const auto take = [&](std::size_t most) {
      const Bytes taken = bytes.first(std::min(most, bytes.size()));
      std::ranges::copy(taken.first(std::min(kFooterSize, taken.size())), footer.begin());
      bytes = bytes.subspan(taken.size());
      return taken;
    };
    for (bool more = true; more && !done();) {
      const Bytes payload = take(frames::kDstreamPayloadSize);
      if (!payload.empty()) index += feed(index, payload, bytes.empty());
      const Bytes tail = take(kFooterSize);
      more = tail.size() == kFooterSize;
      if (options_.raw_packed && !options_.profile) {
        frames::write_dstream_footer(log_.text(), footer);
      }
    }
    return index;
  }

  /// The used bytes of the block: all of them, unless the path failed.  `last`: the trace ends with
  /// it.
  std::size_t feed(std::uint64_t index, Bytes block, bool last) {
    if (!tree().feed(index, block)) {
      fatal_ = true;
      return 0;
    }
    if (listing_.element_waits() != 0) {
      drain_waiting(block.size(), last);
    } else {
      drain();
    }
    if (!tree().failed() && lacks_fsync()) {
      fatal_ = true;
      return block.size() - std::min(block.size(), kFsyncRest);
    }
    if (!fatal_ && !tree().failed() && !listing_.stopped()) return block.size();
    fatal_ = true;
    const std::size_t used = listing_.stopped() ? listing_.stopped_at() : tree().consumed();
    tree().leave_block();
    return used;
  }

  /// The reference expects an FSYNC in the first block.  It does not use the last bytes of a block
  /// that has none, and the lister gives them again alone, which is an error.
  bool lacks_fsync() {
    if (!bytes_before_fsync_) return false;
    if (tree().frame_statistics().total() == *bytes_before_fsync_) return true;
    bytes_before_fsync_.reset();
    return false;
  }

  void drain() {
    while (!listing_.stopped()) {
      const std::size_t count = tree().next(elements_);
      if (count == 0) return;
      listing_.elements(std::span(elements_).first(count));
    }
  }

  std::span<const Element> next_element() {
    return std::span(elements_).first(tree().next(std::span(elements_).first(1)));
  }

  /// With -test_waits: as the reference does with a sink of elements that answers WAIT.  A WAIT is
  /// acknowledged by the FLUSH after it, which gives what the packet still has.  Then the rest of
  /// the block, or of a segment of a frame, is given again, as a new block.
  void drain_waiting(std::size_t size, bool last) {
    std::size_t waited_at = 0;
    while (!listing_.stopped()) {
      const auto element = next_element();
      if (element.empty()) break;
      const bool waits = listing_.element_waits() != 0;
      listing_.elements(element);
      if (!waits || ignores_answer(element.front())) continue;
      waited_at = tree().consumed();
      if (last && waited_at == size) return lose_rest(element.front().trace_id);
      listing_.acknowledge();
      if (listing_.refuses_flush()) {
        fatal_ = true;
        return;
      }
      tree().restart_block();
    }
    if (waited_at == size) return;
    // The rest of the block was given without an element: the lister misses its WAIT.
    if (!tree().failed() && !listing_.stopped() && listing_.element_waits() != 0)
      log_.line(fmt::format("{}WARNING : Data in; data Path expected WAIT response", kLister));
  }

  /// The packet processor of ITM ignores the answer to its first unsynchronised bytes, and the WAIT
  /// stays unacknowledged.
  [[nodiscard]] bool ignores_answer(const Element& element) const {
    if (element.kind != ElementKind::kNoSync ||
        element.reason != static_cast<std::uint8_t>(UnsyncReason::kInitDecoder))
      return false;
    const Source* const source = tree().source(element.trace_id);
    return source != nullptr && source->protocol() == Protocol::kItm;
  }

  /// No FLUSH follows a WAIT at the end of the trace: the rest of the last frame is never read.
  /// What the packet still has comes with EOT, but not that of a PTM, whose atoms wait one by one.
  void lose_rest(TraceId waiting) {
    Source* const source = tree().source(waiting);
    if (source == nullptr) return;
    tree().leave_block();
    listing_.set_silent(true);
    const bool kept = source->protocol() != Protocol::kPtm;
    for (Element element; source->next({&element, 1}) != 0;)
      if (kept) pending_.push_back(element);
    listing_.set_silent(false);
  }

  /// No FLUSH follows EOT either: after a WAIT, the rest of a source is lost.
  void finish() {
    tree().finish();
    if (listing_.element_waits() == 0 && pending_.empty()) return drain();
    std::optional<TraceId> waiting;
    const auto give = [&](const Element& element) {
      if (waiting == element.trace_id) return;
      const bool waits = listing_.element_waits() != 0;
      listing_.elements({&element, 1});
      // The answer to a NO_SYNC does not count.
      if (waits && element.kind != ElementKind::kNoSync) waiting = element.trace_id;
    };
    while (true) {
      const auto element = next_element();
      if (element.empty()) break;
      if (!pending_.empty() && pending_.front().trace_id == element.front().trace_id) {
        std::ranges::for_each(pending_, give);
        pending_.clear();
      }
      give(element.front());
    }
    pending_.clear();
  }

  [[nodiscard]] bool done() const { return fatal_ || log_.broken(); }

  void log_statistics() {
    TextBuffer& out = log_.text();
    out.put("\nReading packet decoder statistics....\n\n");
    bool any = false;
    for (const Source* source : tree().sources()) {
      const TraceId id = tree().formatted() ? source->trace_id() : TraceId{0};
      const Protocol protocol = source->protocol();
      if (protocol != Protocol::kEtmV4 && protocol != Protocol::kEte) {
        log_.line(fmt::format("Decode stats unavailable on Trace ID 0x{:x}", id));
        continue;
      }
      any = true;
      const SourceStatistics counts = source->statistics();
      log_.line(fmt::format("Decode stats ID 0x{:x}", id));
      log_.line(fmt::format("Total Bytes: {}; Unsynced Bytes: {}", counts.total_bytes,
                            counts.unsynced_bytes));
      log_.line(fmt::format("Bad Header Errors: {}; Bad Sequence Errors: {}", counts.bad_headers,
                            counts.bad_sequences));
    }
    const frames::Statistics frames = tree().frame_statistics();
    if (any && frames.frame_bytes != 0) frames::write_statistics(log_.text(), frames);
  }

  const ListerOptions& options_;
  const inputs::Snapshot& snapshot_;
  Log& log_;
  Listing listing_;
  BuiltTree built_;
  std::vector<Element> elements_;
  std::vector<Element> pending_;  ///< What a WAIT at the end of the trace left for EOT.
  /// Until an FSYNC has come: the bytes of frames that earlier buffers had.
  std::optional<std::uint64_t> bytes_before_fsync_;
  bool fatal_ = false;
};

}  // namespace

int run_lister(const ListerOptions& options, Log& log) {
  log.line(fmt::format("{}reading snapshot from path {}", kLister, options.snapshot));
  std::vector<inputs::Problem> problems;
  const auto snapshot = inputs::read_snapshot(options.snapshot, problems);
  log_problems(problems, log);
  if (!snapshot) {
    if (snapshot.error().code == ErrorCode::kNotFound) {
      log.line(fmt::format("Trace Packet Lister : Snapshot path{} not found", options.snapshot));
      return 0;
    }
    // The reference ends with an uncaught exception here.
    log.line(fmt::format("{}Error : {}", kLister, snapshot.error().detail));
    return kExitInput;
  }
  if (options.snapshot_verbose) log_reading(*snapshot, problems, log);
  if (snapshot->buffers.empty()) {
    log.line(fmt::format("{}No trace source buffer names found", kLister));
    return 0;
  }
  const inputs::TraceBuffer* buffer = &snapshot->buffers.front();
  if (!options.source_name.empty()) buffer = snapshot->find_buffer(options.source_name);
  if (buffer == nullptr) {
    log.line(fmt::format("{}Trace source name {} not found", kLister, options.source_name));
    log.line("Valid source names are:-");
    for (const inputs::TraceBuffer& known : snapshot->buffers) log.line(known.name);
    return 0;
  }
  log.line(fmt::format("Using {} as trace source", buffer->name));
  Run(options, *snapshot, log).list(*buffer);
  return 0;
}

}  // namespace waymark::compat

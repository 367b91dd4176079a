// Any bytes as a capture: an index that is built block by block, or as the capture grows, equals
// one built at once; both forms find everything that the index counts; and reading from any place
// gives the meaning of the packets at that place.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "any_capture.h"
#include "memory_file.h"
#include "require.h"
#include "waymark/index/builder.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"

namespace {

using namespace waymark;
using fuzz::require;

std::optional<inputs::Capture> open(const std::string& path, std::uint8_t choice) {
  inputs::CaptureOptions options = fuzz::any_capture(choice);
  options.source.decode = false;
  auto capture = inputs::Capture::open(path, options);
  if (!capture) {
    require(capture.error().code != ErrorCode::kInvalidArgument, capture.error().detail);
    return std::nullopt;
  }
  return std::move(*capture);
}

inputs::Capture must_open(const std::string& path, std::uint8_t choice) {
  auto capture = open(path, choice);
  require(capture.has_value(), "a capture cannot be opened again");
  return std::move(*capture);
}

/// A context that does not restate an ID has the one before it.  In damage, that may be an ID that
/// only a reader of the damage has seen.
void forget_ids(Landmark& context) {
  context.value = 0;
  context.vmid = 0;
}

class Teller final : public Observer {
 public:
  explicit Teller(TraceIndex from) : from_(from) {}
  [[nodiscard]] bool wants_packets() const override { return false; }
  [[nodiscard]] bool wants_landmarks() const override { return true; }
  void on_landmark(const Landmark& landmark, TraceId id) override {
    if (landmark.index < from_) return;
    landmarks.emplace_back(id, landmark);
    if (landmark.kind == LandmarkKind::kContext) forget_ids(landmarks.back().second);
  }
  std::vector<std::pair<TraceId, Landmark>> landmarks;

 private:
  TraceIndex from_;
};

/// The meaning of packets from a place on.
std::vector<std::pair<TraceId, Landmark>> landmarks(inputs::Capture& capture, TraceIndex from) {
  Teller teller(from);
  capture.tree().set_observer(&teller);
  const auto drain = [&] {
    std::array<Element, 1> none;
    while (capture.tree().next(none) != 0) {
    }
  };
  while (const auto block = capture.next_block()) {
    require(capture.tree().feed(block->index, block->bytes).has_value(), "a block is refused");
    drain();
    if (capture.tree().failed()) break;
  }
  capture.tree().finish();
  drain();
  capture.tree().set_observer(nullptr);
  return std::move(teller.landmarks);
}

std::vector<std::pair<TraceId, Landmark>> find_all(inputs::Capture& capture, index::Index& index,
                                                   const index::Query& query) {
  std::vector<std::pair<TraceId, Landmark>> found;
  const std::vector<TraceId> ids = index::source_ids(capture);
  const auto done = index::find(capture, index, ids, query, [&](const index::Hit& hit) {
    found.emplace_back(hit.id, hit.landmark);
    if (query.kind == LandmarkKind::kContext) forget_ids(found.back().second);
    return true;
  });
  require(done.has_value(), "a search fails");
  return found;
}

/// Framing, and whether raw ITM begins in sync, are detected from the bytes.
bool is_read_otherwise(const inputs::Capture& capture, const index::Header& header) {
  if (inputs::framing_name(capture.framing()) != header.framing) return true;
  // More content has arrived, and it shows where pieces end.
  if (capture.framing() == inputs::Framing::kPieces) return true;
  return std::ranges::any_of(capture.sources(), [&](const inputs::CaptureSource& source) {
    const index::Stream* const stream = header.stream(source.id);
    return stream != nullptr && stream->config_hash != source.config_hash;
  });
}

/// At once, block by block, and as the capture grows.
void check_builds(const fuzz::MemoryFile& file, Bytes bytes, std::uint8_t choice,
                  index::Index& whole) {
  const auto pieces = index::make_memory_index();
  index::BuildOptions options{
      .form = index::Form::kFull, .granule = index::kMinGranule, .stop = {}};
  options.stop = [](std::uint64_t) { return true; };
  while (true) {
    inputs::Capture capture = must_open(file.path(), choice);
    const auto report = index::build(capture, *pieces, options);
    require(report.has_value(), "a build does not go on");
    if (report->complete) break;
    require(report->to > report->from, "a build stands still");
  }
  require(whole.header() == pieces->header(), "built in pieces, it differs");

  const auto grown = index::make_memory_index();
  options.stop = {};
  // Not in the file of the other captures.
  const fuzz::MemoryFile growing;
  for (const std::size_t size : {bytes.size() / 3, bytes.size() * 2 / 3, bytes.size()}) {
    if (size == 0 || !growing.write(bytes.first(size))) continue;
    auto capture = open(growing.path(), choice);
    if (!capture) continue;
    const auto built = index::build(*capture, *grown, options);
    if (!built && is_read_otherwise(*capture, grown->header())) return;
    if (!built) require(false, "a grown capture is refused: " + built.error().detail);
  }
  require(whole.header() == grown->header(), "built as the capture grows, it differs");
}

/// Both forms give the same answers to every other question.
void check_searches(inputs::Capture& capture, index::Index& sparse, index::Index& full,
                    TraceIndex place) {
  for (const LandmarkKind kind : {LandmarkKind::kTimestamp, LandmarkKind::kEvent,
                                  LandmarkKind::kContext, LandmarkKind::kTrigger}) {
    index::Query query{.kind = kind, .from = place};
    const auto found = find_all(capture, sparse, query);
    require(found == find_all(capture, full, query), "the two forms differ from a place on");
    if (found.empty() || kind == LandmarkKind::kContext) continue;
    query = {.kind = kind, .value = found.back().second.value, .to = place + 1};
    require(find_all(capture, sparse, query) == find_all(capture, full, query),
            "the two forms differ in the search for a value");
  }
  const std::vector<TraceId> ids = index::source_ids(capture);
  for (const index::Position::Kind kind :
       {index::Position::Kind::kOffset, index::Position::Kind::kTimestamp,
        index::Position::Kind::kSync}) {
    const index::Position position{kind, place % 1000};
    for (const bool last : {false, true}) {
      const auto one = index::resolve(capture, sparse, ids, position, last);
      const auto other = index::resolve(capture, full, ids, position, last);
      require(one.has_value() == other.has_value(), "only one form knows a place");
      require(!one || *one == *other, "the two forms know other places");
    }
  }
  for (const TraceId id : ids) {
    const auto one = index::last_timestamp_before(capture, sparse, id, place);
    const auto other = index::last_timestamp_before(capture, full, id, place);
    require(one.has_value() == other.has_value(), "only one form knows a time");
    if (!one) continue;
    require(one->has_value() == other->has_value() &&
                (!*one || (*one)->landmark.index == (*other)->landmark.index),
            "the two forms know other times");
  }
}

void check(const fuzz::MemoryFile& file, Bytes bytes, std::uint8_t choice, std::uint64_t place) {
  auto capture = open(file.path(), choice);
  if (!capture || capture->trace_bytes() == 0) return;
  const auto whole = index::make_memory_index();
  const auto full = index::make_memory_index();
  for (const index::Form form : {index::Form::kSparse, index::Form::kFull}) {
    const index::BuildOptions options{.form = form, .granule = index::kMinGranule, .stop = {}};
    index::Index& index = form == index::Form::kFull ? *full : *whole;
    require(index::build(*capture, index, options).has_value(), "a build fails");
  }
  check_builds(file, bytes, choice, *full);

  for (const LandmarkKind kind : {LandmarkKind::kSync, LandmarkKind::kTimestamp,
                                  LandmarkKind::kException, LandmarkKind::kGap}) {
    const auto found = find_all(*capture, *whole, {.kind = kind});
    require(found == find_all(*capture, *full, {.kind = kind}), "the two forms differ");
    std::uint64_t counted = 0;
    for (const index::Stream& stream : whole->header().streams)
      counted += stream.counts[static_cast<std::size_t>(kind)];
    require(found.size() == counted, "what was counted is not found");
  }

  place %= capture->trace_bytes();
  check_searches(*capture, *whole, *full, place);
  const auto entry = index::seek(*whole, index::source_ids(*capture), place);
  require(entry.has_value(), "a seek fails");
  if (!entry->unknown.empty()) return;
  inputs::Capture from_start = must_open(file.path(), choice);
  inputs::Capture entered = must_open(file.path(), choice);
  index::enter(entered, *entry);
  require(landmarks(from_start, place) == landmarks(entered, place), "a seek leads elsewhere");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 5;
  constexpr std::size_t kMost = std::size_t{32} << 10;
  if (size <= kHead) return 0;
  // Blocks are longer than inputs, so the bytes are repeated.
  std::vector<std::uint8_t> bytes;
  const std::size_t times = data[1] % 64 + 1U;
  for (std::size_t i = 0; i < times && bytes.size() + size <= kMost; ++i)
    bytes.insert(bytes.end(), data + kHead, data + size);
  std::uint32_t place = 0;
  std::memcpy(&place, data + 2, 3);
  const fuzz::MemoryFile file;
  if (file.write(bytes)) check(file, bytes, data[0], place);
  return 0;
}

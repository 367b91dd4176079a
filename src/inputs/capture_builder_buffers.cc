// Several buffers of a snapshot as one trace: each is opened alone first, without decoding.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "buffer_joiner.h"
#include "capture_builder.h"
#include "waymark/base/plural.h"

namespace waymark::inputs {
namespace {

using IdSet = std::bitset<kTraceIdCount>;

/// The IDs of a buffer that have a source or bytes.
IdSet ids_of(const Capture& capture) {
  IdSet ids;
  for (const CaptureSource& source : capture.sources()) ids.set(source.id);
  for (TraceId id = 1; is_source_id(id); ++id) ids[id] = ids[id] || capture.id_bytes()[id] != 0;
  return ids;
}

bool is_framed(const BufferAlone& alone) { return alone.capture.framing() != Framing::kNone; }

/// Hands out trace IDs, each once.
class FreeIds {
 public:
  /// `wished`: not given to anyone who did not ask for it, if there are others.
  explicit FreeIds(IdSet wished) : wished_(wished) {}

  /// `id` itself if it is free; nothing: all are taken.
  std::optional<TraceId> take(TraceId id) {
    if (is_source_id(id) && !taken_[id]) return grant(id);
    for (const bool spares : {true, false}) {
      for (TraceId free = 1; is_source_id(free); ++free)
        if (!taken_[free] && !(spares && wished_[free])) return grant(free);
    }
    return std::nullopt;
  }

 private:
  TraceId grant(TraceId id) {
    taken_.set(id);
    return id;
  }

  IdSet wished_;
  IdSet taken_;
};

}  // namespace

const CaptureSource* BufferAlone::source_of(std::string_view device) const {
  const auto found = std::ranges::find(capture.sources(), device, &CaptureSource::device);
  return found == capture.sources().end() ? nullptr : &*found;
}

bool CaptureBuilder::joins_buffers() const {
  return options_.buffer == kAllBuffers &&
         capture_.snapshot_->find_buffer(kAllBuffers) == nullptr &&
         capture_.snapshot_->buffers.size() > 1;
}

Result<Capture> CaptureBuilder::open_alone(const TraceBuffer& buffer) const {
  CaptureOptions options = options_;
  options.buffer = buffer.name;
  options.source.decode = false;
  options.ids.clear();
  options.images.clear();
  options.programs.clear();
  options.image.reset();
  options.known_id_bytes = {};
  options.check_image = false;
  CaptureBuilder builder(path_, std::move(options));
  builder.is_part_ = true;
  auto capture = builder.build();
  WAYMARK_TRY(go_on());
  if (capture && capture->sources().front().source->protocol() == Protocol::kMtb) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("the records of an MTB are never in frames; decode it alone with "
                            "--buffer {}.",
                            buffer.name));
  }
  return capture;
}

Result<void> CaptureBuilder::join_buffers() {
  std::optional<Error> first;
  for (const TraceBuffer& buffer : capture_.snapshot_->buffers) {
    auto capture = open_alone(buffer);
    WAYMARK_TRY(go_on());
    if (!capture) {
      note(fmt::format("{}: the buffer {} is left out: {}", path_, buffer.name,
                       capture.error().detail));
      if (!first) first = capture.error();
      continue;
    }
    for (const Note& each : capture->notes()) {
      const bool known =
          std::ranges::find(capture_.notes_, each.text, &Note::text) != capture_.notes_.end();
      if (each.severity != Severity::kInfo && !known) note(each);
    }
    alone_.push_back({.buffer = &buffer, .capture = *std::move(capture)});
  }
  if (alone_.empty()) return std::unexpected(*first);
  WAYMARK_TRY(choose_ids());

  auto file = TemporaryFile::create(fmt::format("Cannot copy the buffers of {}", name_));
  if (!file) return std::unexpected(file.error());
  auto joined = std::make_shared<JoinedTrace>();
  std::vector<BufferInput> inputs;
  for (BufferAlone& alone : alone_) {
    inputs.push_back({.capture = &alone.capture, .ids = alone.ids});
    joined->buffers.push_back({.name = alone.buffer->name,
                               .framing = alone.capture.framing(),
                               .bytes = alone.capture.trace_bytes()});
  }
  BufferJoiner joiner(inputs, *file);
  WAYMARK_TRY(joiner.join(options_.stop));
  joined->parts = joiner.parts();
  if (joiner.losses() != 0) {
    note_loss(
        fmt::format("{}: frames were lost {} in the buffers; decoding of all sources restarts "
                    "there. Use --buffer to decode a single buffer.",
                    path_, counted(joiner.losses(), "time")));
  }
  // No file has this name, so no index takes the times of a file for those of the trace.
  WAYMARK_TRY(set_trace(file->map(capture_.snapshot_->path_of("all-buffers"))));
  capture_.framing_ = joiner.losses() != 0 ? Framing::kPieces : Framing::kMemoryAligned;
  capture_.joined_ = std::move(joined);
  return {};
}

void CaptureBuilder::report_new_id(const BufferAlone& alone, TraceId own, TraceId wanted) {
  const TraceId id = alone.ids.of(own);
  if (id == wanted || !is_source_id(wanted)) return;
  const auto source = std::ranges::find(alone.capture.sources(), wanted, &CaptureSource::id);
  const std::string what =
      source == alone.capture.sources().end()
          ? fmt::format("what has the trace ID 0x{:02x} in {}", wanted, alone.buffer->name)
          : fmt::format("{} in {}", source->device, alone.buffer->name);
  for (const BufferAlone& other : alone_) {
    if (&other == &alone) break;
    const auto same = std::ranges::find_if(other.capture.sources(), [&](const CaptureSource& one) {
      return other.ids.of(is_framed(other) ? one.id : TraceId{0}) == wanted;
    });
    if (same == other.capture.sources().end()) continue;
    note(fmt::format("{}: {} has the trace ID 0x{:02x} of {} in {}; here its ID is 0x{:02x}.",
                     path_, what, wanted, same->device, other.buffer->name, id),
         Severity::kInfo);
    return;
  }
}

Result<void> CaptureBuilder::choose_ids() {
  IdSet wished;
  for (const BufferAlone& alone : alone_) wished |= ids_of(alone.capture);
  FreeIds free(wished);
  for (BufferAlone& alone : alone_) {
    for (const CaptureSource& source : alone.capture.sources()) {
      const TraceId own = is_framed(alone) ? source.id : TraceId{0};
      // In frames, ID 0 is padding, whatever the registers say.
      if (is_framed(alone) && !is_source_id(own)) continue;
      const auto id = free.take(source.id);
      if (!id) {
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{}: the buffers have more sources than there are trace IDs; "
                                "decode each buffer separately with --buffer.",
                                path_));
      }
      alone.ids.set(own, *id);
      report_new_id(alone, own, source.id);
    }
  }
  for (BufferAlone& alone : alone_) {
    IdSet others = is_framed(alone) ? ids_of(alone.capture) : IdSet();
    for (const CaptureSource& source : alone.capture.sources()) others.reset(source.id);
    constexpr std::size_t kMostReported =
        4;  // Damage is more frequent than more IDs without a source.
    const bool reports_each = others.count() <= kMostReported;
    for (TraceId own = 1; is_source_id(own); ++own) {
      if (!others[own]) continue;
      // Where no ID is free, most are damage; the last ones become padding.
      alone.ids.set(own, free.take(own).value_or(0));
      if (reports_each) report_new_id(alone, own, own);
    }
  }
  return {};
}

TraceId CaptureBuilder::joined_id(TraceId own) const {
  if (joining_ == nullptr) return own;
  return joining_->ids.of(is_framed(*joining_) ? own : TraceId{0});
}

RegisterReader CaptureBuilder::joined_registers(const RegisterReader& registers) const {
  if (joining_ == nullptr) return registers;
  return [this, &registers](std::string_view name) -> std::optional<RegisterValue> {
    const auto value = registers(name);
    const auto bit = trace_id_bit(name);
    if (!bit) return value;
    const std::uint32_t given = value ? value->value() : 0;
    const std::uint32_t field = std::uint32_t{joined_id(given >> *bit & 0x7F)} << *bit;
    if (!value) return RegisterValue::assumed(field);
    return (given & ~(0x7FU << *bit)) | field;
  };
}

Result<void> CaptureBuilder::add_joined_sources() {
  std::vector<const TraceBuffer*> buffers;
  buffers.reserve(alone_.size());
  for (const BufferAlone& alone : alone_) buffers.push_back(alone.buffer);
  WAYMARK_TRY(check_register_names_of(buffers));
  for (const BufferAlone& alone : alone_) {
    joining_ = &alone;
    for (const TraceSource& source : alone.buffer->sources)
      if (alone.source_of(source.device) != nullptr) add_snapshot_source(source);
    for (const TraceSource& source : alone.buffer->sources)
      if (alone.source_of(source.device + " data") != nullptr) add_data_stream(source);
  }
  joining_ = nullptr;
  if (!capture_.sources_.empty()) return {};
  return fail(ErrorCode::kUnsupported,
              with_obstacles(fmt::format("{}: no source of the buffers can be decoded.", path_)));
}

}  // namespace waymark::inputs

// A timeline as JSON, and with its spans as binary columns.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "json_writer.h"
#include "waymark/view/json.h"

namespace waymark::view {
namespace {

// In the order of GapReason.
constexpr std::array<std::string_view, 5> kReasons{"not_stated", "loss", "missing_code", "pathless",
                                                   "overflow"};

std::string_view reason_word(GapReason reason) {
  const auto at = static_cast<std::size_t>(reason);
  return at < kReasons.size() ? kReasons[at] : std::string_view();
}

/// Writes the spans of a track where they belong.
class SpanSink {
 public:
  virtual ~SpanSink() = default;
  SpanSink() = default;
  SpanSink(const SpanSink&) = delete;
  SpanSink& operator=(const SpanSink&) = delete;
  virtual void put(JsonWriter& to, const std::vector<Span>& spans) = 0;
};

class SpanRows final : public SpanSink {
 public:
  void put(JsonWriter& to, const std::vector<Span>& spans) override {
    to.begin_array();
    for (const Span& span : spans) {
      to.begin_array();
      to.real(span.start);
      to.real(span.end);
      to.number(span.depth);
      to.number(span.function);
      to.number(span.flags);
      to.number(span.count);
      to.end_array();
    }
    to.end_array();
  }
};

/// Numbers are little-endian on all machines.
class SpanColumns final : public SpanSink {
 public:
  void put(JsonWriter& to, const std::vector<Span>& spans) override {
    to.begin_object();
    to.key("rows").number(spans.size());
    to.key("at").number(body_.size());
    to.end_object();
    column(spans, &Span::start);
    column(spans, &Span::end);
    column(spans, &Span::function);
    column(spans, &Span::count);
    column(spans, &Span::depth);
    column(spans, &Span::flags);
    body_.resize((body_.size() + 7) / 8 * 8);
  }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  template <class T>
  void column(const std::vector<Span>& spans, T Span::* field) {
    std::size_t at = body_.size();
    body_.resize(at + spans.size() * sizeof(T));
    for (const Span& span : spans) {
      char* const to = body_.data() + at;
      std::memcpy(to, &(span.*field), sizeof(T));
      if constexpr (std::endian::native == std::endian::big) std::reverse(to, to + sizeof(T));
      at += sizeof(T);
    }
  }
  std::string body_;
};

void put_bucket(JsonWriter& to, const Bucket& bucket) {
  to.begin_array();
  to.real(bucket.start);
  to.real(bucket.end);
  to.number(bucket.instructions);
  to.number(bucket.depth);
  to.number(bucket.exceptions);
  to.number(bucket.messages);
  to.real(bucket.gap_share);
  to.begin_array();
  for (const auto& [function, share] : bucket.functions) {
    to.begin_array();
    to.number(function);
    to.real(share);
    to.end_array();
  }
  to.end_array();
  to.number(bucket.cycles);
  to.end_array();
}

void put_marks(JsonWriter& to, const std::vector<Mark>& marks) {
  to.begin_array();
  for (const Mark& mark : marks) {
    to.begin_array();
    to.real(mark.at);
    to.name(mark.kind);
    to.message(mark.text);
    to.number(mark.count);
    to.end_array();
  }
  to.end_array();
}

void put_thread(JsonWriter& to, const TrackPicture& picture, bool summary, SpanSink& spans) {
  if (summary) {
    to.key("buckets").begin_array();
    for (const Bucket& bucket : picture.buckets) put_bucket(to, bucket);
    to.end_array();
    return;
  }
  spans.put(to.key("spans"), picture.spans);
  to.key("gaps").begin_array();
  for (const Gap& gap : picture.gaps) {
    to.begin_array();
    to.real(gap.start);
    to.real(gap.end);
    to.name(reason_word(gap.reason));
    to.end_array();
  }
  to.end_array();
  put_marks(to.key("instants"), picture.marks);
}

void put_track(JsonWriter& to, const TrackPicture& picture, TrackKind kind, bool summary,
               SpanSink& spans) {
  to.begin_object();
  to.key("track").number(picture.track);
  switch (kind) {
    case TrackKind::kThread:
      put_thread(to, picture, summary, spans);
      break;
    case TrackKind::kMessages:
    case TrackKind::kEvents:
      put_marks(to.key("marks"), picture.marks);
      break;
    case TrackKind::kCounter:
      to.key("points").begin_array();
      for (const Point& point : picture.points) {
        to.begin_array();
        to.real(point.start);
        to.real(point.end);
        to.real(point.value);
        to.end_array();
      }
      to.end_array();
      break;
  }
  to.end_object();
}

void put_timeline(TextBuffer& out, const Timeline& timeline, const std::vector<Track>& tracks,
                  SpanSink& spans) {
  JsonWriter to(out);
  to.begin_object();
  to.key("from").real(timeline.from);
  to.key("to").real(timeline.to);
  to.key("mode").name(timeline.summary ? "summary" : "spans");
  to.key("complete").flag(timeline.complete);
  to.key("tracks").begin_array();
  for (const TrackPicture& picture : timeline.tracks) {
    const auto track = std::ranges::find(tracks, picture.track, &Track::number);
    put_track(to, picture, track == tracks.end() ? TrackKind::kThread : track->kind,
              timeline.summary, spans);
  }
  to.end_array();
  put_functions(to, timeline.functions);
  to.end_object();
}

}  // namespace

void write_json(TextBuffer& out, const Timeline& timeline, const std::vector<Track>& tracks) {
  SpanRows rows;
  put_timeline(out, timeline, tracks, rows);
}

std::string binary_timeline(const Timeline& timeline, const std::vector<Track>& tracks) {
  SpanColumns columns;
  TextBuffer head;
  put_timeline(head, timeline, tracks, columns);
  const auto length = static_cast<std::uint32_t>(head.size());
  std::string result(sizeof(length), '\0');
  std::memcpy(result.data(), &length, sizeof(length));
  result += head.view();
  result.resize((result.size() + 7) / 8 * 8);
  result += columns.body();
  return result;
}

}  // namespace waymark::view

#include "waymark/view/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "waymark/base/cut_text.h"
#include "waymark/base/number.h"

namespace waymark::view {
namespace {

/// Texts of a request are this long in a sentence.
constexpr std::size_t kShown = 60;
/// No place on an axis is beyond it: 2^64.
constexpr double kLargestPlace = 18446744073709551616.0;

template <class T>
using Parsed = std::expected<T, Refusal>;

std::unexpected<Refusal> refuse(std::string sentence, int status = 400) {
  return std::unexpected(Refusal{status, std::move(sentence)});
}

/// `%41` is A, and `+` a blank.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

std::string list_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

/// The parameters of a request, which has no others than these.
class Parameters {
 public:
  static Parsed<Parameters> parse(std::string_view name, std::string_view text,
                                  std::span<const std::string_view> known) {
    Parameters result(name);
    while (!text.empty()) {
      const std::string_view part = text.substr(0, text.find('&'));
      text.remove_prefix(std::min(text.size(), part.size() + 1));
      const auto equals = part.find('=');
      const std::string_view key = part.substr(0, equals);
      const auto row = std::ranges::find(known, key);
      if (row == known.end()) {
        return refuse(fmt::format(
            "'{}' is not a parameter of {}; {}.", cut_text(key, kShown), name,
            known.empty() ? "it takes none" : fmt::format("it takes {}", list_of(known))));
      }
      if (result.find(key) != nullptr) return refuse(fmt::format("{} is given twice.", key));
      auto value = decoded(equals == std::string_view::npos ? "" : part.substr(equals + 1));
      if (!value) {
        return refuse(fmt::format("{} has a % without two hexadecimal digits; write %25.", key));
      }
      result.values_.emplace_back(*row, *std::move(value));
    }
    return result;
  }

  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto at = std::ranges::find(values_, key, &Value::first);
    return at == values_.end() ? nullptr : &at->second;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] std::string_view name() const { return name_; }

 private:
  using Value = std::pair<std::string_view, std::string>;
  explicit Parameters(std::string_view name) : name_(name) {}
  std::string_view name_;
  std::vector<Value> values_;
};

std::unexpected<Refusal> missing(const Parameters& from, std::string_view key) {
  return refuse(fmt::format("{} needs the parameter {}.", from.name(), key));
}

/// A decimal number from `least` to `most`.
Parsed<std::uint64_t> whole(std::string_view key, std::string_view text, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return refuse(fmt::format("{} is '{}'; it takes a whole number from {} to {}.", key,
                              cut_text(text, kShown), least, most));
  }
  return value;
}

template <class T>
Parsed<T> number_or(const Parameters& from, std::string_view key, std::optional<T> otherwise,
                    std::uint64_t least, std::uint64_t most) {
  const std::string* text = from.find(key);
  if (text == nullptr) {
    if (!otherwise) return missing(from, key);
    return *otherwise;
  }
  const auto value = whole(key, *text, least, most);
  if (!value) return std::unexpected(value.error());
  return static_cast<T>(*value);
}

template <class T>
Parsed<T> number(const Parameters& from, std::string_view key, std::uint64_t least = 0,
                 std::uint64_t most = std::numeric_limits<T>::max()) {
  return number_or<T>(from, key, std::nullopt, least, most);
}

Parsed<double> place_on_axis(std::string_view key, std::string_view text) {
  const auto value = parse_decimal(text);
  if (!value || *value < 0 || *value > kLargestPlace) {
    return refuse(
        fmt::format("{} is '{}'; it takes a number from 0 to 2^64.", key, cut_text(text, kShown)));
  }
  return *value;
}

Parsed<Instant> instant(const Parameters& from) {
  const auto source = number<TraceId>(from, "source");
  if (!source) return std::unexpected(source.error());
  const auto n = number<std::uint64_t>(from, "n");
  if (!n) return std::unexpected(n.error());
  return Instant{.source = *source, .n = *n};
}

Parsed<std::vector<TrackNumber>> tracks(std::string_view text) {
  std::vector<TrackNumber> result;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto track = whole("tracks", word, 0, std::numeric_limits<TrackNumber>::max());
    if (!track) return std::unexpected(track.error());
    result.push_back(static_cast<TrackNumber>(*track));
    if (result.size() > kMostTracks)
      return refuse(fmt::format("tracks has more than {} numbers.", kMostTracks));
  }
  if (result.empty()) return refuse("tracks is empty; leave it out for all tracks.");
  return result;
}

Parsed<AskedWindow> window(const Parameters& from) {
  AskedWindow result;
  for (const auto& [key, end] :
       {std::pair("from", &AskedWindow::from), std::pair("to", &AskedWindow::to)}) {
    const std::string* text = from.find(key);
    if (text == nullptr) continue;
    const auto value = place_on_axis(key, *text);
    if (!value) return std::unexpected(value.error());
    result.*end = *value;
  }
  if (result.from && result.to && *result.from >= *result.to)
    return refuse(fmt::format("from is {}, and to is {}; from must be less.", *from.find("from"),
                              *from.find("to")));
  if (const std::string* text = from.find("tracks")) {
    auto list = tracks(*text);
    if (!list) return std::unexpected(list.error());
    result.tracks = *std::move(list);
  }
  return result;
}

/// One of `words`, by its position.
Parsed<std::size_t> word(const Parameters& from, std::string_view key,
                         std::span<const std::string_view> words,
                         std::optional<std::size_t> otherwise = std::nullopt) {
  const std::string* text = from.find(key);
  if (text == nullptr) {
    if (!otherwise) return missing(from, key);
    return *otherwise;
  }
  const auto at = std::ranges::find(words, *text);
  if (at == words.end()) {
    return refuse(fmt::format("{} is '{}'; its values are {}.", key, cut_text(*text, kShown),
                              list_of(words)));
  }
  return static_cast<std::size_t>(at - words.begin());
}

/// `field` of a question becomes `value`, or the function ends with the refusal.
#define WAYMARK_VIEW_TAKE(field, value)                           \
  do {                                                            \
    auto taken = (value);                                         \
    if (!taken) return std::unexpected(std::move(taken).error()); \
    (field) = *std::move(taken);                                  \
  } while (false)

Parsed<Question> capture(const Parameters& /*from*/) { return CaptureQuestion{}; }
Parsed<Question> all_tracks(const Parameters& /*from*/) { return TracksQuestion{}; }
Parsed<Question> health(const Parameters& /*from*/) { return HealthQuestion{}; }

Parsed<Question> timeline(const Parameters& from) {
  static constexpr std::array<std::string_view, 2> kFormats{"json", "binary"};
  TimelineQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  WAYMARK_VIEW_TAKE(result.width, number<std::uint32_t>(from, "width", 1, kWidestPicture));
  std::size_t format = 0;
  WAYMARK_VIEW_TAKE(format, word(from, "format", kFormats, 0));
  result.binary = format == 1;
  return result;
}

Parsed<Question> place(const Parameters& from) {
  PlaceQuestion result;
  if (from.has("track") || from.has("t")) {
    if (from.has("source") || from.has("n"))
      return refuse("at takes either track and t, or source and n.");
    TrackPlace asked;
    WAYMARK_VIEW_TAKE(asked.track, number<TrackNumber>(from, "track"));
    const std::string* text = from.find("t");
    if (text == nullptr) return missing(from, "t");
    WAYMARK_VIEW_TAKE(asked.at, place_on_axis("t", *text));
    result.place = asked;
    return result;
  }
  WAYMARK_VIEW_TAKE(result.place, instant(from));
  return result;
}

Parsed<Question> places(const Parameters& from) {
  PlacesQuestion result;
  WAYMARK_VIEW_TAKE(result.instant, instant(from));
  WAYMARK_VIEW_TAKE(result.before, number_or<std::uint32_t>(from, "before", 0, 0, kMostPlaces));
  WAYMARK_VIEW_TAKE(result.after, number_or<std::uint32_t>(from, "after", 0, 0, kMostPlaces));
  return result;
}

Parsed<Question> step(const Parameters& from) {
  // In the order of StepKind.
  static constexpr std::array<std::string_view, 8> kKinds{
      "instruction", "line", "over", "out", "into", "same_line", "exception", "message"};
  static constexpr std::array<std::string_view, 2> kDirections{"forward", "back"};
  StepQuestion result;
  WAYMARK_VIEW_TAKE(result.from, instant(from));
  std::size_t kind = 0;
  WAYMARK_VIEW_TAKE(kind, word(from, "by", kKinds));
  result.step.kind = static_cast<StepKind>(kind);
  std::size_t direction = 0;
  WAYMARK_VIEW_TAKE(direction, word(from, "direction", kDirections));
  result.step.back = direction == 1;
  WAYMARK_VIEW_TAKE(result.step.count, number_or<std::uint32_t>(from, "count", 1, 1, kMostSteps));
  return result;
}

Parsed<Question> code(const Parameters& from) {
  CodeQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  if (!from.has("function")) {
    WAYMARK_VIEW_TAKE(result.code, instant(from));
    return result;
  }
  if (from.has("source") || from.has("n"))
    return refuse("code takes either function, or source and n.");
  WAYMARK_VIEW_TAKE(result.code, number<FunctionNumber>(from, "function"));
  return result;
}

Parsed<Question> functions(const Parameters& from) {
  FunctionsQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  WAYMARK_VIEW_TAKE(result.limit, number_or<std::uint32_t>(from, "limit", 200, 1, kMostRows));
  return result;
}

Parsed<Question> neighbours(const Parameters& from) {
  NeighboursQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  WAYMARK_VIEW_TAKE(result.function, number<FunctionNumber>(from, "function"));
  return result;
}

Parsed<Question> flame(const Parameters& from) {
  FlameQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  WAYMARK_VIEW_TAKE(result.limit, number_or<std::uint32_t>(from, "limit", 4000, 1, kMostNodes));
  return result;
}

Parsed<Question> measure(const Parameters& from) {
  MeasureQuestion result;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  return result;
}

Parsed<Question> find(const Parameters& from) {
  // In the order of FindWhat.
  static constexpr std::array<std::string_view, 6> kWhat{"function", "address",   "line",
                                                         "text",     "exception", "time"};
  FindQuestion result;
  std::size_t what = 0;
  WAYMARK_VIEW_TAKE(what, word(from, "what", kWhat));
  result.query.what = static_cast<FindWhat>(what);
  const std::string* text = from.find("text");
  if (text == nullptr) return missing(from, "text");
  if (text->empty()) return refuse("text is empty; give what to find.");
  if (text->size() > kLongestText)
    return refuse(fmt::format("text is longer than {} bytes.", kLongestText));
  result.query.text = *text;
  WAYMARK_VIEW_TAKE(result.window, window(from));
  WAYMARK_VIEW_TAKE(result.query.limit, number_or<std::uint32_t>(from, "limit", 200, 1, kMostRows));
  if (from.has("source")) WAYMARK_VIEW_TAKE(result.query.source, number<TraceId>(from, "source"));
  return result;
}

#undef WAYMARK_VIEW_TAKE

struct Row {
  std::string_view name;
  Parsed<Question> (*parse)(const Parameters& from);
  std::string_view parameters[8];
};

/// Every request also takes `cancel`.
constexpr Row kRows[] = {
    {"capture", capture, {}},
    {"tracks", all_tracks, {}},
    {"timeline", timeline, {"from", "to", "width", "tracks", "format"}},
    {"at", place, {"track", "t", "source", "n"}},
    {"instructions", places, {"source", "n", "before", "after"}},
    {"step", step, {"source", "n", "by", "direction", "count"}},
    {"code", code, {"source", "n", "function", "from", "to", "tracks"}},
    {"functions", functions, {"from", "to", "tracks", "limit"}},
    {"callers", neighbours, {"function", "from", "to", "tracks"}},
    {"flame", flame, {"from", "to", "tracks", "limit"}},
    {"measure", measure, {"from", "to", "tracks"}},
    {"find", find, {"what", "text", "from", "to", "limit", "source"}},
    {"health", health, {}},
};

Parsed<std::string> cancel_key(const Parameters& from) {
  const std::string* key = from.find("cancel");
  if (key == nullptr) return std::string();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (key->empty() || key->size() > kLongestKey || !std::ranges::all_of(*key, plain)) {
    return refuse(
        fmt::format("cancel takes 1 to {} letters, digits, '-', '_' and '.'.", kLongestKey));
  }
  return *key;
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i])) ^
                  static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

std::expected<Request, Refusal> parse_question(std::string_view text) {
  const std::string_view name = text.substr(0, text.find('?'));
  text.remove_prefix(std::min(text.size(), name.size() + 1));
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) {
    std::vector<std::string_view> names;
    for (const Row& known : kRows) names.push_back(known.name);
    return refuse(
        fmt::format("'{}' is not a request; there are {}.", cut_text(name, kShown), list_of(names)),
        404);
  }
  std::vector<std::string_view> known;
  for (const std::string_view parameter : row->parameters) {
    if (!parameter.empty()) known.push_back(parameter);
  }
  known.emplace_back("cancel");
  const auto parameters = Parameters::parse(row->name, text, known);
  if (!parameters) return std::unexpected(parameters.error());
  auto key = cancel_key(*parameters);
  if (!key) return std::unexpected(std::move(key).error());
  auto question = row->parse(*parameters);
  if (!question) return std::unexpected(std::move(question).error());
  return Request{.what = *std::move(question), .cancel = *std::move(key)};
}

std::expected<Request, Refusal> parse_target(std::string_view target, std::string_view token) {
  if (target.size() > kLongestTarget)
    return refuse(fmt::format("The address is longer than {} bytes.", kLongestTarget), 414);
  // The token is compared before anything else is said.
  const std::string_view path = target.substr(0, target.find('?'));
  const auto slash = path.substr(std::min<std::size_t>(1, path.size())).find('/');
  const bool whole = path.starts_with('/') && slash != std::string_view::npos;
  if (!whole || !equal_in_constant_time(path.substr(1, slash), token)) {
    return refuse(
        "The token in the address is missing or wrong; use the address that "
        "'waymark view' printed.",
        403);
  }
  target.remove_prefix(slash + 2);
  constexpr std::string_view kApi = "api/1/";
  if (target.starts_with(kApi)) return parse_question(target.substr(kApi.size()));
  // A page has parameters of its own, which the server does not read.
  const std::string_view name = target.substr(0, target.find('?'));
  return Request{.what = PageRequest{std::string(name)}, .cancel = {}};
}

}  // namespace waymark::view

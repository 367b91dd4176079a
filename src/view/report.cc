#include "waymark/view/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "report_coverage.h"
#include "report_page.h"
#include "report_windows.h"
#include "waymark/base/plural.h"
#include "waymark/view/json.h"
#include "waymark/view/reply.h"
#include "waymark/view/request.h"

namespace waymark::view {
namespace {

constexpr std::uint32_t kHottest = 20;
/// With ReportOptions::whole.
constexpr unsigned kTiles = 16;
constexpr std::array<std::uint32_t, 4> kWidths{4096, 2048, 1024, 512};
constexpr std::array<std::uint32_t, 3> kRows{1000, 200, 50};
constexpr std::array<std::uint32_t, 3> kNodes{4000, 1000, 200};
constexpr std::array<std::uint32_t, 3> kInstructions{512, 128, 32};

/// Requests with their answers, as many as there is room for.
class Answers {
 public:
  Answers(Session& session, std::string_view version, std::size_t room, const Stop& stop)
      : session_(session), version_(version), room_(room), stop_(stop) {}

  /// The first of these requests whose answer has room.  `what` says what is left out if none has.
  /// A request that has no answer is left out without a word.
  Result<void> add(const std::vector<std::string>& requests, std::string_view what) {
    for (const std::string& text : requests) {
      const auto request = parse_question(text);
      if (!request) return fail(ErrorCode::kInvalidArgument, request.error().sentence);
      auto reply = reply_to(session_, std::get<Question>(request->what), version_, stop_);
      if (!reply) {
        if (reply.error().code == ErrorCode::kNotFound ||
            reply.error().code == ErrorCode::kInvalidArgument)
          return {};
        return std::unexpected(std::move(reply).error());
      }
      TextBuffer key;
      if (!answers_.empty()) key.put(',');
      write_string(key, text, kLongestTarget);
      key.put(':');
      const std::size_t bytes = key.size() + reply->body.size();
      if (bytes > room_) continue;
      room_ -= bytes;
      answers_ += key.view();
      answers_ += reply->body;
      return {};
    }
    ++left_out_[std::string(what)];
    return {};
  }

  /// The same for a request of which only one number may become less.
  template <std::size_t kCount>
  Result<void> add(std::string_view request, const std::array<std::uint32_t, kCount>& numbers,
                   std::string_view what) {
    std::vector<std::string> requests;
    requests.reserve(kCount);
    for (const std::uint32_t number : numbers)
      requests.push_back(fmt::format("{}{}", request, number));
    return add(requests, what);
  }

  /// Reserves room for text that is not an answer.  Returns false if too little is left.
  bool take_room(std::size_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }
  [[nodiscard]] std::size_t left_out_count() const {
    std::size_t count = 0;
    for (const auto& [what, times] : left_out_) count += times;
    return count;
  }
  void leave_out(std::string_view what) { ++left_out_[std::string(what)]; }

  [[nodiscard]] const std::string& text() const { return answers_; }
  [[nodiscard]] std::vector<std::string> left_out() const {
    std::vector<std::string> result;
    result.reserve(left_out_.size());
    for (const auto& [what, count] : left_out_)
      result.push_back(count == 1 ? what : fmt::format("{} ({} times)", what, count));
    return result;
  }

 private:
  Session& session_;
  std::string_view version_;
  std::size_t room_;
  const Stop& stop_;
  std::string answers_;
  std::map<std::string, std::size_t> left_out_;
};

std::string ends(const Window& window) {
  return fmt::format("from={}&to={}", window.from, window.to);
}

/// Functions, flame graph and measures of a window.
Result<void> add_sums(Answers& answers, const Window& window, std::string_view of) {
  const std::string where = ends(window);
  WAYMARK_TRY(answers.add({fmt::format("measure?{}", where)}, fmt::format("the sums {}", of)));
  WAYMARK_TRY(answers.add(fmt::format("functions?{}&limit=", where), kRows,
                          fmt::format("the functions {}", of)));
  return answers.add(fmt::format("flame?{}&limit=", where), kNodes,
                     fmt::format("the flame graph {}", of));
}

Result<void> add_hottest(Answers& answers, Session& session, const Window& whole,
                         std::uint32_t most, const Stop& stop) {
  const auto functions = session.functions(whole, most, stop);
  if (!functions) return std::unexpected(functions.error());
  for (const FunctionRow& row : functions->rows) {
    const std::string where = fmt::format("function={}&{}", row.function, ends(whole));
    WAYMARK_TRY(answers.add({"code?" + where}, "the code of a function"));
    WAYMARK_TRY(answers.add({"callers?" + where}, "the callers of a function"));
  }
  return {};
}

/// The code that executes where a window begins, on each track.
Result<void> add_instructions(Answers& answers, Session& session, const Window& window,
                              const Stop& stop) {
  for (const Track& track : session.tracks()) {
    if (track.kind != TrackKind::kThread || track.first > window.to) continue;
    const double at = std::max(window.from, track.first);
    const auto place = session.place_at(track.number, at, stop);
    if (!place) {
      if (place.error().code == ErrorCode::kLimit) return std::unexpected(place.error());
      continue;
    }
    const Instant instant = place->place.instant;
    WAYMARK_TRY(answers.add({fmt::format("at?track={}&t={}", track.number, at)},
                            "the place where a window begins"));
    WAYMARK_TRY(answers.add(
        fmt::format("instructions?source={}&n={}&before=0&after=", instant.source, instant.n),
        kInstructions, "the instructions where a window begins"));
  }
  return {};
}

/// Lists of instructions that follow each other, as far as there is room.
Result<void> add_all_instructions(Answers& answers, const CaptureFacts& facts) {
  constexpr std::uint64_t kList = kInstructions.front();
  for (const SourceFacts& source : facts.sources) {
    // The answer has the instruction `n` itself, too.
    for (std::uint64_t n = 0; n < source.instructions; n += kList + 1) {
      const std::size_t before = answers.left_out_count();
      WAYMARK_TRY(answers.add(
          {fmt::format("instructions?source={}&n={}&before=0&after={}", source.id, n, kList)},
          "the instructions from here on"));
      if (answers.left_out_count() != before) break;
    }
  }
  return {};
}

/// Windows side by side, which make up the whole.
std::vector<Window> tiles(const Window& whole) {
  std::vector<Window> result;
  for (unsigned i = 0; i < kTiles; ++i)
    result.push_back({.from = whole.to * i / kTiles, .to = whole.to * (i + 1) / kTiles});
  return result;
}

/// The text of `"compare"`.
Result<std::string> comparison(Session& first, Session& second, const ReportOptions& options,
                               const Stop& stop) {
  std::array<Session*, 2> sessions{&first, &second};
  std::array<Functions, 2> functions;
  std::array<CaptureFacts, 2> facts;
  for (std::size_t i = 0; i < 2; ++i) {
    facts[i] = sessions[i]->facts();
    auto all = sessions[i]->functions({.from = 0, .to = facts[i].axis.length}, kMostRows, stop);
    if (!all) return std::unexpected(std::move(all).error());
    functions[i] = *std::move(all);
  }
  TextBuffer text;
  write_comparison(text, facts, functions, options);
  return std::string(text.view());
}

}  // namespace

Result<void> wait_until_ready(Session& session, const Stop& stop) {
  constexpr std::chrono::milliseconds kPeriod{20};
  for (;;) {
    const CaptureFacts facts = session.facts();
    if (facts.stage == Stage::kReady || !facts.failure.empty()) return {};
    if (stop()) return fail(ErrorCode::kLimit, "The report was not finished.");
    std::this_thread::sleep_for(kPeriod);
  }
}

Result<Report> make_report(Session& session, Session* other, const ReportOptions& options,
                           const Stop& stop) {
  WAYMARK_TRY(wait_until_ready(session, stop));
  if (other != nullptr) WAYMARK_TRY(wait_until_ready(*other, stop));
  const ReportPage page(options.files);
  // The names and brackets around the answers.
  constexpr std::size_t kAround = 1000;
  if (page.size() + kAround > options.most_bytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("The page alone has {} bytes; allow more than {}.",
                            page.size() + kAround, options.most_bytes));
  }
  Answers answers(session, options.version, options.most_bytes - page.size() - kAround, stop);
  const Window whole{.from = 0, .to = session.facts().axis.length};
  for (const char* request : {"capture", "tracks", "health"})
    WAYMARK_TRY(answers.add({request}, fmt::format("the answer to {}", request)));
  std::string compared;
  if (other != nullptr) {
    auto text = comparison(session, *other, options, stop);
    if (!text) return std::unexpected(std::move(text).error());
    if (answers.take_room(text->size())) {
      compared = *std::move(text);
    } else {
      answers.leave_out("the comparison");
    }
  }
  TextBuffer covered;
  if (!options.coverage.empty()) {
    write_coverage(covered, options.coverage);
    if (!answers.take_room(covered.size())) {
      covered.clear();
      answers.leave_out("the coverage");
    }
  }
  if (whole.to > 0) {
    WAYMARK_TRY(answers.add(fmt::format("timeline?{}&width=", ends(whole)), kWidths,
                            "the timeline of the whole"));
    WAYMARK_TRY(add_sums(answers, whole, "of the whole"));
    auto windows = options.windows;
    if (options.whole) {
      std::ranges::copy(tiles(whole), std::back_inserter(windows));
    } else if (windows.empty()) {
      auto chosen = chosen_windows(session, stop);
      if (!chosen) return std::unexpected(std::move(chosen).error());
      windows = *std::move(chosen);
    }
    for (const Window& window : windows) {
      WAYMARK_TRY(answers.add(fmt::format("timeline?{}&width=", ends(window)), kWidths,
                              "the timeline of a window"));
      WAYMARK_TRY(add_sums(answers, window, "of a window"));
    }
    WAYMARK_TRY(
        add_hottest(answers, session, whole, options.whole ? kRows.front() : kHottest, stop));
    for (const Window& window : windows)
      WAYMARK_TRY(add_instructions(answers, session, window, stop));
    if (options.whole) WAYMARK_TRY(add_all_instructions(answers, session.facts()));
  }
  std::string data = "{\"requests\":{" + answers.text() + "}";
  if (!compared.empty()) data += ",\"compare\":" + compared;
  if (!covered.view().empty()) data += fmt::format(",\"coverage\":{}", covered.view());
  data += "}";
  return Report{.html = page.with(data), .left_out = answers.left_out()};
}

}  // namespace waymark::view

// What tomlplusplus gives, as a Job.
#include "waymark/shard/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "waymark/base/escape.h"
#include "waymark/base/nearest.h"

#if WAYMARK_HAVE_TOML
#define TOML_EXCEPTIONS 0  // NOLINT(readability-identifier-naming): of the library.
#include <toml++/toml.h>
#endif

namespace waymark::shard {

#if WAYMARK_HAVE_TOML
namespace {

constexpr std::size_t kMostText = std::size_t{64} << 20;
/// toml++ descends once for each of them.
constexpr std::size_t kMostBrackets = 64;

/// Reads the keys of one job.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Result<Job> read(const toml::table& table) {
    for (const auto& [key, value] : table) WAYMARK_TRY(read_key(std::string(key.str()), value));
    WAYMARK_TRY(choose_format());
    if (job_.inputs.empty() && job_.lists.empty()) {
      return fail(ErrorCode::kParse,
                  fmt::format("{}: no captures are named; add a line such as inputs = "
                              "[\"runs/*.data\"], or lists = [\"captures.txt\"].",
                              escaped(path_)));
    }
    if (int{job_.shards != 0} + int{job_.inputs_per_shard != 0} + int{job_.bytes_per_shard != 0} >
        1) {
      return fail(ErrorCode::kParse,
                  fmt::format("{}: shards, inputs_per_shard and bytes_per_shard exclude each "
                              "other; keep one of them.",
                              escaped(path_)));
    }
    WAYMARK_TRY(check_slices());
    return std::move(job_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> wrong(const toml::node& at, const std::string& what) const {
    return fail(ErrorCode::kParse,
                fmt::format("{}:{}: {}", escaped(path_), at.source().begin.line, what));
  }

  Result<void> read_key(const std::string& key, const toml::node& value) {
    if (key == "what") return read_text(value, key, job_.what);
    if (key == "format") return read_text(value, key, job_.format);
    if (key == "inputs") return read_texts(value, key, job_.inputs);
    if (key == "lists") return read_texts(value, key, job_.lists);
    if (key == "shards") return read_count(value, key, job_.shards);
    if (key == "inputs_per_shard") return read_count(value, key, job_.inputs_per_shard);
    if (key == "bytes_per_shard") return read_count(value, key, job_.bytes_per_shard);
    if (key == "slices") return read_count(value, key, job_.slices);
    if (key == "slice_bytes") return read_count(value, key, job_.slice_bytes);
    if (key == "check") return read_check(value);
    if (key == "options") return read_options(value);
    static constexpr std::string_view kKnown[] = {
        "what",  "format", "inputs",      "lists",  "shards", "inputs_per_shard", "bytes_per_shard",
        "check", "slices", "slice_bytes", "options"};
    const auto near = nearest(key, kKnown);
    return wrong(value,
                 fmt::format("'{}' is not a key of a job; {}", escaped(key),
                             near ? fmt::format("did you mean `{}`?", *near)
                                  : fmt::format("its keys are {}.", fmt::join(kKnown, ", "))));
  }

  Result<void> read_text(const toml::node& value, const std::string& key, std::string& to) {
    const auto text = value.value_exact<std::string>();
    if (!text) return wrong(value, fmt::format("{} takes a text, such as {} = \"...\".", key, key));
    to = *text;
    return {};
  }

  Result<void> read_texts(const toml::node& value, const std::string& key,
                          std::vector<std::string>& to) {
    if (const auto text = value.value_exact<std::string>()) {
      to.push_back(*text);
      return {};
    }
    const toml::array* const array = value.as_array();
    if (array == nullptr)
      return wrong(value, fmt::format("{} takes a text, or a list of texts in [ ].", escaped(key)));
    for (const toml::node& each : *array) {
      const auto text = each.value_exact<std::string>();
      if (!text) return wrong(each, fmt::format("{} takes texts only.", escaped(key)));
      to.push_back(*text);
    }
    return {};
  }

  Result<void> read_count(const toml::node& value, const std::string& key, std::uint64_t& to) {
    const auto number = value.value_exact<std::int64_t>();
    if (!number || *number <= 0)
      return wrong(value, fmt::format("{} takes a whole number above 0.", key));
    to = static_cast<std::uint64_t>(*number);
    return {};
  }

  Result<void> read_check(const toml::node& value) {
    const auto word = value.value_exact<std::string>();
    if (!word || (*word != "content" && *word != "times"))
      return wrong(value, R"(check takes "content" or "times".)");
    job_.check = *word == "times" ? Check::kTimes : Check::kContent;
    return {};
  }

  Result<void> check_slices() {
    if (job_.slices == 0 && job_.slice_bytes == 0) return {};
    if (job_.slices != 0 && job_.slice_bytes != 0) {
      return fail(ErrorCode::kParse,
                  fmt::format("{}: slices and slice_bytes exclude each other; keep one of them.",
                              escaped(path_)));
    }
    if (payload_of_slices(find_want(job_.format)->payload)) return {};
    return fail(ErrorCode::kParse,
                fmt::format("{}: what = \"{}\" cannot be made of slices, because it needs all of "
                            "a capture; leave {} out.",
                            escaped(path_), escaped(job_.what),
                            job_.slices != 0 ? "slices" : "slice_bytes"));
  }

  Result<void> read_options(const toml::node& value) {
    const toml::table* const table = value.as_table();
    if (table == nullptr)
      return wrong(value, "options is a table: a line [options], and the options below it.");
    for (const auto& [name, given] : *table) {
      auto& [option, values] =
          job_.options.emplace_back(std::string(name.str()), std::vector<std::string>());
      if (const auto flag = given.value_exact<bool>()) {
        if (!*flag) job_.options.pop_back();
        continue;
      }
      if (const auto number = given.value_exact<std::int64_t>()) {
        values.push_back(fmt::format("{}", *number));
        continue;
      }
      WAYMARK_TRY(read_texts(given, option, values));
      if (values.empty()) job_.options.pop_back();
    }
    return {};
  }

  Result<void> choose_format() {
    std::vector<std::string> kinds;
    for (const Want& want : wants())
      if (kinds.empty() || kinds.back() != want.what) kinds.emplace_back(want.what);
    if (job_.format.empty()) {
      const auto found = std::ranges::find(wants(), job_.what, &Want::what);
      if (found != wants().end()) {
        job_.format = found->format;
        return {};
      }
      return fail(ErrorCode::kParse,
                  job_.what.empty()
                      ? fmt::format("{}: what is to be made is missing; add a line such as what = "
                                    "\"counts\". It takes {}.",
                                    escaped(path_), fmt::join(kinds, ", "))
                      : fmt::format("{}: what = \"{}\" is not known; it takes {}.", escaped(path_),
                                    escaped(job_.what), fmt::join(kinds, ", ")));
    }
    const Want* const want = find_want(job_.format);
    if (want == nullptr || (!job_.what.empty() && want->what != job_.what)) {
      std::vector<std::string_view> formats;
      for (const Want& each : wants())
        if (job_.what.empty() || each.what == job_.what) formats.push_back(each.format);
      if (formats.empty())
        return fail(ErrorCode::kParse,
                    fmt::format("{}: what = \"{}\" is not known; it takes {}.", escaped(path_),
                                escaped(job_.what), fmt::join(kinds, ", ")));
      return fail(ErrorCode::kParse,
                  fmt::format("{}: format = \"{}\" cannot be made in parts{}; it takes {}.",
                              escaped(path_), escaped(job_.format),
                              job_.what.empty() ? "" : " for what = \"" + job_.what + "\"",
                              fmt::join(formats, ", ")));
    }
    job_.what = want->what;
    return {};
  }

  const std::string& path_;
  Job job_;
};

/// toml++ descends into each of them, whatever they are for.
bool is_too_deep(std::string_view text) {
  std::size_t run = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++run;
    if (c == ']' || c == '}') run -= run != 0 ? 1 : 0;
    if (run > kMostBrackets) return true;
  }
  return false;
}

/// The number of the first line with a table whose name cannot begin so; 0: none.  toml++ 3.3
/// relies on it.
std::size_t line_of_bad_table(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto skip_blanks = [&] {
      rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    };
    skip_blanks();
    if (!rest.starts_with('[')) continue;
    rest.remove_prefix(rest.starts_with("[[") ? 2 : 1);
    skip_blanks();
    const char first = rest.empty() ? '\n' : rest.front();
    const bool is_letter_or_digit = (first >= 'a' && first <= 'z') ||
                                    (first >= 'A' && first <= 'Z') ||
                                    (first >= '0' && first <= '9');
    if (!is_letter_or_digit && std::string_view("-_\"']").find(first) == std::string_view::npos)
      return line;
  }
  return 0;
}

/// The size of the string or the comment that `text` begins with; 0: it begins with neither.
std::size_t quoted_size(std::string_view text) {
  const char first = text.front();
  if (first == '#') return std::min(text.find('\n'), text.size());
  if (first != '"' && first != '\'') return 0;
  const std::string_view triple = first == '"' ? R"(""")" : "'''";
  const bool many_lines = text.starts_with(triple);
  const std::string_view end = many_lines ? triple : triple.substr(0, 1);
  std::size_t at = end.size();
  while (at < text.size() && !text.substr(at).starts_with(end)) {
    if (text[at] == '\n' && !many_lines) return at;
    at += first == '"' && text[at] == '\\' ? 2 : 1;
  }
  return std::min(at + end.size(), text.size());
}

/// The number of the first line with a character that is not ASCII and neither in a string nor in a
/// comment; 0: none.  toml++ 3.3 has undefined behaviour at some of them.
std::size_t line_of_stray_character(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::size_t line = 1;
  while (!text.empty()) {
    if ((static_cast<unsigned char>(text.front()) & 0x80U) != 0) return line;
    const std::size_t size = std::max<std::size_t>(quoted_size(text), 1);
    line += static_cast<std::size_t>(std::ranges::count(text.substr(0, size), '\n'));
    text.remove_prefix(size);
  }
  return 0;
}

}  // namespace

Result<Job> read_job(std::string_view text, const std::string& path) {
  if (text.size() > kMostText || is_too_deep(text)) {
    return fail(ErrorCode::kParse,
                fmt::format("{}: this is not a job: it is too long, or has too many brackets.",
                            escaped(path)));
  }
  if (const std::size_t line = line_of_bad_table(text); line != 0) {
    return fail(
        ErrorCode::kParse,
        fmt::format("{}:{}: this is not TOML: the name of a table cannot begin so; a job has "
                    "only [options].",
                    escaped(path), line));
  }
  if (const std::size_t line = line_of_stray_character(text); line != 0) {
    return fail(ErrorCode::kParse,
                fmt::format("{}:{}: this is not TOML: a character that is not ASCII must be in a "
                            "string or in a comment.",
                            escaped(path), line));
  }
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(ErrorCode::kParse,
                fmt::format("{}:{}: this is not TOML: {}.", escaped(path),
                            error.source().begin.line, escaped(error.description())));
  }
  return Reader(path).read(parsed.table());
}

#else

Result<Job> read_job(std::string_view /*text*/, const std::string& path) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("{}: this build cannot read jobs; install libtomlplusplus-dev, and build "
                          "with -DWAYMARK_TOML=ON.",
                          escaped(path)));
}

#endif

}  // namespace waymark::shard

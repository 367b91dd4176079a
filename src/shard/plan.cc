#include "waymark/shard/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "waymark/base/number.h"
#include "waymark/frames/demux.h"

namespace waymark::shard {
namespace {

constexpr std::string_view kFirstWord = "waymark-plan ";
constexpr std::string_view kFormat = "1";
constexpr std::string_view kEnd = "end ";

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// In double quotes, on one line.
void put_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      plain += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    if (text[i] != 'x') {
      if (text[i] != '"' && text[i] != '\\') return std::nullopt;
      plain += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

std::string text_without_end(const Plan& plan) {
  std::string text = fmt::format("{}{}\nversion {}\nwhat {}\nformat {}\ncheck {}\nfolder ",
                                 kFirstWord, kFormat, plan.version, plan.what, plan.format,
                                 plan.check == Check::kTimes ? "times" : "content");
  put_quoted(text, plan.folder);
  text += '\n';
  for (const std::string& option : plan.options) {
    text += "option ";
    put_quoted(text, option);
    text += '\n';
  }
  for (const Input& input : plan.inputs) {
    text += fmt::format("input {} {:016x} ", input.bytes, input.digest);
    put_quoted(text, input.path);
    text += '\n';
  }
  for (const Cut& cut : plan.cuts) {
    text += fmt::format("cut {} {} {} ", cut.input, cut.trace_bytes, cut.slice_bytes);
    put_quoted(text, cut.trace);
    text += '\n';
    for (const auto& [id, bytes] : cut.id_bytes) text += fmt::format("id {} {}\n", id, bytes);
    for (const std::uint64_t digest : cut.digests) text += fmt::format("digest {:016x}\n", digest);
  }
  for (const Shard& shard : plan.shards) {
    text += shard.slice ? fmt::format("slice {} {}\n", shard.first, *shard.slice)
                        : fmt::format("shard {} {}\n", shard.first, shard.count);
  }
  return text;
}

/// The words of one line.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// A place in a list.
std::optional<std::size_t> parse_place(std::string_view text) {
  const auto place = parse_number(text);
  if (!place || !std::in_range<std::size_t>(*place)) return std::nullopt;
  return static_cast<std::size_t>(*place);
}

/// The lines after "cut" belong to it.
bool read_cut(Plan& plan, std::string_view key, Line& line) {
  if (key == "cut") {
    const auto input = parse_place(line.word());
    const auto trace_bytes = parse_number(line.word());
    const auto slice_bytes = parse_number(line.word());
    auto trace = unquoted(line.rest());
    if (!input || !trace_bytes || *trace_bytes == 0 || !slice_bytes || *slice_bytes == 0 ||
        *slice_bytes % frames::kFrameSize != 0 || !trace ||
        *trace_bytes / *slice_bytes >= kMostShards)
      return false;
    plan.cuts.push_back({.input = *input,
                         .trace = *std::move(trace),
                         .trace_bytes = *trace_bytes,
                         .slice_bytes = *slice_bytes});
    return true;
  }
  if (plan.cuts.empty()) return false;
  Cut& cut = plan.cuts.back();
  if (key == "id") {
    const auto id = parse_number(line.word());
    const auto bytes = parse_number(line.rest());
    if (!id || *id >= kTraceIdCount || !bytes) return false;
    cut.id_bytes.emplace_back(static_cast<TraceId>(*id), *bytes);
    return true;
  }
  const auto digest = parse_number(line.rest(), 16);
  if (!digest) return false;
  cut.digests.push_back(*digest);
  return true;
}

bool read_line(Plan& plan, std::string_view text) {
  Line line(text);
  const std::string_view key = line.word();
  if (key == "version") return !(plan.version = line.rest()).empty();
  if (key == "what") return !(plan.what = line.rest()).empty();
  if (key == "format") return !(plan.format = line.rest()).empty();
  if (key == "check") {
    plan.check = line.rest() == "times" ? Check::kTimes : Check::kContent;
    return line.rest() == "times" || line.rest() == "content";
  }
  if (key == "folder" || key == "option") {
    auto value = unquoted(line.rest());
    if (!value) return false;
    if (key == "folder") {
      plan.folder = *std::move(value);
    } else {
      plan.options.push_back(*std::move(value));
    }
    return true;
  }
  if (key == "input") {
    const auto bytes = parse_number(line.word());
    const auto digest = parse_number(line.word(), 16);
    auto path = unquoted(line.rest());
    if (!bytes || !digest || !path) return false;
    plan.inputs.push_back({.path = *std::move(path), .bytes = *bytes, .digest = *digest});
    return true;
  }
  if (key == "cut" || key == "id" || key == "digest") return read_cut(plan, key, line);
  const bool is_slice = key == "slice";
  if ((key != "shard" && !is_slice) || plan.shards.size() >= kMostShards) return false;
  const auto first = parse_place(line.word());
  const auto number = parse_place(line.rest());
  if (!first || !number || (*number == 0 && !is_slice)) return false;
  if (is_slice) {
    plan.shards.push_back({.first = *first, .count = 1, .slice = number});
  } else {
    plan.shards.push_back({.first = *first, .count = *number});
  }
  return true;
}

/// Whether the cuts are those of inputs, and have what their slices need.
bool has_good_cuts(const Plan& plan) {
  std::size_t next = 0;
  for (const Cut& cut : plan.cuts) {
    if (cut.input < next || cut.input >= plan.inputs.size()) return false;
    next = cut.input + 1;
    if (!cut.digests.empty() && cut.digests.size() != 2 * cut.count() + 1) return false;
  }
  return true;
}

/// Whether the shards have each input once, in order: all slices of those that are cut.
bool covers_inputs(const Plan& plan) {
  std::size_t next = 0;
  auto cut = plan.cuts.begin();
  for (auto shard = plan.shards.begin(); shard != plan.shards.end();) {
    if (shard->first != next || shard->count > plan.inputs.size() - next) return false;
    next += shard->count;
    if (!shard->slice) {
      if (cut != plan.cuts.end() && cut->input < next) return false;
      ++shard;
      continue;
    }
    if (cut == plan.cuts.end() || cut->input != shard->first) return false;
    const std::size_t count = cut->count();
    for (std::size_t i = 0; i < count; ++i, ++shard) {
      if (shard == plan.shards.end() || shard->first != cut->input || shard->count != 1 ||
          shard->slice != i)
        return false;
    }
    ++cut;
  }
  return next == plan.inputs.size() && next != 0 && cut == plan.cuts.end();
}

/// Divides consecutive inputs that are whole.  `share`: the bytes of a shard; 0: `step` inputs.
void divide_whole(Plan& plan, std::size_t begin, std::size_t end, std::uint64_t share,
                  std::size_t step) {
  const auto add = [&](std::size_t first, std::size_t last) {
    if (first != last) plan.shards.push_back({.first = first, .count = last - first});
  };
  if (share == 0) {
    for (std::size_t at = begin; at < end; at += step) add(at, std::min(at + step, end));
    return;
  }
  // A cut is where the bytes before an input pass the next multiple of a shard's share.
  std::size_t first = begin;
  std::uint64_t bytes = 0;
  std::uint64_t limit = share;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint64_t own = plan.inputs[i].bytes + 1;
    if (i != first && bytes + own / 2 >= limit) {
      add(first, i);
      first = i;
      while (limit <= bytes + own / 2) limit += share;
    }
    bytes += own;
  }
  add(first, end);
}

void divide(Plan& plan, const Job& job) {
  const std::size_t inputs = plan.inputs.size();
  const std::size_t step = in_memory(std::clamp<std::uint64_t>(job.inputs_per_shard, 1, inputs));
  std::uint64_t whole = 0;
  for (const Input& input : plan.inputs) whole += input.bytes + 1;
  for (const Cut& cut : plan.cuts) whole -= plan.inputs[cut.input].bytes + 1;
  std::uint64_t share = job.bytes_per_shard;
  if (job.shards != 0) share = std::max<std::uint64_t>((whole + job.shards - 1) / job.shards, 1);
  std::size_t next = 0;
  for (const Cut& cut : plan.cuts) {
    divide_whole(plan, next, cut.input, share, step);
    for (std::size_t i = 0; i < cut.count(); ++i)
      plan.shards.push_back({.first = cut.input, .count = 1, .slice = i});
    next = cut.input + 1;
  }
  divide_whole(plan, next, inputs, share, step);
}

}  // namespace

const Cut* Plan::cut_of(std::size_t shard) const {
  if (!shards[shard].slice) return nullptr;
  const auto found = std::ranges::lower_bound(cuts, shards[shard].first, {}, &Cut::input);
  return found == cuts.end() ? nullptr : &*found;
}

Payload Plan::payload_of(std::size_t shard) const {
  const Payload want = find_want(format)->payload;
  return shards[shard].slice ? payload_of_slices(want).value_or(want) : want;
}

std::uint64_t Plan::bytes_of(std::size_t shard) const {
  if (const Cut* const cut = cut_of(shard)) {
    const std::uint64_t begin = *shards[shard].slice * cut->slice_bytes;
    return std::min(cut->slice_bytes, cut->trace_bytes - std::min(begin, cut->trace_bytes));
  }
  std::uint64_t sum = 0;
  for (const Input& input : inputs_of(shard)) sum += input.bytes;
  return sum;
}

Result<Plan> make_plan(const Job& job, const std::string& folder, std::string version,
                       const Stop& stop, const Cutter& cut) {
  Plan plan{.version = std::move(version),
            .what = job.what,
            .format = job.format,
            .check = job.check,
            .folder = folder};
  for (const auto& [name, values] : job.options) {
    if (values.empty()) plan.options.push_back("--" + name);
    for (const std::string& value : values)
      plan.options.push_back(fmt::format("--{}={}", name, value));
  }
  const auto paths = find_inputs(job, folder);
  if (!paths) return std::unexpected(paths.error());
  plan.inputs.reserve(paths->size());
  const bool cuts = cut && (job.slices != 0 || job.slice_bytes != 0);
  for (const std::string& path : *paths) {
    std::string trace;
    if (cuts) {
      auto made = cut(plan, path);
      if (!made) return std::unexpected(std::move(made).error());
      if (*made) {
        trace = (*made)->trace;
        (*made)->input = plan.inputs.size();
        plan.cuts.push_back(**std::move(made));
      }
    }
    auto input = look_at(path, folder, job.check, stop, trace);
    if (!input) return std::unexpected(std::move(input).error());
    plan.inputs.push_back(*std::move(input));
  }
  divide(plan, job);
  return plan;
}

std::string text_of(const Plan& plan) {
  std::string text = text_without_end(plan);
  text += fmt::format("{}{}\n", kEnd, hex_of(sha256(bytes_of(text))));
  return text;
}

Sha256 digest_of(const Plan& plan) { return sha256(bytes_of(text_without_end(plan))); }

Result<Plan> read_plan(std::string_view text) {
  const auto bad = [](std::string_view why) {
    return fail(
        ErrorCode::kBadData,
        fmt::format("the plan is incomplete: {}; create it again with `waymark plan`.", why));
  };
  if (!text.starts_with(kFirstWord)) return bad("its beginning is wrong");
  const std::size_t first_end = text.find('\n');
  if (first_end == std::string_view::npos) return bad("its lines are missing");
  if (text.substr(kFirstWord.size(), first_end - kFirstWord.size()) != kFormat)
    return fail(ErrorCode::kUnsupported,
                "the plan has another format; use the version of Waymark that wrote it.");
  const std::size_t end = text.rfind(kEnd);
  if (end == std::string_view::npos || text[end - 1] != '\n') return bad("its end is missing");
  if (text.substr(end) !=
      fmt::format("{}{}\n", kEnd, hex_of(sha256(bytes_of(text.substr(0, end))))))
    return bad("its checksum does not match");
  Plan plan;
  text = text.substr(0, end);
  text.remove_prefix(first_end + 1);
  for (std::size_t number = 2; !text.empty(); ++number) {
    const std::size_t line_end = text.find('\n');
    if (line_end == std::string_view::npos || !read_line(plan, text.substr(0, line_end)))
      return bad(fmt::format("line {} is wrong", number));
    text.remove_prefix(line_end + 1);
  }
  const Want* const want = find_want(plan.format);
  if (plan.version.empty() || !plan.folder.starts_with('/') || want == nullptr ||
      want->what != plan.what)
    return bad("a line is missing");
  if (!has_good_cuts(plan) || (!plan.cuts.empty() && !payload_of_slices(want->payload)))
    return bad("its slices do not match");
  if (!covers_inputs(plan)) return bad("its shards do not contain each input exactly once");
  return plan;
}

std::string ranges_of(std::span<const std::size_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace waymark::shard

// waymark find: where something happened.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "command.h"
#include "commands.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "format.h"
#include "interrupt.h"
#include "missing_programs.h"
#include "output.h"
#include "record_options.h"
#include "run.h"
#include "selection.h"
#include "symbol_options.h"
#include "waymark/base/escape.h"
#include "waymark/base/number.h"
#include "waymark/image/address_text.h"
#include "waymark/index/finder.h"
#include "waymark/index/seek.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/function_query.h"
#include "waymark/outputs/json.h"
#include "window.h"

namespace waymark::cli {
namespace {

struct FindOptions {
  InputOptions input;
  Format format = Format::kText;
  std::string output;
  WindowOptions window;
  std::string timestamp;
  std::string event;
  std::string context;
  std::string exception;
  std::string address;
  std::vector<std::string> symbols;
  SelectionOptions selection;
  bool trigger = false;
  bool overflow = false;
  bool gap = false;
  bool count = false;
};

/// A line of output.
struct FoundPlace {
  TraceIndex index = 0;
  TraceId id = 0;
  std::optional<std::uint64_t> time;
  std::string_view what;
  std::string value;
};

class FoundWriter {
 public:
  FoundWriter(Output& output, Format format, const inputs::Capture& capture)
      : output_(output), format_(format), capture_(capture) {
    if (format == Format::kText)
      output.text().put(fmt::format(kRow, "index", "id", "time", "what"));
    if (format == Format::kCsv) output.text().put(fmt::format("{}\n", header()));
  }

  /// The last record of an interrupted search.
  void put_interrupted() { cli::put_interrupted(output_.text(), format_, header(), "what"); }

  void write(const FoundPlace& found) {
    const std::string time = found.time ? fmt::format("{}", *found.time) : std::string();
    TextBuffer& out = output_.text();
    const inputs::JoinedTrace* const joined = capture_.joined();
    const auto place = joined != nullptr ? joined->place(found.index) : std::nullopt;
    const std::string what = found.value.empty() ? std::string(found.what)
                                                 : fmt::format("{} {}", found.what, found.value);
    switch (format_) {
      case Format::kText:
        out.put(fmt::format(kRow, found.index, fmt::format("0x{:02x}", found.id),
                            time.empty() ? "-" : time,
                            what + place_in_buffer(capture_, found.index)));
        break;
      case Format::kJson:
        out.put(fmt::format(R"({{"type":"found","index":{},"id":{},"what":"{}")", found.index,
                            found.id, found.what));
        if (found.time) out.put(fmt::format(R"(,"time":"{}")", time));
        if (!found.value.empty()) out.put(fmt::format(R"(,"value":"{}")", found.value));
        if (place) {
          out.put(R"(,"buffer":)");
          outputs::write_json_string(out, place->buffer->name);
          out.put(fmt::format(R"(,"buffer_index":{})", place->offset));
        }
        out.put("}\n");
        break;
      case Format::kCsv:
        out.put(
            fmt::format("{},{},{},{},{}", found.index, found.id, time, found.what, found.value));
        if (place) {
          out.put(',');
          outputs::write_csv_field(out, place->buffer->name);
          out.put(fmt::format(",{}", place->offset));
        }
        out.put('\n');
        break;
    }
  }

 private:
  [[nodiscard]] std::string header() const {
    return capture_.joined() != nullptr ? "index,id,time,what,value,buffer,buffer_index"
                                        : "index,id,time,what,value";
  }

  static constexpr std::string_view kRow = "{:>12}  {:<4}  {:>20}  {}\n";

  Output& output_;
  Format format_;
  const inputs::Capture& capture_;
};

std::string value_text(const Landmark& landmark) {
  switch (landmark.kind) {
    case LandmarkKind::kContext:
      return fmt::format("0x{:x}", landmark.value);
    case LandmarkKind::kEvent:
    case LandmarkKind::kException:
    case LandmarkKind::kTimestamp:
    case LandmarkKind::kTrigger:
      return fmt::format("{}", landmark.value);
    default:
      return {};
  }
}

/// The addresses that --address asks for.
class Wanted {
 public:
  /// `text`: what it is called in messages.
  Wanted(std::vector<image::AddressRange> ranges, std::string text)
      : text_(std::move(text)), ranges_(std::move(ranges)) {}
  /// A function, wherever the programs of a recording have it.
  Wanted(outputs::FunctionMatch function, std::string text, outputs::PlaceLookup places)
      : text_(std::move(text)), places_(std::move(places)), function_(std::move(function)) {}

  [[nodiscard]] bool touches(const Element& element) {
    if (!places_) {
      return std::ranges::any_of(ranges_, [&](const image::AddressRange& range) {
        return range.touches(element.start, element.end);
      });
    }
    return is_in(element, element.start) || is_in(element, element.end - element.last_size);
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Why it is not known whether there is such a function; empty: there is.
  [[nodiscard]] const std::string& unknown() const { return function_.unknown(); }

 private:
  [[nodiscard]] bool is_in(const Element& element, std::uint64_t address) {
    const program::Place place = places_(element, address);
    const program::Function* const function =
        place.program == nullptr ? nullptr : place.program->function(place.address);
    return function != nullptr && function_.matches(*place.program, *function);
  }

  std::string text_;
  std::vector<image::AddressRange> ranges_;
  outputs::PlaceLookup places_;
  outputs::FunctionMatch function_;
};

/// Reads --address for a recording, in which a name can have many addresses.
Result<Wanted> wanted_in_recording(const FindOptions& options, const inputs::Capture& capture) {
  bool whole = false;
  const auto lookup = [&](std::string_view name) -> Result<image::AddressRange> {
    whole = name == options.address;
    return fail(ErrorCode::kInvalidArgument,
                "in a perf recording, name a function alone, not as one end of a range.");
  };
  const auto range = image::parse_address_range(options.address, lookup);
  if (range) return Wanted({*range}, image::address_range_text(*range));
  if (!whole) return std::unexpected(range.error());
  auto places = program_places(capture, {.functions = true, .files = options.symbols});
  if (!places) return std::unexpected(std::move(places).error());
  auto function = places->match(options.address);
  if (!function) return std::unexpected(std::move(function).error());
  return Wanted(*std::move(function), options.address, std::move(places->lookup));
}

/// Reads --address.  Programs are read when a name asks for them.
Result<Wanted> wanted_in_image(const FindOptions& options, const inputs::Capture& capture) {
  std::optional<Result<ProgramPlaces>> places;
  std::vector<image::AddressRange> whole;
  const auto lookup = [&](std::string_view name) -> Result<image::AddressRange> {
    if (!places) places = program_places(capture, {.functions = true, .files = options.symbols});
    if (!*places) return std::unexpected(places->error());
    const auto found = outputs::find_functions((*places)->programs, std::string(name));
    if (!found) return std::unexpected(found.error());
    std::vector<image::AddressRange> ranges;
    for (const outputs::NamedFunction& each : *found) {
      const auto more = (*places)->image->addresses(*each.program, *each.function);
      ranges.insert(ranges.end(), more.begin(), more.end());
    }
    if (ranges.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is a function that is not in memory.", escaped(name)));
    }
    if (name == options.address) whole = ranges;
    return ranges.front();
  };
  const auto range = image::parse_address_range(options.address, lookup);
  if (!range) return std::unexpected(places && !*places ? places->error() : range.error());
  if (whole.size() > 1) return Wanted(std::move(whole), options.address);
  return Wanted({*range}, image::address_range_text(*range));
}

void write_count(const FindOptions& options, std::uint64_t count, TextBuffer& out) {
  switch (options.format) {
    case Format::kText:
      out.put(fmt::format("{}\n", count));
      break;
    case Format::kJson:
      out.put(fmt::format("{{\"type\":\"found_count\",\"count\":{}}}\n", count));
      break;
    case Format::kCsv:
      out.put(fmt::format("count\n{}\n", count));
      break;
  }
}

/// The landmarks that the options ask for; nothing for --address.
std::expected<std::optional<index::Query>, std::string> query_of(const FindOptions& options) {
  unsigned given = 0;
  std::optional<index::Query> query;
  std::string wrong;
  const auto number = [&](std::string_view option, const std::string& text, LandmarkKind kind,
                          bool may_be_empty) {
    if (text.empty()) return;
    ++given;
    query = index::Query{.kind = kind};
    if (may_be_empty && text == "any") return;
    const auto value = kind == LandmarkKind::kTimestamp ? parse_time(text) : parse_number(text);
    if (!value) {
      wrong = fmt::format("{} {}: expected a number, decimal or hexadecimal after 0x{}.", option,
                          text, may_be_empty ? ", or any" : "");
      return;
    }
    query->value = value;
  };
  const auto flag = [&](bool set, LandmarkKind kind) {
    if (!set) return;
    ++given;
    query = index::Query{.kind = kind};
  };
  number("--timestamp", options.timestamp, LandmarkKind::kTimestamp, false);
  number("--event", options.event, LandmarkKind::kEvent, true);
  number("--context", options.context, LandmarkKind::kContext, true);
  number("--exception", options.exception, LandmarkKind::kException, true);
  flag(options.trigger, LandmarkKind::kTrigger);
  flag(options.overflow, LandmarkKind::kOverflow);
  flag(options.gap, LandmarkKind::kGap);
  if (!options.address.empty()) ++given;
  if (!wrong.empty()) return std::unexpected(wrong);
  if (given != 1) {
    return std::unexpected(std::string(
        "State what to find with one of --timestamp, --event, --trigger, --context, --exception, "
        "--overflow, --gap and --address."));
  }
  return query;
}

/// Answers from the index alone where it can: how many there are.
std::optional<std::uint64_t> count_of(const index::Header& header, std::span<const TraceId> ids,
                                      const index::Query& query) {
  if (query.value || query.from != 0 || query.to != kNoIndex) return std::nullopt;
  const bool formatter = query.kind == LandmarkKind::kTrigger && query.formatter;
  std::uint64_t count = formatter ? header.triggers : 0;
  for (const TraceId id : ids)
    if (const index::Stream* stream = header.stream(id))
      count += stream->counts[static_cast<std::size_t>(query.kind)];
  return count;
}

int find_landmarks(const FindOptions& options, inputs::Capture& capture, Window& window,
                   index::Query query, Output& output) {
  index::Index* index = window.look_up(capture);
  if (index == nullptr) return window.code();
  inputs::Capture* const scout = window.scout(capture);
  if (scout == nullptr) return kInput;
  query.from = window.from();
  query.to = window.to();
  query.stop = interrupted;
  query.formatter = options.input.ids.empty() && options.input.cpus.empty();
  const std::vector<TraceId> ids = index::source_ids(capture);
  std::optional<FoundWriter> writer;
  if (!options.count) writer.emplace(output, options.format, capture);
  std::uint64_t count = 0;
  const bool first_only = query.kind == LandmarkKind::kTimestamp && query.value;
  const auto take = [&](const index::Hit& hit) {
    ++count;
    if (writer) {
      writer->write({.index = hit.landmark.index,
                     .id = hit.id,
                     .time = hit.time,
                     .what = landmark_name(hit.landmark.kind),
                     .value = value_text(hit.landmark)});
      if (!output.settle()) return false;
    }
    return !interrupted();
  };
  const auto search = [&]() -> Result<void> {
    if (const auto known = options.count ? count_of(index->header(), ids, query) : std::nullopt) {
      count = *known;
      return {};
    }
    if (!first_only || options.count) return index::find(*scout, *index, ids, query, take);
    // The first timestamp of each source that is not earlier.
    for (const TraceId id : ids) {
      WAYMARK_TRY(index::find(*scout, *index, {&id, 1}, query, [&](const index::Hit& hit) {
        (void)take(hit);
        return false;
      }));
    }
    return {};
  };
  Result<void> done = search();
  // Nothing was written yet, so the search can begin again.
  while (!done && !interrupted() && count == 0 && window.give_up(done.error())) {
    index = window.look_up(capture);
    if (index == nullptr) return window.code();
    done = search();
  }
  if (interrupted()) {
    if (writer) writer->put_interrupted();
    return kInterrupted;
  }
  if (!done) return complain(done.error().detail, kInput);
  if (options.count) write_count(options, count, output.text());
  if (count == 0 && !options.count) {
    if (first_only && !window.given()) {
      const auto nothing =
          index::resolve(*scout, *index, ids, {index::Position::Kind::kTimestamp, *query.value});
      return complain(nothing ? "Nothing was found." : nothing.error().detail, kDamaged);
    }
    return complain(
        fmt::format("{}: {} contains nothing of this kind.", inputs::trace_name(capture),
                    window.given() ? "this part of the trace" : "the trace"),
        kDamaged);
  }
  return kOk;
}

/// Why no range was found, as the end of a sentence.
std::string_view why_nothing(const inputs::Capture& capture) {
  if (!traces_a_core(capture)) return "; no source traces instructions.";
  if (capture.image().regions().empty()) return "; name the program with --elf.";
  return ".";
}

/// What is looked for among elements.
struct Sought {
  std::string_view what;
  /// What is shown of an element; nothing: it is another one.
  std::function<std::optional<std::string>(const Element& element)> value_of;
  /// The end of a sentence, after a search without a result.
  std::function<std::string()> nothing;
};

/// Executed ranges that touch the addresses.
Sought sought_ranges(Wanted& wanted, const inputs::Capture& capture) {
  return {.what = "range",
          .value_of = [&wanted](const Element& element) -> std::optional<std::string> {
            if (element.kind != ElementKind::kInstrRange || !wanted.touches(element))
              return std::nullopt;
            return fmt::format("0x{:x}..0x{:x}", element.start, element.end);
          },
          .nothing =
              [&wanted, &capture] {
                return fmt::format("nothing was executed in {}{}", wanted.text(),
                                   wanted.unknown().empty() ? std::string(why_nothing(capture))
                                                            : ": " + wanted.unknown());
              }};
}

/// Exceptions, whose numbers are not in the packets of an MTB.
Sought sought_exceptions(const index::Query& query) {
  return {.what = landmark_name(LandmarkKind::kException),
          .value_of = [value = query.value](const Element& element) -> std::optional<std::string> {
            if (element.kind != ElementKind::kException ||
                element.number != value.value_or(element.number))
              return std::nullopt;
            return fmt::format("{}", element.number);
          },
          .nothing = [] { return std::string("the trace contains nothing of this kind."); }};
}

bool only_decoding_shows_it(const std::optional<index::Query>& query,
                            const inputs::Capture& capture) {
  return query && query->kind == LandmarkKind::kException && !capture.sources().empty() &&
         std::ranges::all_of(capture.sources(), [](const inputs::CaptureSource& source) {
           return source.source->protocol() == Protocol::kMtb;
         });
}

/// Decodes the part of the trace that was asked for.
int find_elements(const FindOptions& options, const Sought& sought, inputs::Capture& capture,
                  std::optional<Selection>& selection, Window& window, Output& output) {
  if (const int code = window.open(capture); code != kOk) return code;
  class NoDiagnostics final : public Observer {
   public:
    [[nodiscard]] bool wants_packets() const override { return false; }
  };
  NoDiagnostics quiet;
  capture.tree().set_observer(&quiet);
  std::optional<FoundWriter> writer;
  if (!options.count) writer.emplace(output, options.format, capture);
  std::array<std::optional<std::uint64_t>, kTraceIdCount> time{};
  std::uint64_t count = 0;
  std::optional<MissingPrograms> missing;
  if (capture.processes() != nullptr) missing.emplace(capture);
  const RunHooks hooks{.on_elements =
                           [&](std::span<const Element> elements) {
                             for (const Element& element : elements) {
                               const TraceId id = element.trace_id & (kTraceIdCount - 1);
                               window.add(element.trace_id, element.index);
                               if (element.kind == ElementKind::kTimestamp)
                                 time[id] = element.timestamp;
                               if (!window.contains(element.index)) continue;
                               if (missing && element.kind == ElementKind::kAddrNacc &&
                                   (!selection || selection->shows(element)))
                                 missing->add(element);
                               std::optional<std::string> value = sought.value_of(element);
                               if (!value || (selection && !selection->shows(element))) continue;
                               ++count;
                               if (!writer) continue;
                               writer->write({.index = element.index,
                                              .id = element.trace_id,
                                              .time = time[id],
                                              .what = sought.what,
                                              .value = *std::move(value)});
                             }
                           },
                       .stop = {},
                       .enough = [&](TraceIndex index) { return window.enough(index); }};
  const int code = run_capture(capture, output, hooks);
  if (code == kInterrupted && writer) writer->put_interrupted();
  if (missing) missing->report();
  if (code != kOk) return code;
  if (options.count) {
    write_count(options, count, output.text());
  } else if (count == 0) {
    return complain(fmt::format("{}: {}", inputs::trace_name(capture), sought.nothing()), kDamaged);
  }
  return kOk;
}

int run(const FindOptions& options) {
  const auto query = query_of(options);
  if (!query) return complain(query.error(), kUsage);
  const bool decode = !options.address.empty();
  Window window(options.input, options.window);
  auto capture = open_capture(options.input, {.decode = decode}, true,
                              decode ? window.known_id_bytes() : window.index_id_bytes());
  if (!capture) return capture.error();
  const auto& landmarks = *query;
  const bool decodes = only_decoding_shows_it(landmarks, *capture);
  if (decodes) {
    capture = open_capture(options.input, {.decode = true}, true, window.known_id_bytes());
    if (!capture) return capture.error();
  }
  if (options.selection.given() && !decode) {
    return complain("--pid, --tid, --comm and --dso select executed code: use them with --address.",
                    kUsage);
  }
  auto selection = select_in(*capture, options.selection);
  if (!selection) return complain(selection.error().detail, kUsage);
  std::optional<Wanted> wanted;
  if (decode) {
    auto found = capture->processes() != nullptr ? wanted_in_recording(options, *capture)
                                                 : wanted_in_image(options, *capture);
    if (!found) return complain(fmt::format("--address: {}", found.error().detail), kUsage);
    wanted = *std::move(found);
  }
  std::vector<std::string> inputs = window.input_files(*capture);
  const std::vector<std::string> programs = program_paths(options.symbols);
  inputs.insert(inputs.end(), programs.begin(), programs.end());
  if (const auto safe = refuse_input(options.output, inputs); !safe)
    return complain(safe.error().detail, kUsage);
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  const auto in_elements = [&](const Sought& sought) {
    return find_elements(options, sought, *capture, *selection, window, *output);
  };
  int code = kOk;
  if (!landmarks) {
    code = in_elements(sought_ranges(wanted.value(), *capture));
  } else if (decodes) {
    code = in_elements(sought_exceptions(*landmarks));
  } else {
    code = find_landmarks(options, *capture, window, *landmarks, *output);
  }
  return finish_output(*output, code);
}

}  // namespace

void add_find(Command& app, int& exit_code) {
  auto options = std::make_shared<FindOptions>();
  Command* command =
      app.add_subcommand("find", "Find a time, event, exception or address in a trace");
  add_input_options(*command, options->input);
  const auto* const what = "What to find (one of these)";
  command
      ->add_option("--timestamp", options->timestamp,
                   "the first timestamp of each source that is not earlier than T")
      ->type_name("T")
      ->group(what);
  command->add_option("--event", options->event, "events with this number, or any")
      ->type_name("N|any")
      ->group(what);
  command
      ->add_flag("--trigger", options->trigger, "triggers, of sources and of the trace formatter")
      ->group(what);
  command->add_option("--context", options->context, "context IDs that the trace sent")
      ->type_name("CID|any")
      ->group(what);
  command
      ->add_option("--exception", options->exception,
                   "exceptions with this number in their packet, or any")
      ->type_name("N|any")
      ->expected(0, 1)
      ->default_str("any")
      ->group(what);
  command->add_flag("--overflow", options->overflow, "places where the trace unit lost data")
      ->group(what);
  command->add_flag("--gap", options->gap, "places where packets are damaged")->group(what);
  command
      ->add_option("--address", options->address,
                   "executed ranges that touch these addresses: A, A..B (excluding B), A+LENGTH, "
                   "or a function: NAME or PROGRAM:NAME; decodes the trace between --from and --to")
      ->type_name("RANGE")
      ->group(what);
  command->add_flag("--count", options->count, "only print the number of matches");
  command
      ->add_option("--symbols", options->symbols,
                   "a program (ELF file) whose functions --address can name, if the image has "
                   "none; @ADDRESS: its load address minus its link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_selection_options(*command, options->selection);
  add_window_options(*command, options->window);
  add_format_option(*command, options->format, true);
  command->add_option("-o,--output", options->output, "write to this file")->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  waymark find board/ --timestamp 8123456\n"
      "  waymark find board/ --exception any --format csv\n"
      "  waymark find board/ --address quicksort\n"
      "  waymark find board/ --address 0x80000..0x80100 --count\n"
      "  waymark find board/ --address 0x80000+0x100 --from t:8123456 --to t:8200000");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

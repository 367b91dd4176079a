#include "analyses.h"

#include <pybind11/stl.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "occurrence.h"
#include "program_counts.h"
#include "program_profile.h"
#include "sealed.h"
#include "stack_pass.h"
#include "symbol_options.h"
#include "table.h"
#include "waymark/count/counter.h"
#include "waymark/count/functions.h"
#include "waymark/element/text.h"
#include "waymark/inputs/branch_code.h"
#include "waymark/interval/intervals.h"
#include "waymark/outputs/names.h"
#include "waymark/outputs/readable_name.h"
#include "waymark/parallel/counting.h"
#include "waymark/perf/process_images.h"
#include "waymark/profile/profile.h"
#include "waymark/stacks/engine.h"

namespace waymark::python {
namespace {

// -- Counts. --------------------------------------------------------------------------------------

/// The counts of all sources together, without the GIL.  An interrupt leaves its exception.
count::Counts count_alone(const SharedCapture& capture) {
  Pass pass(capture, nullptr);
  std::map<Source*, count::Counter> counters;
  for (Source* const source : pass.tree().sources()) {
    count::Counter& counter = counters[source];
    counter.set_tasks(capture->capture.image().selector());
    counter.set_targets(inputs::BranchCode(capture->capture).direct_targets());
    // Without trace, this only tells the counter what the registers say.
    source->count(counter);
  }
  const SourceWork count = [&](Source& source) { source.count(counters.at(&source)); };
  bool more = true;
  while (more) {
    more = pass.feed();
    pass.tree().work(count);
    if (more && interrupted()) return {};
  }
  count::Counts all;
  for (auto& [source, counter] : counters) all.add(counter.take());
  return all;
}

count::Counts count_parallel(const SharedCapture& capture, unsigned threads) {
  Pass pass(capture, nullptr);
  std::optional<inputs::TraceBlock> whole;
  {
    const std::lock_guard lock(capture->mutex);
    capture->capture.seek(0);
    whole = capture->capture.rest();
  }
  if (threads <= 1 || !whole || !pass.tree().can_jump()) return count_alone(capture);
  bool stopped = false;
  parallel::CountingConsumer consumer(pass.tree(), [&](TraceIndex /*end*/) {
    stopped = interrupted();
    return !stopped;
  });
  consumer.set_tasks(capture->capture.image().selector());
  consumer.set_targets(inputs::BranchCode(capture->capture).direct_targets());
  parallel::ParallelDecoder decoder(
      pass.tree(), {.threads = threads, .piece_bytes = parallel::CountingConsumer::kPieceBytes});
  unwrap(decoder.decode(whole->index, whole->bytes, consumer));
  count::Counts all;
  if (stopped) return all;
  for (Source* const source : pass.tree().sources()) all.add(consumer.take_counts(*source));
  return all;
}

/// Counts, and the capture whose programs they are about.
struct CountResult {
  SharedCapture capture;
  count::Counts counts;
};

CountResult count_capture(const SharedCapture& capture, unsigned threads) {
  capture->require_open();
  if (threads < 1 || threads > parallel::kMaxThreads)
    raise(ErrorCode::kInvalidArgument, "threads: expected 1 to 256.");
  CountResult result{.capture = capture, .counts = {}};
  {
    const py::gil_scoped_release free;
    result.counts = count_parallel(capture, threads);
  }
  throw_if_interrupted();
  return result;
}

py::dict totals_dict(const count::Counts& counts) {
  const count::Totals totals = counts.totals();
  py::dict dict;
  dict["instructions"] = totals.instructions;
  dict["ranges"] = totals.ranges;
  dict["taken"] = totals.taken;
  dict["not_taken"] = totals.not_taken;
  dict["calls"] = totals.calls;
  dict["cycles"] = totals.cycles;
  dict["pathless_instructions"] = counts.pathless_instructions;
  py::dict others;
  for (std::size_t kind = 0; kind < counts.others.size(); ++kind) {
    if (counts.others[kind] != 0)
      others[text_of(outputs::kind_word(static_cast<ElementKind>(kind)))] = counts.others[kind];
  }
  dict["others"] = others;
  return dict;
}

py::dict rows_table(const CountResult& self) {
  using count::Row;
  const auto context = [](auto member) {
    return [member](const Row& row) { return row.context.*member; };
  };
  return Table<Row>(self.counts.rows)
      .number("id", context(&count::Context::trace_id))
      .number("start", [](const Row& r) { return r.range.start; })
      .number("end", [](const Row& r) { return r.range.end; })
      .number("count", [](const Row& r) { return r.range.count; })
      .text("isa", [](const Row& r) { return isa_name(r.range.isa); })
      .text("last", [](const Row& r) { return outputs::instruction_word(r.range.last_type); })
      .text("subtype", [](const Row& r) { return outputs::subtype_word(r.range.last_subtype); })
      .number("executed", &Row::executed)
      .number("not_executed", &Row::not_executed)
      .number("instructions", &Row::instructions)
      .number("cycles", &Row::cycles)
      .number("context_id", context(&count::Context::context_id))
      .number("vmid", context(&count::Context::vmid))
      .number("el", context(&count::Context::exception_level))
      .text("security", [](const Row& r) { return outputs::security_word(r.context.security); })
      .number("tid", [](const Row& row) { return row.context.task.thread; })
      .number("moment", [](const Row& row) { return row.context.task.moment; })
      .done();
}

py::dict edges_table(const CountResult& self) {
  using count::Edge;
  return Table<Edge>(self.counts.edges)
      .number("id", [](const Edge& e) { return e.context.trace_id; })
      .number("from", &Edge::from)
      .number("to", &Edge::to)
      .text("subtype", [](const Edge& e) { return outputs::subtype_word(e.subtype); })
      .number("times", &Edge::times)
      .done();
}

py::dict function_table(std::span<const count::FunctionRow> rows,
                        const std::function<std::string(const count::FunctionRow&)>& program) {
  using count::FunctionRow;
  return Table<FunctionRow>(rows)
      .text("function",
            [](const FunctionRow& r) {
              return r.function == nullptr ? "" : outputs::readable_name(r.function->name);
            })
      .text("symbol",
            [](const FunctionRow& r) { return r.function == nullptr ? "" : r.function->name; })
      .text("program", program)
      .number("start",
              [](const FunctionRow& r) { return r.function == nullptr ? 0 : r.function->start; })
      .number("instructions", &FunctionRow::instructions)
      .number("entered", &FunctionRow::entered)
      .number("calls", &FunctionRow::calls)
      .number("cycles", &FunctionRow::cycles)
      .done();
}

py::dict functions_table(const CountResult& self, const std::vector<std::string>& symbols) {
  const inputs::Capture& capture = self.capture->capture;
  if (capture.processes() != nullptr) {
    const cli::ProgramCounts programs = cli::fold_programs(self.counts, *capture.processes());
    const std::vector<count::FunctionRow> rows = programs.functions();
    return function_table(rows, [&](const count::FunctionRow& row) {
      return row.program < programs.programs.size() ? programs.programs[row.program].path : "";
    });
  }
  const image::Symbols known =
      unwrap(cli::load_symbols(capture, {.functions = true, .files = symbols}));
  const std::vector<count::FunctionRow> rows =
      count::functions(self.counts, known, cli::code_reader(capture));
  return function_table(rows, [](const count::FunctionRow& /*row*/) { return std::string(); });
}

// -- Profiles. ------------------------------------------------------------------------------------

py::dict profile_tables(const CountResult& self, const std::vector<std::string>& symbols) {
  const inputs::Capture& capture = self.capture->capture;
  outputs::PlaceLookup places;
  if (capture.processes() == nullptr) places = places_of(*self.capture, symbols);
  // It keeps the programs, which the profile only names.
  const profile::Locate locate = cli::program_locator(capture, std::move(places));
  profile::Profile profile;
  profile.add(self.counts, locate);
  struct Line {
    const profile::ProgramProfile* program;
    count::Row row;
  };
  std::vector<Line> lines;
  struct Jump {
    const profile::ProgramProfile* from;
    const profile::ProgramProfile* to;
    profile::Branch branch;
  };
  std::vector<Jump> jumps;
  for (const profile::ProgramProfile& program : profile.programs()) {
    for (const count::Row& row : program.counts.rows) lines.push_back({&program, row});
    for (const profile::Branch& branch : program.branches)
      jumps.push_back({&program, &profile.programs()[branch.to_program], branch});
  }
  const auto function_of = [](const profile::ProgramProfile* program, std::uint64_t address) {
    const image::Function* const found =
        program->program == nullptr ? nullptr : program->program->function(address);
    return found == nullptr ? std::string() : outputs::readable_name(found->name);
  };
  const auto build_id = [](const profile::ProgramProfile& program) {
    TextBuffer text;
    for (const std::uint8_t byte : program.build_id) text.hex(byte, 2);
    return std::string(text.view());
  };
  py::dict tables;
  tables["programs"] = Table<profile::ProgramProfile>(profile.programs())
                           .text("program", &profile::ProgramProfile::path)
                           .text("build_id", build_id)
                           .number("instructions", &profile::ProgramProfile::instructions)
                           .done();
  tables["ranges"] =
      Table<Line>(lines)
          .text("program", [](const Line& l) { return l.program->path; })
          .text("function",
                [&](const Line& l) { return function_of(l.program, l.row.range.start); })
          .number("start", [](const Line& l) { return l.row.range.start; })
          .number("end", [](const Line& l) { return l.row.range.end; })
          .number("times", [](const Line& l) { return l.row.times(); })
          .number("instructions", [](const Line& l) { return l.row.instructions(); })
          .number("cycles", [](const Line& l) { return l.row.cycles; })
          .done();
  tables["branches"] =
      Table<Jump>(jumps)
          .text("program", [](const Jump& j) { return j.from->path; })
          .text("function", [&](const Jump& j) { return function_of(j.from, j.branch.from); })
          .number("from", [](const Jump& j) { return j.branch.from; })
          .text("to_program", [](const Jump& j) { return j.to->path; })
          .text("to_function", [&](const Jump& j) { return function_of(j.to, j.branch.to); })
          .number("to", [](const Jump& j) { return j.branch.to; })
          .number("times", [](const Jump& j) { return j.branch.times; })
          .done();
  return tables;
}

// -- Stacks. --------------------------------------------------------------------------------------

std::string_view code_kind_word(stacks::CodeKind kind) {
  constexpr std::string_view kWords[] = {"root",      "function", "address",      "unknown",
                                         "exception", "signal",   "lost_callers", "inlined"};
  const auto at = static_cast<std::size_t>(kind);
  return at < std::size(kWords) ? kWords[at] : "unknown";
}

py::dict stack_table(const stacks::Tree& tree) {
  struct Line {
    stacks::NodeId id;
    std::uint32_t depth;
    stacks::Node node;
    stacks::Inclusive all;
  };
  const std::vector<stacks::Inclusive> inclusive = tree.inclusive();
  std::vector<Line> lines;
  std::uint32_t depth = 0;
  stacks::walk(
      tree,
      [&](stacks::NodeId id) { lines.push_back({id, depth++, tree.node(id), inclusive[id]}); },
      [&](stacks::NodeId /*id*/) { --depth; });
  const auto code = [&](const Line& line) -> const stacks::Code& {
    return tree.code(line.node.code);
  };
  return Table<Line>(lines)
      .number("node", &Line::id)
      .number("parent", [](const Line& l) { return l.node.parent; })
      .number("depth", &Line::depth)
      .text("function",
            [&](const Line& l) { return outputs::readable_name(stacks::name_of(code(l))); })
      .text("kind", [&](const Line& l) { return code_kind_word(code(l).kind); })
      .text("program", [&](const Line& l) { return code(l).program; })
      .number("calls", [](const Line& l) { return l.node.calls; })
      .number("instructions", [](const Line& l) { return l.node.instructions; })
      .number("cycles", [](const Line& l) { return l.node.cycles; })
      .number("total_instructions", [](const Line& l) { return l.all.instructions; })
      .number("total_cycles", [](const Line& l) { return l.all.cycles; })
      .done();
}

py::dict stacks_of(const SharedCapture& capture, const std::vector<std::string>& symbols) {
  capture->require_open();
  auto places = cli::place_lookup(capture->capture, {.functions = true, .files = symbols});
  // Without names, functions are called by their addresses.
  if (!places && places.error().code != ErrorCode::kNotFound)
    throw Failure(std::move(places).error());
  if (!places && !symbols.empty()) throw Failure(std::move(places).error());
  // The engine keeps the programs that its tree names.
  stacks::Engine engine(
      cli::stack_options(capture->capture, places ? *std::move(places) : outputs::PlaceLookup()));
  cli::set_sources(engine, capture->capture);
  each_batch(capture, [&](std::span<const Element> elements) { engine.observe(elements); });
  engine.finish();
  return stack_table(engine.tree());
}

// -- Intervals. -----------------------------------------------------------------------------------

/// The two ends, and the intervals of each source.
class Measurement {
 public:
  explicit Measurement(std::array<cli::Occurrence, 2> ends) : ends_(std::move(ends)) {}

  void observe(const Element& element) {
    auto& own = by_source_[element.trace_id & (kTraceIdCount - 1)];
    if (own == nullptr) own = std::make_unique<interval::Intervals>();
    // Where both happen at one element, the order of its instructions decides.
    const auto from = ends_[0].happens(element, {});
    const auto to = ends_[1].happens(element, {});
    const bool to_first = to && (!from || *to <= *from);
    if (to_first) own->happen(interval::End::kTo, element, *to);
    if (from) own->happen(interval::End::kFrom, element, *from);
    if (to && !to_first) own->happen(interval::End::kTo, element, *to);
    own->observe(element);
  }

  /// By unit, those that the trace measures in.
  std::vector<std::pair<interval::Unit, interval::Lengths>> finish() {
    std::array<interval::Lengths, interval::kUnits> sums;
    std::array<bool, interval::kUnits> has{};
    for (auto& own : by_source_) {
      if (own == nullptr) continue;
      own->finish();
      if (own->pairs() == 0) continue;
      for (std::size_t unit = 0; unit < interval::kUnits; ++unit) {
        sums[unit].add(own->lengths(static_cast<interval::Unit>(unit)));
        has[unit] = has[unit] || own->has(static_cast<interval::Unit>(unit));
      }
    }
    std::vector<std::pair<interval::Unit, interval::Lengths>> rows;
    for (std::size_t unit = 0; unit < interval::kUnits; ++unit) {
      if (has[unit]) rows.emplace_back(static_cast<interval::Unit>(unit), std::move(sums[unit]));
    }
    return rows;
  }

 private:
  std::array<cli::Occurrence, 2> ends_;
  std::array<std::unique_ptr<interval::Intervals>, kTraceIdCount> by_source_;
};

cli::Occurrence occurrence_of(const OpenCapture& capture, const std::string& text,
                              const std::vector<std::string>& symbols) {
  cli::Occurrence end = unwrap(cli::Occurrence::parse(text));
  if (end.names_function())
    unwrap(end.find_function(capture.capture, {.functions = true, .files = symbols}));
  return end;
}

py::dict intervals_of(const SharedCapture& capture, const std::string& from, const std::string& to,
                      const std::vector<std::string>& symbols) {
  capture->require_open();
  Measurement measurement(
      {occurrence_of(*capture, from, symbols), occurrence_of(*capture, to, symbols)});
  each_batch(capture, [&](std::span<const Element> elements) {
    for (const Element& element : elements) measurement.observe(element);
  });
  const auto rows = measurement.finish();
  using Row = std::pair<interval::Unit, interval::Lengths>;
  const auto quantile = [](unsigned per_mille) {
    return [per_mille](const Row& row) { return row.second.distribution.quantile(per_mille); };
  };
  const auto length = [](const std::optional<interval::Interval>& each) {
    return each ? each->length : 0;
  };
  struct Bar {
    interval::Unit unit;
    interval::Distribution::Bar bar;
  };
  std::vector<Bar> bars;
  for (const auto& [unit, lengths] : rows)
    for (const auto& bar : lengths.distribution.histogram()) bars.push_back({unit, bar});
  py::dict tables;
  tables["lengths"] =
      Table<Row>(rows)
          .text("unit", [](const Row& r) { return interval::unit_name(r.first); })
          .number("count", [](const Row& r) { return r.second.distribution.count(); })
          .number("minimum", [&](const Row& r) { return length(r.second.shortest); })
          .number("median", quantile(500))
          .number("mean", [](const Row& r) { return r.second.distribution.mean(); })
          .number("p95", quantile(950))
          .number("p99", quantile(990))
          .number("maximum", [&](const Row& r) { return length(r.second.longest); })
          .done();
  tables["histogram"] = Table<Bar>(bars)
                            .text("unit", [](const Bar& b) { return interval::unit_name(b.unit); })
                            .number("from", [](const Bar& b) { return b.bar.from; })
                            .number("to", [](const Bar& b) { return b.bar.to; })
                            .number("count", [](const Bar& b) { return b.bar.count; })
                            .done();
  return tables;
}

}  // namespace

void bind_analyses(py::module_& module) {
  sealed(py::class_<CountResult>(module, "CountResult"))
      .def_property_readonly("totals",
                             [](const CountResult& self) { return totals_dict(self.counts); })
      .def("rows", rows_table)
      .def("edges", edges_table)
      .def("functions", functions_table)
      .def("profile", profile_tables);
  module.def("count", count_capture);
  module.def("stacks", stacks_of);
  module.def("intervals", intervals_of);
}

}  // namespace waymark::python

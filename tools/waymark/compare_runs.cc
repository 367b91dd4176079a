#include "compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "complain.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "image_mismatches.h"
#include "interrupt.h"
#include "progress.h"
#include "run.h"
#include "run_position.h"
#include "run_reader.h"
#include "stack_pass.h"
#include "waymark/outputs/call_trees.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/program_files.h"

namespace waymark::cli {
namespace {

using diff::Side;

/// Exceptions that a program asks for: calls of its kernel, hypervisor or monitor.
bool is_asked_for(std::string_view name) {
  return name == "Call" || name == "SVC" || name == "SMC" || name == "Hyp";
}

/// Whether a range begins one of these functions.
class BeginsFunction {
 public:
  BeginsFunction(outputs::PlaceLookup places, std::vector<outputs::FunctionMatch> functions)
      : places_(std::move(places)), functions_(std::move(functions)) {}

  bool operator()(const Element& range) {
    const program::Place place = places_(range, range.start);
    const program::Function* const function =
        place.program == nullptr ? nullptr : place.program->function(place.address);
    if (function == nullptr || function->start != place.address) return false;
    const auto [known, is_new] = known_.try_emplace(function, false);
    if (is_new) {
      known->second = std::ranges::any_of(functions_, [&](outputs::FunctionMatch& each) {
        return each.matches(*place.program, *function);
      });
    }
    return known->second;
  }

 private:
  outputs::PlaceLookup places_;
  std::vector<outputs::FunctionMatch> functions_;
  std::map<const program::Function*, bool> known_;
};

/// The names of the sources that trace a core, in order.
std::vector<std::string> core_names(const inputs::Capture& capture) {
  std::vector<std::string> names;
  for (const inputs::CaptureSource& source : capture.sources()) {
    names.push_back(!source.core.empty() ? source.core
                                         : fmt::format("trace ID 0x{:02x}", source.id));
  }
  return names;
}

std::size_t source_number(const inputs::Capture& capture, TraceId id) {
  const auto& sources = capture.sources();
  const auto at = std::ranges::find(sources, id, &inputs::CaptureSource::id);
  return at == sources.end() ? 0 : static_cast<std::size_t>(at - sources.begin());
}

}  // namespace

std::expected<std::unique_ptr<ComparedRuns>, int> ComparedRuns::open(
    const CompareOptions& options) {
  std::unique_ptr<ComparedRuns> runs(new ComparedRuns(options));
  for (Side side = 0; side < diff::kSides; ++side) {
    auto opened = runs->open_run(side, false);
    if (!opened) return std::unexpected(opened.error());
    runs->runs_[side] = *std::move(opened);
  }
  if (const int code = runs->refuse_unknown(); code != kOk) return std::unexpected(code);
  return runs;
}

std::expected<ComparedRuns::Opened, int> ComparedRuns::open_run(Side side, bool again) const {
  InputOptions input = options_.input;
  input.path = options_.paths[side];
  input.programs = joined(std::move(input.programs), options_.programs[side].programs);
  auto capture = open_capture(input, {}, !again, {}, !again);
  if (!capture) return std::unexpected(capture.error());
  if (!traces_a_core(*capture)) {
    return std::unexpected(complain(
        fmt::format("{}: none of its sources traces a core, so there is nothing to compare.",
                    input.path),
        kInput));
  }
  Opened opened{.capture = std::make_unique<inputs::Capture>(*std::move(capture))};
  const SymbolOptions symbols = symbols_of(side);
  auto places = program_places(*opened.capture, symbols);
  if (places) {
    if (const int code = find_ignored(opened, *places); code != kOk) return std::unexpected(code);
    opened.places = std::move(places->lookup);
  } else if (places.error().code != ErrorCode::kNotFound || !symbols.files.empty()) {
    return std::unexpected(complain_of_symbols(places.error()));
  } else if (!options_.ignored_functions.empty()) {
    return std::unexpected(complain("--ignore-function: " + places.error().detail, kInput));
  } else if (!again) {
    note(places.error().detail + " Addresses are compared.");
  }
  return opened;
}

int ComparedRuns::find_ignored(Opened& opened, const ProgramPlaces& places) const {
  for (const std::string& name : options_.ignored_functions) {
    // A function may be in the programs of the other run only.
    auto function = outputs::FunctionMatch::find(places.programs, name, true);
    if (!function) return complain("--ignore-function: " + function.error().detail, kUsage);
    opened.ignored.push_back(*std::move(function));
  }
  return kOk;
}

/// A name that no program of either run has.
int ComparedRuns::refuse_unknown() const {
  for (std::size_t i = 0; i < options_.ignored_functions.size(); ++i) {
    const bool known = std::ranges::any_of(runs_, [&](const Opened& run) {
      return run.capture->processes() != nullptr || run.ignored[i].unknown().empty();
    });
    if (!known) return complain("--ignore-function: " + runs_[0].ignored[i].unknown(), kUsage);
  }
  return kOk;
}

SymbolOptions ComparedRuns::symbols_of(Side side) const {
  return {.functions = true,
          .files = joined(options_.symbols, options_.programs[side].symbols),
          .of_one_run = true};
}

std::vector<std::string> ComparedRuns::input_files() const {
  std::vector<std::string> files;
  for (Side side = 0; side < diff::kSides; ++side) {
    for (std::string& file : runs_[side].capture->input_files()) files.push_back(std::move(file));
    for (std::string& file : program_paths(symbols_of(side).files))
      files.push_back(std::move(file));
  }
  return files;
}

diff::RunOptions ComparedRuns::run_options(const Opened& opened) const {
  const stacks::Options stacks = stack_options(*opened.capture, {});
  diff::RunOptions options;
  if (stacks.owner) {
    options.owner = [owner = stacks.owner](const Element& element) {
      const stacks::Owner of = owner(element);
      return diff::Owner{.thread = of.thread, .space = of.space, .until = of.until};
    };
  }
  if (options_.ignore_exceptions) {
    options.ignores_exception = [name = stacks.exception_name](const Element& exception) {
      return !is_asked_for(name(exception.trace_id, exception.number));
    };
  }
  if (!options_.ignored_functions.empty())
    options.ignores_function = BeginsFunction(opened.places, opened.ignored);
  for (const inputs::CaptureSource& source : opened.capture->sources()) {
    const Protocol protocol = source.source->protocol();
    options.timestamps_repeat_cycles[source.id] =
        protocol == Protocol::kEtmV4 || protocol == Protocol::kEte;
  }
  return options;
}

/// Threads of recordings have the names of programs.  Those of other captures have context IDs, and
/// are of a core; cores are told apart by their names, or if these are not the same, by their
/// order.
std::function<diff::ThreadName(const Element&)> ComparedRuns::thread_names(Side side) const {
  const inputs::Capture& capture = *runs_[side].capture;
  if (capture.processes() != nullptr) {
    return [names = process_namer(capture)](const Element& element) {
      const std::string name = names(element);
      return diff::ThreadName{.name = name.empty() ? "a thread without a name" : name};
    };
  }
  std::vector<std::string> cores = core_names(capture);
  if (cores != core_names(*runs_[1 - side].capture)) {
    for (std::size_t i = 0; i < cores.size(); ++i) cores[i] = fmt::format("source {}", i + 1);
  }
  return [cores, &capture](const Element& element) {
    diff::ThreadName name{.group = cores[source_number(capture, element.trace_id)]};
    if ((element.flags & kElementContextIdValid) != 0)
      name.name = fmt::format("context ID 0x{:x}", element.context_id);
    if ((element.flags & kElementVmidValid) != 0)
      name.name += fmt::format("{}VMID 0x{:x}", name.name.empty() ? "" : ", ", element.vmid);
    return name;
  };
}

/// Which programs are in memory must be known before the first step is named.
void ComparedRuns::add_programs(Side side) {
  const inputs::Capture& capture = *runs_[side].capture;
  diff::Programs& programs = comparison_->programs();
  if (capture.programs() != nullptr) {
    for (const perf::ProgramFile* file : capture.programs()->found_files())
      if (const program::Program* program = file->program(); program != nullptr)
        programs.add(side, *program);
    return;
  }
  if (!runs_[side].places) return;
  for (const image::RegionInfo& region : capture.image().regions()) {
    const program::Place place = runs_[side].places(Element(), region.first);
    if (place.program != nullptr) programs.add(side, *place.program);
  }
}

int ComparedRuns::run() {
  diff::ComparisonOptions options;
  for (Side side = 0; side < diff::kSides; ++side) {
    options.runs[side] = run_options(runs_[side]);
    options.places[side] = runs_[side].places;
    options.names[side] = thread_names(side);
  }
  comparison_ = std::make_unique<diff::Comparison>(std::move(options));
  for (Side side = 0; side < diff::kSides; ++side) add_programs(side);
  comparison_->programs().pair_rest();
  if (const int code = compare(); code != kOk) return code;
  places_.resize(std::min(options_.most_places, comparison_->divergences().size()));
  for (Side side = 0; side < diff::kSides; ++side)
    if (const int code = locate(side); code != kOk) return code;
  // Where a program is not the one that ran, the runs seem to diverge.
  for (const Opened& opened : runs_) report_mismatches(*opened.capture, kOk);
  return kOk;
}

int ComparedRuns::compare() {
  std::array<RunReader, diff::kSides> readers{RunReader(*runs_[0].capture),
                                              RunReader(*runs_[1].capture)};
  Progress progress(runs_[0].capture->trace().size() + runs_[1].capture->trace().size());
  while (const auto side = comparison_->next()) {
    const auto elements = readers[*side].next();
    if (!elements) return complain(elements.error().detail, kInput);
    if (interrupted()) return kInterrupted;
    if (elements->empty()) {
      comparison_->finish(*side);
    } else {
      comparison_->observe(*side, *elements);
    }
    progress.at(readers[0].read() + readers[1].read());
  }
  const auto totals = comparison_->totals();
  for (Side side = 0; side < diff::kSides; ++side) {
    if (totals[side].instructions != 0) continue;
    const std::string why = runs_[side].capture->image_fault();
    return complain(fmt::format("{}: no instruction was executed{}", options_.paths[side],
                                why.empty() ? ", so there is nothing to compare." : ": " + why),
                    kInput);
  }
  return kOk;
}

/// Decodes a run again, up to the last of the first divergences, and keeps its call stacks there.
int ComparedRuns::locate(Side side) {
  RunPositions positions;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const diff::Divergence& divergence = comparison_->divergences()[i];
    const auto thread = comparison_->threads()[divergence.thread].threads[side];
    if (!thread) continue;
    positions.add(*comparison_, divergence, side, *thread, places_[i][side]);
  }
  if (positions.done()) return kOk;
  auto again = open_run(side, true);
  if (!again) return again.error();
  stacks::Options stacks = stack_options(*again->capture, again->places);
  const auto exception_name = stacks.exception_name;
  stacks::Engine engine(std::move(stacks));
  set_sources(engine, *again->capture);
  diff::Threads threads(run_options(*again));
  RunReader reader(*again->capture);
  positions.begin(threads, engine, again->places, exception_name);
  while (!positions.done()) {
    const auto elements = reader.next();
    if (!elements) return complain(elements.error().detail, kInput);
    if (interrupted()) return kInterrupted;
    if (elements->empty()) break;
    positions.observe(*elements);
  }
  positions.finish();
  return kOk;
}

outputs::DifferenceReport ComparedRuns::report() const {
  return {.comparison = *comparison_,
          .inputs = options_.paths,
          .places = places_,
          .ignored = options_.ignored_functions,
          .exceptions_ignored = options_.ignore_exceptions};
}

}  // namespace waymark::cli

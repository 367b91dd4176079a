#include "waymark/locate/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "gap_images.h"
#include "trials.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/locate/code_sites.h"
#include "waymark/locate/slide_votes.h"

namespace waymark::locate {
namespace {

/// The most places of a program that are tried for one kind of candidate.
constexpr std::size_t kMostTried = 256;
/// The best of them are tried with more of the trace.
constexpr std::size_t kMostCompared = 4;
constexpr std::size_t kMostVoters = 4096;

/// Instructions of a kernel may have been changed in memory, and trace may be damaged.
bool is_consistent(const Evidence& evidence) {
  return evidence.waypoints != 0 && 50 * evidence.contradictions <= evidence.waypoints &&
         10 * evidence.contradictions <= evidence.ways;
}

bool is_enough(const Evidence& evidence) {
  return evidence.waypoints >= kEnoughWaypoints && evidence.ways >= kEnoughWays;
}

/// Whether `a` explains the trace better than `b`.
bool is_better(const Evidence& a, const Evidence& b) {
  const auto score = [](const Evidence& evidence) {
    return static_cast<double>(evidence.ways) - 20.0 * static_cast<double>(evidence.contradictions);
  };
  if (score(a) != score(b)) return score(a) > score(b);
  return a.waypoints > b.waypoints;
}

Verdict verdict_of(const Evidence& evidence, double share) {
  constexpr double kHalf = 0.5;
  constexpr std::uint64_t kFew = 24;
  if (!is_consistent(evidence)) return Verdict::kNotExecuted;
  if (is_enough(evidence)) return Verdict::kExecuted;
  // A few waypoints of a small part of the trace fit by chance.
  return share >= kHalf && evidence.waypoints >= kFew ? Verdict::kPerhaps : Verdict::kNotExecuted;
}

/// Whether nothing is known at these addresses besides what the image has.  Empty: it is so.
using IsFree = std::function<bool(const CodeRange& range)>;

/// A program at one place of an image, as long as the object lives.
class Mounted {
 public:
  Mounted(image::Image& image, const elf::File& program, std::uint64_t slide, std::uint64_t mask,
          const IsFree& is_free)
      : image_(image) {
    for (const elf::Segment& segment : code_segments(program)) {
      const std::uint64_t address = (segment.address + slide) & mask;
      const Bytes bytes = program.contents(segment);
      const bool fits = !bytes.empty() && address <= mask && bytes.size() - 1 <= mask - address;
      const bool free = !is_free || is_free({address, bytes.size()});
      if (!fits || !free || !image.add_view(address, bytes)) {
        complete_ = false;
        return;
      }
      ranges_.push_back({address, bytes.size()});
    }
  }
  ~Mounted() {
    for (const CodeRange& range : ranges_)
      static_cast<void>(image_.remove(range.address, image::kSpaceAny));
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  /// False: something else is there, or the addresses end.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] const std::vector<CodeRange>& ranges() const { return ranges_; }

 private:
  image::Image& image_;
  std::vector<CodeRange> ranges_;
  bool complete_ = true;
};

struct Tried {
  std::uint64_t slide = 0;
  Evidence evidence{};
};

/// Searches one program after the other.
class Search {
 public:
  Search(image::Image& image, Trials& trials, std::vector<std::uint64_t> addresses,
         const IsFree& is_free)
      : image_(image), trials_(trials), addresses_(std::move(addresses)), is_free_(is_free) {}

  Found look_for(const std::string& path) {
    Found found{.path = path};
    const auto program = elf::File::open(path);
    if (!program || program->segments().empty()) {
      found.verdict = Verdict::kNotReadable;
      found.reason = program ? "The file has no segment to load." : program.error().detail;
      return found;
    }
    if (code_segments(*program).size() > kMostCodeSegments) {
      found.verdict = Verdict::kNotReadable;
      found.reason =
          fmt::format("The file has more than {} parts with code. Check that it is a program.",
                      kMostCodeSegments);
      return found;
    }
    tried_.clear();
    wide_ = program->machine() != elf::File::kArm;
    for (const isa::Isa isa :
         wide_ ? std::vector{isa::Isa::kA64} : std::vector{isa::Isa::kA32, isa::Isa::kT32})
      sites_.push_back(find_sites(*program, isa, [this] { return trials_.asks_to_stop(); }));
    search(*program);
    sites_.clear();
    choose(*program, found);
    return found;
  }

 private:
  [[nodiscard]] std::uint64_t mask() const {
    return wide_ ? ~std::uint64_t{0} : std::uint64_t{0xFFFFFFFF};
  }

  /// From the likely places to the others, until one explains the trace.
  void search(const elf::File& program) {
    constexpr std::uint64_t kPage = 4096;
    constexpr std::uint64_t kInstruction = 4;
    try_slides(program, {{0, 0}});
    for (const std::uint64_t granule : {kPage, kInstruction}) {
      for (const bool calls : {true, false}) {
        if (is_found() || trials_.stopped()) return;
        std::vector<SlideVote> votes;
        for (const CodeSites& sites : sites_) {
          const auto more =
              vote(std::span(addresses_).first(std::min(addresses_.size(), kMostVoters)),
                   calls ? sites.calls : sites.blocks,
                   {.granule = granule, .mask = mask(), .most = kMostTried});
          votes.insert(votes.end(), more.begin(), more.end());
        }
        std::ranges::stable_sort(votes, std::ranges::greater(), &SlideVote::votes);
        if (votes.size() > kMostTried) votes.resize(kMostTried);
        try_slides(program, votes);
      }
    }
  }

  void try_slides(const elf::File& program, const std::vector<SlideVote>& votes) {
    for (const SlideVote& vote : votes) {
      if (trials_.stopped()) return;
      if (std::ranges::find(tried_, vote.slide, &Tried::slide) != tried_.end()) continue;
      const Mounted mounted(image_, program, vote.slide, mask(), is_free_);
      if (!mounted.complete()) continue;
      tried_.push_back({vote.slide, trials_.try_briefly(mounted.ranges())});
      if (is_found()) return;
    }
  }

  /// The place that was tried last needs no competitors.
  [[nodiscard]] bool is_found() const {
    return !tried_.empty() && is_consistent(tried_.back().evidence) &&
           is_enough(tried_.back().evidence);
  }

  /// Compares the best places with more of the trace.
  void choose(const elf::File& program, Found& found) {
    if (is_found()) std::ranges::rotate(tried_, std::prev(tried_.end()));
    std::ranges::stable_sort(
        tried_, [](const Tried& a, const Tried& b) { return is_better(a.evidence, b.evidence); });
    if (tried_.size() > kMostCompared) tried_.resize(kMostCompared);
    std::optional<Tried> best;
    for (const Tried& one : tried_) {
      const Mounted mounted(image_, program, one.slide, mask(), is_free_);
      const Evidence evidence = trials_.try_all(mounted.ranges());
      if (evidence.waypoints == 0 && evidence.contradictions == 0) continue;
      if (!best || is_better(evidence, best->evidence)) best = Tried{one.slide, evidence};
      if (is_consistent(evidence) && is_enough(evidence)) break;
    }
    if (!best) return;
    found.slide = best->slide;
    found.first = (code_segments(program).front().address + best->slide) & mask();
    found.evidence = best->evidence;
    const auto all = static_cast<double>(trials_.stated());
    found.share = std::max(0.0, 1 - static_cast<double>(best->evidence.missing) / all);
    found.verdict = verdict_of(best->evidence, found.share);
  }

  image::Image& image_;
  Trials& trials_;
  std::vector<std::uint64_t> addresses_;
  const IsFree& is_free_;
  std::vector<CodeSites> sites_;  ///< By instruction set, of the present program.
  std::vector<Tried> tried_;
  bool wide_ = true;
};

/// kIo: `stop` said so.
Result<Report> report_of(image::Image& image, Trials trials, const IsFree& is_free,
                         std::span<const std::string> paths) {
  std::vector<std::uint64_t> addresses = trials.read_addresses();
  Report report{.stated = trials.stated(), .distinct = addresses.size()};
  Search search(image, trials, std::move(addresses), is_free);
  for (const std::string& path : paths) {
    if (trials.stopped() || report.distinct == 0) break;
    report.programs.push_back(search.look_for(path));
  }
  if (trials.stopped()) return fail(ErrorCode::kIo, "The search was interrupted.");
  std::ranges::stable_sort(report.programs, [](const Found& a, const Found& b) {
    if (a.verdict != b.verdict) return a.verdict < b.verdict;
    return a.verdict <= Verdict::kPerhaps && a.evidence.waypoints > b.evidence.waypoints;
  });
  return report;
}

/// The processes with addresses without code, the most addresses first.
std::vector<Process> processes_without_code(inputs::Capture& capture, GapImages& images,
                                            const std::function<bool()>& stop) {
  std::map<std::int32_t, std::pair<std::uint64_t, std::string>> found;
  Trials(capture, stop).read_missing([&](const Element& element) {
    const perf::Task& task = images.task_of(element);
    auto& [times, name] = found[task.pid];
    ++times;
    if (name.empty()) name = task.name;
  });
  std::vector<std::pair<std::uint64_t, Process>> sorted;
  sorted.reserve(found.size());
  for (const auto& [pid, what] : found)
    sorted.push_back({what.first, {.pid = pid, .name = what.second}});
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           &std::pair<std::uint64_t, Process>::first);
  std::vector<Process> processes;
  for (auto& [times, process] : sorted)
    if (processes.size() < kMostProcesses) processes.push_back(std::move(process));
  return processes;
}

/// As long as the object lives, the memory of a capture is that of the selector.
class Selected {
 public:
  Selected(inputs::Capture& capture, image::Image& memory, const image::ImageSelector& selector)
      : capture_(capture), memory_(memory), before_(memory.selector()) {
    memory.set_selector(&selector);
  }
  ~Selected() {
    memory_.set_selector(before_);
    for (Source* const source : capture_.checking_tree()->sources()) source->refresh();
  }
  Selected(const Selected&) = delete;
  Selected& operator=(const Selected&) = delete;

 private:
  inputs::Capture& capture_;
  image::Image& memory_;
  const image::ImageSelector* before_;
};

Result<std::vector<Report>> search_processes(inputs::Capture& capture, image::Image& memory,
                                             std::span<const std::string> paths,
                                             const std::function<bool()>& stop) {
  GapImages images(*capture.processes());
  std::vector<Report> reports;
  const std::vector<Process> processes = processes_without_code(capture, images, stop);
  const Selected selected(capture, memory, images);
  const IsFree is_free = [&](const CodeRange& range) {
    return images.is_free(range.address, range.size);
  };
  for (const Process& process : processes) {
    images.choose(process.pid);
    Trials trials(capture, stop, [&](const Element& element) {
      return images.task_of(element).pid == process.pid;
    });
    auto report = report_of(images.trial(), std::move(trials), is_free, paths);
    if (!report) return std::unexpected(report.error());
    report->process = process;
    for (Found& found : report->programs)
      if (found.verdict <= Verdict::kPerhaps) found.recorded = images.recorded_at(found.first);
    reports.push_back(*std::move(report));
  }
  return reports;
}

}  // namespace

Result<std::vector<Report>> locate(inputs::Capture& capture, image::Image& image,
                                   std::span<const std::string> paths,
                                   const std::function<bool()>& stop) {
  const bool comparable =
      capture.checking_tree() != nullptr && !capture.checking_tree()->sources().empty();
  if (!comparable) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: no source has instruction trace to compare with programs.",
                            inputs::trace_name(capture)));
  }
  std::vector<Report> reports;
  if (capture.processes() == nullptr) {
    auto report = report_of(image, Trials(capture, stop), {}, paths);
    if (!report) return std::unexpected(report.error());
    reports.push_back(*std::move(report));
  } else {
    auto found = search_processes(capture, image, paths, stop);
    if (!found) return std::unexpected(found.error());
    reports = *std::move(found);
  }
  if (std::ranges::all_of(reports, [](const Report& report) { return report.distinct == 0; })) {
    return fail(ErrorCode::kBadData,
                fmt::format("{}: the code at every address in the trace is already known.",
                            inputs::trace_name(capture)));
  }
  return reports;
}

}  // namespace waymark::locate

// A kernel changes its code: in memory, branches of static keys and alternatives are not as in the
// file.  With the wrong ones, atoms slip, and the trace soon contradicts the image.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "image_checker.h"
#include "waymark/perf/process_images.h"

namespace waymark::inputs {
namespace {

using program::SwitchedCode;
using Setting = SwitchedCode::Setting;

/// Finds the settings of switches with which the trace contradicts the image least often.
class Resolver {
 public:
  Resolver(Capture& capture, ImageChecker& checker)
      : images_(*capture.processes()), checker_(checker), found_(checker.windows()) {}

  void resolve() {
    look_at_all();
    while (total() != 0 && improve()) {
    }
    if (!changed_.empty()) undo_needless();
  }

  [[nodiscard]] std::vector<KernelSwitch> changed() const {
    std::vector<KernelSwitch> all;
    for (const Switch& each : changed_) {
      const program::CodeSwitch& known = each.code->switches()[each.number];
      all.push_back({.program = each.file->path(),
                     .name = known.name,
                     .is_key = known.kind == program::CodeSwitch::Kind::kStaticKey,
                     .on = each.code->setting(each.number) == Setting::kOn,
                     .sites = known.sites.size()});
    }
    return all;
  }

 private:
  struct Switch {
    const perf::ProgramFile* file = nullptr;
    SwitchedCode* code = nullptr;
    std::size_t number = 0;

    friend bool operator==(const Switch& a, const Switch& b) {
      return a.code == b.code && a.number == b.number;
    }
    friend bool operator<(const Switch& a, const Switch& b) {
      return std::pair(a.file->path(), a.number) < std::pair(b.file->path(), b.number);
    }
  };
  /// The evidence of a window.
  struct Found {
    std::size_t mismatches = 0;
    std::map<Switch, double> doubts;  ///< How likely each of them explains the mismatches.
  };

  // Bounds of the work: windows and switches of one attempt, and bytes of trace in all.
  static constexpr std::size_t kWindowsTried = 4;
  static constexpr std::size_t kSwitchesTried = 8;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

  Found look_at(std::size_t window) {
    Found found;
    decoded_ += checker_.bytes(window);
    checker_.run(window, [&](const mismatch::Mismatch& mismatch) {
      ++found.mismatches;
      std::set<Switch> near;
      for (const mismatch::Walked& walked : mismatch.path) add_switches(mismatch, walked, near);
      for (const Switch& each : near) found.doubts[each] += 1.0 / static_cast<double>(near.size());
    });
    return found;
  }

  /// The switches with sites in a range.
  void add_switches(const mismatch::Mismatch& mismatch, const mismatch::Walked& walked,
                    std::set<Switch>& out) {
    const Element& element = mismatch.element;
    const ExecutionContext context = execution_context(element);
    const TaskId task = images_.task_at(element.index, element.trace_id, context).id;
    const perf::ProgramPlace place = images_.place(task, walked.start);
    if (place.file == nullptr || !place.mapping->in_kernel) return;
    SwitchedCode* const code = place.file->switched_code();
    if (code == nullptr || place.bytes.data() != code->from(place.file_offset).data()) return;
    numbers_.clear();
    code->switches_in(place.file_offset, walked.end - walked.start, numbers_);
    for (const std::size_t number : numbers_) out.insert({place.file, code, number});
  }

  void look_at_all() {
    for (std::size_t window = 0; window < found_.size(); ++window) found_[window] = look_at(window);
  }

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = 0;
    for (const Found& found : found_) sum += found.mismatches;
    return sum;
  }

  void set(const Switch& each, Setting setting) {
    each.code->set(each.number, setting);
    checker_.refresh();
  }

  /// The number of mismatches in some windows.
  std::size_t count(const std::vector<std::size_t>& windows) {
    std::size_t sum = 0;
    for (const std::size_t window : windows) sum += look_at(window).mismatches;
    return sum;
  }

  /// Changes the switch that explains most; false: none explains anything.
  bool improve() {
    std::map<Switch, double> doubts;
    for (const Found& found : found_)
      for (const auto& [each, doubt] : found.doubts)
        if (!tried_.contains(each)) doubts[each] += doubt;
    std::vector<std::pair<Switch, double>> ranked(doubts.begin(), doubts.end());
    std::ranges::stable_sort(ranked, std::ranges::greater{}, &std::pair<Switch, double>::second);
    ranked.resize(std::min(ranked.size(), kSwitchesTried));
    std::optional<Switch> best;
    Setting best_setting = Setting::kAsInFile;
    double best_share = 1;
    for (const auto& [each, doubt] : ranked) {
      const std::vector<std::size_t> windows = windows_of(each);
      std::size_t before = 0;
      for (const std::size_t window : windows) before += found_[window].mismatches;
      const Setting was = each.code->setting(each.number);
      for (const Setting setting : {Setting::kAsInFile, Setting::kOff, Setting::kOn}) {
        if (decoded_ > kMostBytes) break;
        if (setting == was || !each.code->would_change(each.number, setting)) continue;
        set(each, setting);
        const std::size_t after = count(windows);
        set(each, was);
        const double share = static_cast<double>(after) / static_cast<double>(before);
        if (after >= before || share >= best_share) continue;
        best = each;
        best_setting = setting;
        best_share = share;
      }
      tried_.insert(each);
    }
    if (!best) return !ranked.empty() && decoded_ <= kMostBytes;
    const std::size_t before = total();
    const std::vector<Found> kept = found_;
    const Setting was = best->code->setting(best->number);
    set(*best, best_setting);
    look_at_all();
    if (total() >= before) {
      set(*best, was);
      found_ = kept;
      return true;
    }
    // Settings that did not help before may help now.
    tried_.clear();
    tried_.insert(*best);
    std::erase(changed_, *best);
    if (best_setting != Setting::kAsInFile) changed_.push_back(*best);
    return true;
  }

  [[nodiscard]] std::vector<std::size_t> windows_of(const Switch& each) const {
    std::vector<std::size_t> windows;
    for (std::size_t window = 0; window < found_.size(); ++window)
      if (found_[window].doubts.contains(each)) windows.push_back(window);
    std::ranges::stable_sort(windows, std::ranges::greater{},
                             [&](std::size_t window) { return found_[window].doubts.at(each); });
    windows.resize(std::min(windows.size(), kWindowsTried));
    return windows;
  }

  /// A change that later ones have made needless is only a guess.
  void undo_needless() {
    for (const Switch& each : std::vector<Switch>(changed_)) {
      const Setting was = each.code->setting(each.number);
      const std::size_t before = total();
      const std::vector<Found> kept = found_;
      set(each, Setting::kAsInFile);
      look_at_all();
      if (total() <= before) {
        std::erase(changed_, each);
      } else {
        set(each, was);
        found_ = kept;
      }
    }
  }

  const perf::ProcessImages& images_;
  ImageChecker& checker_;
  std::vector<Found> found_;  ///< By window.
  std::set<Switch> tried_;    ///< Since the last change.
  std::vector<Switch> changed_;
  std::vector<std::size_t> numbers_;
  std::uint64_t decoded_ = 0;
};

}  // namespace

std::vector<KernelSwitch> resolve_switches(Capture& capture, ImageChecker& checker) {
  // The first look at a memory finds its programs.
  for (const CaptureSource& source : capture.sources())
    (void)capture.processes()->image_at(0, source.id, 0);
  const std::vector<const perf::ProgramFile*> files = capture.programs()->found_files();
  if (std::ranges::none_of(
          files, [](const perf::ProgramFile* file) { return file->switched_code() != nullptr; }))
    return {};
  Resolver resolver(capture, checker);
  resolver.resolve();
  return resolver.changed();
}

}  // namespace waymark::inputs

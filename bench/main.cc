// waymark_bench: Waymark compared with the reference; see --help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/capture.h"
#include "bench/measure.h"
#include "bench/own.h"
#include "bench/reference.h"
#include "bench/report.h"

namespace {

using namespace waymark::bench;

constexpr int kExitUsage = 2;
constexpr int kExitInput = 1;
constexpr int kExitDiffers = 3;

constexpr std::string_view kHelp = R"(Usage: waymark_bench [OPTION...] [SNAPSHOT...]

Decodes ETMv4, ETE, PTM, ETMv3 and STM captures with Waymark and with the reference library in turn, and
prints the speed of each.  SNAPSHOT is a snapshot folder.  The default is the sample and, if they exist, some
captures of ../shared/data/snapshots next to the repository.

  --reps N         repetitions (5); each is one pass of the reference and three of Waymark
  --min-bytes N    repeat a capture until it has N bytes (1048576; 0 with --once)
  --no-reference   measure only Waymark
  --quick          one repetition, no minimum: for tests
  --json           one JSON object per capture and line
  --once WORK      one warm pass of Waymark alone over each SNAPSHOT; see bench/instructions.py.
                   WORK: packets, batches, single, listing, counting or elements, which are batches
                   without the reference's rules, as counting
  --help           show this text

Rates are those of the best pass, in processor time.  Each pass has new decoders; creating decoders and code
images is not timed.  Clients only count.  "items" are packets in the first row and elements in the others.
"allocs" are allocations during a second pass over the capture.  "ratio" is the time of the reference divided by
the time of Waymark.

Exit status: 0 success; 1 a capture cannot be read or decoded; 2 wrong use; 3 the two sides disagree.
)";

struct Options {
  Plan plan;
  std::optional<std::size_t> minimum_bytes;
  bool json = false;
  bool help = false;
  std::optional<Work> once;
  std::vector<std::string> captures;
};

template <class T>
bool read_number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The names of --once, in the order of Work.
constexpr std::array<std::string_view, kWorkCount + 1> kWorks = {"packets", "batches",  "single",
                                                                 "listing", "counting", "elements"};

std::optional<Work> read_work(std::string_view name) {
  const auto* const found = std::ranges::find(kWorks, name);
  if (found == kWorks.end()) return std::nullopt;
  return static_cast<Work>(found - kWorks.begin());
}

std::optional<Options> read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--quick") {
      options.plan.repetitions = 1;
      options.minimum_bytes = 0;
    } else if (argument == "--no-reference") {
      options.plan.reference = false;
    } else if (argument == "--reps") {
      if (!read_number(value, options.plan.repetitions) || options.plan.repetitions == 0) {
        fmt::print(stderr, "waymark_bench: --reps needs a number above 0.\n");
        return std::nullopt;
      }
      ++i;
    } else if (argument == "--min-bytes") {
      std::size_t bytes = 0;
      if (!read_number(value, bytes)) {
        fmt::print(stderr, "waymark_bench: --min-bytes needs a number.\n");
        return std::nullopt;
      }
      options.minimum_bytes = bytes;
      ++i;
    } else if (argument == "--once") {
      options.once = read_work(value);
      if (!options.once) {
        fmt::print(stderr, "waymark_bench: --once needs one of {}.\n", fmt::join(kWorks, ", "));
        return std::nullopt;
      }
      ++i;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument.starts_with('-')) {
      fmt::print(stderr, "waymark_bench: there is no option {}; see --help.\n", argument);
      return std::nullopt;
    } else {
      options.captures.emplace_back(argument);
    }
  }
  return options;
}

std::vector<std::string> default_captures() {
  const std::filesystem::path root = WAYMARK_BENCH_ROOT;
  const std::filesystem::path shared = root / "../shared/data/snapshots";
  std::vector<std::string> captures;
  // User code on six cores; a kernel whose image is mostly missing; an ETE; a PTM; an ETMv3; an
  // STM.  Some captures cannot be used: Debian's version of the reference decodes them differently
  // from later versions.
  for (const char* name : {"bugfix-exact-match", "test-file-mem-offsets", "tme_test",
                           "tc2-ptm-rstk-t32", "TC2", "stm_only"}) {
    std::error_code error;
    if (std::filesystem::exists(shared / name / "snapshot.ini", error)) {
      captures.push_back((shared / name).lexically_normal().string());
    }
  }
  captures.push_back((root / "samples/quicksort").string());
  return captures;
}

/// The pass whose instructions are counted.  Not inlined and with a name of its own, so that
/// callgrind can start and stop there.
extern "C" [[gnu::noinline]] bool waymark_bench_pass(Own& own, Counts& counts) {
  const auto passed = own.pass(false);
  if (passed) counts = *passed;
  return passed.has_value();
}

int run_once(const std::string& folder, std::size_t minimum_bytes, Work work) {
  const auto capture = read_capture(folder, minimum_bytes, false);
  if (!capture) {
    fmt::print(stderr, "waymark_bench: {}: {}\n", folder, capture.error());
    return kExitInput;
  }
  const auto own = make_own(*capture, work);
  Counts counts;
  const bool cold = own && (*own)->pass(false).has_value();
  if (cold) (*own)->reset();
  if (!cold || !waymark_bench_pass(**own, counts)) {
    fmt::print(stderr, "waymark_bench: {}: it cannot be decoded.\n", folder);
    return kExitInput;
  }
  fmt::print("{} packets, {} elements, {} ranges, {} instructions, {} bytes of text, {:.0f} us\n",
             counts.packets, counts.elements, counts.ranges, counts.instructions, counts.text_bytes,
             counts.seconds * 1e6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto options = read_options(argc, argv);
  if (!options) return kExitUsage;
  if (options->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (options->captures.empty()) options->captures = default_captures();
  if (options->once) {
    int code = 0;
    for (const std::string& folder : options->captures)
      code = std::max(code, run_once(folder, options->minimum_bytes.value_or(0), *options->once));
    return code;
  }
  const std::string reference = reference_version();
  if (reference.empty() && options->plan.reference) {
    options->plan.reference = false;
    fmt::print(stderr,
               "waymark_bench: built without the reference, so only Waymark is measured.  Install "
               "libopencsd-dev and configure again for the comparison.\n");
  }

  const std::size_t minimum_bytes = options->minimum_bytes.value_or(std::size_t{1} << 20);
  int status = 0;
  for (const std::string& folder : options->captures) {
    const auto capture = read_capture(folder, minimum_bytes);
    if (!capture) {
      fmt::print(stderr, "waymark_bench: {}: {}\n", folder, capture.error());
      status = kExitInput;
      continue;
    }
    const auto rows = measure(*capture, options->plan);
    if (options->json) {
      fmt::print("{}\n", json(*capture, rows, reference));
    } else {
      fmt::print("{}\n", table(*capture, rows, reference));
    }
    static_cast<void>(std::fflush(stdout));
    for (const Row& row : rows) {
      if (row.failed) status = kExitInput;
      if (row.disagrees && status == 0) status = kExitDiffers;
    }
  }
  return status;
}

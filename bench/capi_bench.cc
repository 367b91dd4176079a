// capi_bench: one client in C on two libraries, Waymark's and the reference's; see --help.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bench/capi_client.h"
#include "bench/capture.h"
#include "waymark/base/number.h"

namespace {

using namespace waymark::bench;

constexpr std::string_view kHelp = R"(Usage: capi_bench [OPTION...] [SNAPSHOT...]
       capi_bench [OPTION...] --table FOLDER...

Decodes captures through the C API, with a callback for elements and a callback for memory.  The same
program runs on Waymark's libopencsd_c_api.so.1 and on the reference's, in turn.

  --ours LIBRARY       default: that of this build
  --reference LIBRARY  default: libopencsd_c_api.so.1 of the system
  --reps N             passes of each library (5)
  --min-bytes N        repeat a capture until it has N bytes (1048576)
  --table              print one line per snapshot; FOLDER means all snapshots in it

Rates are those of the best pass, in processor time; each pass has new trees.  Exit status: 0 success; 1 a
capture or a library cannot be used; 2 wrong use; 3 the two libraries disagree.  A table never has status 3: its
notes say where they disagree, as Debian's old version of the reference does with later versions.
)";

struct Library {
  std::string name;
  capi_library functions{};
};

template <class Function>
bool find(void* handle, const char* name, Function& out) {
  out = reinterpret_cast<Function>(dlsym(handle, name));
  return out != nullptr;
}

/// Loads into a separate namespace, because both libraries and their dependencies have the same
/// names.
bool load(const std::string& path, Library& out) {
  void* const handle = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    fmt::print(stderr, "capi_bench: {}\n", dlerror());
    return false;
  }
  capi_library& f = out.functions;
  const bool all = find(handle, "ocsd_get_version_str", f.version) &&
                   find(handle, "ocsd_create_dcd_tree", f.create_tree) &&
                   find(handle, "ocsd_destroy_dcd_tree", f.destroy_tree) &&
                   find(handle, "ocsd_dt_process_data", f.process) &&
                   find(handle, "ocsd_dt_create_decoder", f.create_decoder) &&
                   find(handle, "ocsd_dt_set_gen_elem_outfn", f.set_elements) &&
                   find(handle, "ocsd_dt_add_callback_trcid_mem_acc", f.add_memory) &&
                   find(handle, "ocsd_def_errlog_init", f.init_log) &&
                   find(handle, "ocsd_def_errlog_config_output", f.config_log);
  if (!all) {
    fmt::print(stderr, "capi_bench: {} does not have all functions of the C API.\n", path);
    return false;
  }
  return true;
}

/// The parts of a capture that the client needs, and the memory that they point to.
class Prepared {
 public:
  explicit Prepared(const Capture& capture) {
    for (const SourceSetup& source : capture.sources) add(source);
    for (const MemorySetup& part : capture.memory) add(part);
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].config = configs_[i].get();
    capture_ = {.trace = capture.trace.data(),
                .trace_size = capture.trace.size(),
                .block_size = kBlockSize,
                .formatted = capture.framing != Framing::kNone,
                .framing = capture.framing == Framing::kFsync
                               ? std::uint32_t{OCSD_DFRMTR_HAS_FSYNCS}
                               : std::uint32_t{OCSD_DFRMTR_FRAME_MEM_ALIGN},
                .sources = sources_.data(),
                .source_count = sources_.size(),
                .memory = memory_.data(),
                .memory_count = memory_.size()};
  }
  [[nodiscard]] const capi_capture& get() const { return capture_; }

 private:
  union Config {
    ocsd_etmv4_cfg etmv4;
    ocsd_ete_cfg ete;
    ocsd_ptm_cfg ptm;
    ocsd_etmv3_cfg etmv3;
    ocsd_stm_cfg stm;
  };

  void add(const SourceSetup& s) {
    auto config = std::make_unique<Config>();
    const auto arch = static_cast<ocsd_arch_version_t>(s.arch);
    const auto profile = static_cast<ocsd_core_profile_t>(s.profile);
    const char* name = OCSD_BUILTIN_DCD_ETMV4I;
    switch (s.kind) {
      case SourceKind::kEtmV4:
        config->etmv4 = {s.idr0,  s.idr1,  s.idr2,    s.idr8,     s.idr9, s.idr10, s.idr11,
                         s.idr12, s.idr13, s.configr, s.traceidr, arch,   profile};
        break;
      case SourceKind::kEte:
        name = OCSD_BUILTIN_DCD_ETE;
        config->ete = {s.idr0,    s.idr1,     s.idr2, s.idr8, s.devarch,
                       s.configr, s.traceidr, arch,   profile};
        break;
      case SourceKind::kPtm:
        name = OCSD_BUILTIN_DCD_PTM;
        config->ptm = {s.etmidr, s.etmcr, s.etmccer, s.traceidr, arch, profile};
        break;
      case SourceKind::kEtmV3:
        name = OCSD_BUILTIN_DCD_ETMV3;
        config->etmv3 = {s.etmidr, s.etmcr, s.etmccer, s.traceidr, arch, profile};
        break;
      case SourceKind::kStm:
        name = OCSD_BUILTIN_DCD_STM;
        config->stm = {};
        config->stm.reg_tcsr = s.traceidr << 16;
        break;
    }
    configs_.push_back(std::move(config));
    sources_.push_back({name, nullptr});
  }

  void add(const MemorySetup& part) {
    auto& bytes = files_[part.path];
    if (bytes.empty()) {
      std::ifstream file(part.path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    if (part.offset >= bytes.size()) return;
    const std::uint64_t rest = bytes.size() - part.offset;
    const std::uint64_t size = part.length != 0 ? std::min(part.length, rest) : rest;
    memory_.push_back({part.address, size, part.space,
                       reinterpret_cast<const std::uint8_t*>(bytes.data()) + part.offset});
  }

  std::vector<std::unique_ptr<Config>> configs_;
  std::vector<capi_source> sources_;
  std::map<std::string, std::vector<char>> files_;
  std::vector<capi_memory> memory_;
  capi_capture capture_{};
};

struct Side {
  capi_counts counts{};
  double best = 0;
  const char* error = nullptr;
  [[nodiscard]] double nanoseconds() const {
    return best * 1e9 / static_cast<double>(std::max<std::size_t>(counts.elements, 1));
  }
};

bool pass(const Library& library, const capi_capture& capture, Side& side) {
  capi_counts counts;
  side.error = capi_count(&library.functions, &capture, &counts);
  if (side.error != nullptr) return false;
  side.counts = counts;
  if (side.best == 0 || counts.seconds < side.best) side.best = counts.seconds;
  return true;
}

void print(const Library& library, const Side& side, std::size_t bytes, double ratio) {
  const auto elements = static_cast<double>(side.counts.elements);
  fmt::print(
      "C API, callback per element  {:<14} {:>8.2f} MB/s {:>7.1f} M/s {:>7.1f} ns/item "
      "{:>8} reads {:>6.1f}\n",
      library.name, static_cast<double>(bytes) / side.best / 1e6, elements / side.best / 1e6,
      side.best * 1e9 / elements, side.counts.reads, ratio);
}

bool agree(const Side& ours, const Side& theirs) {
  return ours.counts.elements == theirs.counts.elements &&
         ours.counts.instructions == theirs.counts.instructions;
}

void print_row(const Capture& capture, const Side& ours, const Side& theirs) {
  std::string note;
  if (ours.error != nullptr && theirs.error != nullptr) {
    note = fmt::format("both: {}", ours.error);
  } else if (ours.error != nullptr) {
    note = fmt::format("ours: {}", ours.error);
  } else if (theirs.error != nullptr) {
    note = fmt::format("reference: {}", theirs.error);
  } else if (!agree(ours, theirs)) {
    note = fmt::format("the two disagree: {} and {} elements", ours.counts.elements,
                       theirs.counts.elements);
  }
  const bool both = ours.error == nullptr && theirs.error == nullptr && theirs.best != 0;
  const std::string ratio = both ? fmt::format("{:.1f}", theirs.best / ours.best) : "-";
  fmt::print("{:<34} {:>9} {:>9} {:>8.1f} {:>8.1f} {:>7}  {}\n", capture.name, capture.trace.size(),
             ours.counts.elements, ours.nanoseconds(), theirs.nanoseconds(), ratio, note);
  (void)std::fflush(stdout);
}

/// A snapshot means itself; any other folder means the snapshots in it.
std::vector<std::string> snapshots_of(const std::vector<std::string>& folders) {
  std::vector<std::string> found;
  std::error_code error;
  for (const std::string& folder : folders) {
    if (std::filesystem::exists(std::filesystem::path(folder) / "snapshot.ini", error)) {
      found.push_back(folder);
      continue;
    }
    const std::size_t before = found.size();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (std::filesystem::exists(entry.path() / "snapshot.ini", error))
        found.push_back(entry.path().string());
    std::ranges::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
    if (found.size() == before)
      fmt::print(stderr, "capi_bench: there is no snapshot in {}.\n", folder);
  }
  return found;
}

std::vector<std::string> default_captures() {
  const std::filesystem::path root = WAYMARK_BENCH_ROOT;
  std::vector<std::string> captures;
  for (const char* name : {"bugfix-exact-match", "tme_test", "tc2-ptm-rstk-t32", "TC2"}) {
    const auto folder = root / "../shared/data/snapshots" / name;
    std::error_code error;
    if (std::filesystem::exists(folder / "snapshot.ini", error))
      captures.push_back(folder.lexically_normal().string());
  }
  captures.push_back((root / "samples/quicksort").string());
  return captures;
}

struct Options {
  std::string own_path = WAYMARK_BENCH_C_API;
  std::string reference_path = "libopencsd_c_api.so.1";
  unsigned repetitions = 5;
  std::size_t minimum_bytes = std::size_t{1} << 20;
  bool table = false;
  std::vector<std::string> captures;
};

/// The exit status, if there is nothing to measure.
std::optional<int> read_options(std::span<char* const> arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    const auto number = [&](auto& out) {
      ++i;
      const auto read = waymark::parse_number(value);
      if (!read || *read > std::numeric_limits<std::remove_reference_t<decltype(out)>>::max())
        return false;
      out = static_cast<std::remove_reference_t<decltype(out)>>(*read);
      return true;
    };
    bool good = true;
    if (argument == "--help" || argument == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (argument == "--ours") {
      options.own_path = value;
      ++i;
    } else if (argument == "--reference") {
      options.reference_path = value;
      ++i;
    } else if (argument == "--table") {
      options.table = true;
    } else if (argument == "--reps") {
      good = number(options.repetitions) && options.repetitions != 0;
    } else if (argument == "--min-bytes") {
      good = number(options.minimum_bytes);
    } else if (argument.starts_with('-')) {
      good = false;
    } else {
      options.captures.emplace_back(argument);
    }
    if (good) continue;
    fmt::print(stderr,
               "capi_bench: '{}' is not an option, or its value is not a number; see --help.\n",
               argument);
    return 2;
  }
  if (options.captures.empty()) options.captures = default_captures();
  if (options.table) options.captures = snapshots_of(options.captures);
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const std::span<char* const> arguments(argv, static_cast<std::size_t>(argc));
  if (const auto status = read_options(arguments.subspan(1), options)) return *status;

  Library own;
  Library reference;
  if (!load(options.own_path, own)) return 1;
  const bool compare = load(options.reference_path, reference);
  own.name = "Waymark";
  if (compare) reference.name = std::string("OpenCSD ") + reference.functions.version();

  int status = options.captures.empty() ? 1 : 0;
  if (options.table)
    fmt::print("{:<34} {:>9} {:>9} {:>8} {:>8} {:>7}\n", "capture", "bytes", "elements", "ours ns",
               "ref. ns", "ratio");
  for (const std::string& folder : options.captures) {
    const auto capture = read_capture(folder, options.minimum_bytes);
    if (!capture) {
      fmt::print(stderr, "capi_bench: {}: {}\n", folder, capture.error());
      status = 1;
      continue;
    }
    const Prepared prepared(*capture);
    Side ours;
    Side theirs;
    bool ran = true;
    bool ran_reference = compare;
    for (unsigned i = 0; i < options.repetitions && ran; ++i) {
      ran_reference = ran_reference && pass(reference, prepared.get(), theirs);
      ran = pass(own, prepared.get(), ours);
    }
    if (options.table) {
      print_row(*capture, ours, theirs);
      continue;
    }
    for (const auto& [library, side] : {std::pair(&own, &ours), std::pair(&reference, &theirs)})
      if (side->error != nullptr)
        fmt::print("C API, callback per element  {:<14} {}\n", library->name, side->error);
    fmt::print("{}: {} bytes of trace\n", capture->name, capture->trace.size());
    if (!ran) {
      status = 1;
      continue;
    }
    const std::size_t bytes = capture->trace.size();
    print(own, ours, bytes, ran_reference ? theirs.best / ours.best : 0);
    if (!ran_reference) continue;
    print(reference, theirs, bytes, 1);
    if (!agree(ours, theirs)) {
      fmt::print("The two disagree: {} and {} elements, {} and {} instructions.\n",
                 ours.counts.elements, theirs.counts.elements, ours.counts.instructions,
                 theirs.counts.instructions);
      if (status == 0) status = 3;
    }
  }
  return status;
}

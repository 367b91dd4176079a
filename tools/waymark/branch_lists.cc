#include "branch_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "complain.h"
#include "exit_code.h"
#include "output.h"
#include "run.h"
#include "waymark/base/escape.h"
#include "waymark/base/plural.h"
#include "waymark/outputs/json.h"
#include "waymark/perf/process_images.h"
#include "waymark/perf/recording.h"

namespace waymark::cli {
namespace {

constexpr std::string_view kKernelName = "[kernel.kallsyms]";
constexpr std::size_t kIdDigits = 40;  // simpleperf pads shorter ones with zeros.

std::string padded_id(const std::vector<std::uint8_t>& id) {
  if (id.empty()) return {};
  std::string digits = fmt::format("{:02x}", fmt::join(id, ""));
  digits.resize(std::max(digits.size(), kIdDigits), '0');
  return digits;
}

std::vector<std::uint8_t> bytes_of_id(std::string_view digits) {
  std::vector<std::uint8_t> bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2))
    bytes.push_back(
        static_cast<std::uint8_t>(std::stoul(std::string(digits.substr(0, 2)), nullptr, 16)));
  return bytes;
}

/// Where the code of a kernel module begins; 0: the file is not one.
std::uint64_t text_address(const perf::ProgramFile& file) {
  const program::ModuleCode* const code = file.module_code();
  return code == nullptr || file.program() == nullptr
             ? 0
             : file.program()->address_of(code->file_offset).value_or(0);
}

/// Finds the places of a recording's addresses.
class PlacesOfRecording {
 public:
  explicit PlacesOfRecording(const inputs::Capture& capture)
      : recording_(*capture.recording()), processes_(*capture.processes()), cursor_(processes_) {}

  bool find(TraceIndex index, TraceId id, ExecutionContext context, std::uint64_t address,
            exports::BinaryPlace& out) {
    const perf::ProgramPlace place = processes_.place(cursor_.id(index, id, context), address);
    if (place.mapping == nullptr) return false;
    const perf::Mapping& mapping = *place.mapping;
    const bool kernel = mapping.path.starts_with(kKernelName);
    out.name.path = kernel ? std::string(kKernelName) : mapping.path;
    out.name.build_id = padded_id(id_of(mapping, out.name.path));
    if (mapping.in_kernel)
      out.name.kind = kernel ? exports::BinaryKind::kKernel : exports::BinaryKind::kModule;
    const program::Place linked = place.linked();
    if (mapping.in_kernel && !kernel) {
      out.address = address - mapping.address - text_distance(mapping, place);
    } else if (linked.program != nullptr) {
      out.address = linked.address;
    } else if (kernel) {
      if (mapping.address == 0) return false;  // Its address is unknown.
      out.name.kernel_start = mapping.address;
      out.address = address;
    } else {
      out.address = place.file_offset;
    }
    return true;
  }

 private:
  [[nodiscard]] std::vector<std::uint8_t> id_of(const perf::Mapping& mapping,
                                                const std::string& path) const {
    if (!mapping.build_id.empty()) return mapping.build_id;
    const auto named = std::ranges::find(recording_.build_ids, path, &perf::BuildId::path);
    return named == recording_.build_ids.end() ? std::vector<std::uint8_t>() : named->id;
  }

  /// Addresses of a module count from its code.  perf maps a module from its code on, simpleperf
  /// all of it.
  [[nodiscard]] std::uint64_t text_distance(const perf::Mapping& mapping,
                                            const perf::ProgramPlace& place) const {
    if (!recording_.simpleperf) return 0;
    const auto known = recording_.module_offsets.find(mapping.path);
    if (known != recording_.module_offsets.end()) return known->second;
    return place.file == nullptr ? 0 : text_address(*place.file);
  }

  const perf::Recording& recording_;
  const perf::ProcessImages& processes_;
  perf::TaskCursor cursor_;
};

/// The list of one trace.  kOk, or the code of the failure, whose sentence is printed.
int list_of_trace(const BranchListExport& wanted, const std::string& path,
                  exports::BranchList& list, std::vector<std::string>& files) {
  const auto trace = BranchTrace::open(wanted, path);
  if (!trace) return trace.error();
  inputs::Capture& capture = trace->capture();
  const std::vector<std::string> read = capture.input_files();
  files.insert(files.end(), read.begin(), read.end());
  exports::BranchListBuilder builder(trace->locate());
  capture.tree().set_observer(&builder);
  auto nothing = Output::open("", {});
  if (!nothing) return complain(nothing.error().detail, kOutput);
  const int code = run_capture(capture, *nothing, {.on_elements = {}, .stop = {}});
  capture.tree().set_observer(nullptr);
  if (code == kInterrupted) return code;
  builder.finish();
  const exports::FoundBranches found = builder.take();
  if (const int none = report_found(path, found); none != kOk) return none;
  exports::add(list, found.list);
  return code;
}

/// The code of a program as it ran.
class CodeOfProgram {
 public:
  /// `slide`: how far above those of the program the addresses of the list are.
  CodeOfProgram(const perf::ProgramFile& file, std::uint64_t slide)
      : program_(*file.program()), bytes_(file.bytes()), slide_(slide) {
    if (const program::ModuleCode* const module = file.module_code())
      module_ = Bytes(module->bytes);
  }

  bool read(std::uint64_t address, std::uint32_t& opcode) const {
    Bytes from = module_;
    std::optional<std::uint64_t> offset = address;
    if (module_.empty()) {
      from = bytes_;
      offset = program_.offset_of(address - slide_);
    }
    if (!offset || *offset >= from.size() || from.size() - *offset < 2) return false;
    from = from.subspan(static_cast<std::size_t>(*offset));
    opcode = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, from.size()); ++i)
      opcode |= std::uint32_t{from[i]} << (8 * i);
    return true;
  }

 private:
  const program::Program& program_;
  Bytes bytes_;
  Bytes module_;
  std::uint64_t slide_;
};

/// See CodeOfProgram.
std::uint64_t slide_of(const exports::BinaryName& name, const perf::ProgramFile& file) {
  if (file.module_code() != nullptr) return 0 - text_address(file);
  if (name.kind != exports::BinaryKind::kKernel || name.kernel_start == 0) return 0;
  const auto start = program::symbol_value(file.bytes(), "_stext");
  return start ? name.kernel_start - *start : 0;
}

}  // namespace

std::expected<BranchTrace, int> BranchTrace::open(const BranchListExport& wanted,
                                                  const std::string& path,
                                                  const KnownIdBytes& known_id_bytes,
                                                  bool print_notes) {
  InputOptions input = wanted.input;
  input.path = path;
  auto opened = open_capture(input, {.decode = false}, print_notes, known_id_bytes);
  if (!opened) return std::unexpected(opened.error());
  auto capture = std::make_unique<inputs::Capture>(*std::move(opened));
  auto places = place_lookup(*capture, wanted.symbols);
  if (!places) return std::unexpected(complain_of_symbols(places.error()));
  return BranchTrace(std::move(capture), *std::move(places));
}

exports::BranchListBuilder::Locate BranchTrace::locate() const {
  if (capture_->processes() != nullptr) {
    return [found = std::make_shared<PlacesOfRecording>(*capture_)](
               TraceIndex index, TraceId id, ExecutionContext context, std::uint64_t address,
               exports::BinaryPlace& out) { return found->find(index, id, context, address, out); };
  }
  return [places = places_](TraceIndex /*index*/, TraceId /*id*/, ExecutionContext /*context*/,
                            std::uint64_t address, exports::BinaryPlace& out) {
    const program::Place place = places(Element(), address);
    if (place.program == nullptr) return false;
    out.name.path = place.program->path();
    out.name.build_id = padded_id(place.program->build_id());
    out.address = place.address;
    return true;
  };
}

int report_found(const std::string& path, const exports::FoundBranches& found) {
  if (!found.saw_packets) {
    return complain(
        fmt::format("{}: a branch list needs the packets of an ETMv4 or ETE, and there are none.",
                    escaped(path)),
        kDamaged);
  }
  if (found.lost != 0) {
    note(fmt::format("{}: {} left out, because their program is unknown.", escaped(path),
                     counted(found.lost, "atom is", "atoms are")));
  }
  if (found.cancelled != 0) {
    note(
        fmt::format("{}: {} left out, because the processor traced them too early and cancelled "
                    "some.",
                    escaped(path), counted(found.cancelled, "atom is", "atoms are")));
  }
  return kOk;
}

Result<std::optional<exports::BranchList>> open_branch_list(const std::string& path) {
  if (path == "-") return std::nullopt;
  const auto file = MappedFile::open(path);
  if (!file || !exports::is_branch_list(file->bytes())) return std::nullopt;
  auto list = exports::read_branch_list(file->bytes());
  if (!list)
    return fail(list.error().code, fmt::format("{}: {}", escaped(path), list.error().detail));
  return *std::move(list);
}

BranchListCounts::BranchListCounts(const InputOptions& options)
    : files_(std::make_unique<perf::ProgramFiles>(perf::ProgramSearch{.roots = options.roots,
                                                                      .given = options.programs,
                                                                      .caches = options.caches,
                                                                      .vmlinux = options.vmlinux,
                                                                      .kallsyms = {},
                                                                      .kcore = {},
                                                                      .guest_vmlinux = {},
                                                                      .guest_kallsyms = {},
                                                                      .fetch = {}})) {}

const perf::ProgramFile* BranchListCounts::find(const exports::BinaryName& name) {
  const std::vector<std::uint8_t> id = bytes_of_id(name.build_id);
  return name.kind == exports::BinaryKind::kKernel ? files_->kernel(id)
                                                   : files_->find(name.path, id);
}

bool BranchListCounts::add(const exports::BranchList& list, const AddCounts& add_counts) {
  constexpr unsigned kAArch64 = 183;  // EM_AARCH64
  bool is_new = false;
  for (const auto& [name, branches] : list) {
    const perf::ProgramFile* const file = find(name);
    if (file == nullptr || file->program() == nullptr) {
      missing_.push_back(name.path);
      continue;
    }
    const program::Program& program = *file->program();
    const std::uint64_t slide = slide_of(name, *file);
    const CodeOfProgram code(*file, slide);
    const exports::ExpandedBranches found = exports::expand(
        branches, {.read = [&](std::uint64_t address,
                               std::uint32_t& opcode) { return code.read(address, opcode); },
                   .is_64_bit = program.machine() == kAArch64});
    lost_ += found.lost;
    const count::Totals totals = found.counts.totals();
    instructions_ += totals.instructions;
    const bool added =
        add_counts(found.counts, [&](TaskId /*task*/, std::uint64_t address) -> profile::Place {
          return {&program, name.path, address - slide};
        });
    is_new = is_new || added;
  }
  return is_new;
}

void BranchListCounts::report(const std::string& path) const {
  for (const std::string& program : missing_) {
    note(fmt::format(
        "{}: {} was not found; name its folder with --symfs, or the program itself with --elf.",
        escaped(path), escaped(program)));
  }
  if (lost_ != 0) {
    note(fmt::format("{}: {} left out, because the code of its programs has no branch for them.",
                     escaped(path), counted(lost_, "branch is", "branches are")));
  }
}

void describe(const std::string& path, const exports::BranchList& list, bool as_json,
              TextBuffer& out) {
  constexpr std::string_view kKinds[] = {"program", "kernel", "module"};
  if (as_json) {
    out.put(R"({"type":"info","input":)");
    outputs::write_json_string(out, path);
    out.put(R"(,"form":"branch list","programs":[)");
  } else {
    out.put(fmt::format("{}: a branch list of simpleperf\n", escaped(path)));
  }
  bool first = true;
  for (const auto& [name, branches] : list) {
    std::uint64_t times = 0;
    std::size_t lists = 0;
    for (const auto& [address, sequences] : branches) {
      lists += sequences.size();
      for (const auto& [bits, count] : sequences) times += count * bits.count;
    }
    const std::string_view kind = kKinds[static_cast<std::size_t>(name.kind)];
    if (as_json) {
      out.put(fmt::format(R"({}{{"kind":"{}","path":)", first ? "" : ",", kind));
      outputs::write_json_string(out, name.path);
      out.put(fmt::format(R"(,"build_id":"{}","addresses":{},"sequences":{},"branches":"{}"}})",
                          name.build_id, branches.size(), lists, times));
    } else {
      out.put(fmt::format("  {} {}, build ID {}: {}, {}, {}\n", kind, escaped(name.path),
                          name.build_id.empty() ? "not known" : name.build_id,
                          counted(branches.size(), "address", "addresses"),
                          counted(lists, "sequence"), counted(times, "branch", "branches")));
    }
    first = false;
  }
  if (as_json) out.put("]}\n");
}

int add_branch_list(const BranchListExport& wanted, const std::string& path,
                    exports::BranchList& list, std::vector<std::string>& files) {
  files.push_back(path_of_input(path));
  auto given = open_branch_list(path);
  if (!given) return complain(given.error().detail, kInput);
  if (!*given) return list_of_trace(wanted, path, list, files);
  exports::add(list, **given);
  return kOk;
}

int write_branch_list(const BranchListExport& wanted, const exports::BranchList& list,
                      const std::vector<std::string>& files) {
  auto bytes = exports::written_branch_list(list, wanted.compress);
  if (!bytes) {
    return complain(bytes.error().detail,
                    bytes.error().code == ErrorCode::kUnsupported ? kUsage : kOutput);
  }
  auto output = Output::open_whole(wanted.output, files);
  if (!output) {
    return complain(output.error().detail,
                    output.error().code == ErrorCode::kInvalidArgument ? kUsage : kOutput);
  }
  output->text().put(*bytes);
  return output->commit() ? kOk : finish_output(*output, kOk);
}

int export_branch_list(const BranchListExport& wanted) {
  exports::BranchList list;
  std::vector<std::string> files;
  std::size_t used = 0;
  int worst = kOk;
  for (const std::string& path : wanted.inputs) {
    const int code = add_branch_list(wanted, path, list, files);
    if (code == kInterrupted || code == kUsage) return code;
    if (code == kOk) ++used;
    worst = std::max(worst, code);
  }
  if (used == 0) return worst;
  const int code = write_branch_list(wanted, list, files);
  return code == kOk ? worst : code;
}

}  // namespace waymark::cli

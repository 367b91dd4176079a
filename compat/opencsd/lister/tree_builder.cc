#include "tree_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quirk_choice.h"
#include "waymark/inputs/protocols.h"

namespace waymark::compat {
namespace {

constexpr std::string_view kBuilder = "ss2_dcdtree";

std::optional<frames::Options> frame_options(const inputs::TraceBuffer& buffer,
                                             const ListerOptions& options) {
  const auto format = inputs::buffer_format(buffer.format);
  if (format == inputs::BufferFormat::kSingleSource) return std::nullopt;
  frames::Options frames;
  if (options.tpiu || options.tpiu_hsync || format == inputs::BufferFormat::kFsyncFrames) {
    frames.has_fsyncs = true;
    frames.has_hsyncs = options.tpiu_hsync;
    frames.memory_aligned = false;
  }
  return frames;
}

/// Builds one tree; holds the state that the steps share.
class Builder {
 public:
  Builder(const inputs::Snapshot& snapshot, const ListerOptions& options, Log& log)
      : snapshot_(snapshot), options_(options), log_(log) {
    built_.image = std::make_unique<image::Image>();
    built_.dumps = std::make_unique<DumpFiles>(*built_.image);
    std::vector<std::string> unknown;
    quirks_ = QuirkChoice::of_environment(unknown);
    for (const std::string& name : unknown)
      log_.line(
          fmt::format("{} : No quirk is named '{}': write group.quirk as in "
                      "docs/opencsd-compatibility.md.",
                      kQuirksVariable, name));
  }

  std::optional<BuiltTree> build(const inputs::TraceBuffer& buffer) {
    TreeQuirks quirks = TreeQuirks::reference();
    quirks.frame_layer = quirks_.frames();
    built_.tree = std::make_unique<DecodeTree>(frame_options(buffer, options_), quirks);
    bool any = false;
    for (const inputs::TraceSource& source : buffer.sources) {
      if (!add_source(source)) continue;
      any = true;
      // A stream without frames belongs to its first source.
      if (!built_.tree->formatted()) break;
    }
    if (!any) return std::nullopt;
    return std::move(built_);
  }

 private:
  void error(ErrorNumber number, std::string_view message) {
    log_.error(kBuilder, number, kNoIndex, kNoTraceId, message);
  }

  bool add_source(const inputs::TraceSource& source) {
    if (source.device_index == inputs::TraceSource::kNoDevice) {
      error(ErrorNumber::kTestSsToDecoder,
            fmt::format("Failed to find device data for source {}.\n", source.device));
      return false;
    }
    if (!source.core.empty() && source.core_index == inputs::TraceSource::kNoDevice) {
      error(ErrorNumber::kTestSsToDecoder,
            fmt::format("Failed to get device data for source {}.\n", source.device));
      return false;
    }
    if (!add_decoder(source)) {
      const bool no_core = old_ && source.core.empty();
      error(ErrorNumber::kTestSsToDecoder,
            fmt::format("Failed to create decoder for {}source {}.{}", no_core ? "none core " : "",
                        source.device, no_core ? "\n" : ""));
      return false;
    }
    if (options_.decode && !source.core.empty()) {
      for (const inputs::Dump& dump : snapshot_.devices[source.core_index].dumps) add_dump(dump);
    }
    return true;
  }

  bool add_decoder(const inputs::TraceSource& source) {
    const inputs::Device& device = snapshot_.devices[source.device_index];
    const inputs::ProtocolRow* row = inputs::protocol_by_type(source.type);
    if (row == nullptr || row->needs_core == source.core.empty()) return false;
    if (old_ && row->protocol == Protocol::kItm) return false;
    if (row->protocol == Protocol::kEtmV4Data || row->protocol == Protocol::kMtb) return false;
    isa::Core core;
    if (row->needs_core) {
      const auto named = isa::core_by_name(source.core_type);
      if (!named) {
        error(ErrorNumber::kTestSsToDecoder,
              fmt::format("Unrecognized Core name {}. Cannot evaluate profile or architecture.",
                          source.core_type));
        return false;
      }
      core = *named;
    }
    for (const inputs::RegisterRule& rule : row->registers) {
      if (device.find(rule.name) != nullptr) continue;
      log_.line(fmt::format(
          "{} : {}{}", kBuilder,
          rule.mandatory ? "Error:Missing " : "Warning: Default set for register. Missing ",
          rule.name));
      if (rule.mandatory) return false;
    }
    if (row->make == nullptr) {
      error(ErrorNumber::kNoProtocol, "");
      return false;
    }
    return attach(*row, device, core);
  }

  bool attach(const inputs::ProtocolRow& row, const inputs::Device& device, isa::Core core) {
    SourceOptions source_options;
    source_options.decode = options_.decode;
    source_options.flags = options_.flags;
    source_options.quirks = quirks_.on(row.protocol);
    source_options.range_limit = options_.range_limit;

    const auto registers = [&](std::string_view name) {
      auto value = device.value(name);
      if (value && name == "TRCDEVARCH") value = trcdevarch_at(level_in_use(), *value);
      return value;
    };
    bool refused = false;
    auto made = row.make(registers, core, built_.image.get(), source_options);
    if (!made && made.error().code == ErrorCode::kUnsupported && options_.decode) {
      refused = true;
      source_options.decode = false;
      made = row.make(registers, core, nullptr, source_options);
    }
    if (!made) return false;
    const TraceId id = built_.tree->formatted() ? (*made)->trace_id() : TraceId{0};
    if (id < kTraceIdCount) built_.refused[id] = refused;
    return built_.tree->add(std::move(*made)).has_value();
  }

  void add_dump(const inputs::Dump& dump) {
    const std::string path = snapshot_.path_of(dump.file);
    const ErrorNumber number = built_.dumps->add(path, dump);
    if (number != ErrorNumber::kOk)
      error(number, fmt::format("Failed to create memory accessor for file {}.", path));
  }

  const inputs::Snapshot& snapshot_;
  const ListerOptions& options_;
  Log& log_;
  QuirkChoice quirks_;
  BuiltTree built_;
  bool old_ = level_in_use().number < kLevel180;
};

}  // namespace

std::optional<BuiltTree> build_tree(const inputs::Snapshot& snapshot,
                                    const inputs::TraceBuffer& buffer, const ListerOptions& options,
                                    Log& log) {
  return Builder(snapshot, options, log).build(buffer);
}

void log_accessors(const DumpFiles& dumps, Log& log) {
  TextBuffer& out = log.text();
  out.put("Gen_Info : Mapped Memory Accessors\n");
  dumps.write(out);
  out.put("Gen_Info : ========================\n");
}

void log_problems(const std::vector<inputs::Problem>& problems, Log& log) {
  using enum inputs::ProblemKind;
  for (const inputs::Problem& problem : problems) {
    std::string text;
    if (problem.kind == kDeviceFileMissing) {
      text = fmt::format("Failed to open device file : {}\n", problem.values.at(0));
    } else if (problem.kind == kTraceFileMissing) {
      text = fmt::format("Failed to trace ini file : {}\n", problem.values.at(0));
    } else if (problem.kind == kTraceFileNotNamed) {
      text = "Trace Metadata ini file not found.\n";
    } else {
      continue;
    }
    log.error(kReader, ErrorNumber::kTestSnapshotRead, kNoIndex, kNoTraceId, text);
  }
}

}  // namespace waymark::compat

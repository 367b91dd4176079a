// waymark etm4 snapshot: registers of a target, its trace and its programs as a snapshot.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <list>
#include <optional>
#include <utility>

#include "command.h"
#include "etm4.h"
#include "exit_code.h"
#include "input_options.h"
#include "option_values.h"
#include "output.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/memory_records.h"
#include "waymark/inputs/program_at.h"
#include "waymark/inputs/snapshot_writer.h"

namespace waymark::cli {
namespace {

struct SnapshotOptions {
  std::string root = kDeviceRoot;
  std::vector<std::string> units;
  std::string trace;
  std::vector<std::string> programs;
  std::vector<std::string> images;
  std::string core;
  std::string framing = "mem";
  std::string plan;
  std::string directory;
};

constexpr std::string_view kTraceName = "trace.bin";

// TRCCONFIGR of the capture: from the plan, from hardware, or else what the settings stand for.
Result<std::uint64_t> config_of(etm4x::DeviceTree& tree, const std::string& name,
                                const etm4x::IdRegisters& id, const SnapshotOptions& options) {
  if (!options.plan.empty()) {
    FoundUnit found;
    found.name = name;
    found.id = id;
    found.environment = etm4x::read_environment(tree, name, id, false);
    const auto file = load_plan(options.plan, options.programs, found);
    if (!file) {
      return fail(ErrorCode::kParse,
                  fmt::format("{} is not a plan for {}.", inputs::input_name(options.plan), name));
    }
    return file->compiled.image.value("TRCCONFIGR");
  }
  const auto live = etm4x::read_number(tree, name + "/mgmt/trcconfig");
  if (live && *live != 0) return *live;
  // Many units read 0 once they are off.
  const etm4x::Environment environment;
  if (const auto settings = etm4x::read_settings(tree, name, id, environment, false)) {
    const auto image = etm4x::image_of_settings(settings->writes, id, environment);
    const std::uint64_t set = image.value("TRCCONFIGR");
    if (!live || set != 0) {
      note(
          fmt::format("{}/mgmt/trcconfig {}, as for a unit that is off; TRCCONFIGR is "
                      "0x{:x}, which follows from its file mode.",
                      name, live ? "reads 0" : "is missing", set));
    }
    return set;
  }
  if (live) return *live;
  return fail(ErrorCode::kNotFound,
              fmt::format("{}/{}/mgmt/trcconfig and mode are missing, and a decoder needs "
                          "TRCCONFIGR: copy the folder while the unit is enabled, or give the plan "
                          "with --plan.",
                          options.root, name));
}

// One unit: its registers, and the core that it watches.
Result<void> add_unit(etm4x::DeviceTree& tree, const std::string& name,
                      const SnapshotOptions& options, inputs::Snapshot& snapshot) {
  if (name.size() < 4 || !(name.starts_with("etm") || name.starts_with("ete"))) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("--unit {} is not a trace unit: its name must be like etm0 or ete0.", name));
  }
  const auto id = etm4x::read_ids(tree, name);
  if (!id) return std::unexpected(id.error());
  const auto cpu = etm4x::read_number(tree, name + "/cpu", 10);
  const std::string number = cpu ? fmt::format("{}", *cpu) : name.substr(3);
  const bool ete = (id->devarch >> 12 & 0xF) == 5;

  inputs::Device unit;
  unit.name = fmt::format("{}_{}", ete ? "ETE" : "ETM", number);
  unit.class_name = "trace_source";
  unit.type = ete ? "ETE" : "ETM4";
  const auto add = [&unit](std::string_view reg, std::uint64_t value) {
    unit.registers.push_back({std::string(reg), fmt::format("0x{:08X}", value), 0});
  };
  const auto config = config_of(tree, name, *id, options);
  if (!config) return std::unexpected(config.error());
  const auto trace_id = etm4x::read_number(tree, name + "/mgmt/trctraceid");
  if (!trace_id) return std::unexpected(trace_id.error());
  add("TRCCONFIGR", *config);
  add("TRCTRACEIDR", *trace_id);
  for (unsigned i = 0; i < id->idr.size(); ++i) add(fmt::format("TRCIDR{}", i), id->idr[i]);
  for (unsigned i = 8; i <= 13; ++i) {
    const auto value = etm4x::read_number(tree, fmt::format("{}/trcidr/trcidr{}", name, i));
    if (value) add(fmt::format("TRCIDR{}", i), *value);
  }
  if (const auto status = etm4x::read_number(tree, name + "/mgmt/trcauthstatus")) {
    add("TRCAUTHSTATUS", *status);
  }
  add("TRCDEVARCH", id->devarch);

  inputs::Device core;
  core.name = "cpu_" + number;
  core.class_name = "core";
  core.type = !options.core.empty() ? options.core : ete ? "ARM-AA64" : "ARMv8-A";
  snapshot.core_trace_sources.push_back({unit.name, core.name, 0});
  snapshot.source_buffers.push_back({unit.name, "buffer0", 0});
  snapshot.devices.push_back(std::move(core));
  snapshot.devices.push_back(std::move(unit));
  return {};
}

// The files of a snapshot: they stay mapped until they are written.
class Files {
 public:
  /// The name of the file within the snapshot.
  Result<std::string> add(const std::string& path, std::string name) {
    for (const auto& [known, used] : names_) {
      if (known == path) return used;
    }
    // Two programs of one name from different folders.
    const auto taken = [&](const std::string& wanted) {
      return std::ranges::any_of(names_, [&](const auto& held) { return held.second == wanted; });
    };
    const std::string stem = name;
    for (unsigned i = 2; taken(name); ++i) name = fmt::format("{}_{}", i, stem);
    auto file = open_input(path);
    if (!file) return std::unexpected(file.error());
    mapped_.push_back(std::move(*file));
    files_.push_back({name, mapped_.back().bytes()});
    names_.emplace_back(path, name);
    return name;
  }
  [[nodiscard]] std::span<const inputs::SnapshotFile> all() const { return files_; }
  /// Where they were read.
  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> paths;
    paths.reserve(names_.size());
    for (const auto& [path, name] : names_) paths.push_back(path);
    return paths;
  }

 private:
  std::list<MappedFile> mapped_;  ///< A list keeps their places.
  std::vector<inputs::SnapshotFile> files_;
  std::vector<std::pair<std::string, std::string>> names_;
};

// The memory that `segments` of a file hold.
Result<void> add_segments(const std::string& path, std::span<const elf::Segment> segments,
                          Files& files, std::vector<inputs::Dump>& dumps,
                          image::SpaceMask space = image::kSpaceAny) {
  const auto name = files.add(path, std::filesystem::path(path).filename().string());
  if (!name) return std::unexpected(name.error());
  for (const elf::Segment& segment : segments) {
    inputs::Dump dump;
    dump.section = fmt::format("dump{}", dumps.size());
    dump.file = *name;
    dump.address = segment.address;
    if (space != image::kSpaceAny) dump.space = image::space_name(space);
    dump.offset = segment.offset;
    dump.length = segment.size;
    dumps.push_back(std::move(dump));
  }
  return {};
}

// ADDRESS=FILE
Result<void> add_image(const inputs::ImageFile& image, Files& files,
                       std::vector<inputs::Dump>& dumps) {
  const auto program = inputs::program_at(image.address, image.path);
  if (!program) return std::unexpected(program.error());
  if (!*program) {
    const auto records = inputs::records_at(image.address, image.path);
    if (!records || *records)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--image {}: a snapshot holds plain bytes, not records; convert the "
                              "file with `objcopy -O binary` and give the bytes with their "
                              "address.",
                              image.path));
    if (!image.address)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("--image {0}: give plain bytes and their address, as --image "
                              "ADDRESS={0}.",
                              image.path));
    const elf::Segment bytes{*image.address, 0, 0};
    return add_segments(image.path, {&bytes, 1}, files, dumps, image.space);
  }
  note((*program)->note);
  return add_segments(image.path, (*program)->program.segments(), files, dumps, image.space);
}

int run(const SnapshotOptions& options) {
  auto tree = etm4x::open_device_tree(options.root);
  if (!tree) return complain(tree.error().detail, kInput);
  const auto units = options.units.empty() ? (*tree)->units() : options.units;
  if (units.empty()) {
    return complain(fmt::format("There is no etmN or eteN in {}.", options.root), kInput);
  }
  inputs::Snapshot snapshot;
  snapshot.description = "Made by waymark etm4 snapshot";
  for (const std::string& unit : units) {
    if (auto added = add_unit(**tree, unit, options, snapshot); !added) {
      return complain(added.error().detail, kInput);
    }
  }
  InputOptions memory;
  memory.programs = options.programs;
  memory.images = options.images;
  const auto given = capture_options(memory);
  if (!given) return complain(given.error().detail, kUsage);
  Files files;
  if (auto added = files.add(options.trace, std::string(kTraceName)); !added) {
    return complain(added.error().detail, kInput);
  }
  std::vector<inputs::Dump> dumps;
  for (const inputs::ProgramFile& file : given->programs) {
    const auto program = elf::File::open(file.path, file.bias);
    if (!program) return complain(program.error().detail, kInput);
    if (auto added = add_segments(file.path, program->segments(), files, dumps); !added)
      return complain(added.error().detail, kInput);
  }
  for (const inputs::ImageFile& image : given->images) {
    if (auto added = add_image(image, files, dumps); !added)
      return complain(added.error().detail, kInput);
  }
  // All cores have the same memory, so only the first device names it.
  snapshot.devices.front().dumps = std::move(dumps);
  inputs::TraceBuffer buffer;
  buffer.name = "buffer0";
  buffer.file = std::string(kTraceName);
  buffer.format = options.framing == "mem" ? "coresight" : "source_data";
  snapshot.buffers.push_back(std::move(buffer));
  std::vector<std::string> read = files.paths();
  read.push_back(path_of_input(options.trace));
  if (!options.plan.empty()) read.push_back(path_of_input(options.plan));
  if (auto safe = refuse_inputs_in(options.directory, snapshot, files.all(), read); !safe) {
    return complain(safe.error().detail, kUsage);
  }
  if (auto done = inputs::write_snapshot(snapshot, files.all(), options.directory); !done) {
    return complain(done.error().detail, kOutput);
  }
  return kOk;
}

}  // namespace

void add_etm4_snapshot(Command& etm4, int& exit_code) {
  auto options = std::make_shared<SnapshotOptions>();
  Command* command = etm4.add_subcommand(
      "snapshot", "Make a snapshot from a target's registers, trace and programs");
  command->add_option("--root", options->root, "Folder of the CoreSight devices, or a copy of it")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("--unit", options->units, "a unit to include; default: all that traced")
      ->type_name("etmN");
  command
      ->add_option("--trace", options->trace,
                   "The trace as read from the sink; - for standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--elf", options->programs,
                   "A program that was traced (ELF file); @ADDRESS: its load address minus its "
                   "link address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  command
      ->add_option("--image", options->images,
                   "A file with the content of target memory from this address on; may be repeated")
      ->type_name("ADDRESS=FILE")
      ->allow_extra_args(false);
  command->add_option("--core", options->core, "The traced core, such as Cortex-A53")
      ->type_name("NAME");
  command
      ->add_option("--framing", options->framing,
                   "mem: frames, as an ETB, ETF or ETR stores them; none: one stream without "
                   "frames, as a TRBE stores it")
      ->type_name("KIND")
      ->check(one_of({"mem", "none"}))
      ->capture_default_str();
  command->add_option("--plan", options->plan, "Take TRCCONFIGR from this plan")->type_name("PLAN");
  command->add_option("-o,--output", options->directory, "Folder for the snapshot")
      ->type_name("DIR")
      ->required();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

// waymark etm4 snapshot: registers of a target, its trace and its programs as a snapshot.
#include <fmt/format.h>

#include <filesystem>
#include <list>

#include "etm4.h"
#include "exit_code.h"
#include "input_options.h"
#include "waymark/base/mapped_file.h"
#include "waymark/inputs/ini.h"
#include "waymark/inputs/snapshot_writer.h"

namespace waymark::cli {
namespace {

struct SnapshotOptions {
  std::string root = kDeviceRoot;
  std::vector<std::string> units;
  std::string trace;
  std::vector<std::string> images;
  std::string core;
  std::string format = "coresight";
  std::string plan;
  std::string directory;
};

constexpr std::string_view kTraceName = "trace.bin";

// One unit: its registers, and the core that it watches.
Result<void> add_unit(etm4x::DeviceTree& tree, const std::string& name,
                      const SnapshotOptions& options, inputs::Snapshot& snapshot) {
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
  std::optional<std::uint64_t> config;
  if (const auto live = etm4x::read_number(tree, name + "/mgmt/trcconfig")) config = *live;
  if (!options.plan.empty()) {
    FoundUnit found;
    found.name = name;
    found.id = *id;
    const auto file = load_plan(options.plan, {}, found);
    if (!file) return fail(ErrorCode::kParse, "The plan cannot be used for this unit.");
    config = file->compiled.image.value("TRCCONFIGR");
  }
  if (!config) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("{}/{}/mgmt/trcconfig is missing, and a decoder needs it: copy it while "
                    "the unit is enabled, or give the plan with --plan.",
                    options.root, name));
  }
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

// "FILE", "FILE@BIAS" for ELF, "ADDRESS=FILE" for bytes as they are.
Result<std::string> add_image(const std::string& argument, std::vector<inputs::Dump>& dumps) {
  const std::size_t equals = argument.find('=');
  const auto address = equals == std::string::npos || equals == 0
                           ? std::nullopt
                           : inputs::ini_number(argument.substr(0, equals));
  const auto add = [&dumps](const std::string& path, std::uint64_t at, std::uint64_t offset,
                            std::uint64_t size) {
    inputs::Dump dump;
    dump.section = fmt::format("dump{}", dumps.size());
    dump.file = std::filesystem::path(path).filename().string();
    dump.address = at;
    dump.offset = offset;
    dump.length = size;
    dumps.push_back(std::move(dump));
  };
  if (address) {
    std::string path = argument.substr(equals + 1);
    add(path, *address, 0, 0);
    return path;
  }
  const auto elf = open_elf_argument(argument);
  if (!elf) return std::unexpected(elf.error());
  for (const ElfSegment& segment : elf->segments()) {
    add(elf->path(), segment.address, segment.offset, segment.size);
  }
  return elf->path();
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
  // Files stay mapped until they are written; a list keeps their places.
  std::list<MappedFile> mapped;
  std::vector<inputs::SnapshotFile> files;
  const auto add_file = [&](const std::string& path, std::string name) -> Result<void> {
    auto file = MappedFile::open(path);
    if (!file) return std::unexpected(file.error());
    mapped.push_back(std::move(*file));
    files.push_back({std::move(name), mapped.back().bytes()});
    return {};
  };
  if (auto added = add_file(options.trace, std::string(kTraceName)); !added) {
    return complain(added.error().detail, kInput);
  }
  std::vector<inputs::Dump> dumps;
  for (const std::string& image : options.images) {
    const auto path = add_image(image, dumps);
    if (!path) return complain(path.error().detail, kInput);
    if (auto added = add_file(*path, std::filesystem::path(*path).filename().string()); !added) {
      return complain(added.error().detail, kInput);
    }
  }
  // Memory is one for all cores; naming it at the first is enough.
  snapshot.devices.front().dumps = std::move(dumps);
  inputs::TraceBuffer buffer;
  buffer.name = "buffer0";
  buffer.file = std::string(kTraceName);
  buffer.format = options.format;
  snapshot.buffers.push_back(std::move(buffer));
  if (auto done = inputs::write_snapshot(snapshot, files, options.directory); !done) {
    return complain(done.error().detail, kOutput);
  }
  return kOk;
}

}  // namespace

void add_etm4_snapshot(CLI::App& etm4, int& exit_code) {
  auto options = std::make_shared<SnapshotOptions>();
  CLI::App* command = etm4.add_subcommand(
      "snapshot", "Make a snapshot from a target's registers, its trace and its programs");
  command->add_option("--root", options->root, "Folder of the CoreSight devices, or a copy of it")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_option("--unit", options->units, "A unit that traced; default: all")
      ->type_name("etmN");
  command->add_option("--trace", options->trace, "The bytes of the sink")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--image", options->images,
                   "A program: an ELF file, FILE@ADDRESS where it was loaded elsewhere, or "
                   "ADDRESS=FILE for bytes")
      ->type_name("ELF");
  command->add_option("--core", options->core, "The traced core, such as Cortex-A53");
  command->add_option("--format", options->format, "coresight (frames) or source_data (TRBE)")
      ->check(CLI::IsMember({"coresight", "source_data"}));
  command->add_option("--plan", options->plan, "Take TRCCONFIGR from this plan")->type_name("PLAN");
  command->add_option("-o,--output", options->directory, "Folder for the snapshot")
      ->type_name("DIR")
      ->required();
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

#include <fmt/format.h>

#include <filesystem>

#include "waymark/inputs/trace_script.h"

namespace waymark::inputs {
namespace {

BufferFormat format_of(ScriptFormat format) {
  switch (format) {
    case ScriptFormat::kRaw:
      return BufferFormat::kSingleSource;
    case ScriptFormat::kFsync:
    case ScriptFormat::kDstream:
      return BufferFormat::kFsyncFrames;
    case ScriptFormat::kFrames:
    case ScriptFormat::kHsync:
      break;
  }
  return BufferFormat::kMemoryAligned;
}

Result<MappedFile> open_image(const ScriptImage& image, const std::string& directory) {
  auto file = MappedFile::open((std::filesystem::path(directory) / image.file).string());
  if (!file)
    return fail(file.error().code, fmt::format("line {}: {}", image.line, file.error().detail));
  if (file->size() == 0)
    return fail(ErrorCode::kBadData,
                fmt::format("line {}: The image file {} is empty.", image.line, file->path()));
  return file;
}

}  // namespace

Result<ScriptSnapshot> to_snapshot(const TraceScript& script, const std::string& directory) {
  ScriptSnapshot made;
  made.snapshot.description = script.description;
  std::vector<Dump> dumps;
  for (std::size_t i = 0; i < script.images.size(); ++i) {
    const ScriptImage& image = script.images[i];
    Dump dump;
    dump.section = fmt::format("dump{}", i);
    dump.file = fmt::format("image_{}.bin", i);
    dump.space = image.space_name;
    dump.address = image.address;
    dump.length = image.bytes.size();
    Bytes bytes = image.bytes;
    if (!image.file.empty()) {
      auto file = open_image(image, directory);
      if (!file) return std::unexpected(file.error());
      bytes = made.images.emplace_back(std::move(*file)).bytes();
    }
    made.files.push_back({dump.file, bytes});
    dumps.push_back(std::move(dump));
  }
  for (const ScriptDevice& source : script.devices) {
    if (source.core.empty()) continue;
    Device core;
    core.name = "core_" + source.name;
    core.class_name = "core";
    core.type = source.core;
    core.dumps = std::exchange(dumps, {});
    made.snapshot.devices.push_back(std::move(core));
  }
  for (std::size_t i = 0; i < script.buffers.size(); ++i) {
    const ScriptBuffer& buffer = script.buffers[i];
    if (buffer.format == ScriptFormat::kHsync)
      return fail(ErrorCode::kUnsupported,
                  fmt::format("The buffer {} has half syncs, which a snapshot cannot describe.",
                              buffer.name));
    TraceBuffer entry;
    entry.name = buffer.name;
    entry.file = fmt::format("buffer_{}.bin", i);
    entry.format = std::string(buffer_format_name(format_of(buffer.format)));
    made.files.push_back({entry.file, buffer.bytes});
    made.snapshot.buffers.push_back(std::move(entry));
    // A source belongs to one buffer only: every session has devices of its own.
    for (const ScriptDevice& source : script.devices) {
      Device device;
      device.name = i == 0 ? source.name : fmt::format("{}_s{}", source.name, i + 1);
      device.class_name = "trace_source";
      device.type = source.protocol;
      for (const auto& [name, value] : source.registers)
        device.registers.push_back({name, fmt::format("{:#x}", value)});
      made.snapshot.source_buffers.push_back({device.name, buffer.name});
      if (!source.core.empty())
        made.snapshot.core_trace_sources.push_back({device.name, "core_" + source.name});
      made.snapshot.devices.push_back(std::move(device));
    }
  }
  return made;
}

}  // namespace waymark::inputs

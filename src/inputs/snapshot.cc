#include "waymark/inputs/snapshot.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "ini_parser.h"
#include "waymark/base/mapped_file.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSnapshotIni = "snapshot.ini";

std::optional<std::uint64_t> regular_file_size(const std::string& path) {
  std::error_code error;
  if (path.find('\0') != std::string::npos || !fs::is_regular_file(path, error))
    return std::nullopt;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return std::nullopt;
  return size;
}

Result<std::string> read_ini_text(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (file->size() > kMaxIniFileSize) {
    return fail(ErrorCode::kLimit,
                fmt::format("{}: The file has {} bytes, more than the {} allowed for an ini file; "
                            "check that it is an ini file.",
                            path, file->size(), kMaxIniFileSize));
  }
  const Bytes bytes = file->bytes();
  return std::string(bytes.begin(), bytes.end());
}

// The folder of what the user named, with a '/' at its end.
Result<std::string> snapshot_directory(const std::string& path) {
  if (path.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "No snapshot is given; name its folder or the snapshot.ini in it.");
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{} does not exist; give the folder of a snapshot.", in_quotes(path)));
  }
  if (fs::is_directory(status)) {
    std::string directory = path.ends_with('/') ? path : path + '/';
    if (!fs::exists(directory + std::string(kSnapshotIni), error)) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("The folder {} has no snapshot.ini, so it is not a snapshot; give "
                              "the folder that contains this file.",
                              in_quotes(path)));
    }
    return directory;
  }
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  if (std::string_view(path).substr(name) != kSnapshotIni) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} is neither a folder nor a snapshot.ini; give the folder of a "
                            "snapshot.",
                            in_quotes(path)));
  }
  return name == 0 ? std::string("./") : path.substr(0, name);
}

// Reads ini files and adds up their size.
class TextReader {
 public:
  explicit TextReader(const SnapshotStore& store) : store_(store) {}

  Result<std::string> read(const std::string& path) {
    Result<std::string> text = store_.read_text(path);
    if (!text) return text;
    total_ += text->size();
    if (total_ > kMaxIniTotalSize) {
      return fail(ErrorCode::kLimit,
                  fmt::format("{}: With this file the ini files of the snapshot exceed {} bytes in "
                              "all; check the device list.",
                              path, kMaxIniTotalSize));
    }
    return text;
  }

 private:
  const SnapshotStore& store_;
  std::uint64_t total_ = 0;
};

Result<void> read_devices(const std::string& ini, TextReader& texts, Snapshot& snapshot,
                          std::vector<Problem>& problems) {
  // The order in which files replace each other: by number, compared as text.
  std::map<std::string, const DeviceFile*> order;
  for (const DeviceFile& file : snapshot.device_files)
    order.emplace(std::to_string(file.number), &file);

  std::map<std::string, Device> devices;
  for (const auto& [number, file] : order) {
    const std::string path = snapshot.path_of(file->file);
    const Result<std::string> text = texts.read(path);
    if (!text) {
      if (text.error().code == ErrorCode::kLimit) return std::unexpected(text.error());
      add_problem(problems,
                  {.kind = ProblemKind::kDeviceFileMissing,
                   .severity = Severity::kError,
                   .file = ini,
                   .line = file->line,
                   .sentence = fmt::format("The device file {} cannot be read, so this device is "
                                           "missing; add the file or correct the list.",
                                           in_quotes(path)),
                   .values = {path}});
      continue;
    }
    Result<Device> device = parse_device_ini(path, *text, problems);
    if (!device) return std::unexpected(device.error());
    device->file = file->file;
    const auto [at, fresh] = devices.try_emplace(device->name);
    if (!fresh) {
      add_problem(problems, {.kind = ProblemKind::kDeviceReplaced,
                             .severity = Severity::kWarning,
                             .file = path,
                             .sentence = fmt::format(
                                 "The device {} is also described in {}, which this file replaces; "
                                 "give each device a name of its own.",
                                 in_quotes(device->name), in_quotes(at->second.file)),
                             .values = {device->name, at->second.file}});
    }
    at->second = *std::move(device);
  }
  for (auto& [name, device] : devices) snapshot.devices.push_back(std::move(device));
  return {};
}

Result<void> read_trace(const std::string& ini, const std::string& path, TextReader& texts,
                        Snapshot& snapshot, std::vector<Problem>& problems) {
  const Result<std::string> text = texts.read(path);
  if (!text) {
    if (text.error().code == ErrorCode::kLimit) return std::unexpected(text.error());
    add_problem(problems, {.kind = ProblemKind::kTraceFileMissing,
                           .severity = Severity::kError,
                           .file = ini,
                           .sentence = fmt::format("The trace ini file {} cannot be read, so there "
                                                   "are no buffers; add the file or correct "
                                                   "`metadata=`.",
                                                   in_quotes(path)),
                           .values = {path}});
    return {};
  }
  Result<TraceIni> trace = parse_trace_ini(path, *text, problems);
  if (!trace) return std::unexpected(trace.error());
  snapshot.buffer_list = std::move(trace->buffer_list);
  snapshot.buffers = std::move(trace->buffers);
  snapshot.source_buffers = std::move(trace->source_buffers);
  snapshot.core_trace_sources = std::move(trace->core_trace_sources);
  return resolve_sources(path, snapshot, problems);
}

}  // namespace

const Register* Device::find(std::string_view register_name) const {
  for (const Register& candidate : registers) {
    const std::string_view full = candidate.name;
    if (full.substr(0, full.find('(')) == register_name) return &candidate;
  }
  return nullptr;
}

std::optional<std::uint32_t> Device::value(std::string_view register_name) const {
  const Register* found = find(register_name);
  if (found == nullptr) return std::nullopt;
  return static_cast<std::uint32_t>(ini_number_prefix(found->text));
}

BufferFormat buffer_format(std::string_view format) {
  if (format == "source_data") return BufferFormat::kSingleSource;
  if (format == "dstream_coresight") return BufferFormat::kFsyncFrames;
  return BufferFormat::kMemoryAligned;
}

std::string_view buffer_format_name(BufferFormat format) {
  switch (format) {
    case BufferFormat::kSingleSource:
      return "source_data";
    case BufferFormat::kFsyncFrames:
      return "dstream_coresight";
    case BufferFormat::kMemoryAligned:
      break;
  }
  return "coresight";
}

const Device* Snapshot::find_device(std::string_view name) const {
  const auto at = std::ranges::lower_bound(devices, name, {}, &Device::name);
  return at != devices.end() && at->name == name ? &*at : nullptr;
}

const TraceBuffer* Snapshot::find_buffer(std::string_view name) const {
  const auto at = std::ranges::find(buffers, name, &TraceBuffer::name);
  return at != buffers.end() ? &*at : nullptr;
}

std::vector<std::string> Snapshot::files() const {
  std::vector<std::string> paths;
  const auto add = [&](std::string_view name) { paths.push_back(path_of(name)); };
  add("snapshot.ini");
  if (!trace_file.empty()) add(trace_file);
  for (const DeviceFile& device : device_files) add(device.file);
  for (const TraceBuffer& buffer : buffers) add(buffer.file);
  for (const Device& device : devices) {
    for (const Dump& dump : device.dumps) add(dump.file);
  }
  return paths;
}

std::string Snapshot::path_of(std::string_view file) const { return directory + std::string(file); }

Result<Snapshot> read_snapshot(const std::string& path, std::vector<Problem>& problems) {
  const Result<std::string> directory = snapshot_directory(path);
  if (!directory) return std::unexpected(directory.error());
  return read_snapshot(*directory, {read_ini_text, regular_file_size}, problems);
}

Result<Snapshot> read_snapshot(const std::string& directory, const SnapshotStore& store,
                               std::vector<Problem>& problems) {
  TextReader texts(store);
  const std::string ini = directory + std::string(kSnapshotIni);
  const Result<std::string> text = texts.read(ini);
  if (!text) return std::unexpected(text.error());
  Result<SnapshotIni> parsed = parse_snapshot_ini(ini, *text, problems);
  if (!parsed) return std::unexpected(parsed.error());

  Snapshot snapshot;
  snapshot.directory = directory;
  snapshot.version = std::move(parsed->version);
  snapshot.description = std::move(parsed->description);
  snapshot.trace_file = std::move(parsed->trace_file);
  snapshot.device_files = std::move(parsed->device_files);
  WAYMARK_TRY(read_devices(ini, texts, snapshot, problems));
  const std::string trace_file = snapshot.path_of(snapshot.trace_file);
  if (!snapshot.trace_file.empty())
    WAYMARK_TRY(read_trace(ini, trace_file, texts, snapshot, problems));
  check_files(trace_file, snapshot, store, problems);
  return snapshot;
}

}  // namespace waymark::inputs

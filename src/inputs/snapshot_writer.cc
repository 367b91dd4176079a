#include "waymark/inputs/snapshot_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "ini_parser.h"

namespace waymark::inputs {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> refuse(std::string_view what, std::string_view text,
                              std::string_view reason) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("The {} {} cannot be written to a snapshot: {}.", what, in_quotes(text), reason));
}

// Builds one ini file, and refuses every text that the reader would not read back unchanged.
class IniWriter {
 public:
  void section(std::string_view name) {
    if (!text_.empty()) text_ += '\n';
    text_ += '[';
    text_ += name;
    text_ += "]\n";
  }

  Result<void> entry(std::string_view key, std::string_view value, std::string_view what) {
    std::string line = fmt::format("{}={}", key, value);
    IniReader reader(line);
    const std::optional<IniLine> read = reader.next();
    if (!read || read->kind != IniLineKind::kEntry || read->key != key || read->value != value ||
        line.find('\n') != std::string::npos) {
      return refuse(
          what, line,
          "line ends, `;`, `#`, brackets, an `=` in a name, and spaces at the ends do not survive");
    }
    text_ += line;
    text_ += '\n';
    return {};
  }

  // An entry that is omitted if the value is empty.
  Result<void> optional(std::string_view key, std::string_view value, std::string_view what) {
    return value.empty() ? Result<void>{} : entry(key, value, what);
  }

  // An entry whose quotes the reader removes.
  Result<void> unquoted(std::string_view key, std::string_view value, std::string_view what) {
    if (ini_unquote(value) != value)
      return refuse(what, value, "quotes at its ends do not survive");
    return entry(key, value, what);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

Result<void> check_section(std::string_view name, std::string_view what) {
  const std::string line = fmt::format("[{}]", name);
  IniReader reader(line);
  const std::optional<IniLine> read = reader.next();
  if (!read || read->kind != IniLineKind::kSection || read->key != name || name.empty() ||
      line.find('\n') != std::string::npos) {
    return refuse(what, name,
                  "the name of a section cannot be empty or hold line ends, `;`, `#`, `]`, or "
                  "spaces at its ends");
  }
  return {};
}

Result<void> check_file_name(std::string_view name) {
  const fs::path path(name);
  const bool leaves = std::ranges::find(path, fs::path("..")) != path.end();
  if (name.empty() || name.find('\0') != std::string_view::npos || path.is_absolute() || leaves ||
      !path.has_filename()) {
    return refuse("file name", name, "it must be relative, without `..`, and name a file");
  }
  return {};
}

Result<void> put_dump(IniWriter& out, const Dump& dump, std::size_t number) {
  const std::string section = dump.section.empty() ? fmt::format("dump{}", number) : dump.section;
  WAYMARK_TRY(check_section(section, "dump section"));
  if (!section.starts_with("dump"))
    return refuse("dump section", section, "its name must start with `dump`");
  out.section(section);
  WAYMARK_TRY(out.unquoted("file", dump.file, "dump file"));
  WAYMARK_TRY(out.entry("address", fmt::format("0x{:X}", dump.address), "address"));
  if (dump.length != 0)
    WAYMARK_TRY(out.entry("length", fmt::format("0x{:X}", dump.length), "length"));
  if (dump.offset != 0)
    WAYMARK_TRY(out.entry("offset", fmt::format("0x{:X}", dump.offset), "offset"));
  if (!dump.space.empty()) WAYMARK_TRY(out.unquoted("space", dump.space, "memory space"));
  return {};
}

Result<std::string> device_text(const Device& device) {
  IniWriter out;
  out.section("device");
  WAYMARK_TRY(out.entry("name", device.name, "device name"));
  WAYMARK_TRY(out.optional("class", device.class_name, "device class"));
  WAYMARK_TRY(out.optional("type", device.type, "device type"));
  if (!device.registers.empty()) {
    out.section("regs");
    std::set<std::string_view, CaseIgnored> names;
    for (const Register& item : device.registers) {
      if (!names.insert(item.name).second)
        return refuse("register", item.name, "it is given twice");
      WAYMARK_TRY(out.unquoted(item.name, item.text, "register"));
    }
  }
  if (!device.extended_registers.empty()) {
    out.section("extendregs");
    std::set<std::uint32_t> numbers;
    for (const auto& [number, value] : device.extended_registers) {
      const std::string key = fmt::format("0x{:X}", number);
      if (!numbers.insert(number).second)
        return refuse("extended register", key, "it is given twice");
      WAYMARK_TRY(out.entry(key, fmt::format("0x{:X}", value), "extended register"));
    }
  }
  if (!device.global_core.empty()) {
    out.section("global");
    WAYMARK_TRY(out.entry("core", device.global_core, "core"));
  }
  std::size_t number = 0;
  for (const Dump& dump : device.dumps) WAYMARK_TRY(put_dump(out, dump, ++number));
  return out.take();
}

Result<std::string> trace_text(const Snapshot& snapshot) {
  IniWriter out;
  std::vector<std::string> sections;
  sections.reserve(snapshot.buffers.size());
  std::set<std::string_view> used{"trace_buffers", "source_buffers", "core_trace_sources"};
  for (const TraceBuffer& buffer : snapshot.buffers) {
    sections.push_back(buffer.section.empty() ? fmt::format("buffer{}", sections.size())
                                              : buffer.section);
  }
  std::string list;
  for (const std::string& section : sections) {
    WAYMARK_TRY(check_section(section, "buffer section"));
    if (section.find(',') != std::string::npos)
      return refuse("buffer section", section, "a comma would cut it in two");
    if (!used.insert(section).second)
      return refuse("buffer section", section, "it is given twice, or has a meaning of its own");
    if (!list.empty()) list += ',';
    list += section;
  }
  out.section("trace_buffers");
  WAYMARK_TRY(out.entry("buffers", list, "list of buffers"));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const TraceBuffer& buffer = snapshot.buffers[i];
    out.section(sections[i]);
    WAYMARK_TRY(out.entry("name", buffer.name, "buffer name"));
    WAYMARK_TRY(out.entry("file", buffer.file, "capture file"));
    WAYMARK_TRY(out.optional("format", buffer.format, "buffer format"));
  }
  std::set<std::string_view> sources;
  out.section("source_buffers");
  for (const SourceBuffer& line : snapshot.source_buffers) {
    if (!sources.insert(line.source).second)
      return refuse("trace source", line.source, "it leads into two buffers");
    WAYMARK_TRY(out.entry(line.source, line.buffer, "trace source"));
  }
  sources.clear();
  out.section("core_trace_sources");
  for (const CoreTraceSource& line : snapshot.core_trace_sources) {
    if (!sources.insert(line.source).second)
      return refuse("trace source", line.source, "it has two cores");
    WAYMARK_TRY(out.entry(line.core, line.source, "core"));
  }
  return out.take();
}

Result<void> write_file(const fs::path& path, Bytes bytes) {
  const auto failed = [&](int number) {
    return fail(ErrorCode::kIo, fmt::format("Cannot write {}: {}.", path.string(),
                                            std::generic_category().message(number)));
  };
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) return failed(error.value());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return failed(errno);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int write_error = errno;
  // Only fclose() shows whether buffered bytes reached the disk.
  if (std::fclose(file) != 0) return failed(errno);
  if (!written) return failed(write_error);
  return {};
}

}  // namespace

Result<std::vector<SnapshotText>> snapshot_texts(const Snapshot& snapshot) {
  std::vector<SnapshotText> out(1);
  IniWriter ini;
  ini.section("snapshot");
  WAYMARK_TRY(ini.entry("version", "1.0", "version"));
  WAYMARK_TRY(ini.optional("description", snapshot.description, "description"));

  ini.section("device_list");
  std::set<std::string> names;
  for (const Device& device : snapshot.devices) {
    if (!names.insert(device.name).second)
      return refuse("device name", device.name, "two devices have it");
    const std::size_t number = out.size();
    const std::string file =
        device.file.empty() ? fmt::format("device_{}.ini", number) : device.file;
    WAYMARK_TRY(ini.entry(fmt::format("device{}", number), file, "device file"));
    Result<std::string> text = device_text(device);
    if (!text) return std::unexpected(text.error());
    out.push_back({file, *std::move(text)});
  }

  const std::string trace_file = snapshot.trace_file.empty() ? "trace.ini" : snapshot.trace_file;
  ini.section("trace");
  WAYMARK_TRY(ini.entry("metadata", trace_file, "trace file"));
  Result<std::string> trace = trace_text(snapshot);
  if (!trace) return std::unexpected(trace.error());
  out.push_back({trace_file, *std::move(trace)});
  out[0] = {"snapshot.ini", ini.take()};

  std::set<std::string_view> files;
  for (const SnapshotText& text : out) {
    WAYMARK_TRY(check_file_name(text.name));
    if (!files.insert(text.name).second) return refuse("file name", text.name, "two files have it");
  }
  return out;
}

Result<void> write_snapshot(const Snapshot& snapshot, std::span<const SnapshotFile> files,
                            const std::string& directory) {
  const Result<std::vector<SnapshotText>> texts = snapshot_texts(snapshot);
  if (!texts) return std::unexpected(texts.error());
  std::vector<SnapshotFile> all;
  for (const SnapshotText& text : *texts) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(text.text.data());
    all.push_back({text.name, {data, text.text.size()}});
  }
  all.insert(all.end(), files.begin(), files.end());

  std::set<std::string> used;
  for (const SnapshotFile& file : all) {
    WAYMARK_TRY(check_file_name(file.name));
    if (!used.insert(fs::path(file.name).lexically_normal().string()).second)
      return refuse("file name", file.name, "two files have it");
  }
  for (const SnapshotFile& file : all)
    WAYMARK_TRY(write_file(fs::path(directory) / file.name, file.bytes));
  return {};
}

}  // namespace waymark::inputs

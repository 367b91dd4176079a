// Arm trace snapshots: a folder with ini files, captured trace and memory dumps.
// See snapshot-format.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/inputs/problem.h"

namespace waymark::inputs {

/// One line of `[regs]`; `name` includes a bracket part such as "TRCIDR0(0x078)".
struct Register {
  std::string name{};
  std::string text{};  ///< Without quotes at its ends.
  std::uint32_t line = 0;
  friend bool operator==(const Register&, const Register&) = default;
};

/// One `[dump…]` section: part of a file that is in target memory at `address`.
struct Dump {
  std::string section{};
  std::string file{};
  std::string space{};  ///< snapshot-format.md 7; empty: any.
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< 0: the whole file.
  std::uint64_t offset = 0;  ///< Used only with a length.
  std::uint32_t line = 0;    ///< Where the section header is.
  friend bool operator==(const Dump&, const Dump&) = default;
};

/// A device ini file.
struct Device {
  std::string file{};  ///< As the device list names it.
  std::string name{};
  std::string class_name{};  ///< "core", "trace_source"; nothing depends on it.
  std::string type{};        ///< Core name, or protocol.
  std::string global_core{};
  std::vector<Register> registers{};  ///< In the order of a map that ignores case.
  std::vector<Dump> dumps{};          ///< In file order.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> extended_registers{};  ///< By number.

  /// The first register whose name, cut at `(`, is `register_name` exactly.  Null: none.
  [[nodiscard]] const Register* find(std::string_view register_name) const;

  /// Its value as the reference reads it: trailing garbage is ignored, and the value is cut to 32
  /// bits.
  [[nodiscard]] std::optional<std::uint32_t> value(std::string_view register_name) const;

  friend bool operator==(const Device&, const Device&) = default;
};

/// One line of `[device_list]`, whose keys have no meaning: files are numbered from 1.
struct DeviceFile {
  std::string file{};
  std::uint32_t number = 0;
  std::uint32_t line = 0;
  friend bool operator==(const DeviceFile&, const DeviceFile&) = default;
};

struct SourceBuffer {
  std::string source{};  ///< Device name.
  std::string buffer{};  ///< TraceBuffer::name.
  std::uint32_t line = 0;
  friend bool operator==(const SourceBuffer&, const SourceBuffer&) = default;
};

struct CoreTraceSource {
  std::string source{};
  std::string core{};  ///< Device name.
  std::uint32_t line = 0;
  friend bool operator==(const CoreTraceSource&, const CoreTraceSource&) = default;
};

/// A trace source of a buffer, with everything to which its names refer.
struct TraceSource {
  static constexpr std::size_t kNoDevice = ~std::size_t{0};

  std::string device{};
  std::string type{};                    ///< "ETM4.2"; empty if the device does not exist.
  std::string protocol{};                ///< The type up to the first dot.
  std::string core{};                    ///< Empty: no core has it as its source.
  std::string core_type{};               ///< Empty if there is no core, or no such device.
  std::size_t device_index = kNoDevice;  ///< Into Snapshot::devices.
  std::size_t core_index = kNoDevice;
  friend bool operator==(const TraceSource&, const TraceSource&) = default;
};

/// How the bytes of a buffer are wrapped; snapshot-format.md 6.
enum class BufferFormat : std::uint8_t {
  kSingleSource,   ///< `source_data`: the stream of the first source, no frames.
  kFsyncFrames,    ///< `dstream_coresight`
  kMemoryAligned,  ///< `coresight` and everything else.
};
BufferFormat buffer_format(std::string_view format);
/// The name in an ini file.
std::string_view buffer_format_name(BufferFormat format);

struct TraceBuffer {
  std::string section{};
  std::string name{};
  std::string file{};
  std::string format{};
  std::uint32_t line = 0;              ///< Where the section header is.
  std::vector<TraceSource> sources{};  ///< In the order of their device names, byte by byte.
  friend bool operator==(const TraceBuffer&, const TraceBuffer&) = default;
};

/// A snapshot as its ini files state it; plain data.
struct Snapshot {
  std::string directory{};  ///< Ends in '/'; the model's file names follow it.
  std::string version{};
  std::string description{};
  std::string trace_file{};                           ///< `metadata`; empty: none named.
  std::vector<DeviceFile> device_files{};             ///< In file order.
  std::vector<Device> devices{};                      ///< By name.
  std::vector<std::string> buffer_list{};             ///< The items of `buffers=`, untrimmed.
  std::vector<TraceBuffer> buffers{};                 ///< In the order of their sections.
  std::vector<SourceBuffer> source_buffers{};         ///< By source.
  std::vector<CoreTraceSource> core_trace_sources{};  ///< By source.

  [[nodiscard]] const Device* find_device(std::string_view name) const;
  [[nodiscard]] const TraceBuffer* find_buffer(std::string_view name) const;
  [[nodiscard]] std::string path_of(std::string_view file) const;
  /// The paths of all files that belong to it, snapshot.ini included.
  [[nodiscard]] std::vector<std::string> files() const;

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

/// Limits on what is read, far above any real snapshot; beyond them kLimit is returned.
inline constexpr std::uint64_t kMaxIniFileSize = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kMaxIniTotalSize = std::uint64_t{64} << 20;
inline constexpr std::size_t kMaxIniLineSize = 65536;
inline constexpr std::size_t kMaxDeviceFiles = 4096;
inline constexpr std::size_t kMaxRegistersPerDevice = 65536;
inline constexpr std::size_t kMaxDumpsPerDevice = 65536;
inline constexpr std::size_t kMaxTraceEntries = 4096;  ///< For buffers, for sources and for cores.

/// Reads the snapshot in the folder `path`, or with the snapshot.ini `path`.
///
/// kNotFound: no such path, or a folder without snapshot.ini; kInvalidArgument: another file;
/// kParse: an ini file breaks its grammar ("file:line: …" in `detail`); kLimit: one of the bounds
/// above; kIo. Everything else that is wrong is appended to `problems`, even when an error is
/// returned, and reading continues.
Result<Snapshot> read_snapshot(const std::string& path, std::vector<Problem>& problems);

/// The files of a snapshot by their full path, for snapshots that are not on a disk.
struct SnapshotStore {
  /// The text of an ini file.  kNotFound: it is missing; kLimit ends the reading; any other error
  /// counts as missing.
  std::function<Result<std::string>(const std::string& path)> read_text;
  /// Bytes in a dump or a capture; nothing if the file cannot be read.
  std::function<std::optional<std::uint64_t>(const std::string& path)> file_size;
};

/// As above, with `directory` (ending in '/') before every file name.
Result<Snapshot> read_snapshot(const std::string& directory, const SnapshotStore& store,
                               std::vector<Problem>& problems);

}  // namespace waymark::inputs

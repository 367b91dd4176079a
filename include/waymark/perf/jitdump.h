// The code that a JIT compiler made, in the file that it writes for perf: "jit-PID.dump".
//
// A header is followed by records, in order of time.  All numbers have the byte order of the
// machine that wrote them.
//
//   header    u32 magic "JiTD" (0x4A695444), u32 version (1), u32 size of the header, u32 e_machine
//             of ELF, u32 reserved, u32 pid, u64 time, u64 flags
//   flags     bit 0: times are counts of the system counter; else they are those of a clock,
//             usually CLOCK_MONOTONIC
//   record    u32 type, u32 size with these 16 bytes, u64 time, then by type:
//   0 load    u32 pid, u32 tid, u64 virtual address, u64 address of the code, u64 size of the code,
//             u64 number of the function, its name up to a zero byte, the code
//   1 move    u32 pid, u32 tid, u64 new virtual address, u64 old and u64 new address of the code,
//             u64 size of the code, u64 number of the function
//   2 lines   u64 address of the code, u64 number of entries, then each: u64 address, u32 line, u32
//             column, the name of the file up to a zero byte; the name "\xFF" stands for that of
//             the entry before.  They come before the load of their function
//   3 close   nothing follows
//   4 unwind  not needed here
//
// Records of other types are skipped by their sizes.  The pid is that of the process in its own
// namespace, so that the recording may name another one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/perf/fields.h"
#include "waymark/perf/file.h"
#include "waymark/program/program.h"

namespace waymark::perf {

/// A function as it was loaded.
struct JitFunction {
  std::uint64_t address = 0;
  std::uint64_t number = 0;
  Bytes code{};  ///< Never empty.  In the bytes that were read.
  std::string name{};
  program::SourceLines lines{};
};

/// From this time on, the code of a function is at an address.
struct JitPlacement {
  std::uint64_t time = 0;
  std::size_t function = 0;  ///< In JitDump::functions.
  std::uint64_t address = 0;
  friend bool operator==(const JitPlacement&, const JitPlacement&) = default;
};

struct JitDump {
  /// Reads as far as the records are whole.  kBadData: this is not such a file, or its header is
  /// damaged; kUnsupported: another version.  `detail` is a sentence without the path.  The result
  /// refers to `bytes`.
  static Result<JitDump> read(Bytes bytes);

  ByteOrder order = ByteOrder::kLittle;
  unsigned machine = 0;        ///< e_machine of ELF.
  std::int32_t pid = 0;        ///< In the namespace of the process.
  bool counter_times = false;  ///< Times are counts of the system counter.
  std::vector<JitFunction> functions{};
  std::vector<JitPlacement> placements{};  ///< In order of the file.
  std::vector<Note> notes{};               ///< Whole sentences without the path.
};

/// Whether this is the path of such a file: "jit-123.dump", "jit-123-worker.dump".
bool is_jitdump(const std::string& path);

}  // namespace waymark::perf

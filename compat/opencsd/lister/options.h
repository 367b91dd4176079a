// The command line of trc_pkt_lister; see trc-pkt-lister.md 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/types.h"

namespace waymark::compat {

/// The destinations of the listing.  Any of these options replaces the default: standard output and
/// a file.
struct LogOptions {
  bool to_stdout = true;
  bool to_stderr = false;
  bool to_file = true;
  std::string file_name = "trc_pkt_lister.ppl";
};

struct ListerOptions {
  std::string snapshot = "../../../snapshots/juno_r1_1";
  bool snapshot_verbose = false;
  std::string source_name;  ///< Empty: the first buffer.
  bool multi_session = false;
  std::vector<TraceId> ids;  ///< Empty: all.

  bool dstream = false;
  bool tpiu = false;
  bool tpiu_hsync = false;

  bool decode = false;
  bool packets = true;  ///< Not with -decode_only.
  bool packet_monitor = false;
  bool raw_packed = false;
  bool raw_unpacked = false;
  bool statistics = false;
  bool profile = false;
  bool print_time = true;
  std::uint64_t test_waits = 0;
  std::uint32_t flags = 0;        ///< DecodeFlag bits.
  std::uint32_t range_limit = 0;  ///< From the environment; 0: none.

  /// Packets go to the monitor, which prints their bytes, instead of to the sink of a packet-only
  /// path.
  [[nodiscard]] bool monitored() const { return decode || packet_monitor; }
};

/// First pass: the logger's options.  nullopt: the name of the log file is missing.
std::optional<LogOptions> read_log_options(std::span<char* const> arguments);

/// The result of the second pass.  `messages` must be logged in order, each as a line.
struct ParsedOptions {
  ListerOptions options;
  std::vector<std::string> messages;
  bool help = false;
  bool stop = false;  ///< A message says why; the exit status is 255.
};
/// Also reads the environment variables of the reference.
ParsedOptions read_options(std::span<char* const> arguments);

/// The text of -help.
std::string_view help_text();

}  // namespace waymark::compat

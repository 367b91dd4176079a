#include "options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "core/level.h"
#include "log.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {
namespace {

/// An option without an argument that only sets a value.
struct Switch {
  std::string_view name;
  void (*apply)(ListerOptions&);
};

constexpr Switch kSwitches[] = {
    {"-ss_verbose", [](ListerOptions& o) { o.snapshot_verbose = true; }},
    {"-dstream_format", [](ListerOptions& o) { o.dstream = true; }},
    {"-tpiu", [](ListerOptions& o) { o.tpiu = true; }},
    {"-tpiu_hsync", [](ListerOptions& o) { o.tpiu_hsync = true; }},
    {"-decode", [](ListerOptions& o) { o.decode = true; }},
    {"-decode_only",
     [](ListerOptions& o) {
       o.decode = true;
       o.packets = false;
     }},
    {"-pkt_mon", [](ListerOptions& o) { o.packet_monitor = true; }},
    {"-o_raw_packed", [](ListerOptions& o) { o.raw_packed = true; }},
    {"-o_raw_unpacked", [](ListerOptions& o) { o.raw_unpacked = true; }},
    {"-src_addr_n", [](ListerOptions& o) { o.flags |= kSourceAddressNRanges; }},
    {"-stats", [](ListerOptions& o) { o.statistics = true; }},
    {"-profile", [](ListerOptions& o) { o.profile = true; }},
    {"-no_time_print", [](ListerOptions& o) { o.print_time = false; }},
    {"-aa64_opcode_chk", [](ListerOptions& o) { o.flags |= kA64OpcodeCheck; }},
    {"-direct_br_cond", [](ListerOptions& o) { o.flags |= kCheckDirectBranchN; }},
    {"-strict_br_cond", [](ListerOptions& o) { o.flags |= kCheckStrictBranchN; }},
    {"-range_cont", [](ListerOptions& o) { o.flags |= kCheckRangeContinuity; }},
    {"-halt_err", [](ListerOptions& o) { o.flags |= kHaltOnBadPackets; }},
    // The size of a memory cache does not change the listing, and images are mapped here.
    {"-macc_cache_disable", [](ListerOptions&) {}},
    // Read in the first pass.
    {"-logstdout", [](ListerOptions&) {}},
    {"-logstderr", [](ListerOptions&) {}},
    {"-logfile", [](ListerOptions&) {}},
};

void read_environment(ListerOptions& options) {
  // Presence is enough.
  if (std::getenv("OPENCSD_ERR_ON_AA64_BAD_OPCODE") != nullptr) options.flags |= kA64OpcodeCheck;
  const char* limit = std::getenv("OPENCSD_INSTR_RANGE_LIMIT");
  const long value = limit != nullptr ? std::strtol(limit, nullptr, 0) : 0;
  if (value > 0) options.range_limit = static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<LogOptions> read_log_options(std::span<char* const> arguments) {
  LogOptions given{.to_stdout = false, .to_file = false};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "-logstdout") {
      given.to_stdout = true;
    } else if (argument == "-logstderr") {
      given.to_stderr = true;
    } else if (argument == "-logfile") {
      given.to_file = true;
    } else if (argument == "-logfilename") {
      if (++i >= arguments.size()) return std::nullopt;
      given.to_file = true;
      given.file_name = arguments[i];
    }
  }
  if (!given.to_stdout && !given.to_stderr && !given.to_file) return LogOptions{};
  return given;
}

ParsedOptions read_options(std::span<char* const> arguments) {
  ParsedOptions parsed;
  ListerOptions& options = parsed.options;
  read_environment(options);
  std::size_t at = 1;
  const auto stop = [&](std::string message) {
    parsed.messages.push_back(std::string(kLister) + std::move(message));
    parsed.stop = true;
  };
  if (const Result<Level> level = chosen_level(); !level) stop("Error: " + level.error().detail);
  const auto value = [&]() -> const char* {
    return at + 1 < arguments.size() ? arguments[++at] : nullptr;
  };

  for (; at < arguments.size() && !parsed.stop; ++at) {
    const std::string_view argument = arguments[at];
    bool known = false;
    for (const Switch& row : kSwitches) {
      if (argument != row.name) continue;
      row.apply(options);
      known = true;
    }
    if (known) continue;

    if (argument == "-ss_dir") {
      if (const char* text = value()) {
        options.snapshot = text;
      } else {
        stop("Error: Missing directory string on -ss_dir option");
      }
    } else if (argument == "-id") {
      const char* text = value();
      if (text == nullptr) {
        stop("Error: No ID number on -id option");
        continue;
      }
      const auto id = static_cast<TraceId>(std::strtoul(text, nullptr, 0));
      if (is_source_id(id)) {
        options.ids.push_back(id);
      } else {
        stop(fmt::format("Error: invalid ID number 0x{:x} on -id option", id));
      }
    } else if (argument == "-src_name") {
      if (const char* text = value()) {
        options.source_name = text;
        options.multi_session = false;
      } else {
        stop("Error: Missing source name string on -src_name option");
      }
    } else if (argument == "-multi_session") {
      options.multi_session = options.source_name.empty();
    } else if (argument == "-test_waits") {
      const char* text = value();
      if (text == nullptr) {
        stop("Error: wait count value on -test_waits option");
        continue;
      }
      const long waits = std::strtol(text, nullptr, 0);
      options.test_waits = waits < 0 ? 0 : static_cast<std::uint64_t>(waits);
    } else if (argument == "-macc_cache_p_size" || argument == "-macc_cache_p_num") {
      if (value() == nullptr) stop(fmt::format("Error: Missing value on {} option", argument));
    } else if (argument == "-logfilename") {
      value();
    } else if (argument == "-help" || argument == "--help" || argument == "-h") {
      parsed.help = true;
      return parsed;
    } else {
      parsed.messages.push_back(
          fmt::format("{}Warning: Ignored unknown option {}.", kLister, argument));
    }
  }
  return parsed;
}

std::string_view help_text() {
  return R"(Trace Packet Lister - print the packets and the decoded elements of a trace snapshot.

Input
  -ss_dir <dir>        Snapshot folder.
  -ss_verbose          Report what is read from the snapshot.
  -src_name <name>     Trace buffer to list; the default is the first one.
  -multi_session       List all trace buffers, one after the other.
  -id <n>              List only this trace ID; may be given more than once.
  -dstream_format      The buffer is in 512-byte DSTREAM records.
  -tpiu                The buffer holds TPIU frames with FSYNCs.
  -tpiu_hsync          The buffer holds TPIU frames with FSYNCs and HSYNCs.

Output
  -decode              Packets and decoded elements.
  -decode_only         Decoded elements without packets.
  -pkt_mon             Packets with their bytes, without decoding.
  -o_raw_packed        The frames as captured.
  -o_raw_unpacked      The bytes of each trace ID, frame by frame.
  -stats               Statistics of the decoders and of the frames.
  -profile             Print only the count of each kind of element.
  -no_time_print       Leave out the elapsed time.

Decoding
  -src_addr_n          Source address packets: split the range at N atoms.
  -aa64_opcode_chk     Stop at A64 words that cannot be instructions.
  -direct_br_cond      Check that N atoms are only at conditional direct branches.
  -strict_br_cond      The same, and also for indirect branches.
  -range_cont          Check that ranges follow each other.
  -halt_err            Stop at the first bad packet.
  -test_waits <n>      Answer WAIT to the first n packets or elements.
  -macc_cache_disable, -macc_cache_p_size <n>, -macc_cache_p_num <n>
                       Accepted; memory is mapped and needs no cache.

Log (default: standard output and the file trc_pkt_lister.ppl)
  -logstdout           To standard output.
  -logstderr           To standard error.
  -logfile             To the file trc_pkt_lister.ppl in the working folder.
  -logfilename <name>  To this file.  Files are appended to.
  -help, --help, -h    This text.

Environment
  WAYMARK_OPENCSD_LEVEL=<version>
                       List as this version of OpenCSD does: 1.3.3, 1.5.5, 1.8.0
                       (default) or 1.8.3.
  WAYMARK_OPENCSD_QUIRKS=<list>
                       Switch off single deviations from the architecture; see
                       docs/opencsd-compatibility.md.
)";
}

}  // namespace waymark::compat

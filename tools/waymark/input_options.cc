#include "input_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "command.h"
#include "elf_argument.h"
#include "exit_code.h"
#include "interrupt.h"
#include "live_options.h"
#include "option_values.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"
#include "waymark/elf/build_id.h"
#include "waymark/etmv4data/layouts.h"
#include "waymark/etmv4data/text.h"
#include "waymark/inputs/memory_records.h"
#include "waymark/logic/session.h"

namespace waymark::cli {
namespace {

/// One for the whole run: what was copied from a pipe can be opened again.
inputs::InputOpener& opener() {
  static inputs::InputOpener one(interrupted, [](const std::string& sentence) { note(sentence); });
  return one;
}

/// Asks the servers for a program; the path of the copy.
std::optional<std::string> fetch_program(const std::vector<std::uint8_t>& build_id) {
  // Nothing but hexadecimal digits reaches the shell.
  const std::string command =
      fmt::format("debuginfod-find executable {} 2>/dev/null", elf::build_id_text(build_id));
  FILE* const pipe = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  if (pipe == nullptr) return std::nullopt;
  std::string path;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF && c != '\n';) path.push_back(static_cast<char>(c));
  const bool found = ::pclose(pipe) == 0 && !path.empty();
  if (!found) return std::nullopt;
  return path;
}

/// --image
Result<void> read_images(const std::vector<std::string>& texts,
                         std::vector<inputs::ImageFile>& images) {
  for (std::string text : texts) {
    constexpr std::string_view kSpace = ",space=";
    image::SpaceMask space = image::kSpaceAny;
    if (const std::size_t at = text.rfind(kSpace); at != std::string::npos) {
      const auto named = image::space_by_name(text.substr(at + kSpace.size()));
      if (!named)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("--image {}: {}", text, named.error().detail));
      space = *named;
      text.resize(at);
    }
    const std::size_t equals = text.find('=');
    const auto address = parse_number(std::string_view(text).substr(0, equals));
    if (equals == std::string::npos || !address || equals + 1 == text.size()) {
      if (!inputs::states_addresses(text))
        return wrong("--image", text,
                     "an address and a file, such as 0x80000000=kernel.bin, or a file of Intel "
                     "HEX or S-records");
      images.push_back({std::nullopt, text, space});
      continue;
    }
    images.push_back({address, text.substr(equals + 1), space});
  }
  return {};
}

/// The layouts of the file in the form in which the source reads them.
Result<void> read_layouts(const std::string& path,
                          std::vector<std::pair<std::string, std::uint32_t>>& rows) {
  const auto file = MappedFile::open_text(path);
  if (!file) return std::unexpected(file.error());
  const auto layouts = etmv4data::parse_layouts(file->text());
  if (!layouts)
    return fail(ErrorCode::kParse,
                fmt::format("--data-layouts {}: {}", path, layouts.error().detail));
  for (const etmv4data::PacketType type : etmv4data::Layouts::types()) {
    if (const auto layout = layouts->find(type))
      rows.emplace_back(etmv4data::packet_name(type),
                        layout->fixed | std::uint32_t{layout->continued} << 8);
  }
  return {};
}

/// "0x10=etmv4,TRCCONFIGR=0x1,core=Cortex-A53"; without frames, "itm".
Result<inputs::RawSource> read_source(const std::string& text) {
  constexpr std::string_view kForm =
      "a trace ID, a protocol and its registers, such as 0x10=etmv4,TRCCONFIGR=0x1";
  inputs::RawSource source;
  std::string_view rest = text;
  bool first = true;
  while (first || !rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest = part.size() == rest.size() ? std::string_view() : rest.substr(part.size() + 1);
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (first) {
      first = false;
      source.protocol = equals == std::string_view::npos ? part : part.substr(equals + 1);
      if (source.protocol.empty()) return wrong("--source", text, kForm);
      if (equals == std::string_view::npos) continue;
      const auto id = parse_number(name);
      if (!id || !is_source_id(static_cast<TraceId>(std::min<std::uint64_t>(*id, 0xFF))))
        return wrong("--source", text, "a trace ID from 1 to 111, or 0x01 to 0x6f, before the =");
      source.id = static_cast<TraceId>(*id);
      continue;
    }
    if (equals == std::string_view::npos || equals == 0) return wrong("--source", text, kForm);
    if (name == "core") {
      source.core = part.substr(equals + 1);
      continue;
    }
    const auto value = parse_number(part.substr(equals + 1));
    if (!value || *value > 0xFFFFFFFF) return wrong("--source", text, kForm);
    source.registers.emplace_back(upper(name), static_cast<std::uint32_t>(*value));
  }
  return source;
}

/// Where the input does not exist, `detail` asks whether another file in its folder was meant.
void name_nearest(const std::string& path, std::string& detail) {
  std::error_code error;
  if (path == "-" || std::filesystem::exists(path, error) || !detail.ends_with('.')) return;
  if (const auto near = nearest_path(path)) {
    detail.pop_back();
    detail += fmt::format("; did you mean {}?", *near);
  }
}

constexpr auto kInputHelp =
    "A snapshot folder, a perf.data file, raw trace, debugger output, Intel HEX, S-records, or "
    "a sigrok session; - for standard input";

void add_options_of_recordings(Command& command, InputOptions& options) {
  command.add_option("--cpu", options.cpus, "Only the trace of this CPU; may be repeated")
      ->type_name("CPU")
      ->allow_extra_args(false)
      ->group(kRecordingGroup);
  command
      .add_option("--symfs,--sysroot", options.roots,
                  "A folder with the files of the recorded machine, or with its programs in any "
                  "subfolder; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(kRecordingGroup);
  command
      .add_option("--buildid-dir", options.caches,
                  "A cache of programs by build ID, as made by perf buildid-cache and perf "
                  "archive; default: ~/.debug; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(kRecordingGroup);
  command
      .add_option("--vmlinux", options.vmlinux, "The kernel that ran, as an ELF file with symbols")
      ->type_name("FILE")
      ->group(kRecordingGroup);
  command
      .add_option("--guest-vmlinux", options.guest_vmlinux,
                  "The kernel of a guest, as an ELF file with symbols, for code at EL1 if the "
                  "kernel of the host runs at EL2")
      ->type_name("FILE")
      ->group(kRecordingGroup);
  command
      .add_option("--guest-kallsyms", options.guest_kallsyms,
                  "A copy of /proc/kallsyms of the guest, which gives the addresses of its kernel")
      ->type_name("FILE")
      ->group(kRecordingGroup);
  command
      .add_option("--kcore", options.kcore,
                  "A copy of /proc/kcore; default: the one that perf record --kcore saved")
      ->type_name("FILE")
      ->group(kRecordingGroup);
  command
      .add_flag("--virtual-timestamps", options.virtual_timestamps,
                "Treat the timestamps of the trace as those of the virtual counter, even if the "
                "recording does not say so")
      ->group(kRecordingGroup);
  command
      .add_option("--kallsyms", options.kallsyms,
                  "A copy of /proc/kallsyms, which names the functions of the kernel")
      ->type_name("FILE")
      ->group(kRecordingGroup);
  command
      .add_flag("--debuginfod", options.debuginfod,
                "Fetch missing programs from the servers in DEBUGINFOD_URLS with debuginfod-find")
      ->group(kRecordingGroup);
}

void add_options_of_raw_trace(Command& command, InputOptions& options) {
  const std::string raw = "For raw trace, or to override a snapshot";
  command.add_option("--protocol", options.protocol, "The protocol of the trace")
      ->type_name("NAME")
      ->check(one_of({"etmv4", "ete", "ptm", "etmv3", "stm", "itm", "mtb", "etmv4d"}))
      ->group(raw);
  command
      .add_option("--source", options.sources,
                  "The protocol and registers of a trace ID, such as 0x10=etmv4,TRCCONFIGR=0x1 "
                  "(without frames, leave out the ID); core=NAME states its core; may be repeated")
      ->type_name("ID=NAME[,REG=VALUE]...")
      ->allow_extra_args(false)
      ->group(raw);
  command
      .add_option("--core", options.core,
                  "The core, such as Cortex-A53, or its architecture; default: ARMv8-A; for an "
                  "MTB, ARMv8-M")
      ->type_name("NAME")
      ->group(raw);
  command
      .add_option("--framing", options.framing,
                  "How the trace is framed: mem (ETB, ETR), fsync (TPIU), hsync, dstream, or none")
      ->type_name("KIND")
      ->check(one_of({"mem", "fsync", "hsync", "dstream", "none"}))
      ->group(raw);
  command
      .add_option("--reg", options.registers,
                  "A trace register, such as TRCCONFIGR=0xC1; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(raw);
  command
      .add_option("--registers", options.register_text,
                  "MTB: a file in which GDB or OpenOCD printed its registers")
      ->type_name("FILE")
      ->group(raw);
  command
      .add_option("--elf", options.programs,
                  "A program that was traced (ELF file); @ADDRESS: its load address minus its link "
                  "address; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false)
      ->group(kInputGroup);
  command
      .add_option("--image", options.images,
                  "A file with the content of target memory from this address on; Intel HEX and "
                  "S-records need no address; ,space=EL1N: only for code at this exception level; "
                  "may be repeated")
      ->type_name("ADDRESS=FILE[,space=NAME]")
      ->allow_extra_args(false)
      ->group(kInputGroup);
  command
      .add_option("--data-layouts", options.data_layouts,
                  "ETMv4 data trace: a file with the lengths of the packets, which are not public")
      ->type_name("FILE")
      ->group(raw);
  command
      .add_flag("--assume-sync", options.assume_sync,
                "ITM: decode from the first byte, even without a synchronisation packet")
      ->group(raw);
  command
      .add_option("--nibble-order", options.nibble_order,
                  "STM: the nibble that comes first in fields: most significant (hardware) or "
                  "least (MIPI's simulator, Zephyr); default: detected")
      ->type_name("ORDER")
      ->check(one_of({"most", "least"}))
      ->group(raw);
}

void add_options_of_pins(Command& command, InputOptions& options) {
  const std::string pins = "For sigrok sessions (default: detected from the channel names)";
  command
      .add_option("--pin", options.pins,
                  "The channel of a pin: swo, or clk and d0 to d3 of a trace port; may be repeated")
      ->type_name("PIN=CHANNEL")
      ->allow_extra_args(false)
      ->group(pins);
  command.add_option("--swo-coding", options.swo_coding, "The coding of SWO; default: detected")
      ->type_name("CODING")
      ->check(one_of({"uart", "manchester"}))
      ->group(pins);
  command
      .add_option("--swo-rate", options.swo_rate,
                  "Bits per second of SWO, such as 2M; default: detected")
      ->type_name("RATE")
      ->group(pins);
  command
      .add_option("--sample-rate", options.sample_rate,
                  "Samples per second, such as 24MHz; default: as stated in the session")
      ->type_name("RATE")
      ->group(pins);
}

/// The options of add_options_of_pins().
Result<logic::PinOptions> pin_options(const InputOptions& options) {
  logic::PinOptions result;
  for (const std::string& text : options.pins) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      return wrong("--pin", text, "a pin and a channel, such as swo=D3");
    result.pins.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  if (!options.swo_coding.empty())
    result.coding =
        options.swo_coding == "uart" ? logic::Coding::kUart : logic::Coding::kManchester;
  const auto rate = [](std::string_view option, const std::string& text,
                       std::optional<double>& value) -> Result<void> {
    if (text.empty()) return {};
    value = parse_frequency(text);
    if (!value) return wrong(option, text, "a frequency, such as 2000000, 2M or 24MHz");
    return {};
  };
  WAYMARK_TRY(rate("--swo-rate", options.swo_rate, result.bit_rate));
  WAYMARK_TRY(rate("--sample-rate", options.sample_rate, result.sample_rate));
  return result;
}

void add_options_of_inputs(Command& command, InputOptions& options) {
  command
      .add_option("--buffer", options.buffer,
                  "The trace buffer of a snapshot; all: all of them, joined in the order of their "
                  "timestamps; default: the first")
      ->type_name("NAME|all")
      ->group(kInputGroup);
  command
      .add_option("--id", options.ids,
                  "Only this trace ID, decimal, or hexadecimal after 0x; may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->group(kInputGroup);
  add_options_of_recordings(command, options);
  add_options_of_raw_trace(command, options);
  add_options_of_pins(command, options);
}

}  // namespace

void add_input_options(Command& command, InputOptions& options) {
  command.add_option("INPUT", options.path, kInputHelp)->required()->check(some_path());
  add_options_of_inputs(command, options);
}

void add_input_options(Command& command, InputOptions& options, std::vector<std::string>& paths) {
  command.add_option("INPUT", paths, kInputHelp)->check(some_path());
  add_options_of_inputs(command, options);
}

Result<inputs::CaptureOptions> capture_options(const InputOptions& options) {
  inputs::CaptureOptions result;
  result.buffer = options.buffer;
  result.image = options.memory;
  result.protocol = options.protocol;
  result.core = options.core;
  result.roots = options.roots;
  result.caches = options.caches;
  if (const char* const home = std::getenv("HOME"); result.caches.empty() && home != nullptr)
    result.caches.push_back((std::filesystem::path(home) / ".debug").string());
  result.vmlinux = options.vmlinux;
  result.kallsyms = options.kallsyms;
  result.kcore = options.kcore;
  result.guest_vmlinux = options.guest_vmlinux;
  result.guest_kallsyms = options.guest_kallsyms;
  result.virtual_timestamps = options.virtual_timestamps;
  if (options.debuginfod) result.fetch = fetch_program;
  for (const std::string& text : options.ids) {
    const auto id = parse_number(text);
    if (!id || *id >= kTraceIdCount) {
      return wrong("--id", text, "a trace ID from 0 to 127, or 0x00 to 0x7f");
    }
    result.ids.push_back(static_cast<TraceId>(*id));
  }
  for (const std::string& text : options.cpus) {
    const auto cpu = parse_number(text);
    if (!cpu || *cpu > 0xFFFFFFFF) return wrong("--cpu", text, "the number of a CPU");
    result.cpus.push_back(static_cast<std::uint32_t>(*cpu));
  }
  if (!options.framing.empty()) {
    result.framing = inputs::framing_by_name(options.framing);
    if (!result.framing) {
      return wrong("--framing", options.framing, "mem, fsync, hsync, dstream or none");
    }
  }
  auto pins = pin_options(options);
  if (!pins) return std::unexpected(std::move(pins).error());
  result.pins = *std::move(pins);
  if (!options.nibble_order.empty()) {
    if (options.nibble_order != "most" && options.nibble_order != "least") {
      return wrong("--nibble-order", options.nibble_order, "most or least");
    }
    result.source.least_nibble_first = options.nibble_order == "least";
  }
  for (const std::string& text : options.registers) {
    const std::size_t equals = text.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : parse_number(std::string_view(text).substr(equals + 1));
    if (!value || equals == 0 || *value > 0xFFFFFFFF) {
      return wrong("--reg", text, "a register and 32 bits, such as TRCCONFIGR=0xC1");
    }
    result.registers.emplace_back(upper(std::string_view(text).substr(0, equals)),
                                  static_cast<std::uint32_t>(*value));
  }
  for (const std::string& text : options.sources) {
    auto source = read_source(text);
    if (!source) return std::unexpected(std::move(source).error());
    result.sources.push_back(*std::move(source));
  }
  result.register_text = options.register_text;
  if (!options.data_layouts.empty()) {
    WAYMARK_TRY(read_layouts(options.data_layouts, result.layouts));
  }
  WAYMARK_TRY(read_images(options.images, result.images));
  for (const std::string& text : options.programs) {
    auto program = parse_elf_argument(text);
    if (!program)
      return fail(ErrorCode::kInvalidArgument, fmt::format("--elf: {}", program.error().detail));
    result.programs.push_back(std::move(*program));
  }
  return result;
}

bool names_sources(const InputOptions& options) {
  std::error_code error;
  return !options.ids.empty() || !options.cpus.empty() ||
         std::filesystem::is_directory(options.path, error) ||
         std::filesystem::path(options.path).filename() == "snapshot.ini";
}

Result<MappedFile> open_input(const std::string& path) { return opener().open(path); }

Result<MappedFile> open_input(inputs::InputStream& stream, Bytes head) {
  return opener().open(stream, head);
}

std::string path_of_input(const std::string& path) { return path == "-" ? "/dev/stdin" : path; }

std::expected<std::string, int> read_text_input(const std::string& path) {
  const auto failed = [](const Error& error) {
    return std::unexpected(interrupted() ? int{kInterrupted} : complain(error.detail, kInput));
  };
  auto stream = inputs::InputStream::open(path, interrupted);
  if (!stream) return failed(stream.error());
  std::string text;
  std::vector<std::uint8_t> block(std::size_t{64} << 10);
  while (true) {
    const auto size = stream->read(block);
    if (!size) return failed(size.error());
    if (*size == 0) return text;
    if (text.size() + *size > MappedFile::kMostText) {
      return std::unexpected(
          complain(fmt::format("{}: it has more than the {} bytes that a text file may have; check "
                               "that it is one.",
                               inputs::input_name(path), MappedFile::kMostText),
                   kInput));
    }
    text.append(reinterpret_cast<const char*>(block.data()), *size);
  }
}

Result<inputs::Capture> try_open_capture(const InputOptions& options, const SourceOptions& source,
                                         const KnownIdBytes& known_id_bytes, bool check_image) {
  auto wanted = capture_options(options);
  if (!wanted) return std::unexpected(std::move(wanted).error());
  const std::optional<bool> least_nibble_first = wanted->source.least_nibble_first;
  wanted->source = source;
  wanted->known_id_bytes = known_id_bytes;
  wanted->check_image = check_image;
  wanted->source.starts_in_sync |= options.assume_sync;
  wanted->source.least_nibble_first = least_nibble_first;
  wanted->open_file = [](const std::string& path) { return open_input(path); };
  wanted->stop = interrupted;
  wanted->live = options.live.head;
  if (options.live.allowed && wanted->live == nullptr) {
    auto head = open_live(options);
    if (!head) return std::unexpected(std::move(head).error());
    wanted->live = *std::move(head);
  }
  auto capture = inputs::Capture::open(options.path, *wanted);
  if (!capture && capture.error().code == ErrorCode::kNotFound)
    name_nearest(options.path, capture.error().detail);
  return capture;
}

std::expected<inputs::Capture, int> open_capture(const InputOptions& options,
                                                 const SourceOptions& source, bool print_notes,
                                                 const KnownIdBytes& known_id_bytes,
                                                 bool check_image) {
  // A wrong option has another exit code than a wrong input.
  if (const auto good = capture_options(options); !good)
    return std::unexpected(complain(good.error().detail, kUsage));
  if (const auto good = check_live(options); !good)
    return std::unexpected(complain(good.error().detail, kUsage));
  auto capture = try_open_capture(options, source, known_id_bytes, check_image);
  if (!capture && interrupted()) return std::unexpected(int{kInterrupted});
  if (!capture) return std::unexpected(complain(capture.error().detail, kInput));
  if (print_notes) {
    for (const inputs::Note& found : capture->notes()) {
      note(found.text);
    }
  }
  return std::move(*capture);
}

}  // namespace waymark::cli

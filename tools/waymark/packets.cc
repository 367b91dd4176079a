// waymark packets: the packets of each trace ID, with the names of their manuals.
#include <fmt/format.h>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "live_options.h"
#include "record_options.h"
#include "run.h"
#include "waymark/inputs/trace_name.h"
#include "waymark/outputs/csv.h"
#include "waymark/outputs/json.h"
#include "waymark/outputs/packet_text.h"
#include "window.h"

namespace waymark::cli {
namespace {

std::string packet_header() {
  TextBuffer header;
  outputs::write_csv_packet_header(header);
  return std::string(header.view());
}

class PacketObserver final : public Observer {
 public:
  PacketObserver(inputs::Capture& capture, Output& output, Format format, Window& window)
      : tree_(capture.tree()), output_(output), format_(format), window_(window) {
    if (format == Format::kCsv) outputs::write_csv_packet_header(output.text());
  }

  void on_packet(const PacketRef& seen) override {
    const Source& source = *tree_.source(seen.trace_id);
    PacketRef packet = seen;
    // Without frames the tree knows no ID; the registers do.
    packet.trace_id = source.trace_id();
    window_.tell(packet.trace_id, packet.index);
    if (!window_.contains(packet.index)) return;
    if (packet.bad && !first_bad_) first_bad_ = packet.index;
    TextBuffer& out = output_.text();
    switch (format_) {
      case Format::kText:
        outputs::write_packet_line(out, packet, source);
        break;
      case Format::kJson:
        outputs::write_json(out, packet, source);
        break;
      case Format::kCsv:
        outputs::write_csv(out, packet, source);
        break;
    }
    output_.settle();
  }

  /// Bad packets are in the listing.  No packet shows that the registers are wrong.
  void on_diagnostic(const Diagnostic& record) override {
    if (record.fault != Fault::kUnsupportedConfig || !window_.contains(record)) return;
    const std::string place =
        record.index == kNoIndex ? "" : fmt::format(", trace byte {}", record.index);
    complain(fmt::format("trace ID 0x{:02x}{}: {}", record.trace_id, place, describe(record)), kOk);
  }

  [[nodiscard]] const std::optional<TraceIndex>& first_bad() const { return first_bad_; }

 private:
  const DecodeTree& tree_;
  Output& output_;
  Format format_;
  Window& window_;
  std::optional<TraceIndex> first_bad_;
};

struct PacketOptions : RecordOptions {
  WindowOptions window;
};

int run(PacketOptions options) {
  if (options.window.given()) options.input.live.whole = "a part of the trace";
  Window window(options.input, options.window);
  auto capture = open_capture(options.input, {.decode = false}, true, window.known_id_bytes());
  if (!capture) return capture.error();
  if (window.given()) {
    if (const auto safe = refuse_input(options.output, window.input_files(*capture)); !safe)
      return complain(safe.error().detail, kUsage);
  }
  auto output = open_output(options.output, *capture, options.input);
  if (!output) return output.error();
  stamp_lines(*output, options.input, options.format);

  if (const int code = window.open(*capture); code != kOk) return code;
  PacketObserver observer(*capture, *output, options.format, window);
  capture->tree().set_observer(&observer);
  const RunHooks hooks{.on_elements = {},
                       .stop = [&] { return options.strict && observer.first_bad().has_value(); },
                       .enough = [&](TraceIndex index) { return window.enough(index); },
                       .gap =
                           [&](TraceIndex index) {
                             put_gap(output->text(), options.format, packet_header(), "name",
                                     index);
                           }};
  int code = run_capture(*capture, *output, hooks);
  if (code == kInterrupted) {
    put_interrupted(output->text(), options.format, packet_header(), "name");
  }
  if (options.strict && observer.first_bad()) {
    code = complain(
        fmt::format("--strict: the trace is damaged: bad packet at trace byte {}{}.",
                    *observer.first_bad(), place_in_buffer(*capture, *observer.first_bad())),
        kDamaged);
  } else if (code == kOk && !any_sync_point(*capture)) {
    code =
        complain(fmt::format("{}: no synchronisation point was found, so there are no packets to "
                             "list. `waymark info` says what is in the trace.",
                             inputs::trace_name(*capture)),
                 kDamaged);
  }
  return finish_records(*capture, *output, options, code);
}

}  // namespace

void add_packets(Command& app, int& exit_code) {
  auto options = std::make_shared<PacketOptions>();
  Command* command = app.add_subcommand("packets", "List the packets of the trace");
  add_record_options(*command, *options, "stop at the first bad packet, with exit status 1");
  add_window_options(*command, options->window);
  add_live_options(*command, options->input);
  command->footer(
      "Examples:\n"
      "  waymark packets board/ --id 0x10\n"
      "  waymark packets board/ --format csv -o packets.csv");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

// waymark top: what a live trace shows at the moment.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "format.h"
#include "live_options.h"
#include "option_values.h"
#include "run.h"
#include "symbol_options.h"
#include "terminal.h"
#include "waymark/count/activity.h"
#include "waymark/outputs/activity.h"

namespace waymark::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kUsualRows = 10;
constexpr std::uint64_t kMostSeconds = 86400;

struct TopOptions {
  InputOptions input;
  Format format = Format::kText;
  std::uint64_t interval = 1;  ///< Seconds.
  std::size_t top = kUsualRows;
  SymbolOptions symbols;
};

/// Draws a report at the end of each interval.
class Display {
 public:
  Display(Output& output, const TopOptions& options, const image::Symbols* functions)
      : output_(output),
        options_(options),
        is_screen_(options.format == Format::kText && ::isatty(output.descriptor()) == 1) {
    report_.name = inputs::input_name(options.input.path);
    view_.most = options.top;
    view_.functions = functions;
    view_.style = style_for(output.descriptor());
  }

  void observe(std::span<const Element> elements) { activity_.observe(elements); }
  void gap() { ++report_.gaps; }
  void at(TraceIndex index) { place_ = index; }

  void turn() {
    if (Clock::now() - last_ >= std::chrono::seconds(options_.interval)) draw(false);
  }

  /// The last report stays on the screen.
  void draw(bool is_last) {
    const auto now = Clock::now();
    report_.seconds = std::chrono::duration<double>(now - last_).count();
    report_.total_seconds = std::chrono::duration<double>(now - start_).count();
    report_.bytes = place_ - report_.total_bytes;
    report_.total_bytes = place_;
    report_.now = activity_.take();
    report_.total.add(report_.now);
    report_.lines = activity_.lines();
    last_ = now;
    TextBuffer& out = output_.text();
    if (options_.format == Format::kJson) {
      outputs::write_json(out, report_, view_);
    } else if (is_screen_) {
      draw_screen(out);
    } else {
      outputs::write_text(out, report_, view_);
      if (!is_last) out.put('\n');
    }
    output_.flush();
  }

 private:
  void draw_screen(TextBuffer& out) {
    constexpr std::size_t kUsualLines = 24;
    winsize size{};
    const bool known = ::ioctl(output_.descriptor(), TIOCGWINSZ, &size) == 0 && size.ws_row != 0;
    const std::size_t rows = known ? size.ws_row : kUsualLines;
    view_.width = known ? size.ws_col : 0;
    page_.clear();
    outputs::write_text(page_, report_, view_);
    // From the top left corner, each line up to its end and then what is below.
    out.put("\x1b[H");
    std::string_view rest = page_.view();
    for (std::size_t row = 1; row < rows && !rest.empty(); ++row) {
      const std::size_t end = rest.find('\n');
      out.put(rest.substr(0, end));
      out.put("\x1b[K\n");
      rest.remove_prefix(end + 1);
    }
    out.put("\x1b[J");
  }

  Output& output_;
  const TopOptions& options_;
  bool is_screen_;
  count::Activity activity_;
  outputs::ActivityReport report_;
  outputs::ActivityView view_;
  TextBuffer page_;
  TraceIndex place_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

int run(const TopOptions& options) {
  auto capture = open_capture(options.input, {});
  if (!capture) return capture.error();
  image::Symbols symbols;
  auto found = load_symbols(*capture, options.symbols);
  const bool has_names = found.has_value();
  if (has_names) {
    symbols = *std::move(found);
  } else if (found.error().code != ErrorCode::kNotFound || !options.symbols.files.empty()) {
    return complain(found.error().detail, kInput);
  }
  auto output = open_output("", *capture, options.input);
  if (!output) return output.error();
  Display display(*output, options, has_names ? &symbols : nullptr);
  const RunHooks hooks{
      .on_elements = [&](std::span<const Element> elements) { display.observe(elements); },
      .stop = {},
      .enough =
          [&](TraceIndex index) {
            display.at(index);
            return false;
          },
      .gap = [&](TraceIndex /*index*/) { display.gap(); },
      .turn = [&] { display.turn(); }};
  const int code = run_capture(*capture, *output, hooks);
  if (!output->failed()) display.draw(true);
  return finish_output(*output, code);
}

}  // namespace

void add_top(Command& app, int& exit_code) {
  auto options = std::make_shared<TopOptions>();
  Command* command =
      app.add_subcommand("top", "Show what happens in a live trace, again and again");
  add_input_options(*command, options->input);
  add_format_option(*command, options->format, false);
  command->add_option("--interval", options->interval, "seconds between two reports; default: 1")
      ->type_name("N")
      ->range(1, kMostSeconds);
  command->add_option("--top", options->top, "the number of functions; default: 10")
      ->type_name("N")
      ->at_least(1);
  command
      ->add_option("--symbols", options->symbols.files,
                   "an ELF file with names of functions; @ADDRESS: how far above its link "
                   "addresses it was loaded; may be repeated")
      ->type_name("FILE[@ADDRESS]")
      ->allow_extra_args(false);
  add_live_options(*command, options->input, false);
  command->footer(
      "Examples:\n"
      "  waymark top tcp://localhost:3443 --symbols firmware.elf\n"
      "  waymark top orbuculum://localhost --format json");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace waymark::cli

// waymark top: the activity in a live trace.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

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

struct TopOptions {
  InputOptions input;
  Format format = Format::kText;
  std::uint64_t interval = 1000;  ///< Milliseconds.
  std::size_t top = kUsualRows;
  SymbolOptions symbols;
};

/// Tells functions apart, by program.
class Places {
 public:
  /// `places`: empty if no program has names.
  Places(outputs::PlaceLookup places, bool shows_programs)
      : places_(std::move(places)), shows_programs_(shows_programs) {}

  [[nodiscard]] count::ActivityPlace place(const Element& element, std::uint64_t address) {
    const program::Place found = places_ ? places_(element, address) : program::Place();
    if (found.program == nullptr) return {.address = address};
    const auto [known, is_new] = numbers_.try_emplace(found.program, programs_.size() + 1);
    if (is_new) programs_.push_back(found.program);
    const program::Function* const function = found.program->function(found.address);
    return {.address = function == nullptr ? found.address
                                           : found.program->whole(*function).function->start,
            .program = static_cast<std::uint32_t>(known->second)};
  }

  [[nodiscard]] outputs::ActivityName name(const count::ActivityPlace& place) const {
    if (place.program == 0) return {};
    const program::Program& program = *programs_[place.program - 1];
    const program::Function* const function = program.function(place.address);
    return {.function = function == nullptr ? "" : std::string(program.whole(*function).name),
            .program = shows_programs_ ? program.path() : ""};
  }

 private:
  outputs::PlaceLookup places_;
  bool shows_programs_;
  std::vector<const program::Program*> programs_;
  std::unordered_map<const program::Program*, std::size_t> numbers_;
};

/// Draws a report at the end of each interval.
class Display {
 public:
  Display(Output& output, const TopOptions& options, Places& places)
      : output_(output),
        options_(options),
        is_screen_(options.format == Format::kText && ::isatty(output.descriptor()) == 1),
        activity_([&places](const Element& element, std::uint64_t address) {
          return places.place(element, address);
        }) {
    report_.name = inputs::input_name(options.input.path);
    view_.most = options.top;
    view_.name = [&places](const count::ActivityPlace& place) { return places.name(place); };
    view_.style = style_for(output.descriptor());
  }

  void observe(std::span<const Element> elements) { activity_.observe(elements); }
  void gap() { ++report_.gaps; }
  void at(TraceIndex index) { place_ = index; }

  void turn() {
    if (Clock::now() - last_ >= std::chrono::milliseconds(options_.interval)) draw(false);
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
  auto found = place_lookup(*capture, options.symbols);
  if (!found && (found.error().code != ErrorCode::kNotFound || !options.symbols.files.empty()))
    return complain_of_symbols(found.error());
  Places places(found ? *std::move(found) : outputs::PlaceLookup(),
                capture->processes() != nullptr);
  auto output = open_output("", *capture, options.input);
  if (!output) return output.error();
  Display display(*output, options, places);
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
  Command* command = app.add_subcommand("top", "Watch a live trace");
  add_input_options(*command, options->input);
  add_format_option(*command, options->format, false);
  command
      ->add_option("--interval", options->interval,
                   "the time between two reports, such as 2 or 500ms; default: 1")
      ->type_name("TIME")
      ->transform(duration(1e-3, 100));
  command->add_option("--top", options->top, "the number of functions; default: 10")
      ->type_name("N")
      ->at_least(1);
  command
      ->add_option("--symbols", options->symbols.files,
                   "a program (ELF file) whose symbols name the functions; @ADDRESS: its load "
                   "address minus its link address; may be repeated")
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

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "capture_problems.h"
#include "complain.h"
#include "exit_code.h"
#include "index_access.h"
#include "interrupt.h"
#include "stack_pass.h"
#include "symbol_options.h"
#include "viewer.h"
#include "waymark/inputs/input_file.h"
#include "waymark/perf/process_images.h"
#include "waymark/view/trace_session.h"

namespace waymark::cli {
namespace {

/// The thread of a recording, as people know it.
std::string thread_name(const inputs::Capture& capture, TraceId /*source*/, std::uint64_t thread) {
  if (capture.processes() == nullptr) return {};
  for (const perf::Task& task : capture.processes()->known_tasks()) {
    if (static_cast<std::uint32_t>(task.tid) != static_cast<std::uint32_t>(thread)) continue;
    return fmt::format("{} ({})", task.name.empty() ? "unknown" : task.name, task.tid);
  }
  return {};
}

/// The last part of a path, which may end with a slash.
std::string last_part(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

/// SyS-T messages, with what `waymark syst` reads them.
class SystReader final : public view::MessageReader {
 public:
  explicit SystReader(std::unique_ptr<MessageStage> stage) : stage_(std::move(stage)) {}

  std::span<const Element> replace(std::span<const Element> elements) override {
    return stage_->replace(elements);
  }
  std::span<const Element> finish() override { return stage_->finish(); }
  std::string text(const Element& message) override { return take_text(*stage_, message); }

 private:
  std::unique_ptr<MessageStage> stage_;
};

/// The sources of names besides the capture: options, and files, each with its size
/// and time.
std::string fingerprint_of(const inputs::Capture& capture, const ViewerInput& options) {
  std::vector<std::string> files = capture.input_files();
  const MessageOptions& messages = options.messages.messages;
  for (const auto* const more : {&options.symbols, &messages.collateral})
    files.insert(files.end(), more->begin(), more->end());
  std::ranges::sort(files);
  std::string text = "1";
  if (options.messages.given())
    text = fmt::format("1 syst {} {}", messages.short_guid, messages.frequency);
  for (const std::string& file : files) {
    if (file == capture.trace().path()) continue;
    const std::string path = std::filesystem::exists(file) ? file : file.substr(0, file.find('@'));
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    const auto time = std::filesystem::last_write_time(path, error);
    text += fmt::format("\n{} {} {}", file, error ? 0 : size,
                        error ? 0 : time.time_since_epoch().count());
  }
  return text;
}

/// Where the overview is kept: in the index of the capture, which the user's cache gets if there is
/// none.
view::IndexPlaces index_places(const InputOptions& input, const ViewerInput& options,
                               const inputs::Capture& capture, const KnownIdBytes& known) {
  const std::string& trace = capture.trace().path();
  if (inputs::is_stream(input.path)) return {};
  const bool is_named = !options.index.empty();
  return {
      .looked_for = is_named ? std::vector{options.index} : usual_index_places(trace),
      .made_at = is_named ? options.index : index::cached_store_path(trace),
      .may_replace = !is_named,
      .open_packets = [input, known] { return try_open_capture(input, {.decode = false}, known); },
      .fingerprint = fingerprint_of(capture, options),
  };
}

}  // namespace

std::expected<std::unique_ptr<view::Session>, int> open_session(const ViewerInput& options,
                                                                const std::string& path) {
  InputOptions input = options.input;
  input.path = path;
  // Once aloud: the session opens the capture again, for each of its decoders.
  IndexAccess index(input, std::filesystem::exists(options.index) ? options.index : std::string());
  const auto first = open_capture(input, {}, true, index.known_id_bytes());
  if (!first) return std::unexpected(first.error());
  const KnownIdBytes known = [bytes = first->id_bytes()](const MappedFile& /*trace*/,
                                                         inputs::Framing /*framing*/) {
    return std::optional(bytes);
  };
  auto messages = ExportMessages::make(options.messages);
  if (!messages) return std::unexpected(messages.error());
  const SymbolOptions symbols{
      .functions = true, .files = options.symbols, .of_one_run = options.of_one_run};
  std::string nameless;
  if (const auto places = place_lookup(*first, symbols); !places) {
    if (places.error().code != ErrorCode::kNotFound || !options.symbols.empty())
      return std::unexpected(complain_of_symbols(places.error()));
    nameless = places.error().detail;
  }
  auto session = view::make_session({
      .open = [input, known] { return try_open_capture(input, {}, known); },
      .stack_options = [symbols](const inputs::Capture& capture) -> Result<stacks::Options> {
        auto places = place_lookup(capture, symbols);
        if (!places && places.error().code != ErrorCode::kNotFound)
          return std::unexpected(std::move(places).error());
        return stack_options(capture, places ? *std::move(places) : outputs::PlaceLookup());
      },
      .set_sources = set_sources,
      .thread_name = thread_name,
      .problems = [input](const view::Stop& stop) { return problems_of(input, stop); },
      .name = last_part(path),
      .path = path,
      .source_places = options.sources,
      .index = index_places(input, options, *first, known),
      .messages = [shown = std::make_shared<const ExportMessages>(
                       *std::move(messages))]() -> std::unique_ptr<view::MessageReader> {
        auto stage = shown->stage();
        return stage ? std::make_unique<SystReader>(std::move(stage)) : nullptr;
      },
  });
  if (!session) {
    if (interrupted()) return std::unexpected(int{kInterrupted});
    return std::unexpected(complain(session.error().detail, kInput));
  }
  const bool executes =
      std::ranges::any_of((*session)->facts().sources, &view::SourceFacts::executes);
  if (executes && !nameless.empty())
    note(nameless + " Functions have the addresses that were called.");
  return *std::move(session);
}

}  // namespace waymark::cli

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "complain.h"
#include "doubts.h"
#include "exit_code.h"
#include "interrupt.h"
#include "stack_pass.h"
#include "symbol_options.h"
#include "viewer.h"
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

}  // namespace

std::expected<std::unique_ptr<view::Session>, int> open_session(const ViewerInput& options,
                                                                const std::string& path) {
  InputOptions input = options.input;
  input.path = path;
  // Once aloud: the session opens the capture again, for each of its decoders.
  const auto first = open_capture(input, {});
  if (!first) return std::unexpected(first.error());
  const SymbolOptions symbols{.functions = true, .files = options.symbols};
  if (const auto places = place_lookup(*first, symbols); !places) {
    if (places.error().code != ErrorCode::kNotFound || !options.symbols.empty())
      return std::unexpected(complain(places.error().detail, kInput));
    note(places.error().detail + " Functions have the addresses that were called.");
  }
  auto session = view::make_session({
      .open = [input] { return try_open_capture(input, {}); },
      .stack_options = [symbols](const inputs::Capture& capture) -> Result<stacks::Options> {
        auto places = place_lookup(capture, symbols);
        if (!places && places.error().code != ErrorCode::kNotFound)
          return std::unexpected(std::move(places).error());
        return stack_options(capture, places ? *std::move(places) : outputs::PlaceLookup());
      },
      .set_sources = set_sources,
      .thread_name = thread_name,
      .doubts = [input](const view::Stop& stop) { return doubts_of(input, stop); },
      .name = last_part(path),
      .path = path,
      .source_places = options.sources,
  });
  if (!session) {
    if (interrupted()) return std::unexpected(int{kInterrupted});
    return std::unexpected(complain(session.error().detail, kInput));
  }
  return *std::move(session);
}

}  // namespace waymark::cli

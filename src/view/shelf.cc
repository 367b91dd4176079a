#include "shelf.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "stored.h"
#include "waymark/index/builder.h"
#include "waymark/index/store.h"

namespace waymark::view {
namespace {

/// How often a busy index is asked for again, ten times a second.
constexpr unsigned kPatience = 50;

/// Whether the index is of this capture and all of it.
bool belongs(const inputs::Capture& capture, index::Index& index, const Stop& stop) {
  const index::Header& header = index.header();
  return !header.streams.empty() && header.complete && header.indexed == capture.trace_bytes() &&
         index::check(capture, index, stop).has_value();
}

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Result<void> make_index(const IndexPlaces& places, const std::string& path, const Stop& stop) {
  std::error_code error;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error);
  auto capture = places.open_packets();
  if (!capture) return std::unexpected(std::move(capture).error());
  auto index = index::open_store(path, {.mode = index::StoreMode::kBuild,
                                        .rebuild = places.may_replace && exists(path),
                                        .wait = {}});
  if (!index) return std::unexpected(std::move(index).error());
  const auto built =
      index::build(*capture, **index, {.stop = [&](std::uint64_t) { return stop && stop(); }});
  if (!built) return std::unexpected(built.error());
  return {};
}

}  // namespace

std::optional<std::vector<index::ViewRecord>> read_shelf(const IndexPlaces& places,
                                                         const inputs::Capture& capture,
                                                         const Stop& stop) {
  for (const std::string& path : places.looked_for) {
    const auto index = index::open_store(path, {.wait = {}, .stop = stop});
    if (!index || !belongs(capture, **index, stop)) continue;
    auto view = (*index)->view();
    if (!view || !*view || (*view)->version != kStoredVersion ||
        (*view)->fingerprint != places.fingerprint)
      continue;
    return std::move((*view)->records);
  }
  return std::nullopt;
}

Result<void> write_shelf(const IndexPlaces& places, const inputs::Capture& capture,
                         const MakeRecords& make, const Stop& stop) {
  std::string path;
  for (const std::string& each : places.looked_for) {
    const auto index = index::open_store(each, {.wait = {}, .stop = stop});
    if (!index || !belongs(capture, **index, stop)) continue;
    path = each;
    break;
  }
  if (path.empty()) {
    if (places.made_at.empty() || !places.open_packets ||
        capture.trace_bytes() < places.least_bytes)
      return fail(ErrorCode::kNotFound, "The capture has no index.");
    path = places.made_at;
    WAYMARK_TRY(make_index(places, path, stop));
  }
  unsigned waited = 0;
  const auto wait = [&] { return ++waited < kPatience && !(stop && stop()); };
  const auto index = index::open_store(path, {.mode = index::StoreMode::kBuild, .wait = wait});
  if (!index) return std::unexpected(index.error());
  if (!belongs(capture, **index, stop))
    return fail(ErrorCode::kConflict, fmt::format("{} has changed.", path));
  auto records = make(**index);
  if (!records) return std::unexpected(records.error());
  if (!*records) return {};
  return (*index)->write_view({.version = kStoredVersion,
                               .fingerprint = places.fingerprint,
                               .records = std::move(**records)});
}

}  // namespace waymark::view

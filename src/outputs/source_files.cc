#include "waymark/outputs/source_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace waymark::outputs {
namespace {

/// Calls take(path) for a file below a folder with its whole path, and then without its first
/// folders, until the result is true.
template <class Take>
bool below(const std::string& folder, const std::string& file, const Take& take) {
  for (std::size_t at = 0; at < file.size();) {
    if (take(folder + "/" + file.substr(at))) return true;
    const std::size_t slash = file.find('/', at);
    if (slash == std::string::npos) break;
    at = slash + 1;
  }
  return false;
}

/// The file at this path as text, if it is a regular file.
std::optional<MappedFile> open_regular(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  auto opened = MappedFile::open_text(path);
  if (!opened) return std::nullopt;
  return *std::move(opened);
}

}  // namespace

SourceFiles::SourceFiles(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    std::error_code error;
    const std::size_t equals = place.find('=');
    if (equals == std::string::npos || std::filesystem::is_directory(place, error)) {
      places_.push_back({.old = {}, .path = place});
    } else {
      places_.push_back({.old = place.substr(0, equals), .path = place.substr(equals + 1)});
    }
  }
}

std::optional<MappedFile> SourceFiles::open(const std::string& file) const {
  for (const Place& place : places_) {
    if (!place.old.empty()) {
      if (!file.starts_with(place.old)) continue;
      if (auto found = open_regular(place.path + file.substr(place.old.size()))) return found;
      continue;
    }
    std::optional<MappedFile> found;
    const auto opens = [&](const std::string& path) {
      found = open_regular(path);
      return found.has_value();
    };
    if (below(place.path, file, opens)) return found;
  }
  if (!file.starts_with('/') && !beside_.empty())
    if (auto found = open_regular(beside_ + "/" + file)) return found;
  return open_regular(file);
}

std::string SourceFiles::path_of(const std::string& file) const {
  for (const Place& place : places_) {
    if (!place.old.empty()) {
      if (file.starts_with(place.old)) return place.path + file.substr(place.old.size());
      continue;
    }
    std::string found;
    const auto exists = [&](const std::string& path) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(path, error)) return false;
      found = path;
      return true;
    };
    if (below(place.path, file, exists)) return found;
  }
  return file;
}

void SourceFiles::look_beside(const std::string& program) {
  const std::size_t slash = program.find_last_of('/');
  beside_ = slash == std::string::npos ? "." : program.substr(0, slash + 1);
}

std::optional<std::string_view> SourceFiles::line(std::string_view file, std::uint32_t number) {
  const auto [known, added] =
      texts_.try_emplace({std::string(file), file.starts_with('/') ? std::string() : beside_});
  if (added) {
    const std::string& path = known->first.first;
    if (auto opened = open(path); opened && opened->size() <= most_bytes_) {
      Text text{.file = std::move(*opened), .lines = {0}};
      const std::string_view all = text.file.text();
      for (std::size_t at = 0; (at = all.find('\n', at)) != std::string_view::npos;)
        text.lines.push_back(++at);
      known->second.emplace(std::move(text));
    } else {
      if (std::ranges::find(missing_, path) == missing_.end()) missing_.push_back(path);
    }
  }
  const std::optional<Text>& found = known->second;
  if (!found || number == 0 || number > found->lines.size()) return std::nullopt;
  const Text& text = *found;
  const std::size_t begin = text.lines[number - 1];
  std::string_view line = text.file.text().substr(begin);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace waymark::outputs

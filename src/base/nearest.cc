#include "waymark/base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <vector>

namespace waymark {
namespace {

constexpr std::size_t kCharactersPerEdit = 3;
constexpr std::size_t kMaxEdits = 3;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same(char a, char b) { return lower(a) == lower(b); }

bool begins(std::string_view text, std::string_view prefix) {
  return text.size() > prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), same);
}

/// The edits between two words (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  // Rows of the table of edits between the first i characters of `a` and the first j of `b`.
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known) {
  const std::size_t limit = std::min(word.size() / kCharactersPerEdit, kMaxEdits);
  std::optional<std::string_view> best;
  std::size_t least = limit + 1;
  for (const std::string_view candidate : known) {
    const std::size_t gap =
        std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    std::size_t distance = gap < least ? edits(word, candidate) : least;
    if (limit != 0 && begins(candidate, word)) distance = std::min<std::size_t>(distance, 1);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::optional<std::string> nearest_path(const std::string& path) {
  constexpr std::size_t kMostFiles = 4096;
  namespace fs = std::filesystem;
  fs::path wanted(path);
  if (!wanted.has_filename()) wanted = wanted.parent_path();
  const fs::path folder = wanted.parent_path();
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator file(folder.empty() ? "." : folder, error), end;
       !error && file != end; file.increment(error)) {
    if (names.size() == kMostFiles) return std::nullopt;
    names.push_back(file->path().filename().string());
  }
  if (error) return std::nullopt;
  std::ranges::sort(names);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string word = wanted.filename().string();
  const auto found = nearest(word, known);
  if (!found) return std::nullopt;
  return (folder / *found).string();
}

}  // namespace waymark

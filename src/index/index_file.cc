#include "index_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "waymark/index/store.h"

namespace waymark::index {

IndexFile look_at_index_file(const std::string& path) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  constexpr std::size_t kApplicationIdAt = 68;
  constexpr std::string_view kApplication = "WYMK";
  std::array<char, kApplicationIdAt + kApplication.size()> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto size = static_cast<std::size_t>(file.gcount());
  const std::string_view text(head.data(), size);
  if (text.substr(0, kMagic.size()) != kMagic.substr(0, size)) return IndexFile::kOther;
  if (size < head.size()) return IndexFile::kRemains;
  return text.substr(kApplicationIdAt) == kApplication ? IndexFile::kIndex : IndexFile::kOther;
}

bool is_index_file(const std::string& path) {
  std::error_code none;
  // Opening a pipe could wait for ever.
  return std::filesystem::is_regular_file(path, none) &&
         look_at_index_file(path) == IndexFile::kIndex;
}

}  // namespace waymark::index

// The real captures of the tests, and a digest of their elements.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/element/element.h"
#include "waymark/inputs/capture.h"

namespace waymark {

/// WAYMARK_SHARED names the folder; the default is next to the source tree.
inline std::string shared_folder() {
  const char* set = std::getenv("WAYMARK_SHARED");
  return set != nullptr ? set : WAYMARK_SOURCE_DIR "/../shared";
}

/// The digest depends on every value and on their order.
class Hash {
 public:
  void add(std::uint64_t value) {
    value_ = (std::rotl(value_, 29) ^ value) * 0x9E3779B97F4A7C15ULL;
    ++count_;
  }
  void add(std::string_view text) {
    std::uint64_t word = 0;
    for (; text.size() >= 8; text.remove_prefix(8)) {
      std::ranges::copy(text.substr(0, 8), reinterpret_cast<char*>(&word));
      add(word);
    }
    word = 0;
    std::ranges::copy(text, reinterpret_cast<char*>(&word));
    add(word);
  }
  void add(const Element& element) {
    // There is no padding: all 64 bytes are fields, and fields that a kind does not use keep their
    // defaults.
    static_assert(sizeof(Element) == 64 && std::has_unique_object_representations_v<std::uint64_t>);
    for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, 8>>(element)) add(word);
  }
  friend bool operator==(const Hash&, const Hash&) = default;
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  std::uint64_t value_ = 0;
  std::uint64_t count_ = 0;
};

/// The folders of the captures that can be opened: the sample of this repository and, if there is a
/// folder of captures, all captures in it.
inline std::vector<std::string> captures() {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(shared_folder() + "/data/snapshots", error))
    if (std::filesystem::exists(entry.path() / "snapshot.ini") &&
        inputs::Capture::open(entry.path(), {}))
      found.push_back(entry.path());
  std::ranges::sort(found);
  found.emplace_back(WAYMARK_SOURCE_DIR "/samples/quicksort");
  return found;
}

/// The trace, as it is fed to the tree.
struct Trace {
  TraceIndex first = 0;
  std::vector<std::uint8_t> bytes;
};

inline Trace read_trace(inputs::Capture& capture) {
  Trace trace;
  bool begun = false;
  while (const auto block = capture.next_block()) {
    if (!begun) trace.first = block->index;
    begun = true;
    trace.bytes.insert(trace.bytes.end(), block->bytes.begin(), block->bytes.end());
  }
  return trace;
}

/// A capture's name as part of the name of a test.
inline std::string name_of(const std::string& folder) {
  std::string name = std::filesystem::path(folder).filename();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace waymark

// The inputs that fuzzing starts from, as make_corpus writes them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/random.h"
#include "waymark/base/mapped_file.h"
#include "waymark/base/types.h"

namespace waymark::fuzz {

namespace fs = std::filesystem;

/// The folder with the inputs.
class Corpus {
 public:
  explicit Corpus(fs::path folder) : folder_(std::move(folder)) {}

  /// `bytes` after `settings` bytes of settings, with several choices of these.
  void add_pieces(std::string_view target, std::size_t settings, Bytes bytes) {
    const std::size_t step = std::max<std::size_t>(bytes.size() / kPieces, kPiece);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      const Bytes piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
      for (std::size_t choice = 0; choice < kChoices; ++choice) {
        std::vector<std::uint8_t> input(settings);
        for (std::uint8_t& byte : input) byte = choice == 0 ? std::uint8_t{0} : random_.byte();
        input.insert(input.end(), piece.begin(), piece.end());
        add(target, input);
      }
    }
  }

  void add(std::string_view target, std::string_view text) {
    add(target, Bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  }
  void add(std::string_view target, Bytes input) {
    const fs::path folder = folder_ / target;
    fs::create_directories(folder);
    std::ofstream file(folder / fmt::format("seed-{:05}", count_++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(input.data()),
               static_cast<std::streamsize>(input.size()));
    if (!file) throw fs::filesystem_error("cannot write an input", folder, {});
  }

  /// A file as it is, after `prefix`.
  void add_file(std::string_view target, const fs::path& path, std::string_view prefix = {}) {
    const auto file = MappedFile::open(path.string());
    if (!file) return;
    std::vector<std::uint8_t> input(prefix.begin(), prefix.end());
    input.insert(input.end(), file->bytes().begin(), file->bytes().end());
    add(target, input);
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kPiece = 3000;  // Of stream: the targets take about 4096 bytes.
  static constexpr std::size_t kPieces = 6;    // Of one stream.
  static constexpr std::size_t kChoices = 3;   // Of settings for each piece.

  fs::path folder_;
  support::Random random_{1};
  std::size_t count_ = 0;
};

/// Adds the inputs that no capture is needed for: short ones in every format, and random choices.
void add_small_inputs(Corpus& corpus);

}  // namespace waymark::fuzz

// The values of one column in one group of rows of a Parquet file.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parquet_encoding.h"
#include "waymark/base/text_buffer.h"
#include "waymark/exports/parquet.h"

namespace waymark::exports {

/// The numbers of the specification.
enum class ParquetEncoding : std::int32_t {
  kPlain = 0,
  kRuns = 3,
  kDeltas = 5,
  kDictionary = 8,
};

/// The facts that the end of the file states about a chunk that was written.
struct ParquetChunkFacts {
  std::vector<std::int32_t> encodings{};
  std::uint64_t values = 0;  ///< With nulls.
  std::uint64_t nulls = 0;
  std::uint64_t dictionary_offset = 0;  ///< 0: there is none.
  std::uint64_t data_offset = 0;
  std::uint64_t size = 0;  ///< In the file.
  std::uint64_t uncompressed_size = 0;
  std::optional<std::string> least{};  ///< As a plain value.
  std::optional<std::string> greatest{};
};

/// Collects values, and writes them as pages.
class ParquetChunk {
 public:
  explicit ParquetChunk(const ParquetColumn& column) : column_(column) {}

  /// The value of a row that is not before the last one with a value.
  void number(std::uint64_t row, std::uint64_t value) {
    skip_to(row);
    values_.push_back(value);
    ++runs_.back().given;
    ++rows_;
  }
  /// `value` as it is written; `given` is how it came.  Returns the bytes of the text if it was not
  /// there before.
  std::size_t text(std::uint64_t row, std::string_view given, std::string_view value);
  /// The text that came last, once more.  False: it is another one.
  bool repeat(std::uint64_t row, std::string_view given) {
    if (!has_last_ || given != last_given_) return false;
    text_bytes_ += texts_[in_memory(last_)].size();
    number(row, last_);
    return true;
  }

  /// Writes `rows` rows, and begins again.  `offset`: the place of the first byte in the file.
  /// Nothing: there was no memory.
  std::optional<ParquetChunkFacts> write(std::uint64_t rows, std::uint64_t offset,
                                         PageCompressor& compressor, TextBuffer& out);

 private:
  /// Rows without a value, and then rows with one.
  struct Run {
    std::uint64_t nulls = 0;
    std::uint64_t given = 0;
  };
  /// The rows of one page.
  struct Page {
    std::vector<std::uint32_t> levels{};  ///< 1: the row has a value.
    std::size_t first = 0;                ///< In values_.
    std::size_t count = 0;
  };
  struct Dictionary {
    std::vector<std::uint64_t> values{};
    std::vector<std::uint32_t> indexes{};  ///< Of all values.
  };

  void skip_to(std::uint64_t row);
  [[nodiscard]] bool is_text() const { return column_.type == ParquetType::kText; }
  [[nodiscard]] unsigned width() const;
  void put_plain(std::string& out, std::span<const std::uint64_t> values) const;
  [[nodiscard]] std::vector<Page> pages() const;
  /// Nothing: it would be too large to be of use.
  [[nodiscard]] std::optional<Dictionary> dictionary() const;
  [[nodiscard]] std::string values_of(const Page& page, ParquetEncoding encoding,
                                      const Dictionary* dictionary) const;
  [[nodiscard]] std::string dictionary_values(const Dictionary& dictionary) const;
  [[nodiscard]] ParquetEncoding best_of(const std::vector<Page>& pages,
                                        const Dictionary* dictionary,
                                        PageCompressor& compressor) const;
  /// `numbered` is filled if the encoding needs it.
  ParquetEncoding choose(const std::vector<Page>& pages, std::optional<Dictionary>& numbered,
                         PageCompressor& compressor);
  void put_bounds(ParquetChunkFacts& facts) const;
  void clear();

  ParquetColumn column_;
  std::optional<ParquetEncoding> chosen_{};  ///< For several groups.
  std::uint64_t groups_ = 0;                 ///< With values.
  std::uint64_t rows_ = 0;
  std::vector<Run> runs_{{}};
  /// Numbers, or the numbers of texts.
  std::vector<std::uint64_t> values_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint64_t> text_numbers_;
  std::uint64_t text_bytes_ = 0;  ///< The size of all texts, also of those that repeat.
  std::string last_given_;        ///< The text that came last, before it was escaped,
  std::uint64_t last_ = 0;        ///< and its number.
  bool has_last_ = false;
};

}  // namespace waymark::exports

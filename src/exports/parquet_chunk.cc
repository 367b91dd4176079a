#include "parquet_chunk.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "thrift.h"

namespace waymark::exports {
namespace {

constexpr std::size_t kPageRows = std::size_t{1} << 16;
/// With more values, a dictionary saves little, and the readers' caches cannot hold it.
constexpr std::size_t kMostInDictionary = std::size_t{1} << 16;
constexpr std::uint64_t kMostPlainText = std::uint64_t{64} << 20;
/// Longer bounds would cost more than they save.
constexpr std::size_t kLongestBound = 64;

/// An encoding is chosen once for this number of groups.
constexpr std::uint64_t kGroupsOfChoice = 8;

constexpr std::int32_t kDataPage = 0;
constexpr std::int32_t kDictionaryPage = 2;

constexpr std::int32_t number_of(ParquetEncoding encoding) {
  return static_cast<std::int32_t>(encoding);
}

unsigned index_width(std::size_t values) {
  return std::max(1U, static_cast<unsigned>(std::bit_width(values - 1)));
}

/// The number that a value has in a dictionary, with open addressing.
class Numbering {
 public:
  /// For at most `most` different values.
  explicit Numbering(std::size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}

  /// The numbers are given in the order in which values come first.
  std::uint32_t of(std::uint64_t value, std::vector<std::uint64_t>& values) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at =
        static_cast<std::size_t>((value ^ value >> 32) * 0x9E3779B97F4A7C15ULL >> 24) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask)
      if (values[slots_[at] - 1] == value) return slots_[at] - 1;
    values.push_back(value);
    slots_[at] = static_cast<std::uint32_t>(values.size());
    return slots_[at] - 1;
  }

 private:
  std::vector<std::uint32_t> slots_;  ///< The number and 1; 0: free.
};

/// Writes pages of a chunk, and adds up their sizes.
class PageWriter {
 public:
  PageWriter(ParquetChunkFacts& facts, PageCompressor& compressor, TextBuffer& out)
      : facts_(facts), compressor_(compressor), out_(out) {}

  void data(std::string_view body, std::size_t rows, ParquetEncoding encoding) {
    ThriftStruct header = begin(kDataPage, body);
    header.open(5);
    header.i32(1, static_cast<std::int32_t>(rows));
    header.i32(2, number_of(encoding));
    header.i32(3, number_of(ParquetEncoding::kRuns));  // Of definition levels,
    header.i32(4, number_of(ParquetEncoding::kRuns));  // and of repetition levels.
    header.close();
    end(header, body);
  }
  void dictionary(std::string_view body, std::size_t values) {
    ThriftStruct header = begin(kDictionaryPage, body);
    header.open(7);
    header.i32(1, static_cast<std::int32_t>(values));
    header.i32(2, number_of(ParquetEncoding::kPlain));
    header.close();
    end(header, body);
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  ThriftStruct begin(std::int32_t type, std::string_view body) {
    compressed_ = compressor_.compressed(body);
    failed_ = failed_ || (compressed_.empty() && !body.empty());
    ThriftStruct header;
    header.i32(1, type);
    header.i32(2, static_cast<std::int32_t>(body.size()));
    header.i32(3, static_cast<std::int32_t>(compressed_.size()));
    return header;
  }
  void end(ThriftStruct& header, std::string_view body) {
    const std::string bytes = header.take();
    out_.put(bytes);
    out_.put(compressed_);
    facts_.size += bytes.size() + compressed_.size();
    facts_.uncompressed_size += bytes.size() + body.size();
  }

  ParquetChunkFacts& facts_;
  PageCompressor& compressor_;
  TextBuffer& out_;
  std::string compressed_;
  bool failed_ = false;
};

}  // namespace

void ParquetChunk::skip_to(std::uint64_t row) {
  if (row == rows_) return;
  if (!column_.nullable) {
    // A value that was not given is 0, or the empty text.
    const std::uint64_t missing = row - rows_;
    std::uint64_t value = 0;
    if (is_text()) {
      const auto [known, is_new] = text_numbers_.try_emplace("", texts_.size());
      if (is_new) texts_.emplace_back();
      value = known->second;
    }
    values_.insert(values_.end(), in_memory(missing), value);
    runs_.back().given += missing;
  } else if (runs_.back().given == 0) {
    runs_.back().nulls += row - rows_;
  } else {
    runs_.push_back({.nulls = row - rows_, .given = 0});
  }
  rows_ = row;
}

std::size_t ParquetChunk::text(std::uint64_t row, std::string_view given, std::string_view value) {
  text_bytes_ += value.size();
  auto known = text_numbers_.find(value);
  const bool is_new = known == text_numbers_.end();
  if (is_new) {
    const std::string& kept = texts_.emplace_back(value);
    known = text_numbers_.emplace(kept, texts_.size() - 1).first;
  }
  last_given_ = given;
  last_ = known->second;
  has_last_ = true;
  number(row, last_);
  return is_new ? value.size() : 0;
}

unsigned ParquetChunk::width() const { return column_.type == ParquetType::kUint64 ? 8 : 4; }

void ParquetChunk::put_plain(std::string& out, std::span<const std::uint64_t> values) const {
  if (!is_text()) return put_numbers(out, values, width());
  for (const std::uint64_t value : values) {
    const std::string& text = texts_[in_memory(value)];
    put_little(out, text.size(), 4);
    out += text;
  }
}

std::vector<ParquetChunk::Page> ParquetChunk::pages() const {
  std::vector<Page> pages;
  std::size_t value = 0;
  const auto put = [&](std::uint64_t rows, std::uint32_t level) {
    while (rows != 0) {
      if (pages.empty() || pages.back().levels.size() == kPageRows)
        pages.push_back({.first = value});
      Page& page = pages.back();
      const std::size_t now =
          in_memory(std::min<std::uint64_t>(rows, kPageRows - page.levels.size()));
      page.levels.insert(page.levels.end(), now, level);
      if (level != 0) {
        page.count += now;
        value += now;
      }
      rows -= now;
    }
  };
  for (const Run& run : runs_) {
    put(run.nulls, 0);
    put(run.given, 1);
  }
  return pages;
}

std::optional<ParquetChunk::Dictionary> ParquetChunk::dictionary() const {
  if (column_.type == ParquetType::kFlag || values_.empty()) return std::nullopt;
  const std::size_t most = std::min(kMostInDictionary, values_.size() / 2 + 1);
  Dictionary made;
  if (is_text()) {
    // Long texts that repeat would make plain pages as long as they like.
    if (texts_.size() > most && text_bytes_ <= kMostPlainText) return std::nullopt;
    for (std::uint64_t i = 0; i < texts_.size(); ++i) made.values.push_back(i);
    made.indexes.assign(values_.begin(), values_.end());
    return made;
  }
  Numbering numbers(most);
  made.indexes.reserve(values_.size());
  for (const std::uint64_t value : values_) {
    made.indexes.push_back(numbers.of(value, made.values));
    if (made.values.size() > most) return std::nullopt;
  }
  return made;
}

std::string ParquetChunk::values_of(const Page& page, ParquetEncoding encoding,
                                    const Dictionary* dictionary) const {
  const auto values = std::span(values_).subspan(page.first, page.count);
  std::string out;
  switch (encoding) {
    case ParquetEncoding::kDictionary: {
      const unsigned bits = index_width(dictionary->values.size());
      out += static_cast<char>(bits);
      put_runs(out, std::span(dictionary->indexes).subspan(page.first, page.count), bits);
      break;
    }
    case ParquetEncoding::kDeltas:
      put_deltas(out, values);
      break;
    case ParquetEncoding::kPlain:
    case ParquetEncoding::kRuns:
      if (column_.type == ParquetType::kFlag) {
        put_bits(out, values, 1);
      } else {
        put_plain(out, values);
      }
      break;
  }
  return out;
}

std::string ParquetChunk::dictionary_values(const Dictionary& dictionary) const {
  std::string out;
  put_plain(out, dictionary.values);
  return out;
}

/// Tries them all with the first page.  How small a page becomes depends on what repeats in it,
/// which no formula says.
ParquetEncoding ParquetChunk::best_of(const std::vector<Page>& pages, const Dictionary* dictionary,
                                      PageCompressor& compressor) const {
  if (column_.type == ParquetType::kFlag) return ParquetEncoding::kPlain;
  if (is_text())
    return dictionary != nullptr ? ParquetEncoding::kDictionary : ParquetEncoding::kPlain;
  const auto first = std::ranges::find_if(pages, [](const Page& page) { return page.count != 0; });
  const auto size_of = [&](std::string_view bytes) { return compressor.compressed(bytes).size(); };
  const auto whole = [&](ParquetEncoding encoding) {
    return size_of(values_of(*first, encoding, dictionary)) * values_.size() / first->count;
  };
  ParquetEncoding best = ParquetEncoding::kPlain;
  std::size_t least = whole(best);
  if (dictionary != nullptr) {
    const std::size_t size =
        whole(ParquetEncoding::kDictionary) + size_of(dictionary_values(*dictionary));
    if (size < least) {
      best = ParquetEncoding::kDictionary;
      least = size;
    }
  }
  // Readers do not agree on how differences of 32 bits overflow.
  if (column_.type == ParquetType::kUint64 && whole(ParquetEncoding::kDeltas) < least)
    best = ParquetEncoding::kDeltas;
  return best;
}

/// The values of a column do not change their nature often.
ParquetEncoding ParquetChunk::choose(const std::vector<Page>& pages,
                                     std::optional<Dictionary>& numbered,
                                     PageCompressor& compressor) {
  if (values_.empty()) return ParquetEncoding::kPlain;
  const bool tries = is_text() || !chosen_ || groups_ % kGroupsOfChoice == 0;
  ++groups_;
  if (tries || chosen_ == ParquetEncoding::kDictionary) numbered = dictionary();
  if (tries || (chosen_ == ParquetEncoding::kDictionary && !numbered))
    chosen_ = best_of(pages, numbered ? &*numbered : nullptr, compressor);
  return *chosen_;
}

void ParquetChunk::put_bounds(ParquetChunkFacts& facts) const {
  if (values_.empty()) return;
  if (is_text()) {
    const auto [least, greatest] = std::ranges::minmax_element(texts_);
    if (least->size() > kLongestBound || greatest->size() > kLongestBound) return;
    facts.least = *least;
    facts.greatest = *greatest;
    return;
  }
  const unsigned size = column_.type == ParquetType::kFlag ? 1 : width();
  const auto [least, greatest] = std::ranges::minmax_element(values_);
  put_little(facts.least.emplace(), *least, size);
  put_little(facts.greatest.emplace(), *greatest, size);
}

std::optional<ParquetChunkFacts> ParquetChunk::write(std::uint64_t rows, std::uint64_t offset,
                                                     PageCompressor& compressor, TextBuffer& out) {
  skip_to(rows);
  ParquetChunkFacts facts;
  facts.values = rows;
  facts.nulls = rows - values_.size();
  put_bounds(facts);
  const std::vector<Page> all = pages();
  std::optional<Dictionary> numbered;
  const ParquetEncoding encoding = choose(all, numbered, compressor);
  const Dictionary* const dictionary = numbered ? &*numbered : nullptr;
  PageWriter writer(facts, compressor, out);
  if (encoding == ParquetEncoding::kDictionary) {
    facts.dictionary_offset = offset;
    writer.dictionary(dictionary_values(*dictionary), dictionary->values.size());
    facts.encodings.push_back(number_of(ParquetEncoding::kPlain));
  }
  facts.encodings.push_back(number_of(encoding));
  if (column_.nullable) facts.encodings.push_back(number_of(ParquetEncoding::kRuns));
  facts.data_offset = offset + facts.size;
  for (const Page& page : all) {
    std::string body;
    if (column_.nullable) {
      std::string levels;
      put_runs(levels, page.levels, 1);
      put_little(body, levels.size(), 4);
      body += levels;
    }
    body += values_of(page, encoding, dictionary);
    writer.data(body, page.levels.size(), encoding);
  }
  clear();
  if (writer.failed()) return std::nullopt;
  return facts;
}

void ParquetChunk::clear() {
  rows_ = 0;
  runs_.assign(1, {});
  values_.clear();
  text_numbers_.clear();
  texts_.clear();
  text_bytes_ = 0;
  has_last_ = false;
}

}  // namespace waymark::exports

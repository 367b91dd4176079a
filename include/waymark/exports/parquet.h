// Apache Parquet: a table in columns, which databases and data frames read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"

namespace waymark::exports {

enum class ParquetType : std::uint8_t {
  kText,  ///< UTF-8.
  kFlag,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
};

/// "text", "flag", "uint8" and so on.
std::string_view type_word(ParquetType type);

struct ParquetColumn {
  std::string_view name{};
  ParquetType type = ParquetType::kUint64;
  bool nullable = false;
};

struct ParquetOptions {
  std::string created_by{};  ///< "waymark version 1.2.3"
  std::vector<std::pair<std::string, std::string>> metadata{};
  /// Both bound the memory of a writer, and of a reader.
  std::size_t most_rows = std::size_t{1} << 18;   ///< Rows in a group.
  std::size_t most_text = std::size_t{16} << 20;  ///< Bytes of different texts in a group.
};

/// Writes a table, row by row.  The same rows give the same file.  One owner; not thread safe.
class ParquetWriter {
 public:
  /// The names in `columns` live as long as the writer, and so does `out`, which may be cleared
  /// between two calls.
  ParquetWriter(std::span<const ParquetColumn> columns, const ParquetOptions& options,
                TextBuffer& out);
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;
  ~ParquetWriter();

  /// A value of the present row, by the number of the column; each at most once.  A flag is 0 or 1.
  void number(std::size_t column, std::uint64_t value);
  /// Bytes that are not UTF-8 or could act on a terminal are escaped, as in CSV.
  void text(std::size_t column, std::string_view value);
  /// Columns without a value are null; 0 or empty, if they cannot be.
  void end_row();

  /// The end of the file.  kLimit: there was not enough memory to compress it.
  Result<void> finish();

  [[nodiscard]] std::uint64_t rows() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace waymark::exports

#include "waymark/exports/parquet.h"

#include <utility>

#include "parquet_chunk.h"
#include "thrift.h"
#include "waymark/base/escape.h"

namespace waymark::exports {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int32_t kFormatVersion = 2;  // Files with logical types.

// Numbers of the specification.
constexpr std::int32_t kBooleanType = 0;
constexpr std::int32_t kInt32Type = 1;
constexpr std::int32_t kInt64Type = 2;
constexpr std::int32_t kBytesType = 6;
constexpr std::int32_t kUncompressed = 0;
constexpr std::int32_t kZstd = 6;
constexpr std::int32_t kRequired = 0;
constexpr std::int32_t kOptional = 1;

/// How a type of ours is stored, and what readers take it for.
struct TypeRow {
  std::int32_t stored = 0;
  std::int32_t converted = -1;  ///< -1: none.
  std::int8_t bits = 0;         ///< The width of an unsigned number; 0: it is none.
};
constexpr TypeRow kTypes[] = {
    {.stored = kBytesType, .converted = 0},               // kText
    {.stored = kBooleanType},                             // kFlag
    {.stored = kInt32Type, .converted = 11, .bits = 8},   // kUint8
    {.stored = kInt32Type, .converted = 12, .bits = 16},  // kUint16
    {.stored = kInt32Type, .converted = 13, .bits = 32},  // kUint32
    {.stored = kInt64Type, .converted = 14, .bits = 64},  // kUint64
};

const TypeRow& row_of(ParquetType type) { return kTypes[static_cast<std::size_t>(type)]; }

void put_schema(ThriftStruct& file, std::span<const ParquetColumn> columns) {
  file.list_of_structs(2, columns.size() + 1);
  file.open_element();
  file.text(4, "schema");
  file.i32(5, static_cast<std::int32_t>(columns.size()));
  file.close();
  for (const ParquetColumn& column : columns) {
    const TypeRow& type = row_of(column.type);
    file.open_element();
    file.i32(1, type.stored);
    file.i32(3, column.nullable ? kOptional : kRequired);
    file.text(4, column.name);
    if (type.converted >= 0) {
      file.i32(6, type.converted);
      file.open(10);
      file.open(type.bits != 0 ? 10 : 1);  // INTEGER or STRING
      if (type.bits != 0) {
        file.i8(1, type.bits);
        file.flag(2, false);
      }
      file.close();
      file.close();
    }
    file.close();
  }
}

void put_chunk(ThriftStruct& group, const ParquetColumn& column, const ParquetChunkFacts& facts) {
  const auto i64 = [&](int field, std::uint64_t value) {
    group.i64(field, static_cast<std::int64_t>(value));
  };
  group.open_element();
  i64(2, facts.dictionary_offset != 0 ? facts.dictionary_offset : facts.data_offset);
  group.open(3);
  group.i32(1, row_of(column.type).stored);
  group.list_of_numbers(2, facts.encodings);
  group.list_of_texts(3, {column.name});
  group.i32(4, PageCompressor::is_available() ? kZstd : kUncompressed);
  i64(5, facts.values);
  i64(6, facts.uncompressed_size);
  i64(7, facts.size);
  i64(9, facts.data_offset);
  if (facts.dictionary_offset != 0) i64(11, facts.dictionary_offset);
  group.open(12);
  i64(3, facts.nulls);
  if (facts.least) {
    group.text(5, *facts.greatest);
    group.text(6, *facts.least);
  }
  group.close();
  group.close();
  group.close();
}

}  // namespace

std::string_view type_word(ParquetType type) {
  constexpr std::string_view kTypeWords[] = {"text", "flag", "uint8", "uint16", "uint32", "uint64"};
  return kTypeWords[static_cast<std::size_t>(type)];
}

struct ParquetWriter::State {
  State(std::span<const ParquetColumn> all, ParquetOptions given, TextBuffer& to)
      : columns(all.begin(), all.end()), options(std::move(given)), out(to) {
    for (const ParquetColumn& column : columns) chunks.emplace_back(column);
  }

  void put(std::string_view bytes) {
    out.put(bytes);
    offset += bytes.size();
  }
  void end_group();
  [[nodiscard]] std::string footer() const;

  std::vector<ParquetColumn> columns;
  ParquetOptions options;
  TextBuffer& out;
  std::vector<ParquetChunk> chunks;
  PageCompressor compressor;
  TextBuffer escaped;
  std::vector<std::string> groups{};  ///< What the footer says about them.
  std::uint64_t offset = 0;
  std::uint64_t group_rows = 0;
  std::uint64_t group_text = 0;
  std::uint64_t rows = 0;
  bool failed = false;
};

void ParquetWriter::State::end_group() {
  if (group_rows == 0) return;
  ThriftStruct group;
  group.list_of_structs(1, columns.size());
  const std::uint64_t begin = offset;
  std::uint64_t uncompressed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto facts = chunks[i].write(group_rows, offset, compressor, out);
    if (!facts) {
      failed = true;
      continue;
    }
    offset += facts->size;
    uncompressed += facts->uncompressed_size;
    put_chunk(group, columns[i], *facts);
  }
  group.i64(2, static_cast<std::int64_t>(uncompressed));
  group.i64(3, static_cast<std::int64_t>(group_rows));
  group.i64(5, static_cast<std::int64_t>(begin));
  group.i64(6, static_cast<std::int64_t>(offset - begin));
  groups.push_back(group.take());
  group_rows = 0;
  group_text = 0;
}

std::string ParquetWriter::State::footer() const {
  ThriftStruct file;
  file.i32(1, kFormatVersion);
  put_schema(file, columns);
  file.i64(3, static_cast<std::int64_t>(rows));
  file.list_of_structs(4, groups.size());
  for (const std::string& group : groups) file.put_struct(group);
  file.list_of_structs(5, options.metadata.size());
  for (const auto& [key, value] : options.metadata) {
    file.open_element();
    file.text(1, key);
    file.text(2, value);
    file.close();
  }
  file.text(6, options.created_by);
  // Bounds are in the order of the logical type: numbers without a sign, bytes of texts.
  file.list_of_structs(7, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    file.open_element();
    file.open(1);
    file.close();
    file.close();
  }
  return file.take();
}

ParquetWriter::ParquetWriter(std::span<const ParquetColumn> columns, const ParquetOptions& options,
                             TextBuffer& out)
    : state_(std::make_unique<State>(columns, options, out)) {
  state_->put(kMagic);
}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::number(std::size_t column, std::uint64_t value) {
  state_->chunks[column].number(state_->group_rows, value);
}

void ParquetWriter::text(std::size_t column, std::string_view value) {
  ParquetChunk& chunk = state_->chunks[column];
  // Most texts are the same as in the row before.
  if (chunk.repeat(state_->group_rows, value)) return;
  state_->escaped.clear();
  put_escaped(state_->escaped, value);
  state_->group_text += chunk.text(state_->group_rows, value, state_->escaped.view());
}

void ParquetWriter::end_row() {
  ++state_->rows;
  if (++state_->group_rows >= state_->options.most_rows ||
      state_->group_text >= state_->options.most_text)
    state_->end_group();
}

Result<void> ParquetWriter::finish() {
  state_->end_group();
  const std::string footer = state_->footer();
  state_->put(footer);
  std::string size;
  put_little(size, footer.size(), 4);
  state_->put(size);
  state_->put(kMagic);
  if (state_->failed)
    return fail(ErrorCode::kLimit, "There is not enough memory to compress the table.");
  return {};
}

std::uint64_t ParquetWriter::rows() const { return state_->rows; }

}  // namespace waymark::exports

// The tables of an index in a file, which docs/index-format.md describes: each column once, with
// its declaration and with how it is bound and read.  The statements of SQL are made from this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "statement.h"
#include "tally.h"
#include "waymark/index/index.h"

namespace waymark::index {

template <class RowType>
struct Column {
  using Row = RowType;
  std::string_view name;
  std::string_view declaration;
  void (*bind)(const Row&, Statement&);
  bool (*read)(Statement&, Row&);  ///< Reads from left to right; false: the value is damaged.
};

template <class Row>
struct Table {
  std::string_view name;
  /// The table has a row for each source and block: its first column is the source's `id`, which is
  /// not in the row.
  bool by_id = false;
  std::span<const Column<Row>> columns;
};

// -- Columns of numbers that are members of a row, or of a member of it.
// ---------------------------

inline constexpr std::string_view kKey = "INTEGER PRIMARY KEY";
inline constexpr std::string_view kNumber = "INTEGER NOT NULL";
inline constexpr std::string_view kOptionalNumber = "INTEGER";
inline constexpr std::string_view kText = "TEXT NOT NULL";
inline constexpr std::string_view kBlob = "BLOB NOT NULL";

template <auto kFirst, auto... kRest>
constexpr auto& member(auto& row) {
  if constexpr (sizeof...(kRest) == 0) {
    return row.*kFirst;
  } else {
    return member<kRest...>(row.*kFirst);
  }
}

template <class Row, auto... kMembers>
constexpr Column<Row> number(std::string_view name, std::string_view declaration = kNumber) {
  return {name, declaration,
          [](const Row& row, Statement& to) {
            to.bind(static_cast<std::uint64_t>(member<kMembers...>(row)));
          },
          [](Statement& from, Row& row) {
            auto& value = member<kMembers...>(row);
            value = static_cast<std::remove_reference_t<decltype(value)>>(from.number());
            return true;
          }};
}

/// NULL: `kAbsent`.
template <class Row, std::uint64_t kAbsent, auto... kMembers>
constexpr Column<Row> optional_number(std::string_view name) {
  return {name, kOptionalNumber,
          [](const Row& row, Statement& to) { to.bind_unless(member<kMembers...>(row), kAbsent); },
          [](Statement& from, Row& row) {
            member<kMembers...>(row) = from.number(kAbsent);
            return true;
          }};
}

/// Row::tally and Row::counts.
template <class Row>
constexpr auto count_columns() {
  constexpr std::size_t kTallies = kTallyFields.size();
  return []<std::size_t... kTally, std::size_t... kKind>(std::index_sequence<kTally...>,
                                                         std::index_sequence<kKind...>) {
    return std::array{
        number<Row, &Row::tally, kTallyFields[kTally].member>(kTallyFields[kTally].name)...,
        Column<Row>{kCountNames[kKind], kNumber,
                    [](const Row& row, Statement& to) { to.bind(row.counts[kKind]); },
                    [](Statement& from, Row& row) {
                      row.counts[kKind] = from.number();
                      return true;
                    }}...};
  }(std::make_index_sequence<kTallies>(), std::make_index_sequence<kLandmarkKindCount>());
}

template <class Row, std::size_t... kSizes>
constexpr auto joined(const std::array<Column<Row>, kSizes>&... parts) {
  std::array<Column<Row>, (kSizes + ...)> all{};
  auto at = all.begin();
  ((at = std::ranges::copy(parts, at).out), ...);
  return all;
}

// -- The tables. ----------------------------------------------------------------------------------

struct CaptureRow {
  Header header;
  FileTimes times;
};

inline constexpr std::array kCaptureColumns = {
    number<CaptureRow, &CaptureRow::header, &Header::granule>("granule"),
    Column<CaptureRow>{
        "form", kText,
        [](const CaptureRow& row, Statement& to) { to.bind(form_name(row.header.form)); },
        [](Statement& from, CaptureRow& row) {
          const std::string form = from.text();
          row.header.form = form == form_name(Form::kFull) ? Form::kFull : Form::kSparse;
          return form == form_name(row.header.form);
        }},
    Column<CaptureRow>{
        "framing", kText,
        [](const CaptureRow& row, Statement& to) { to.bind(std::string_view(row.header.framing)); },
        [](Statement& from, CaptureRow& row) {
          row.header.framing = from.text();
          return true;
        }},
    number<CaptureRow, &CaptureRow::header, &Header::indexed>("indexed"),
    number<CaptureRow, &CaptureRow::header, &Header::complete>("complete"),
    number<CaptureRow, &CaptureRow::header, &Header::file_size>("file_size"),
    number<CaptureRow, &CaptureRow::header, &Header::file_digest>("file_digest"),
    number<CaptureRow, &CaptureRow::times, &FileTimes::modified>("file_modified"),
    number<CaptureRow, &CaptureRow::times, &FileTimes::changed>("file_changed"),
    number<CaptureRow, &CaptureRow::header, &Header::frame_syncs>("frame_syncs"),
    number<CaptureRow, &CaptureRow::header, &Header::triggers>("triggers"),
    number<CaptureRow, &CaptureRow::header, &Header::resets>("resets"),
    number<CaptureRow, &CaptureRow::header, &Header::errors>("errors"),
};
inline constexpr Table<CaptureRow> kCapture = {.name = "capture", .columns = kCaptureColumns};

/// The `id` of a row of a source.
template <class Row, auto kMember>
constexpr Column<Row> id_column() {
  return {"id", kKey, [](const Row& row, Statement& to) { to.bind(row.*kMember); },
          [](Statement& from, Row& row) {
            const std::uint64_t id = from.number(kTraceIdCount);
            row.*kMember = static_cast<TraceId>(id);
            return id < kTraceIdCount;
          }};
}

struct IdRow {
  TraceId id = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::array kIdColumns = {id_column<IdRow, &IdRow::id>(),
                                          number<IdRow, &IdRow::bytes>("bytes")};
inline constexpr Table<IdRow> kIds = {.name = "ids", .columns = kIdColumns};

inline constexpr std::array kStreamColumns = joined(
    std::array{
        id_column<Stream, &Stream::id>(),
        Column<Stream>{
            "protocol", kText,
            [](const Stream& stream, Statement& to) { to.bind(std::string_view(stream.protocol)); },
            [](Statement& from, Stream& stream) {
              stream.protocol = from.text();
              return true;
            }},
        number<Stream, &Stream::config_hash>("config_hash"),
        number<Stream, &Stream::starts_in_sync>("starts_in_sync"),
    },
    count_columns<Stream>());
inline constexpr Table<Stream> kStreams = {.name = "streams", .columns = kStreamColumns};

inline constexpr std::array kSourceBlockColumns = {
    number<SourceBlock, &SourceBlock::number>("block", kKey),
    Column<SourceBlock>{"place", kOptionalNumber,
                        [](const SourceBlock& block, Statement& to) {
                          to.bind_unless(block.place ? block.place->index : kNoIndex, kNoIndex);
                        },
                        [](Statement& from, SourceBlock& block) {
                          const std::uint64_t place = from.number(kNoIndex);
                          if (place != kNoIndex)
                            block.place = frames::Demux::Place{place, kNoTraceId};
                          return true;
                        }},
    Column<SourceBlock>{"current_id", kOptionalNumber,
                        [](const SourceBlock& block, Statement& to) {
                          to.bind_unless(block.place ? block.place->current_id : kNoTraceId,
                                         kNoTraceId);
                        },
                        [](Statement& from, SourceBlock& block) {
                          const std::uint64_t current = from.number(kNoTraceId);
                          if (block.place) block.place->current_id = static_cast<TraceId>(current);
                          return current <= kNoTraceId;
                        }},
    optional_number<SourceBlock, 0, &SourceBlock::frame_syncs>("frame_syncs"),
    optional_number<SourceBlock, kNoIndex, &SourceBlock::first_frame_sync>("first_frame_sync"),
    optional_number<SourceBlock, 0, &SourceBlock::triggers>("triggers"),
    optional_number<SourceBlock, kNoIndex, &SourceBlock::first_trigger>("first_trigger"),
    optional_number<SourceBlock, 0, &SourceBlock::resets>("resets"),
    optional_number<SourceBlock, 0, &SourceBlock::errors>("errors"),
    // For each ID: the ID, and the number of its bytes in 4 bytes, least significant first.
    Column<SourceBlock>{"ids", kBlob,
                        [](const SourceBlock& block, Statement& to) {
                          std::vector<std::uint8_t> ids;
                          for (const auto& [id, bytes] : block.bytes) {
                            ids.push_back(id);
                            for (unsigned i = 0; i < 4; ++i)
                              ids.push_back(static_cast<std::uint8_t>(bytes >> (8 * i)));
                          }
                          to.bind(Bytes(ids));
                        },
                        [](Statement& from, SourceBlock& block) {
                          constexpr std::size_t kEntrySize = 5;
                          const Bytes ids = from.blob();
                          if (ids.size() % kEntrySize != 0) return false;
                          for (std::size_t at = 0; at < ids.size(); at += kEntrySize) {
                            std::uint32_t bytes = 0;
                            for (unsigned i = 0; i < 4; ++i)
                              bytes |= std::uint32_t{ids[at + 1 + i]} << (8 * i);
                            block.bytes.emplace_back(ids[at], bytes);
                          }
                          return true;
                        }},
};
inline constexpr Table<SourceBlock> kSourceBlocks = {.name = "source_blocks",
                                                     .columns = kSourceBlockColumns};

/// A time of a block.  NULL if the block has no timestamp, or if the previous column has the same.
template <auto kMember, auto kBefore>
constexpr Column<StreamBlock> block_time(std::string_view name) {
  return {name, kOptionalNumber,
          [](const StreamBlock& block, Statement& to) {
            if (block.count(LandmarkKind::kTimestamp) == 0) {
              to.bind_null();
            } else {
              to.bind_unless(block.*kMember, block.*kBefore);
            }
          },
          [](Statement& from, StreamBlock& block) {
            block.*kMember = from.number(block.*kBefore);
            return true;
          }};
}

inline constexpr std::array kStreamBlockColumns = joined(
    std::array{number<StreamBlock, &StreamBlock::number>("block")}, count_columns<StreamBlock>(),
    std::array{
        number<StreamBlock, &StreamBlock::whole_timestamps>("whole_timestamps"),
        number<StreamBlock, &StreamBlock::lasting_contexts>("lasting_contexts"),
        optional_number<StreamBlock, kNoIndex, &StreamBlock::first_sync>("first_sync"),
        optional_number<StreamBlock, kNoIndex, &StreamBlock::last_sync>("last_sync"),
        Column<StreamBlock>{"first_timestamp", kOptionalNumber,
                            [](const StreamBlock& block, Statement& to) {
                              if (block.count(LandmarkKind::kTimestamp) == 0) {
                                to.bind_null();
                              } else {
                                to.bind(block.first_timestamp);
                              }
                            },
                            [](Statement& from, StreamBlock& block) {
                              block.first_timestamp = from.number();
                              return true;
                            }},
        block_time<&StreamBlock::last_timestamp, &StreamBlock::first_timestamp>("last_timestamp"),
        block_time<&StreamBlock::highest_timestamp, &StreamBlock::last_timestamp>(
            "highest_timestamp"),
    });
inline constexpr Table<StreamBlock> kStreamBlocks = {
    .name = "stream_blocks", .by_id = true, .columns = kStreamBlockColumns};

inline constexpr std::array kLandmarkColumns = {
    number<StreamBlock, &StreamBlock::number>("block"),
    Column<StreamBlock>{"records", kBlob,
                        [](const StreamBlock& block, Statement& to) {
                          to.bind(Bytes(encode_landmarks(block.landmarks)));
                        },
                        [](Statement& from, StreamBlock& block) {
                          auto landmarks = decode_landmarks(from.blob());
                          if (landmarks) block.landmarks = std::move(*landmarks);
                          return landmarks.has_value();
                        }},
};
inline constexpr Table<StreamBlock> kLandmarks = {
    .name = "landmarks", .by_id = true, .columns = kLandmarkColumns};

// -- Of viewers.  An index may be without these tables. -------------------------------------------

inline constexpr std::array kViewColumns = {
    number<ViewRecords, &ViewRecords::version>("version"),
    Column<ViewRecords>{
        "fingerprint", kText,
        [](const ViewRecords& view, Statement& to) { to.bind(std::string_view(view.fingerprint)); },
        [](Statement& from, ViewRecords& view) {
          view.fingerprint = from.text();
          return true;
        }},
};
inline constexpr Table<ViewRecords> kViews = {.name = "views", .columns = kViewColumns};

inline constexpr std::array kViewRecordColumns = {
    number<ViewRecord, &ViewRecord::kind>("kind"),
    number<ViewRecord, &ViewRecord::number>("number"),
    Column<ViewRecord>{"record", kBlob,
                       [](const ViewRecord& view, Statement& to) { to.bind(Bytes(view.record)); },
                       [](Statement& from, ViewRecord& view) {
                         const Bytes bytes = from.blob();
                         view.record.assign(bytes.begin(), bytes.end());
                         return true;
                       }},
};
inline constexpr Table<ViewRecord> kViewRecords = {.name = "view_records",
                                                   .columns = kViewRecordColumns};

/// Calls `each(table)` for the tables of viewers.
template <class Each>
void for_each_view_table(Each each) {
  each(kViews);
  each(kViewRecords);
}

/// Calls `each(table)` for all other tables.
template <class Each>
void for_each_table(Each each) {
  each(kCapture);
  each(kIds);
  each(kStreams);
  each(kSourceBlocks);
  each(kStreamBlocks);
  each(kLandmarks);
}

// -- SQL. -----------------------------------------------------------------------------------------

template <class Row>
std::string column_list(const Table<Row>& table) {
  std::string list = table.by_id ? "id" : "";
  for (const Column<Row>& column : table.columns) {
    if (!list.empty()) list += ", ";
    list += column.name;
  }
  return list;
}

template <class Row>
std::string create_sql(const Table<Row>& table) {
  std::string sql = "CREATE TABLE " + std::string(table.name) + "(";
  std::string_view separator;
  const auto add = [&](std::string_view name, std::string_view declaration) {
    ((((sql += separator) += name) += ' ') += declaration);
    separator = ", ";
  };
  if (table.by_id) add("id", kNumber);
  for (const Column<Row>& column : table.columns) add(column.name, column.declaration);
  return sql + (table.by_id ? ", PRIMARY KEY(id, block)) WITHOUT ROWID" : ")");
}

/// `rest` begins at WHERE or ORDER BY.
template <class Row>
std::string select_sql(const Table<Row>& table, std::string_view rest = {}) {
  std::string sql = "SELECT " + column_list(table) + " FROM " + std::string(table.name);
  if (!rest.empty()) (sql += ' ') += rest;
  return sql;
}

template <class Row>
std::string insert_sql(const Table<Row>& table) {
  std::string sql =
      "INSERT INTO " + std::string(table.name) + "(" + column_list(table) + ") VALUES(?";
  for (std::size_t i = table.by_id ? 0 : 1; i < table.columns.size(); ++i) sql += ",?";
  return sql + ")";
}

/// After the `id` of a table that is `by_id`.
template <class Row>
void bind_row(const Table<Row>& table, const Row& row, Statement& to) {
  for (const Column<Row>& column : table.columns) column.bind(row, to);
}

/// After the `id` of a table that is `by_id`.  Gives the column whose value is damaged.
template <class Row>
const Column<Row>* read_row(const Table<Row>& table, Statement& from, Row& row) {
  for (const Column<Row>& column : table.columns)
    if (!column.read(from, row)) return &column;
  return nullptr;
}

}  // namespace waymark::index

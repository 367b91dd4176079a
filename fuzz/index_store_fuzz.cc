// A hostile database: any bytes, a good one with bytes changed or cut off, or a good one
// with other values in its rows.  It is refused, or answers every question in short time with
// something that a seek can use.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "waymark/base/mapped_file.h"
#include "waymark/index/seek.h"
#include "waymark/index/store.h"

namespace {

using namespace waymark;
using fuzz::require;

constexpr std::array<TraceId, 3> kIds = {0x10, 0x11, 0x7F};
constexpr std::uint64_t kBlocks = 40;

// SQLite follows links by their names, so it cannot reach a file without a name.
std::string path_of(std::string_view name) {
  const char* const folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "/tmp/";
  return folder + std::string(name) + "." + std::to_string(::getpid());
}

void write(const std::string& path, Bytes bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0, "no file can be written");
  const bool all = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  require(all, "the disk is full");
  ::close(file);
}

void fill(index::Index& index) {
  index::Header header;
  header.framing = "mem";
  header.form = index::Form::kFull;
  for (const TraceId id : {kIds[0], kIds[1]})
    header.streams.push_back({.id = id, .protocol = "PTM", .tally = {}, .counts = {}});
  for (std::uint64_t number = 0; number < kBlocks; ++number) {
    const TraceIndex begin = number * header.granule;
    index::SourceBlock frames;
    frames.number = number;
    if (number % 3 != 2) frames.place = frames::Demux::Place{begin, kIds[number % 2]};
    frames.triggers = number % 5 == 0 ? 2 : 0;
    for (const TraceId id : {kIds[0], kIds[1]}) frames.bytes.emplace_back(id, 1000);
    header.add(frames);
    require(index.append(frames).has_value(), "a block cannot be written");
    for (const TraceId id : {kIds[0], kIds[1]}) {
      index::StreamBlock block;
      block.number = number;
      block.tally.bytes = 1000;
      for (std::uint64_t i = 0; i < 4 + number % 3; ++i) {
        Landmark landmark;
        landmark.index = begin + i * 100 + id;
        landmark.value = number * 10 + i;
        landmark.kind = static_cast<LandmarkKind>((number + i * 3) % kLandmarkKindCount);
        landmark.whole = (number + i) % 7 == 0;
        block.add(landmark, header.form);
      }
      header.add(id, block);
      require(index.append(id, block).has_value(), "a block cannot be written");
    }
  }
  header.indexed = kBlocks * header.granule;
  header.complete = true;
  require(index.commit(header).has_value(), "the header cannot be written");
}

/// The bytes of a sound index.
Bytes good_bytes() {
  static const std::vector<std::uint8_t> kGood = [] {
    const std::string path = path_of("waymark-good");
    {
      const auto store = index::open_store(path, {.mode = index::StoreMode::kBuild, .wait = {}});
      require(store.has_value(), "no index can be made");
      fill(**store);
    }
    const auto file = MappedFile::open(path);
    require(file.has_value(), "no index was made");
    std::vector<std::uint8_t> copy(file->bytes().begin(), file->bytes().end());
    ::unlink(path.c_str());
    return copy;
  }();
  return kGood;
}

class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return bytes_.empty(); }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    const std::size_t taken = std::min(size, bytes_.size());
    std::memcpy(&value, bytes_.data(), taken);
    bytes_ = bytes_.subspan(taken);
    return value;
  }

 private:
  Bytes bytes_;
};

void change_bytes(Input input, const std::string& path) {
  std::vector<std::uint8_t> bytes(good_bytes().begin(), good_bytes().end());
  const std::uint64_t size = input.number(3);
  if (size % 4 == 0) bytes.resize(size / 4 % bytes.size() + 1);
  while (!input.done()) {
    const std::uint64_t at = input.number(3) % bytes.size();
    bytes[at] = static_cast<std::uint8_t>(input.number(1));
  }
  write(path, bytes);
}

void change_values(Input input, const std::string& path) {
  constexpr std::array<std::string_view, 37> kColumns = {
      "capture.granule",
      "capture.form",
      "capture.framing",
      "capture.indexed",
      "capture.complete",
      "capture.file_size",
      "ids.id",
      "ids.bytes",
      "streams.id",
      "streams.syncs",
      "streams.timestamps",
      "streams.starts_in_sync",
      "source_blocks.block",
      "source_blocks.place",
      "source_blocks.current_id",
      "source_blocks.triggers",
      "source_blocks.first_trigger",
      "source_blocks.ids",
      "stream_blocks.id",
      "stream_blocks.block",
      "stream_blocks.bytes",
      "stream_blocks.syncs",
      "stream_blocks.timestamps",
      "stream_blocks.contexts",
      "stream_blocks.overflows",
      "stream_blocks.trace_ons",
      "stream_blocks.whole_timestamps",
      "stream_blocks.lasting_contexts",
      "stream_blocks.first_sync",
      "stream_blocks.last_sync",
      "stream_blocks.first_timestamp",
      "stream_blocks.last_timestamp",
      "stream_blocks.highest_timestamp",
      "landmarks.id",
      "landmarks.block",
      "landmarks.records",
      "stream_blocks.events",
  };
  write(path, good_bytes());
  sqlite3* db = nullptr;
  require(sqlite3_open(path.c_str(), &db) == SQLITE_OK, "the good index cannot be opened");
  (void)sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", nullptr, nullptr,
                     nullptr);
  for (unsigned i = 0; i < 8 && !input.done(); ++i) {
    const std::string_view column = kColumns[input.number(1) % kColumns.size()];
    const std::size_t dot = column.find('.');
    const std::uint64_t row = input.number(1);
    const std::uint64_t kind = input.number(1);
    std::string value = std::to_string(static_cast<std::int64_t>(input.number(kind % 9)));
    if (kind >= 0xF0) value = "x'" + std::string(kind % 8 * 2, kind % 2 == 0 ? '8' : '1') + "'";
    if (kind >= 0xE8 && kind < 0xF0) value = "NULL";
    const std::string table(column.substr(0, dot));
    std::string sql = "UPDATE OR IGNORE ";
    sql += table;
    sql += " SET ";
    sql += column.substr(dot + 1);
    sql += " = ";
    sql += value;
    // All rows, or some.
    if (table.ends_with("blocks") && row >= 0x10)
      sql += " WHERE block % 16 = " + std::to_string(row % 16);
    (void)sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(db);
}

void ask(index::Index& index) {
  const index::Header& header = index.header();
  for (const TraceIndex place :
       {TraceIndex{0}, TraceIndex{1}, header.indexed / 2, header.indexed, kNoIndex - 1}) {
    for (const bool all : {false, true}) {
      // As in a program, no place is after the end of a capture of moderate size.
      const TraceIndex from = std::min(place, TraceIndex{1} << 30);
      const auto entry = index::seek(index, kIds, from,
                                     {.reach = all ? ~std::uint64_t{0} : 256, .skip_ended = !all});
      if (!entry) continue;
      require(entry->index <= from, "a seek leads past the place");
      for (const TraceIndex first : entry->first)
        require(first == kNoIndex || first <= from, "a source begins after the place");
    }
  }
  for (const TraceId id : kIds) {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 100; ++i) {
      const auto block = index.find(id, number, index::Walk::kForward, {});
      if (!block || !*block) break;
      require((*block)->number >= number && (*block)->number < header.blocks(),
              "a block that was not asked for");
      (void)index.landmarks(id, (*block)->number);
      (void)index.source_block((*block)->number);
      number = (*block)->number + 1;
    }
    for (const index::Walk walk : {index::Walk::kForward, index::Walk::kBackward}) {
      for (std::size_t kind = 0; kind < kLandmarkKindCount; ++kind)
        (void)index.find(id, 7, walk, {.kind = static_cast<LandmarkKind>(kind)});
      (void)index.find(id, 7, walk, {.timestamp_at_least = 100});
      (void)index.find(id, 7, walk, {.lasting_context = true});
    }
  }
  (void)index.find_triggers(0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const std::string kPath = path_of("waymark-index");
  const Bytes rest(data + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      write(kPath, rest);
      break;
    case 1:
      change_bytes(Input(rest), kPath);
      break;
    default:
      change_values(Input(rest), kPath);
      break;
  }
  for (const index::StoreMode mode : {index::StoreMode::kRead, index::StoreMode::kBuild}) {
    const auto store = index::open_store(kPath, {.mode = mode, .wait = {}});
    if (!store) continue;
    ask(**store);
    if (mode != index::StoreMode::kBuild || (*store)->header().blocks() == 0) continue;
    // As a builder continues after the capture has grown.
    index::Header header = (*store)->header();
    header.complete = false;
    header.indexed = (header.blocks() - 1) * header.granule;
    if ((*store)->truncate(header.blocks(), header)) (void)(*store)->commit(header);
  }
  ::unlink(kPath.c_str());
  ::unlink((kPath + "-journal").c_str());
  return 0;
}

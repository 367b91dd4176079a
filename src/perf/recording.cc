#include "waymark/perf/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "units.h"
#include "waymark/base/bits.h"

namespace waymark::perf {
namespace {

constexpr std::size_t kMostNotes = 100;
constexpr std::size_t kBuildIdSize = 20;

std::int32_t task_number(std::uint32_t value) { return static_cast<std::int32_t>(value); }

/// The content of one AUX record, before its bytes are found.
struct AuxRecord {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t flags = 0;
  SampleId sample{};
};

/// Fills a Recording, record by record.
class RecordingBuilder {
 public:
  RecordingBuilder(const File& file, Recording& to) : file_(file), order_(file.order()), to_(to) {}

  Result<void> run() {
    to_.notes = file_.notes();
    to_.simpleperf = !file_.feature(Feature::kSimpleperfMetaInfo).empty();
    to_.monotonic = std::ranges::any_of(file_.attributes(), [](const EventAttribute& attribute) {
      constexpr std::uint32_t kClockMonotonic = 1;
      return bit<25>(attribute.flags) && attribute.clock == kClockMonotonic;
    });
    read_build_ids(file_.feature(Feature::kBuildId));
    read_files(file_.feature(Feature::kSimpleperfFile2));
    RecordReader records(file_);
    Record record;
    while (records.next(record)) WAYMARK_TRY(take(record));
    to_.notes.insert(to_.notes.end(), records.notes().begin(), records.notes().end());
    if (!has_units_) {
      return fail(ErrorCode::kNotFound,
                  "The recording holds no CoreSight trace: it has no AUXTRACE_INFO record. Record "
                  "with `perf record -e cs_etm//`.");
    }
    constexpr std::uint64_t kEnableOnExec = std::uint64_t{1} << 12;
    to_.per_task = std::ranges::any_of(file_.attributes(), [&](const EventAttribute& event) {
      return event.type == to_.pmu && (event.flags & kEnableOnExec) != 0;
    });
    WAYMARK_TRY(check_ids());
    make_pieces();
    // perf writes each buffer of the kernel in turn, so that records of several CPUs are not in
    // order; simpleperf sorts them, and its times are not all meaningful.
    if (!to_.simpleperf) std::ranges::stable_sort(to_.events, {}, &TaskEvent::time);
    return {};
  }

 private:
  Result<void> take(const Record& record) {
    Fields fields(record.body, order_);
    switch (record.type) {
      case RecordType::kMmap:
      case RecordType::kMmap2:
        take_mapping(record, fields);
        break;
      case RecordType::kComm: {
        TaskEvent event = task_event(record, fields);
        NewName name;
        name.name = Fields::text(fields.take(fields.remaining()));
        name.exec = (record.misc & kMiscExec) != 0;
        event.what = std::move(name);
        to_.events.push_back(std::move(event));
        break;
      }
      case RecordType::kFork:
      case RecordType::kExit:
        take_fork_or_exit(record, fields);
        break;
      case RecordType::kItraceStart: {
        TaskEvent event = task_event(record, fields);
        event.what = TraceStarted{};
        to_.events.push_back(std::move(event));
        break;
      }
      case RecordType::kSwitch:
      case RecordType::kSwitchCpuWide: {
        // Its body, if any, names the other task; the sample id names this one.
        if (!record.sample.tid) break;
        TaskEvent event = sampled_event(record);
        event.what = Switched{(record.misc & kMiscSwitchOut) != 0};
        to_.events.push_back(std::move(event));
        break;
      }
      case RecordType::kLost:
        fields.skip(8);
        to_.losses.lost_records += fields.u64();
        break;
      case RecordType::kAux:
        take_aux(record, fields);
        break;
      case RecordType::kAuxtrace:
        take_buffer(record, fields);
        break;
      case RecordType::kAuxtraceInfo:
        if (has_units_) break;
        has_units_ = true;
        return read_units(record.body, order_, record.offset, to_);
      case RecordType::kAuxOutputHwId:
        take_hardware_id(record, fields);
        break;
      case RecordType::kTimeConv:
        take_time(fields);
        break;
      default:
        break;
    }
    return {};
  }

  void take_aux(const Record& record, Fields& fields) {
    AuxRecord aux;
    aux.offset = fields.u64();
    aux.size = fields.u64();
    aux.flags = fields.u64();
    aux.sample = record.sample;
    if (fields.overrun()) {
      note(fmt::format("The AUX record at byte {} is cut short.", record.offset));
      return;
    }
    to_.losses.truncated += (aux.flags & kAuxTruncated) != 0;
    to_.losses.partial += (aux.flags & kAuxPartial) != 0;
    to_.losses.collisions += (aux.flags & kAuxCollision) != 0;
    if (aux.size != 0) aux_.push_back(aux);
  }

  void take_time(Fields& fields) {
    TimeConversion time;
    time.shift = fields.u64();
    time.multiplier = fields.u64();
    time.zero = fields.u64();
    if (fields.overrun() || time.shift >= 64) return;
    const TimeConversion::Near near{.cycles = fields.u64(), .mask = fields.u64()};
    fields.skip(1);
    const bool is_short = fields.u8() != 0;
    // Older versions of perf end the record after `zero`.
    if (!fields.overrun() && is_short && near.mask != 0 && (near.mask & (near.mask + 1)) == 0)
      time.near = near;
    to_.time = time;
  }

  // -- Tasks
  // --------------------------------------------------------------------------------------------

  static TaskEvent sampled_event(const Record& record) {
    TaskEvent event;
    event.time = record.sample.time.value_or(0);
    event.pid = task_number(record.sample.pid.value_or(kNone32));
    event.tid = task_number(record.sample.tid.value_or(kNone32));
    event.cpu = record.sample.cpu;
    event.mode = record.mode();
    return event;
  }

  /// The pid and tid come first.
  static TaskEvent task_event(const Record& record, Fields& fields) {
    TaskEvent event = sampled_event(record);
    event.pid = task_number(fields.u32());
    event.tid = task_number(fields.u32());
    return event;
  }

  void take_mapping(const Record& record, Fields& fields) {
    constexpr std::uint32_t kExecutable = 4;
    TaskEvent event = task_event(record, fields);
    Mapping map;
    map.address = fields.u64();
    map.size = fields.u64();
    map.file_offset = fields.u64();
    if (record.type == RecordType::kMmap2) {
      if ((record.misc & kMiscMmapBuildId) != 0) {
        const std::size_t size = std::min<std::size_t>(fields.u8(), kBuildIdSize);
        fields.skip(3);
        const Bytes id = fields.take(kBuildIdSize);
        map.build_id.assign(id.begin(),
                            id.begin() + static_cast<std::ptrdiff_t>(std::min(size, id.size())));
      } else {
        fields.skip(24);
      }
      map.executable = (fields.u32() & kExecutable) != 0;
      fields.skip(4);
    }
    map.path = Fields::text(fields.take(fields.remaining()));
    if (fields.overrun()) {
      note(fmt::format("The record of a mapping at byte {} is cut short.", record.offset));
      return;
    }
    event.what = std::move(map);
    to_.events.push_back(std::move(event));
  }

  void take_fork_or_exit(const Record& record, Fields& fields) {
    TaskEvent event = sampled_event(record);
    event.pid = task_number(fields.u32());
    const std::uint32_t parent_pid = fields.u32();
    event.tid = task_number(fields.u32());
    const std::uint32_t parent_tid = fields.u32();
    event.time = fields.u64();
    if (fields.overrun()) {
      note(fmt::format("The record of a task at byte {} is cut short.", record.offset));
      return;
    }
    if (record.type == RecordType::kFork) {
      event.what = Forked{parent_pid, parent_tid};
    } else {
      event.what = Exited{};
    }
    to_.events.push_back(std::move(event));
  }

  void read_build_ids(Bytes bytes) {
    constexpr std::size_t kHeader = 8;
    while (bytes.size() >= kHeader) {
      Fields fields(bytes, order_);
      fields.skip(4);
      const std::uint16_t misc = fields.u16();
      const std::size_t size = fields.u16();
      if (size < kHeader || size > bytes.size()) {
        note("The list of build ids is damaged.");
        return;
      }
      BuildId id;
      id.mode = static_cast<CpuMode>(misc & kCpuModeMask);
      Fields body(bytes.subspan(kHeader, size - kHeader), order_);
      id.pid = task_number(body.u32());
      const Bytes value = body.take(kBuildIdSize);
      id.id.assign(value.begin(), value.end());
      body.skip(4);
      id.path = Fields::text(body.take(body.remaining()));
      if (!body.overrun()) to_.build_ids.push_back(std::move(id));
      bytes = bytes.subspan(size);
    }
  }

  /// simpleperf's list of files: a size, then a message of Protocol Buffers, repeated.
  void read_files(Bytes bytes) {
    constexpr unsigned kPath = 1;
    constexpr unsigned kModule = 7;
    while (bytes.size() > 4) {
      Fields fields(bytes, order_);
      const std::size_t size = fields.u32();
      if (size > fields.remaining()) return;
      const Bytes message = fields.take(size);
      const auto path = find_field(message, kPath);
      const auto module = find_field(message, kModule);
      const auto offset = module ? find_field(module->bytes, 1) : std::nullopt;
      if (path && offset) to_.module_offsets[Fields::text(path->bytes)] = offset->value;
      bytes = bytes.subspan(4 + size);
    }
  }

  struct MessageField {
    std::uint64_t value = 0;
    Bytes bytes{};
  };
  /// The first field with this number.
  static std::optional<MessageField> find_field(Bytes message, unsigned wanted) {
    Fields fields(message, ByteOrder::kLittle);
    const auto number = [&] {
      std::uint64_t value = 0;
      for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t byte = fields.u8();
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if ((byte & 0x80) == 0) break;
      }
      return value;
    };
    while (fields.remaining() != 0) {
      const std::uint64_t tag = number();
      MessageField field;
      switch (tag & 7) {
        case 0:
          field.value = number();
          break;
        case 1:
          field.value = fields.u64();
          break;
        case 2:
          field.value = number();
          if (field.value > fields.remaining()) return std::nullopt;
          field.bytes = fields.take(static_cast<std::size_t>(field.value));
          break;
        case 5:
          field.value = fields.u32();
          break;
        default:
          return std::nullopt;
      }
      if (fields.overrun()) return std::nullopt;
      if (tag >> 3 == wanted) return field;
    }
    return std::nullopt;
  }

  // -- Trace
  // --------------------------------------------------------------------------------------------

  void take_hardware_id(const Record& record, Fields& fields) {
    const std::uint64_t value = fields.u64();
    if (fields.overrun() || !record.sample.cpu) return;
    constexpr std::uint64_t kFirstWithSinks = 1;
    HardwareId id;
    id.trace_id = static_cast<TraceId>(bits<7, 0>(value));
    if (bits<59, 56>(value) >= kFirstWithSinks)
      id.sink = static_cast<std::uint32_t>(bits<39, 8>(value));
    if (bits<63, 60>(value) != 0) {
      note(
          fmt::format("The record of a trace ID at byte {} has an unknown version and is not used.",
                      record.offset));
      return;
    }
    hardware_ids_[*record.sample.cpu] = id;
  }

  void take_buffer(const Record& record, Fields& fields) {
    Buffer buffer;
    buffer.section = record.section;
    buffer.file_offset = record.trace_offset;
    buffer.bytes = record.trace;
    fields.skip(8);  // The size.
    buffer.aux_offset = fields.u64();
    fields.skip(8);  // A number of the recording.
    buffer.queue = fields.u32();
    const std::uint32_t tid = fields.u32();
    const std::uint32_t cpu = fields.u32();
    if (fields.overrun()) {
      note(fmt::format("The AUXTRACE record at byte {} is cut short.", record.offset));
      return;
    }
    if (cpu != kNone32) buffer.cpu = cpu;
    if (tid != kNone32 && !buffer.cpu) buffer.tid = tid;
    to_.buffers.push_back(buffer);
  }

  Result<void> check_ids() {
    for (Unit& unit : to_.units) {
      const auto found = hardware_ids_.find(unit.cpu);
      if (found == hardware_ids_.end() || to_.simpleperf) continue;
      unit.trace_id = found->second.trace_id;
      unit.sink = found->second.sink;
    }
    // In raw pieces nothing but the CPU counts.
    for (std::size_t i = 0; i < to_.units.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Unit& one = to_.units[j];
        const Unit& other = to_.units[i];
        if (!one.trace_id || one.trace_id != other.trace_id || one.sink != other.sink) continue;
        return fail(ErrorCode::kConflict,
                    fmt::format("The recording says that CPUs {} and {} both have the trace ID "
                                "0x{:02x}, so their trace cannot be told apart.",
                                one.cpu, other.cpu, *one.trace_id));
      }
    }
    return {};
  }

  /// Which buffers a record can lie in: those of its CPU, or of its thread.
  [[nodiscard]] static bool matches(const Buffer& buffer, const SampleId& sample) {
    if (buffer.cpu) return !sample.cpu || *sample.cpu == *buffer.cpu;
    if (buffer.tid) return !sample.tid || *sample.tid == *buffer.tid;
    return true;
  }

  void make_pieces() {
    // By the CPU or thread: the last buffer that begins at or before an offset is found quickly.
    std::map<std::pair<bool, std::uint32_t>, std::vector<std::size_t>> of;
    for (std::size_t i = 0; i < to_.buffers.size(); ++i) {
      const Buffer& buffer = to_.buffers[i];
      of[{buffer.cpu.has_value(), buffer.cpu.value_or(buffer.tid.value_or(kNone32))}].push_back(i);
    }
    for (auto& [key, list] : of) {
      std::ranges::stable_sort(list, {}, [&](std::size_t i) { return to_.buffers[i].aux_offset; });
    }
    for (const AuxRecord& aux : aux_) {
      std::optional<Piece> piece;
      if (aux.sample.cpu) piece = find_piece(of, {true, *aux.sample.cpu}, aux);
      if (!piece && aux.sample.tid) piece = find_piece(of, {false, *aux.sample.tid}, aux);
      if (!piece && !aux.sample.cpu && !aux.sample.tid && of.size() == 1)
        piece = find_piece(of, of.begin()->first, aux);
      if (piece) {
        to_.pieces.push_back(*piece);
        continue;
      }
      ++to_.losses.missing;
      to_.losses.missing_bytes += aux.size;
      if (to_.losses.missing == 1) {
        to_.losses.first_missing =
            fmt::format("AUX offset {}{}", aux.offset,
                        aux.sample.cpu ? fmt::format(" of CPU {}", *aux.sample.cpu) : "");
      }
    }
    // Without AUX records, as in a pipe that was cut, each buffer is one piece.
    if (!aux_.empty()) return;
    for (std::size_t i = 0; i < to_.buffers.size(); ++i) {
      const Buffer& buffer = to_.buffers[i];
      if (buffer.bytes.empty()) continue;
      Piece piece{.buffer = i, .size = buffer.bytes.size(), .aux_offset = buffer.aux_offset};
      piece.sample.cpu = buffer.cpu;
      piece.sample.tid = buffer.tid;
      to_.pieces.push_back(piece);
    }
  }

  using BuffersOf = std::map<std::pair<bool, std::uint32_t>, std::vector<std::size_t>>;

  std::optional<Piece> find_piece(const BuffersOf& of, std::pair<bool, std::uint32_t> key,
                                  const AuxRecord& aux) const {
    const auto found = of.find(key);
    if (found == of.end()) return std::nullopt;
    const std::vector<std::size_t>& list = found->second;
    // In snapshot mode the offset is where the stretch ends.
    const bool snapshot = (aux.flags & kAuxOverwrite) != 0;
    std::uint64_t size = aux.size;
    std::uint64_t begin = aux.offset;
    const auto start_of = [&](std::size_t i) { return to_.buffers[i].aux_offset; };
    auto after = std::ranges::upper_bound(list, begin, {}, start_of);
    for (int tries = 0; after != list.begin() && tries < 2; ++tries) {
      const std::size_t number = *std::prev(after);
      const Buffer& buffer = to_.buffers[number];
      if (snapshot) {
        size = std::min<std::uint64_t>(aux.size, buffer.bytes.size());
        begin = aux.offset >= size ? aux.offset - size : 0;
      }
      if (begin >= buffer.aux_offset && begin - buffer.aux_offset <= buffer.bytes.size() &&
          size <= buffer.bytes.size() - (begin - buffer.aux_offset)) {
        Piece piece;
        piece.buffer = number;
        piece.offset = begin - buffer.aux_offset;
        piece.size = size;
        piece.aux_offset = aux.offset;
        piece.flags = aux.flags;
        piece.sample = aux.sample;
        return piece;
      }
      // A snapshot that ends where the next buffer begins.
      --after;
    }
    return std::nullopt;
  }

  void note(std::string text) {
    if (to_.notes.size() < kMostNotes) to_.notes.push_back({Severity::kWarning, std::move(text)});
  }

  struct HardwareId {
    TraceId trace_id = 0;
    std::optional<std::uint32_t> sink{};
  };

  const File& file_;
  ByteOrder order_;
  Recording& to_;
  bool has_units_ = false;
  std::vector<AuxRecord> aux_;
  std::map<std::uint32_t, HardwareId> hardware_ids_;  ///< By CPU.
};

}  // namespace

Result<Recording> Recording::read(const File& file) {
  Recording recording;
  WAYMARK_TRY(RecordingBuilder(file, recording).run());
  recording.origin = {.command = file.command_line(),
                      .host = file.feature_text(Feature::kHostname),
                      .kernel = file.feature_text(Feature::kOsRelease),
                      .architecture = file.feature_text(Feature::kArch),
                      .tool = file.feature_text(Feature::kVersion)};
  return recording;
}

bool Recording::traces_contexts() const {
  return std::ranges::any_of(units, &Unit::traces_contexts);
}

bool Recording::has_switches() const {
  return std::ranges::any_of(
      events, [](const TaskEvent& event) { return std::holds_alternative<Switched>(event.what); });
}

const Unit* Recording::unit_of_cpu(std::uint32_t cpu) const {
  const auto found = std::ranges::find(units, cpu, &Unit::cpu);
  return found == units.end() ? nullptr : &*found;
}

Bytes Recording::bytes(const Piece& piece) const {
  return buffers[piece.buffer].bytes.subspan(static_cast<std::size_t>(piece.offset),
                                             static_cast<std::size_t>(piece.size));
}

}  // namespace waymark::perf

#include "builtin_channel.h"

#include <algorithm>
#include <cstring>

#include "component_name.h"
#include "level_text.h"
#include "logger.h"
#include "opencsd/ocsd_if_version.h"
#include "waymark/element/text.h"
#include "wording/wording.h"

namespace waymark::compat {
namespace {

constexpr ocsd_datapath_op_t operation_number(Operation operation) {
  switch (operation) {
    case Operation::kEndOfTrace:
      return OCSD_OP_EOT;
    case Operation::kFlush:
      return OCSD_OP_FLUSH;
    case Operation::kReset:
      break;
  }
  return OCSD_OP_RESET;
}

ocsd_trc_index_t narrow(TraceIndex index) { return static_cast<ocsd_trc_index_t>(index); }

/// No quirk depends on where the blocks of a client without frames end.
constexpr bool may_be_cut(Protocol protocol) {
  return protocol == Protocol::kEtmV4 || protocol == Protocol::kEte;
}

}  // namespace

std::string component_name(std::string_view prefix, TraceId id) {
  std::string name(prefix);
  const std::string number = std::to_string(id);
  name += '_';
  name.append(4 - number.size(), '0');
  return name + number;
}

BuiltinChannel::BuiltinChannel(Surroundings& around, Builtin built, bool decode,
                               std::uint32_t flags, TraceId slot, bool named)
    : around_(around),
      built_(std::move(built)),
      decode_(decode),
      flags_(effective_flags(built_.source->protocol(), flags)),
      slot_(slot),
      refreshed_{.version = around.memory.version()} {
  const auto name = [&](std::string_view component) {
    return named ? component_name(component, built_.trace_id) : std::string(component);
  };
  const ComponentNames names = component_names(protocol());
  names_ = {name(names.packets), name(names.elements)};
  counts_.shown.version = OCSD_VER_NUM;
  counts_.shown.revision = OCSD_STATS_REVISION;
  input_.marks_parts = decode && built_.source->mark_parts(nullptr);
  observe();
}

// -- The data path. -------------------------------------------------------------------------------

Response BuiltinChannel::data(TraceIndex index, Bytes block) {
  answer_.response = OCSD_RESP_CONT;
  input_.used.bytes = 0;
  input_.used.from_source = true;
  if (block.empty()) {
    // A frame can end with a segment without bytes.
    if (!around_.empty_segment_fails) return OCSD_RESP_CONT;
    if (!decode_)
      Logger::instance().error(names_.packets, OCSD_ERR_SEV_ERROR, ErrorNumber::kInvalidParamVal,
                               kNoIndex, kNoTraceId,
                               "Packet Processor: Zero length data block or NULL pointer error\n");
    return OCSD_RESP_FATAL_INVALID_PARAM;
  }
  if (decode_ && !ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  if (answer_.sink_waits && client_.sink_printer) {
    answer_.sink_waits = false;
    text_.clear();
    text_.put("ID:");
    text_.hex(client_.printer_id);
    text_.put("\tERROR: FLUSH operation expected after wait on trace decode path\n");
    client_.sink_printer.print(text_.view());
    return OCSD_RESP_FATAL_INVALID_OP;
  }
  if (input_.is_ahead()) [[unlikely]]
    return data_again(index, block);
  return feed(index, block);
}

Response BuiltinChannel::feed(TraceIndex index, Bytes block) {
  input_.used.from_source = true;
  if (around_.formatted || !takes_runs() || !may_be_cut(protocol()))
    return feed_source(index, block);
  // Pieces of the block, which are read ahead.
  const std::size_t before = input_.used.bytes;
  for (std::size_t at = 0; at != block.size();) {
    const Bytes piece = block.subspan(at, std::min(block.size() - at, PartMarks::kMaxBytes));
    input_.used.bytes = before + at;
    input_.used.from_source = input_.used.careful != 0;
    if (input_.used.from_source) {
      feed_source(index + at, piece);
    } else {
      std::ranges::copy(piece, input_.bytes.begin());
      feed_ahead(PartMarks::Parts::kBytes, index + at, piece.size());
      input_.used.bytes += input_.used_parts;
    }
    if (answer_.response >= OCSD_RESP_WAIT) return answer_.response;
    at += piece.size();
  }
  return answer_.response;
}

Response BuiltinChannel::feed_source(TraceIndex index, Bytes block) {
  input_.run = {.position = 0, .index = index};
  built_.source->feed({block, {&input_.run, 1}, around_.segment_memory});
  return pump();
}

bool BuiltinChannel::takes_runs() const {
  return input_.marks_parts && around_.output.function != nullptr && !input_.is_ahead() &&
         !wants_packets();
}

Response BuiltinChannel::data_run(TraceIndex index, std::size_t frames, std::size_t& used) {
  answer_.response = OCSD_RESP_CONT;
  used = 1;
  if (!ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  feed_ahead(PartMarks::Parts::kFrames, index, frames);
  used = input_.used_parts;
  return answer_.response;
}

/// Input::bytes has them.
Response BuiltinChannel::feed_ahead(PartMarks::Parts parts, TraceIndex index, std::size_t count) {
  input_.run = {.position = 0, .index = index, .whole_frames = parts == PartMarks::Parts::kFrames};
  input_.run_parts = input_.used_parts = count;
  input_.marks.begin(parts, index);
  built_.source->mark_parts(&input_.marks);
  built_.source->feed(
      {Bytes(input_.bytes).first(count * PartMarks::bytes_of(parts)), {&input_.run, 1}});
  pump();
  built_.source->mark_parts(nullptr);
  input_.run_parts = 0;
  return answer_.response;
}

/// The end of the elements of `part` in the batch.
std::size_t BuiltinChannel::end_of_part(std::size_t part) const {
  if (part >= input_.marks.part) return batch_.count;
  const std::uint32_t end = input_.marks.ends[part];
  return end == PartMarks::kNone ? batch_.ready : end - input_.marks.elements;
}

/// After a WAIT or an error in a run: the elements of later parts are kept separately.
void BuiltinChannel::cut_run() {
  std::size_t part = 0;
  while (part < input_.marks.part && (input_.marks.ends[part] == PartMarks::kNone ||
                                      input_.marks.ends[part] < input_.marks.elements + batch_.at))
    ++part;
  batch_.ready = end_of_part(part);
  input_.used_parts = part + 1;
  const std::size_t end = input_.used_parts * PartMarks::bytes_of(input_.marks.parts);
  const std::size_t position = built_.source->withdraw();
  if (position > end) {
    input_.ahead = end;
    input_.ahead_end = position;
    input_.next_part = input_.used_parts;
  } else if (position < end) {
    input_.run = {.position = 0, .index = input_.run.index_at(position)};
    built_.source->feed({Bytes(input_.bytes).subspan(position, end - position), {&input_.run, 1}});
  }
}

/// A frame or bytes that the source has already begun to read.
Response BuiltinChannel::data_again(TraceIndex index, Bytes block) {
  const std::size_t size = std::min(block.size(), input_.left());
  if (std::memcmp(block.data(), &input_.bytes[input_.ahead], size) != 0) {
    Logger::instance().error(names_.packets, OCSD_ERR_SEV_ERROR, ErrorNumber::kInvalidParamVal,
                             index, kNoTraceId,
                             "The bytes after a WAIT are not those that were given before");
    return OCSD_RESP_FATAL_INVALID_DATA;
  }
  const bool bytes = input_.marks.parts == PartMarks::Parts::kBytes;
  input_.used.from_source = false;
  while (input_.used.bytes != size) {
    const std::size_t part = bytes ? 1 : size;
    input_.ahead += part;
    input_.used.bytes += part;
    batch_.ready = input_.is_ahead() ? end_of_part(input_.next_part++) : batch_.count;
    // The client cannot take back the rest of a frame.
    if (bytes || input_.is_ahead() || size == block.size()) pump();
    if (answer_.response >= OCSD_RESP_WAIT) return answer_.response;
  }
  if (size == block.size()) return answer_.response;
  around_.segment_memory = {};
  return feed(index + size, block.subspan(size));
}

std::size_t BuiltinChannel::withdraw() {
  return input_.used.bytes + (input_.used.from_source ? built_.source->withdraw() : 0);
}

void BuiltinChannel::forget_batch() {
  // Read, but the client never gave it again.
  counts_.uncounted += input_.left();
  batch_.clear();
  input_.ahead = input_.ahead_end = 0;
}

Response BuiltinChannel::pump() {
  answer_.holds = false;
  const bool batches = around_.formatted || input_.run_parts != 0;
  const std::size_t size = batches ? Batch::kSize : 1;
  while (true) {
    while (batch_.at != batch_.ready) {
      const Response answer =
          around_.output.function != nullptr ? deliver_all() : print(batch_.elements[batch_.at++]);
      if (end_.now && OCSD_DATA_RESP_IS_WAIT(answer) && follows_no_sync()) continue;
      answer_.add(answer);
      if (answer >= OCSD_RESP_WAIT) [[unlikely]]
        return stop();
    }
    if (input_.is_ahead()) [[unlikely]]
      return answer_.response;
    input_.marks.elements += static_cast<std::uint32_t>(batch_.count);
    batch_.clear();
    answer_.paused = false;
    // Without frames a block holds many packets, and only the part whose elements the client has
    // received counts as used: one element at a time, if the source cannot mark it.
    const std::size_t count = built_.source->next({batch_.elements.data(), size});
    if (answer_.paused) [[unlikely]]
      return stop();
    batch_.ready = batch_.count = count;
    if (count == 0) break;
    if (!batches && input_.used.careful != 0 && !input_.used.waits) --input_.used.careful;
  }
  if (built_.source->failed() && !end_.failed) {
    answer_.add(OCSD_RESP_FATAL_INVALID_DATA);
    // Only what was read counts.
    if (batches) {
      const std::size_t position = built_.source->withdraw();
      input_.used_parts = around_.formatted ? input_.marks.part + std::size_t{1} : position;
    }
  }
  return answer_.response;
}

/// At the end of the trace the answer to a NO_SYNC does not count: EO_TRACE follows it at once.
bool BuiltinChannel::follows_no_sync() const {
  return batch_.at != 0 && batch_.elements[batch_.at - 1].kind == ElementKind::kNoSync;
}

/// Elements to the client's function, until it answers with more than CONT.
Response BuiltinChannel::deliver_all() {
  // The function may change the output.
  const FnTraceElemIn function = around_.output.function;
  const void* const context = around_.output.context;
  Response answer = OCSD_RESP_CONT;
  // The function may also reset or flush the channel, so the place is in the batch.
  while (answer == OCSD_RESP_CONT && batch_.at != batch_.ready) {
    const Element& element = batch_.elements[batch_.at++];
    if (element.kind == ElementKind::kInstrRange) [[likely]] {
      answer =
          function(context, narrow(element.index), element.trace_id, struct_.fill_range(element));
    } else if (const ocsd_generic_trace_elem* const filled = struct_.fill(element)) {
      answer = function(context, narrow(element.index), element.trace_id, filled);
      if (element.kind == ElementKind::kPeContext) follow_context(element);
    }
  }
  return answer;
}

// The rest waits for a flush; after a fatal answer nothing is left.
Response BuiltinChannel::stop() {
  answer_.holds = answer_.response < OCSD_RESP_FATAL_NOT_INIT;
  if (OCSD_DATA_RESP_IS_WAIT(answer_.response)) {
    input_.used.waits = true;
    input_.used.careful = Used::kCareful;
  }
  if (input_.run_parts != 0) cut_run();
  if (answer_.holds) return answer_.response;
  batch_.at = batch_.ready;
  if (!input_.is_ahead()) batch_.clear();
  if (around_.formatted) built_.source->withdraw();
  return answer_.response;
}

Response BuiltinChannel::print(const Element& element) {
  if (around_.output.printer) {
    text_.clear();
    write_at_level(text_, [&](TextBuffer& to) { write_element_line(to, element); });
    around_.output.printer.print(text_.view());
  }
  if (element.kind == ElementKind::kPeContext) follow_context(element);
  return OCSD_RESP_CONT;
}

/// Memory functions answer for the running process.  Their answers in other contexts are kept
/// separately; but since the last call of the client, the memory of the same context may have
/// changed.
void BuiltinChannel::follow_context(const Element& element) {
  if (!same_context(element, refreshed_.context) && refreshed_.call != around_.calls &&
      batch_.at == batch_.count && around_.memory.image().has_callbacks()) {
    refreshed_.call = around_.calls;
    built_.source->refresh();
  }
  refreshed_.context = element;
}

void BuiltinChannel::refresh_if_changed() {
  const std::uint64_t version = around_.memory.version();
  if (version == refreshed_.version && around_.memory.caches()) [[likely]]
    return;
  if (version == refreshed_.version && !around_.memory.image().has_callbacks()) return;
  refreshed_.version = version;
  built_.source->refresh();
}

bool BuiltinChannel::ready() {
  if (built_.refused) {
    not_ready("No decoder configuration information");
  } else if (!around_.output.exists()) [[unlikely]] {
    not_ready("No element output interface attached and enabled");
  } else if (built_.reads_memory && !around_.memory.exists()) [[unlikely]] {
    not_ready("No memory access interface attached and enabled");
  } else {
    return true;
  }
  return false;
}

void BuiltinChannel::not_ready(std::string_view message) const {
  Logger::instance().error(names_.elements, OCSD_ERR_SEV_ERROR, ErrorNumber::kNotInit, kNoIndex,
                           kNoTraceId, message);
}

Response BuiltinChannel::flush() {
  answer_.response = OCSD_RESP_CONT;
  answer_.sink_waits = false;
  if (decode_) refresh_if_changed();
  if (client_.has_sink()) {
    answer_.response = to_sink(Operation::kFlush);
    if (answer_.response >= OCSD_RESP_WAIT) {
      answer_.holds = answer_.response < OCSD_RESP_FATAL_NOT_INIT;
      return answer_.response;
    }
  }
  return pump();
}

Response BuiltinChannel::end_of_trace() {
  answer_.response = OCSD_RESP_CONT;
  if (decode_ && !ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  // The client keeps the bytes that it would have to give again.
  if (input_.is_ahead()) forget_batch();
  // The end can still be reported after a fatal error.
  end_.failed = built_.source->failed();
  end_.reported = false;
  built_.source->finish();
  end_.now = true;
  pump();
  end_.now = false;
  // Even if something waits now, the monitor has received the end.
  if (!end_.reported) {
    end_.reported = true;
    to_monitor(Operation::kEndOfTrace);
  }
  return answer_.response;
}

Response BuiltinChannel::reset() {
  answer_.response = OCSD_RESP_CONT;
  forget_batch();
  answer_.holds = answer_.paused = answer_.sink_waits = end_.failed = false;
  refreshed_.context = {};
  built_.source->reset();
  if (around_.memory.image().has_callbacks()) built_.source->refresh();
  refreshed_.call = around_.calls;
  return answer_.response;
}

// -- Packets. -------------------------------------------------------------------------------------

bool BuiltinChannel::wants_packets() const {
  return client_.has_sink() || client_.has_monitor() ||
         (flags_ & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0;
}

bool BuiltinChannel::monitors_packets() const { return client_.has_monitor(); }

void BuiltinChannel::on_packet(const PacketRef& packet) {
  if (packet.bad && (flags_ & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0) {
    answer_.add(OCSD_RESP_FATAL_INVALID_DATA);
    answer_.paused = true;
    return;
  }
  // Monitors get everything that has bytes; sinks only get packets.
  const bool monitored = client_.has_monitor() && !packet.bytes.empty() &&
                         !(packet.bad && (flags_ & OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS) != 0);
  const bool sunk = client_.has_sink() && !packet.monitor_only &&
                    !(packet.bad && (flags_ & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS) != 0);
  if (monitored && client_.monitor_printer) print_packet(client_.monitor_printer, packet, true);
  if (sunk && client_.sink_printer) print_packet(client_.sink_printer, packet, false);
  if ((monitored && client_.monitor != nullptr) || (sunk && client_.sink != nullptr)) {
    const void* const filled = built_.packets.fill(packet);
    if (monitored && client_.monitor != nullptr)
      client_.monitor(client_.monitor_context, OCSD_OP_DATA, narrow(packet.index), filled,
                      static_cast<std::uint32_t>(packet.bytes.size()), packet.bytes.data());
    if (sunk && client_.sink != nullptr) {
      const Response answer =
          client_.sink(client_.sink_context, OCSD_OP_DATA, narrow(packet.index), filled);
      answer_.add(answer);
      // The end follows an unfinished packet immediately.
      if (end_.now && OCSD_DATA_RESP_IS_WAIT(answer)) return;
      answer_.paused = answer_.paused || answer >= OCSD_RESP_WAIT;
      answer_.sink_waits = OCSD_DATA_RESP_IS_WAIT(answer);
    }
  }
}

void BuiltinChannel::print_packet(const Printer& printer, const PacketRef& packet,
                                  bool with_bytes) {
  text_.clear();
  text_.put("Idx:");
  text_.dec(packet.index);
  text_.put("; ID:");
  text_.hex(client_.printer_id);
  text_.put(';');
  if (with_bytes) {
    text_.put(" [");
    for (const std::uint8_t byte : packet.bytes) {
      text_.put("0x");
      text_.hex(byte, 2);
      text_.put(' ');
    }
    text_.put("];");
  }
  text_.put('\t');
  write_at_level(text_, [&](TextBuffer& to) { built_.source->write_packet(to, packet); });
  text_.put('\n');
  printer.print(text_.view());
}

void BuiltinChannel::print_operation(const Printer& printer, Operation operation) {
  constexpr std::string_view kTexts[] = {"\tEND OF TRACE DATA\n",
                                         "\tFLUSH operation on trace decode path\n",
                                         "\tRESET operation on trace decode path\n"};
  text_.clear();
  text_.put("ID:");
  text_.hex(client_.printer_id);
  text_.put(kTexts[static_cast<std::size_t>(operation)]);
  printer.print(text_.view());
}

void BuiltinChannel::on_operation(Operation operation, TraceId /*trace_id*/) {
  const Response answer = client_.has_sink() ? to_sink(operation) : OCSD_RESP_CONT;
  if (operation == Operation::kEndOfTrace) {
    // The sink's answer to the end replaces its answer to an unfinished packet.
    if (client_.has_sink()) answer_.response = answer;
    if (end_.reported) return;
    end_.reported = true;
  } else {
    // After a reset, only a fatal answer counts.
    if (answer >= OCSD_RESP_FATAL_NOT_INIT) answer_.add(answer);
  }
  to_monitor(operation);
}

Response BuiltinChannel::to_sink(Operation operation) {
  if (client_.sink_printer) print_operation(client_.sink_printer, operation);
  if (client_.sink == nullptr) return OCSD_RESP_CONT;
  const TraceIndex index = operation == Operation::kReset ? around_.reset_index : 0;
  return client_.sink(client_.sink_context, operation_number(operation),
                      static_cast<ocsd_trc_index_t>(index), nullptr);
}

void BuiltinChannel::to_monitor(Operation operation) {
  if (client_.monitor_printer) print_operation(client_.monitor_printer, operation);
  if (client_.monitor != nullptr)
    client_.monitor(client_.monitor_context, operation_number(operation), 0, nullptr, 0, nullptr);
}

void BuiltinChannel::on_diagnostic(const Diagnostic& record) {
  // The packet processor under a full decoder has no logger (frames.md 8).
  const bool packets = record.stage == Stage::kPackets;
  if (!(packets && decode_)) {
    const Wording wording = wording_of(record, protocol());
    Logger::instance().error(packets ? names_.packets : names_.elements,
                             static_cast<ocsd_err_severity_t>(record.severity), wording.number,
                             wording.index, record.trace_id, wording.text);
  }
  // The answer to the end replaces that to the packet that it cuts (frames.md 8).
  if (!packets && !end_.now) answer_.add(answer_to(record, protocol(), flags_));
}

// -- Clients. -------------------------------------------------------------------------------------

ErrorNumber BuiltinChannel::attach_sink(FnDefPktDataIn function, const void* context) {
  // The decoder is the sink of its packets.
  if (decode_) return ErrorNumber::kInvalidParamType;
  client_.sink = function;
  client_.sink_context = context;
  client_.sink_printer = {};
  observe();
  return ErrorNumber::kOk;
}

ErrorNumber BuiltinChannel::attach_monitor(FnDefPktDataMon function, const void* context) {
  client_.monitor = function;
  client_.monitor_context = context;
  client_.monitor_printer = {};
  observe();
  return ErrorNumber::kOk;
}

ErrorNumber BuiltinChannel::attach_printer(TraceId shown_id, bool monitor) {
  if (!monitor && decode_) return ErrorNumber::kInvalidParamType;
  client_.printer_id = shown_id;
  if (monitor) {
    client_.monitor = nullptr;
    client_.monitor_printer = Logger::instance().make_printer();
  } else {
    client_.sink = nullptr;
    client_.sink_printer = Logger::instance().make_printer();
  }
  observe();
  return ErrorNumber::kOk;
}

ErrorNumber BuiltinChannel::statistics(const ocsd_demux_stats_t& frames,
                                       ocsd_decode_stats_t*& out) {
  if (protocol() != Protocol::kEtmV4 && protocol() != Protocol::kEte) return ErrorNumber::kNotInit;
  const SourceStatistics counts = built_.source->statistics();
  counts_.shown.channel_total = counts.total_bytes - counts_.uncounted - input_.left();
  counts_.shown.channel_unsynced = std::min(counts.unsynced_bytes, counts_.shown.channel_total);
  counts_.shown.bad_header_errs = counts.bad_headers;
  counts_.shown.bad_sequence_errs = counts.bad_sequences;
  counts_.shown.demux = frames;
  out = &counts_.shown;
  return ErrorNumber::kOk;
}

bool BuiltinChannel::reset_statistics() {
  built_.source->reset_statistics();
  // Data that the source has read ahead will be given again, and is counted then.
  counts_.uncounted = 0 - static_cast<std::uint64_t>(input_.left());
  counts_.shown.channel_total = counts_.shown.channel_unsynced = 0;
  counts_.shown.bad_header_errs = counts_.shown.bad_sequence_errs = 0;
  counts_.shown.demux = {};
  return true;
}

}  // namespace waymark::compat

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

bool same_context(const Element& a, const Element& b) {
  constexpr unsigned kStates =
      kElementContextIdValid | kElementVmidValid | kElementElValid | kElement64Bit;
  return a.context_id == b.context_id && a.vmid == b.vmid && a.security == b.security &&
         a.exception_level == b.exception_level && (a.flags & kStates) == (b.flags & kStates);
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
      image_version_(around.memory.version()) {
  const ComponentNames names = component_names(protocol());
  packet_component_ =
      named ? component_name(names.packets, built_.trace_id) : std::string(names.packets);
  element_component_ =
      named ? component_name(names.elements, built_.trace_id) : std::string(names.elements);
  statistics_.version = OCSD_VER_NUM;
  statistics_.revision = OCSD_STATS_REVISION;
  marks_frames_ = decode && built_.source->mark_frames(nullptr);
  observe();
}

// -- The data path. -------------------------------------------------------------------------------

Response BuiltinChannel::data(TraceIndex index, Bytes block) {
  response_ = OCSD_RESP_CONT;
  if (block.empty()) {
    // A frame can end with a segment without bytes.
    if (!around_.empty_segment_fails) return OCSD_RESP_CONT;
    if (!decode_)
      Logger::instance().error(packet_component_, OCSD_ERR_SEV_ERROR, ErrorNumber::kInvalidParamVal,
                               kNoIndex, kNoTraceId,
                               "Packet Processor: Zero length data block or NULL pointer error\n");
    return OCSD_RESP_FATAL_INVALID_PARAM;
  }
  if (decode_ && !ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  if (sink_waits_ && client_.sink_printer) {
    sink_waits_ = false;
    text_.clear();
    text_.put("ID:");
    text_.hex(client_.printer_id);
    text_.put("\tERROR: FLUSH operation expected after wait on trace decode path\n");
    client_.sink_printer.print(text_.view());
    return OCSD_RESP_FATAL_INVALID_OP;
  }
  if (ahead()) [[unlikely]]
    return data_again(index, block);
  return feed(index, block);
}

Response BuiltinChannel::feed(TraceIndex index, Bytes block) {
  run_ = {.position = 0, .index = index};
  built_.source->feed({block, {&run_, 1}, around_.segment_memory});
  return pump();
}

bool BuiltinChannel::takes_runs() const {
  return marks_frames_ && around_.output.function != nullptr && !ahead() && !wants_packets();
}

Response BuiltinChannel::data_run(TraceIndex index, std::size_t frames, std::size_t& used) {
  response_ = OCSD_RESP_CONT;
  used = 1;
  if (!ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  run_ = {.position = 0, .index = index, .whole_frames = true};
  run_frames_ = used_frames_ = frames;
  marks_.begin(index);
  built_.source->mark_frames(&marks_);
  built_.source->feed({Bytes(run_bytes_).first(frames * frames::kPlainFrameBytes), {&run_, 1}});
  pump();
  built_.source->mark_frames(nullptr);
  run_frames_ = 0;
  used = used_frames_;
  return response_;
}

/// The end of the elements of `frame` in the batch.
std::size_t BuiltinChannel::end_of_frame(std::size_t frame) const {
  if (frame >= marks_.frame) return count_;
  const std::uint32_t end = marks_.ends[frame];
  return end == FrameMarks::kNone ? ready_ : end - marks_.elements;
}

/// After a WAIT or an error in a run of frames: the elements of later frames are kept separately.
void BuiltinChannel::cut_run() {
  std::size_t frame = 0;
  while (frame < marks_.frame &&
         (marks_.ends[frame] == FrameMarks::kNone || marks_.ends[frame] < marks_.elements + at_))
    ++frame;
  ready_ = end_of_frame(frame);
  used_frames_ = frame + 1;
  const std::size_t end = used_frames_ * frames::kPlainFrameBytes;
  const std::size_t position = built_.source->withdraw();
  if (position > end) {
    ahead_ = end;
    ahead_end_ = position;
    next_frame_ = used_frames_;
  } else if (position < end) {
    run_ = {.position = 0, .index = run_.index_at(position)};
    built_.source->feed({Bytes(run_bytes_).subspan(position, end - position), {&run_, 1}});
  }
}

/// A frame that the source has already begun to read.
Response BuiltinChannel::data_again(TraceIndex index, Bytes block) {
  const std::size_t size = std::min(block.size(), ahead_end_ - ahead_);
  if (std::memcmp(block.data(), &run_bytes_[ahead_], size) != 0) {
    Logger::instance().error(packet_component_, OCSD_ERR_SEV_ERROR, ErrorNumber::kInvalidParamVal,
                             index, kNoTraceId,
                             "The bytes after a WAIT are not those that were given before");
    return OCSD_RESP_FATAL_INVALID_DATA;
  }
  ahead_ += size;
  if (!ahead()) {
    ready_ = count_;
    if (size == block.size()) return pump();
    around_.segment_memory = {};
    return feed(index + size, block.subspan(size));
  }
  ready_ = end_of_frame(next_frame_++);
  return pump();
}

void BuiltinChannel::forget_batch() {
  // Read, but the client never gave it again.
  uncounted_ += ahead_end_ - ahead_;
  at_ = ready_ = count_ = 0;
  ahead_ = ahead_end_ = 0;
}

Response BuiltinChannel::pump() {
  holds_ = false;
  const std::size_t size = around_.formatted ? kBatch : 1;
  while (true) {
    while (at_ != ready_) {
      const Response answer =
          batch_[at_].kind == ElementKind::kInstrRange && around_.output.function != nullptr
              ? deliver_ranges()
              : deliver(batch_[at_++]);
      if (ending_ && OCSD_DATA_RESP_IS_WAIT(answer) && follows_no_sync()) continue;
      response_ = worse(response_, answer);
      if (answer >= OCSD_RESP_WAIT) [[unlikely]]
        return stop();
    }
    if (ahead()) [[unlikely]]
      return response_;
    marks_.elements += static_cast<std::uint32_t>(count_);
    at_ = ready_ = count_ = 0;
    paused_ = false;
    // Without frames a block holds many packets, and only the part whose elements the client has
    // received counts as used: one element at a time.
    const std::size_t count = built_.source->next({batch_.data(), size});
    if (paused_) [[unlikely]]
      return stop();
    ready_ = count_ = count;
    if (count == 0) break;
  }
  if (built_.source->failed() && !ended_failed_) {
    response_ = worse(response_, OCSD_RESP_FATAL_INVALID_DATA);
    if (run_frames_ != 0) used_frames_ = marks_.frame + std::size_t{1};
    if (around_.formatted) built_.source->withdraw();  // Only what was read counts.
  }
  return response_;
}

/// At the end of the trace the answer to a NO_SYNC does not count: EO_TRACE follows it at once.
bool BuiltinChannel::follows_no_sync() const {
  return at_ != 0 && batch_[at_ - 1].kind == ElementKind::kNoSync;
}

/// The loop for nearly all elements.  It ends at the first element that is not a range, or that the
/// client answers with more than CONT.
Response BuiltinChannel::deliver_ranges() {
  // The function may change the output.
  const FnTraceElemIn function = around_.output.function;
  const void* const context = around_.output.context;
  std::size_t at = at_;
  const std::size_t end = ready_;
  Response answer = OCSD_RESP_CONT;
  do {
    const Element& element = batch_[at++];
    answer =
        function(context, narrow(element.index), element.trace_id, struct_.fill_range(element));
  } while (answer == OCSD_RESP_CONT && at != end && batch_[at].kind == ElementKind::kInstrRange);
  at_ = at;
  return answer;
}

// The rest waits for a flush; after a fatal answer nothing is left.
Response BuiltinChannel::stop() {
  holds_ = response_ < OCSD_RESP_FATAL_NOT_INIT;
  if (run_frames_ != 0) cut_run();
  if (holds_) return response_;
  at_ = ready_;
  if (!ahead()) at_ = ready_ = count_ = 0;
  if (around_.formatted) built_.source->withdraw();
  return response_;
}

Response BuiltinChannel::deliver(const Element& element) {
  const ElementOutput& output = around_.output;
  if (output.function != nullptr) [[likely]] {
    const ocsd_generic_trace_elem* const filled = struct_.fill(element);
    if (filled == nullptr) return OCSD_RESP_CONT;
    const Response answer =
        output.function(output.context, narrow(element.index), element.trace_id, filled);
    if (element.kind == ElementKind::kPeContext) follow_context(element);
    return answer;
  }
  if (output.printer) {
    text_.clear();
    write_at_level(text_, [&](TextBuffer& to) { write_element_line(to, element); });
    output.printer.print(text_.view());
  }
  if (element.kind == ElementKind::kPeContext) follow_context(element);
  return OCSD_RESP_CONT;
}

/// Memory functions answer for the running process.  Their answers in other contexts are kept
/// separately; but since the last call of the client, the memory of the same context may have
/// changed.
void BuiltinChannel::follow_context(const Element& element) {
  if (!same_context(element, context_) && refreshed_call_ != around_.calls && at_ == count_ &&
      around_.memory.image().has_callbacks()) {
    refreshed_call_ = around_.calls;
    built_.source->refresh();
  }
  context_ = element;
}

void BuiltinChannel::refresh_if_changed() {
  const std::uint64_t version = around_.memory.version();
  if (version == image_version_ && around_.memory.caches()) [[likely]]
    return;
  if (version == image_version_ && !around_.memory.image().has_callbacks()) return;
  image_version_ = version;
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

void BuiltinChannel::not_ready(std::string_view message) {
  Logger::instance().error(element_component_, OCSD_ERR_SEV_ERROR, ErrorNumber::kNotInit, kNoIndex,
                           kNoTraceId, message);
}

Response BuiltinChannel::flush() {
  response_ = OCSD_RESP_CONT;
  sink_waits_ = false;
  if (decode_) refresh_if_changed();
  if (client_.has_sink()) {
    response_ = to_sink(Operation::kFlush);
    if (response_ >= OCSD_RESP_WAIT) {
      holds_ = response_ < OCSD_RESP_FATAL_NOT_INIT;
      return response_;
    }
  }
  return pump();
}

Response BuiltinChannel::end_of_trace() {
  response_ = OCSD_RESP_CONT;
  if (decode_ && !ready()) return OCSD_RESP_FATAL_NOT_INIT;
  refresh_if_changed();
  // The client keeps the bytes that it would have to give again.
  if (ahead()) forget_batch();
  // The end can still be reported after a fatal error.
  ended_failed_ = built_.source->failed();
  end_told_ = false;
  built_.source->finish();
  ending_ = true;
  pump();
  ending_ = false;
  // Even if something waits now, the monitor has received the end.
  if (!end_told_) {
    end_told_ = true;
    to_monitor(Operation::kEndOfTrace);
  }
  return response_;
}

Response BuiltinChannel::reset() {
  response_ = OCSD_RESP_CONT;
  forget_batch();
  holds_ = paused_ = sink_waits_ = ended_failed_ = false;
  context_ = {};
  built_.source->reset();
  if (around_.memory.image().has_callbacks()) built_.source->refresh();
  refreshed_call_ = around_.calls;
  return response_;
}

// -- Packets. -------------------------------------------------------------------------------------

bool BuiltinChannel::wants_packets() const {
  return client_.has_sink() || client_.has_monitor() ||
         (flags_ & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0;
}

bool BuiltinChannel::monitors_packets() const { return client_.has_monitor(); }

void BuiltinChannel::on_packet(const PacketRef& packet) {
  if (packet.bad && (flags_ & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0) {
    response_ = worse(response_, OCSD_RESP_FATAL_INVALID_DATA);
    paused_ = true;
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
      response_ = worse(response_, answer);
      // The end follows an unfinished packet immediately.
      if (ending_ && OCSD_DATA_RESP_IS_WAIT(answer)) return;
      paused_ = paused_ || answer >= OCSD_RESP_WAIT;
      sink_waits_ = OCSD_DATA_RESP_IS_WAIT(answer);
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
    if (client_.has_sink()) response_ = answer;
    if (end_told_) return;
    end_told_ = true;
  } else {
    // After a reset, only a fatal answer counts.
    if (answer >= OCSD_RESP_FATAL_NOT_INIT) response_ = worse(response_, answer);
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
    Logger::instance().error(packets ? packet_component_ : element_component_,
                             static_cast<ocsd_err_severity_t>(record.severity), wording.number,
                             wording.index, record.trace_id, wording.text);
  }
  const bool etm4 = protocol() == Protocol::kEtmV4 || protocol() == Protocol::kEte;
  if (packets || !etm4) return;
  // The answer to bad packets; see etmv4-ete.md 4.11.
  if (record.fault == Fault::kBadPacket || record.fault == Fault::kUnsupportedPacket) {
    const bool error = (flags_ & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS) != 0;
    response_ = worse(response_, error ? OCSD_RESP_ERR_CONT : OCSD_RESP_WARN_CONT);
  }
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
  statistics_.channel_total = counts.total_bytes - uncounted_ - (ahead_end_ - ahead_);
  statistics_.channel_unsynced = std::min(counts.unsynced_bytes, statistics_.channel_total);
  statistics_.bad_header_errs = counts.bad_headers;
  statistics_.bad_sequence_errs = counts.bad_sequences;
  statistics_.demux = frames;
  out = &statistics_;
  return ErrorNumber::kOk;
}

bool BuiltinChannel::reset_statistics() {
  built_.source->reset_statistics();
  // What the source has read ahead will be given again, and is counted then.
  uncounted_ = 0 - static_cast<std::uint64_t>(ahead_end_ - ahead_);
  statistics_.channel_total = statistics_.channel_unsynced = 0;
  statistics_.bad_header_errs = statistics_.bad_sequence_errs = 0;
  statistics_.demux = {};
  return true;
}

}  // namespace waymark::compat

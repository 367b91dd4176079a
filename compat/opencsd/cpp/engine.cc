#include "engine.h"

#include <algorithm>

#include "error_text.h"
#include "i_dec/trc_i_decode.h"
#include "segment_memory.h"
#include "wording/wording.h"

namespace waymark::compat {
namespace {

ocsd_trc_index_t narrow(TraceIndex index) {
  return index == kNoIndex ? OCSD_BAD_TRC_INDEX : static_cast<ocsd_trc_index_t>(index);
}

}  // namespace

Bytes& MemoryScope::current() {
  thread_local Bytes memory;  // NOLINT(misc-use-internal-linkage): it is local.
  return memory;
}

Bytes delivered_memory(Bytes block) {
  const Bytes memory = MemoryScope::current();
  return memory.data() == block.data() ? memory : Bytes{};
}

// -- The decoder's interfaces. --------------------------------------------------------------------

BuiltinDecoder::BuiltinDecoder(std::string_view name, int instance, bool reads_memory,
                               TraceId trace_id)
    : TrcPktDecodeI(std::string(name).c_str()), trace_id_(trace_id) {
  if (instance >= 0) {
    const std::string number = std::to_string(instance);
    setComponentName(std::string(name) + '_' +
                     std::string(4 - std::min<std::size_t>(number.size(), 4), '0') + number);
  }
  setUsesMemAccess(reads_memory);
  setUsesIDecode(reads_memory);
  m_supported_op_flags = OCSD_OPFLG_PKTDEC_COMMON | OCSD_OPFLG_COMP_MODE_MASK;
  m_config_init_ok = true;
}

bool BuiltinDecoder::ready() {
  // Interfaces may have been detached since.
  m_decode_init_ok = false;
  if (checkInit()) [[likely]]
    return true;
  LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_NOT_INIT, init_err_msg));
  return false;
}

// -- The engine. ----------------------------------------------------------------------------------

void Engine::set_decoder(BuiltinDecoder* decoder) {
  decoder_ = decoder;
  built_.reset();
}

void Engine::configure() {
  built_.reset();
  batch_.clear();
}

// False: something that decoding needs is missing; the log names it.
bool Engine::prepare() {
  sink_ = nullptr;
  refreshed_ = false;
  if (decoder_ != nullptr) {
    if (!decoder_->ready()) [[unlikely]]
      return false;
    sink_ = decoder_->sink();
  }
  if (!memory_)
    memory_.emplace([this](const ocsdError& error) {
      if (decoder_ != nullptr) decoder_->log(error);
    });
  const bool changed = decoder_ != nullptr && memory_->update(decoder_->memory());
  if (!built_) {
    flags_ = flags();
    if (decoder_ != nullptr) {
      flags_ |= decoder_->getComponentOpMode();
      const auto* const own = dynamic_cast<const TrcIDecode*>(decoder_->instructions());
      if (own != nullptr && own->errOnBadOpcode()) flags_ |= kA64OpcodeCheck;
    }
    built_ = make(decoder_ != nullptr, flags_, memory_->image());
    if (built_ && built_->source != nullptr)
      flags_ = effective_flags(built_->source->protocol(), flags_);
    if (!built_ || built_->source == nullptr || built_->refused) {
      built_.reset();
      if (decoder_ == nullptr) return false;
      decoder_->refuse();
      return decoder_->ready();
    }
    showing_ = shows_packets();
    monitored_ = showing_ && has_monitor();
    observe();
    return true;
  }
  if (changed) built_->source->refresh();
  const bool shows = shows_packets();
  const bool monitored = shows && has_monitor();
  if (shows != showing_ || monitored != monitored_) {
    showing_ = shows;
    monitored_ = monitored;
    observe();
  }
  return true;
}

void Engine::observe() { built_->source->set_observer(this, built_->trace_id); }

Response Engine::data(ocsd_trc_index_t index, Bytes block, std::uint32_t& used) {
  used = 0;
  answer_.response = OCSD_RESP_CONT;
  if (!prepare()) return OCSD_RESP_FATAL_NOT_INIT;
  // A client that leaves out the FLUSH loses nothing.
  if (!batch_.empty() && pump() >= OCSD_RESP_WAIT) return answer_.response;
  // Only the part of the block whose elements the client has received counts as used: one element
  // at a time.
  batch_.size = block.size() <= Batch::kSegment ? Batch::kMost : 1;
  run_ = {.position = 0, .index = index};
  built_->source->feed({block, {&run_, 1}, delivered_memory(block)});
  const Response response = pump();
  // The block belongs to the caller: it must not be read after this call.
  used = static_cast<std::uint32_t>(response >= OCSD_RESP_WAIT ? built_->source->withdraw()
                                                               : block.size());
  return response;
}

Response Engine::pump() {
  Source& source = *built_->source;
  while (true) {
    while (!batch_.empty()) {
      const Element& element = batch_.elements[batch_.at++];
      const Response answer = deliver(element);
      // At the end of the trace the answer to a NO_SYNC does not count: EO_TRACE follows it at
      // once.
      if (end_.now && OCSD_DATA_RESP_IS_WAIT(answer) && element.kind == ElementKind::kNoSync)
        continue;
      answer_.add(answer);
      if (answer >= OCSD_RESP_WAIT) [[unlikely]]
        return stop();
    }
    batch_.clear();
    answer_.paused = false;
    const std::size_t count = source.next({batch_.elements.data(), batch_.size});
    if (answer_.paused) [[unlikely]] {
      batch_.count = count;
      return stop();
    }
    batch_.count = count;
    if (count == 0) break;
  }
  if (source.failed() && !end_.failed) answer_.add(OCSD_RESP_FATAL_INVALID_DATA);
  return answer_.response;
}

// The rest waits for a flush; after a fatal answer nothing is left.
Response Engine::stop() {
  if (OCSD_DATA_RESP_IS_FATAL(answer_.response)) batch_.clear();
  return answer_.response;
}

Response Engine::deliver(const Element& element) {
  // Ranges, the most frequent elements, need no intermediate structure.
  if (element.kind == ElementKind::kInstrRange) [[likely]] {
    ElementStruct::fill_range(element, element_);
  } else {
    const ocsd_generic_trace_elem* const filled = struct_.fill(element);
    if (filled == nullptr) return OCSD_RESP_CONT;
    static_cast<ocsd_generic_trace_elem&>(element_) = *filled;
    if (element.kind == ElementKind::kPeContext) follow_context(element);
  }
  return sink_->TraceElemIn(static_cast<ocsd_trc_index_t>(element.index), element.trace_id,
                            element_);
}

/// Memory read in other contexts is kept separately; but since the last call of the client, the
/// memory of the same context may have changed.
void Engine::follow_context(const Element& element) {
  if (!same_context(element, context_)) {
    const Protocol protocol = built_->source->protocol();
    if (protocol == Protocol::kEtmV4 || protocol == Protocol::kEte) {
      if (ITargetMemAccess* const memory = decoder_->memory())
        memory->InvalidateMemAccCache(element.trace_id);
    }
    if (!refreshed_ && batch_.empty() && memory_->image().has_callbacks()) {
      refreshed_ = true;
      built_->source->refresh();
    }
  }
  context_ = element;
}

Response Engine::flush() {
  answer_.response = OCSD_RESP_CONT;
  if (!built_) return OCSD_RESP_CONT;
  if (!prepare()) return OCSD_RESP_FATAL_NOT_INIT;
  return pump();
}

Response Engine::end_of_trace() {
  answer_.response = OCSD_RESP_CONT;
  if (!prepare()) return OCSD_RESP_FATAL_NOT_INIT;
  if (!batch_.empty() && pump() >= OCSD_RESP_WAIT) return answer_.response;
  // The end can still be reported after a fatal error.
  end_.failed = built_->source->failed();
  built_->source->finish();
  end_.now = true;
  const Response response = pump();
  end_.now = false;
  return response;
}

Response Engine::reset() {
  batch_.clear();
  end_.failed = false;
  context_ = {};
  if (built_) {
    built_->source->reset();
    if (memory_ && memory_->image().has_callbacks()) built_->source->refresh();
  }
  return OCSD_RESP_CONT;
}

SourceStatistics Engine::statistics() const {
  return built_ ? built_->source->statistics() : SourceStatistics{};
}

void Engine::reset_statistics() {
  if (built_) built_->source->reset_statistics();
}

// -- What the source sees on the way. -------------------------------------------------------------

void Engine::on_packet(const PacketRef& packet) {
  // For the flags of PTM, no packet is bad.
  answer_.bad_packet = packet.bad && built_->source->protocol() != Protocol::kPtm;
  if (packet.bad && (flags_ & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0) {
    answer_.add(OCSD_RESP_FATAL_INVALID_DATA);
    answer_.paused = true;
    return;
  }
  const Response answer = show(packet, built_->packets);
  answer_.add(answer);
  answer_.paused = answer_.paused || answer >= OCSD_RESP_WAIT;
}

void Engine::on_diagnostic(const Diagnostic& record) {
  const bool packets = record.stage == Stage::kPackets;
  const Protocol protocol = built_->source->protocol();
  const Wording wording = wording_of(record, protocol);
  const ocsdError error(static_cast<ocsd_err_severity_t>(record.severity),
                        static_cast<ocsd_err_t>(wording.number), narrow(wording.index),
                        record.trace_id == kNoTraceId ? OCSD_BAD_CS_SRC_ID : record.trace_id,
                        std::string(wording.text));
  // A decode tree attaches its logger only to the decoder (frames.md 8); a client without a tree
  // may attach one to the packet processor, which then says what is wrong with a packet.
  if (packets) return log(error);
  if (decoder_ != nullptr) decoder_->log(error);
  // The answer to the end replaces that to the packet that it cuts (frames.md 8).
  if (!end_.now) answer_.add(answer_to(record, protocol, flags_));
}

}  // namespace waymark::compat

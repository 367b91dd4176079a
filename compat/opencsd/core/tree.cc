#include "tree.h"

#include "builtin_channel.h"
#include "custom.h"
#include "logged_quirks.h"
#include "logger.h"
#include "waymark/frames/text.h"
#include "wording/wording.h"

namespace waymark::compat {
namespace {

constexpr std::string_view kDeformatter = "DFMT_CSFRAMES";
constexpr std::uint32_t kCreateMask = OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER;

void log_frames(ErrorNumber number, TraceIndex index, std::string_view message) {
  Logger::instance().error(kDeformatter, OCSD_ERR_SEV_ERROR, number, index, kNoTraceId, message);
}

std::string_view flag_error(std::uint32_t flags) {
  constexpr std::uint32_t kSyncs = OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS;
  if ((flags & OCSD_DFRMTR_VALID_MASK) == 0) return "No Config Flags Set";
  if ((flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) != 0 && (flags & kSyncs) != 0)
    return "Invalid Config Flag Combination Set";
  if ((flags & ~std::uint32_t{OCSD_DFRMTR_VALID_MASK}) != 0) return "Unknown Config Flags";
  return {};
}

}  // namespace

std::unique_ptr<Tree> Tree::create(ocsd_dcd_tree_src_t type, std::uint32_t flags) {
  if (!level_is_known()) return nullptr;
  if (type == OCSD_TRC_SRC_SINGLE) return std::unique_ptr<Tree>(new Tree(std::nullopt));
  if (type != OCSD_TRC_SRC_FRAME_FORMATTED) return nullptr;
  if (const std::string_view error = flag_error(flags); !error.empty()) {
    log_frames(ErrorNumber::kInvalidParamVal, kNoIndex, error);
    return nullptr;
  }
  frames::Options options;
  options.has_fsyncs = (flags & OCSD_DFRMTR_HAS_FSYNCS) != 0;
  options.has_hsyncs = (flags & OCSD_DFRMTR_HAS_HSYNCS) != 0;
  options.memory_aligned = (flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) != 0;
  options.reset_on_4x_fsync =
      options.memory_aligned && (flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC) != 0;
  std::unique_ptr<Tree> tree(new Tree(options));
  tree->raw_flags_given_ = flags;
  return tree;
}

Tree::Tree(std::optional<frames::Options> framing) {
  around_.formatted = framing.has_value();
  const frames::Quirks quirks = frame_quirks();
  around_.empty_segment_fails = !framing || quirks.empty_segment_fails;
  if (!framing) return;
  demux_ = std::make_unique<frames::Demux>(*framing, quirks);
}

Tree::~Tree() { Logger::instance().drop_function(this); }

// -- The data path. -------------------------------------------------------------------------------

Response Tree::process(ocsd_datapath_op_t op, ocsd_trc_index_t index, std::uint32_t size,
                       const std::uint8_t* data, std::uint32_t* used) {
  ++around_.calls;
  if (!around_.formatted && channels_[0] == nullptr) {
    if (used != nullptr) *used = 0;
    return OCSD_RESP_FATAL_NOT_INIT;
  }
  switch (op) {
    case OCSD_OP_DATA: {
      if (size == 0 || data == nullptr || used == nullptr) {
        if (around_.formatted) return OCSD_RESP_FATAL_INVALID_PARAM;
        if (used != nullptr) *used = 0;
        return channels_[0]->data(index, {});
      }
      const Bytes block(data, size);
      return around_.formatted ? frame_data(index, block, *used) : this->data(index, block, *used);
    }
    case OCSD_OP_FLUSH:
      return flush();
    case OCSD_OP_EOT:
      return end_of_trace();
    case OCSD_OP_RESET:
      return reset();
  }
  return OCSD_RESP_FATAL_INVALID_OP;
}

Response Tree::data(TraceIndex index, Bytes block, std::uint32_t& used) {
  used = 0;
  Response before = OCSD_RESP_CONT;
  // A client that leaves out the FLUSH loses nothing.
  if (waiting_ != nullptr) {
    before = flush();
    if (before >= OCSD_RESP_WAIT) return before;
  }
  const Response response = channels_[0]->data(index, block);
  waiting_ = OCSD_DATA_RESP_IS_WAIT(response) ? channels_[0].get() : nullptr;
  // The block belongs to the caller: it must not be read after this call.
  used = static_cast<std::uint32_t>(response >= OCSD_RESP_WAIT ? channels_[0]->withdraw()
                                                               : block.size());
  return worse(before, response);
}

Response Tree::frame_data(ocsd_trc_index_t index, Bytes block, std::uint32_t& used) {
  if (started_ && index != static_cast<ocsd_trc_index_t>(next_index_)) {
    log_frames(ErrorNumber::kDfmtrNotconttrace, index, "");
    used = last_used_;
    return OCSD_RESP_FATAL_INVALID_DATA;
  }
  Response before = OCSD_RESP_CONT;
  if (waiting_ != nullptr) {
    before = flush();
    if (before >= OCSD_RESP_WAIT) {
      used = last_used_ = 0;
      return before;
    }
  }
  if (!started_) next_index_ = index;
  if (!demux_->feed(next_index_, block)) {
    used = last_used_ = 0;
    return frame_error();
  }
  started_ = true;
  const Response response = worse(before, run_frames());
  last_used_ =
      static_cast<std::uint32_t>(response >= OCSD_RESP_WAIT ? demux_->withdraw() : block.size());
  next_index_ += last_used_;
  used = last_used_;
  return response;
}

Response Tree::frame_error() {
  const Diagnostic& error = demux_->error();
  const bool size = error.fault == Fault::kInvalidBlock;
  // The frame layer belongs to no protocol.
  const Wording wording = wording_of(error, Protocol::kEtmV4);
  log_frames(wording.number, size ? kNoIndex : wording.index, wording.text);
  return OCSD_RESP_FATAL_INVALID_DATA;
}

Response Tree::run_frames() {
  Response response = run_segments();
  while (response < OCSD_RESP_WAIT) {
    if (careful_frames_ == 0 && run_plain_frames(response)) continue;
    const std::size_t at = demux_->consumed();
    switch (demux_->step()) {
      case frames::Step::kFrame:
        if (careful_frames_ != 0 && !waits_) --careful_frames_;
        segment_ = 0;
        segment_count_ = demux_->frame().count;
        memory_.fill(demux_->frame());
        response = worse(response, run_segments());
        break;
      case frames::Step::kReset:
        response = worse(response, reset_channels(next_index_ + at));
        break;
      case frames::Step::kSkipped:
        break;
      case frames::Step::kError:
        return worse(response, frame_error());
      case frames::Step::kNeedInput:
        return response;
    }
  }
  return response;
}

/// Many frames without ID bytes at once.  False: the caller must take the next step.
bool Tree::run_plain_frames(Response& response) {
  const TraceId id = demux_->current_id();
  Channel* const listener = id < kTraceIdCount ? channels_[id].get() : nullptr;
  if (listener == nullptr || !listener->takes_runs()) return false;
  TraceIndex index = 0;
  const std::size_t frames = demux_->take_plain_frames(listener->run_room(), index);
  if (frames == 0) return false;
  std::size_t used = frames;
  response = worse(response, listener->data_run(index, frames, used));
  demux_->give_back_frames(frames - used);
  demux_->statistics().count(id, used * frames::kPlainFrameBytes, true);
  segment_ = segment_count_ = 0;
  if (OCSD_DATA_RESP_IS_WAIT(response)) {
    waiting_ = listener;
    waits_ = true;
    careful_frames_ = kCarefulFrames;
  }
  return true;
}

Response Tree::run_segments() {
  Response response = OCSD_RESP_CONT;
  while (segment_ != segment_count_) {
    const frames::Segment& segment = demux_->frame().segments[segment_++];
    Channel* const listener = segment.id < kTraceIdCount ? channels_[segment.id].get() : nullptr;
    if ((raw_flags_ & OCSD_DFRMTR_UNPACKED_RAW_OUT) != 0)
      on_raw_frame(frames::RawKind::kIdData, segment.index, segment.id, segment.bytes());
    demux_->statistics().count(segment.id, segment.size, listener != nullptr);
    if (listener == nullptr) continue;
    around_.segment_memory = memory_.from(segment_ - 1);
    response = worse(response, listener->data(segment.index, segment.bytes()));
    around_.segment_memory = {};
    if (response < OCSD_RESP_WAIT) [[likely]]
      continue;
    if (OCSD_DATA_RESP_IS_WAIT(response)) {
      waiting_ = listener;
      waits_ = true;
      careful_frames_ = kCarefulFrames;
    } else {
      segment_ = segment_count_;
    }
    return response;
  }
  return response;
}

Response Tree::flush() {
  Response response = OCSD_RESP_CONT;
  waiting_ = nullptr;
  for (TraceId id = 0; id < end(); ++id) {
    Channel* const channel = channels_[id].get();
    if (channel == nullptr) continue;
    const Response answer = channel->flush();
    response = worse(response, answer);
    if (OCSD_DATA_RESP_IS_WAIT(answer)) waiting_ = channel;
  }
  if (around_.formatted && response < OCSD_RESP_WAIT) response = worse(response, run_segments());
  return response;
}

/// In order of IDs.  A channel that waits does not stop the others; a flush continues all of them.
Response Tree::end_of_trace() {
  Response response = OCSD_RESP_CONT;
  if (waiting_ != nullptr) {
    response = flush();
    if (response >= OCSD_RESP_WAIT) return response;
  }
  for (TraceId id = 0; id < end(); ++id) {
    Channel* const channel = channels_[id].get();
    if (channel == nullptr) continue;
    const Response answer = channel->end_of_trace();
    response = worse(response, answer);
    if (OCSD_DATA_RESP_IS_WAIT(answer)) waiting_ = channel;
  }
  return response;
}

Response Tree::reset() {
  waiting_ = nullptr;
  started_ = false;
  segment_ = segment_count_ = 0;
  next_index_ = 0;
  last_used_ = 0;
  if (demux_ != nullptr) demux_->reset();
  return reset_channels(0);
}

Response Tree::reset_channels(TraceIndex index) {
  around_.reset_index = index;
  Response response = OCSD_RESP_CONT;
  for (TraceId id = 0; id < end(); ++id)
    if (channels_[id] != nullptr) response = worse(response, channels_[id]->reset());
  return response;
}

// -- Decoders. ------------------------------------------------------------------------------------

Channel* Tree::channel(TraceId id) const {
  // An invalid ID means the first element.
  return around_.formatted && is_source_id(id) ? channels_[id].get() : channels_[0].get();
}

ErrorNumber Tree::create_decoder(std::string_view name, int flags, const void* config,
                                 unsigned char* id) {
  const auto protocol = builtin_by_name(name);
  const auto custom = protocol ? std::nullopt : CustomRegister::instance().find(name);
  if (!protocol && !custom) return ErrorNumber::kDcdregNameUnknown;
  if (config == nullptr) return ErrorNumber::kInvalidParamVal;
  if (protocol) {
    const auto bits = static_cast<std::uint32_t>(flags);
    const bool decode = (bits & OCSD_CREATE_FLG_FULL_DECODER) != 0;
    Builtin built = make_builtin(*protocol, config, decode, bits, around_.memory.image());
    const TraceId trace_id = built.trace_id;
    const TraceId slot = around_.formatted ? trace_id : TraceId{0};
    if (channels_[slot] != nullptr) return ErrorNumber::kAttachTooMany;
    if ((bits & kCreateMask) == 0) return ErrorNumber::kInvalidParamVal;
    if (built.source == nullptr) return ErrorNumber::kHwCfgUnsupp;
    const bool named = around_.formatted || (bits & OCSD_CREATE_FLG_INST_ID) != 0;
    channels_[slot] =
        std::make_unique<BuiltinChannel>(around_, std::move(built), decode, bits, slot, named);
    if (id != nullptr) *id = trace_id;
    return ErrorNumber::kOk;
  }
  unsigned char trace_id = 0;
  const ocsd_err_t asked = custom->csidFromConfig(config, &trace_id);
  if (asked != OCSD_OK) return static_cast<ErrorNumber>(asked);
  const TraceId slot = around_.formatted ? static_cast<TraceId>(trace_id & 0x7F) : TraceId{0};
  if (channels_[slot] != nullptr) return ErrorNumber::kAttachTooMany;
  std::unique_ptr<CustomChannel> channel;
  const ErrorNumber created = CustomChannel::create(around_, *custom, flags, config, channel);
  if (created != ErrorNumber::kOk) return created;
  channels_[slot] = std::move(channel);
  if (id != nullptr) *id = trace_id;
  return ErrorNumber::kOk;
}

ErrorNumber Tree::remove_decoder(TraceId id) {
  if (around_.formatted && !is_source_id(id)) return ErrorNumber::kInvalidId;
  auto& slot = channels_[around_.formatted ? id : TraceId{0}];
  if (waiting_ == slot.get()) waiting_ = nullptr;
  slot.reset();
  return ErrorNumber::kOk;
}

// -- Counts and raw frames. -----------------------------------------------------------------------

ErrorNumber Tree::statistics(TraceId id, ocsd_decode_stats_t*& out) {
  Channel* const found = channel(id);
  if (found == nullptr) return ErrorNumber::kInvalidParamVal;
  ocsd_demux_stats_t frames{};
  if (demux_ != nullptr) {
    const frames::Statistics& counts = demux_->statistics();
    frames = {counts.valid_id_bytes, counts.no_id_bytes, counts.reserved_id_bytes,
              counts.unknown_id_bytes, counts.frame_bytes};
  }
  return found->statistics(frames, out);
}

ErrorNumber Tree::reset_statistics(TraceId id) {
  Channel* const found = channel(id);
  if (found == nullptr) return ErrorNumber::kInvalidParamVal;
  if (!found->reset_statistics()) return ErrorNumber::kInvalidParamVal;
  if (demux_ != nullptr) demux_->statistics() = {};
  return ErrorNumber::kOk;
}

void Tree::print_raw_frames(std::uint32_t flags) {
  raw_flags_given_ |= flags;
  raw_printer_ = Logger::instance().make_printer();
  raw_flags_ = raw_flags_given_ & (OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT);
  if (demux_ != nullptr) demux_->set_monitor(this, (raw_flags_ & OCSD_DFRMTR_PACKED_RAW_OUT) != 0);
}

void Tree::on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id, Bytes bytes) {
  TextBuffer text;
  frames::write_raw_frame(text, kind, index, id, bytes);
  raw_printer_.print(text.view());
}

}  // namespace waymark::compat

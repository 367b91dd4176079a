// The frame deformatter as a component, over waymark::frames::Demux.  See frames.md
// 3 to 6.
#include <algorithm>
#include <array>
#include <optional>

#include "common/trc_component.h"
#include "common/trc_frame_deformatter.h"
#include "core/logged_quirks.h"
#include "core/response.h"
#include "error_text.h"
#include "segment_memory.h"
#include "waymark/frames/demux.h"
#include "waymark/frames/segment_memory.h"
#include "wording/wording.h"

namespace frames = waymark::frames;
using waymark::Bytes;
using waymark::Diagnostic;
using waymark::kTraceIdCount;
using waymark::TraceId;
using waymark::TraceIndex;
using waymark::compat::Response;
using waymark::compat::worse;

namespace {

constexpr uint32_t kSyncFlags = OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS;

frames::Options options_of(uint32_t flags) {
  frames::Options options;
  options.has_fsyncs = (flags & OCSD_DFRMTR_HAS_FSYNCS) != 0;
  options.has_hsyncs = (flags & OCSD_DFRMTR_HAS_HSYNCS) != 0;
  options.memory_aligned = (flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) != 0;
  options.reset_on_4x_fsync =
      options.memory_aligned && (flags & OCSD_DFRMTR_RESET_ON_4X_FSYNC) != 0;
  return options;
}

}  // namespace

class TraceFmtDcdImpl final : public TraceComponent, private frames::RawMonitor {
 public:
  explicit TraceFmtDcdImpl(int instance)
      : TraceComponent(instance < 0 ? "DFMT_CSFRAMES"
                                    : "DFMT_CSFRAMES_" + std::to_string(instance)) {
    configure_demux(0);
  }

  ocsd_err_t configure(uint32_t flags);
  Response trace_data_in(ocsd_datapath_op_t op, ocsd_trc_index_t index, uint32_t size,
                         const uint8_t* data, uint32_t* used);
  Response reset();
  Response flush();
  Response end_of_trace();

  std::array<componentAttachPt<ITrcDataIn>, kTraceIdCount> streams;
  componentAttachPt<ITrcRawFrameIn> raw_frames;
  componentAttachPt<ITrcSrcIndexCreator> source_index;
  ocsd_demux_stats_t* statistics = nullptr;
  uint32_t flags = 0;
  bool initialised = false;

 private:
  void configure_demux(uint32_t new_flags);
  Response run();
  Response run_segments();
  Response to_streams(ocsd_datapath_op_t op, ocsd_trc_index_t index);
  Response frame_error();
  void count_frame_bytes();
  void count(TraceId id, uint32_t size, bool delivered) const;
  void on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id, Bytes bytes) override;

  /// The segments of the current frame.
  struct Segments {
    unsigned next = 0;
    unsigned count = 0;
    std::size_t used = 0;  ///< How much of the next one was taken.
    bool shown = false;    ///< The same to the receiver of raw frames.

    [[nodiscard]] bool done() const { return next == count; }
    void pass() { *this = {.next = next + 1, .count = count}; }
  };

  std::optional<frames::Demux> demux_;
  frames::SegmentMemory memory_;
  TraceIndex next_index_ = 0;  ///< All 64 bits; the interface may have 32.
  bool started_ = false;
  bool empty_segment_fails_ = true;
  uint32_t last_used_ = 0;

  Segments segments_;
};

void TraceFmtDcdImpl::configure_demux(uint32_t new_flags) {
  flags = new_flags;
  const frames::Options options = options_of(new_flags);
  // The state stays, because a new configuration of the output does not begin a new stream.
  if (demux_ && demux_->options() == options) return;
  const frames::Quirks quirks = waymark::compat::frame_quirks();
  demux_.emplace(options, quirks);
  empty_segment_fails_ = quirks.empty_segment_fails;
  started_ = false;
  segments_ = {};
}

ocsd_err_t TraceFmtDcdImpl::configure(uint32_t new_flags) {
  const char* message = nullptr;
  if ((new_flags & ~uint32_t{OCSD_DFRMTR_VALID_MASK}) != 0) message = "Unknown Config Flags";
  if ((new_flags & OCSD_DFRMTR_VALID_MASK) == 0) message = "No Config Flags Set";
  if ((new_flags & OCSD_DFRMTR_FRAME_MEM_ALIGN) != 0 && (new_flags & kSyncFlags) != 0)
    message = "Invalid Config Flag Combination Set";
  if (message != nullptr) {
    LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL, message));
    return OCSD_ERR_INVALID_PARAM_VAL;
  }
  configure_demux(new_flags);
  return OCSD_OK;
}

Response TraceFmtDcdImpl::trace_data_in(ocsd_datapath_op_t op, ocsd_trc_index_t index,
                                        uint32_t size, const uint8_t* data, uint32_t* used) {
  switch (op) {
    case OCSD_OP_RESET:
      return reset();
    case OCSD_OP_FLUSH:
      return flush();
    case OCSD_OP_EOT:
      return end_of_trace();
    case OCSD_OP_DATA:
      break;
    default:
      return OCSD_RESP_FATAL_INVALID_OP;
  }
  if (size == 0 || data == nullptr || used == nullptr) return OCSD_RESP_FATAL_INVALID_PARAM;
  if (started_ && index != static_cast<ocsd_trc_index_t>(next_index_)) {
    LogError(ocsdError(OCSD_ERR_SEV_ERROR, OCSD_ERR_DFMTR_NOTCONTTRACE, index));
    *used = last_used_;
    return OCSD_RESP_FATAL_INVALID_DATA;
  }
  *used = last_used_ = 0;
  Response response = OCSD_RESP_CONT;
  // A client that leaves out the FLUSH loses nothing.
  if (!segments_.done()) {
    response = run_segments();
    if (response >= OCSD_RESP_WAIT) return response;
  }
  if (!started_) next_index_ = index;
  demux_->set_monitor(raw_frames.hasAttachedAndEnabled() ? this : nullptr,
                      (flags & OCSD_DFRMTR_PACKED_RAW_OUT) != 0);
  if (!demux_->feed(next_index_, {data, size})) return frame_error();
  started_ = true;
  response = worse(response, run());
  last_used_ = response >= OCSD_RESP_WAIT ? static_cast<uint32_t>(demux_->withdraw()) : size;
  next_index_ += last_used_;
  *used = last_used_;
  return response;
}

Response TraceFmtDcdImpl::run() {
  Response response = OCSD_RESP_CONT;
  while (response < OCSD_RESP_WAIT) {
    switch (demux_->step()) {
      case frames::Step::kFrame:
        count_frame_bytes();
        segments_ = {.count = demux_->frame().count};
        memory_.fill(demux_->frame());
        response = worse(response, run_segments());
        break;
      case frames::Step::kReset:
        count_frame_bytes();
        response =
            worse(response, to_streams(OCSD_OP_RESET, static_cast<ocsd_trc_index_t>(next_index_)));
        break;
      case frames::Step::kSkipped:
        break;
      case frames::Step::kError:
        count_frame_bytes();
        return worse(response, frame_error());
      case frames::Step::kNeedInput:
        count_frame_bytes();
        return response;
    }
  }
  return response;
}

// Up to the first that does not continue.
Response TraceFmtDcdImpl::run_segments() {
  Response response = OCSD_RESP_CONT;
  while (!segments_.done()) {
    const frames::Segment& segment = demux_->frame().segments[segments_.next];
    componentAttachPt<ITrcDataIn>* const stream =
        segment.id < kTraceIdCount ? &streams[segment.id] : nullptr;
    ITrcDataIn* const listener = stream != nullptr ? stream->first() : nullptr;
    const bool filtered = stream != nullptr && !stream->enabled();
    if (!segments_.shown && !filtered && (flags & OCSD_DFRMTR_UNPACKED_RAW_OUT) != 0) {
      on_raw_frame(frames::RawKind::kIdData, segment.index, segment.id, segment.bytes());
      segments_.shown = true;
    }
    if (listener == nullptr || (segment.size == 0 && !empty_segment_fails_)) {
      count(segment.id, segment.size, false);
    } else {
      const Bytes memory = memory_.from(segments_.next).subspan(segments_.used);
      const Bytes rest = memory.first(segment.size - segments_.used);
      const waymark::compat::MemoryScope scope(memory);
      uint32_t used = 0;
      response = worse(
          response, listener->TraceDataIn(
                        OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(segment.index + segments_.used),
                        static_cast<uint32_t>(rest.size()), rest.data(), &used));
      used = std::min(used, static_cast<uint32_t>(rest.size()));
      count(segment.id, used, true);
      segments_.used += used;
      if (response >= OCSD_RESP_WAIT) {
        if (OCSD_DATA_RESP_IS_FATAL(response)) {
          segments_.next = segments_.count;
          return response;
        }
        if (segments_.used < segment.size) return response;
      }
    }
    segments_.pass();
    if (response >= OCSD_RESP_WAIT) return response;
  }
  return response;
}

Response TraceFmtDcdImpl::frame_error() {
  const Diagnostic& error = demux_->error();
  // The frame layer belongs to no protocol.
  const auto wording = waymark::compat::wording_of(error, waymark::Protocol::kEtmV4);
  const auto code = static_cast<ocsd_err_t>(wording.number);
  const std::string message(wording.text);
  if (error.fault == waymark::Fault::kInvalidBlock) {
    LogError(ocsdError(OCSD_ERR_SEV_ERROR, code, message));
  } else {
    LogError(
        ocsdError(OCSD_ERR_SEV_ERROR, code, static_cast<ocsd_trc_index_t>(error.index), message));
  }
  return OCSD_RESP_FATAL_INVALID_DATA;
}

Response TraceFmtDcdImpl::to_streams(ocsd_datapath_op_t op, ocsd_trc_index_t index) {
  Response response = OCSD_RESP_CONT;
  for (componentAttachPt<ITrcDataIn>& stream : streams) {
    if (ITrcDataIn* const listener = stream.first())
      response = worse(response, listener->TraceDataIn(op, index, 0, nullptr, nullptr));
  }
  if (ITrcRawFrameIn* const raw = raw_frames.first(); raw != nullptr && op != OCSD_OP_FLUSH)
    raw->TraceRawFrameIn(op, 0, OCSD_FRM_NONE, 0, nullptr, 0);
  return response;
}

Response TraceFmtDcdImpl::reset() {
  demux_->reset();
  started_ = false;
  next_index_ = 0;
  last_used_ = 0;
  segments_ = {};
  return to_streams(OCSD_OP_RESET, 0);
}

Response TraceFmtDcdImpl::flush() {
  const Response response = to_streams(OCSD_OP_FLUSH, 0);
  return response >= OCSD_RESP_WAIT ? response : worse(response, run_segments());
}

Response TraceFmtDcdImpl::end_of_trace() { return to_streams(OCSD_OP_EOT, 0); }

void TraceFmtDcdImpl::count_frame_bytes() {
  frames::Statistics& counted = demux_->statistics();
  if (statistics != nullptr) statistics->frame_bytes += counted.frame_bytes;
  counted = {};
}

void TraceFmtDcdImpl::count(TraceId id, uint32_t size, bool delivered) const {
  if (statistics == nullptr) return;
  frames::Statistics counted;
  counted.count(id, size, delivered);
  statistics->valid_id_bytes += counted.valid_id_bytes;
  statistics->no_id_bytes += counted.no_id_bytes;
  statistics->reserved_id_bytes += counted.reserved_id_bytes;
  statistics->unknown_id_bytes += counted.unknown_id_bytes;
}

void TraceFmtDcdImpl::on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id,
                                   Bytes bytes) {
  ITrcRawFrameIn* const raw = raw_frames.first();
  if (raw == nullptr) return;
  constexpr uint32_t kRawFlags = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT;
  if ((flags & kRawFlags) == 0) return;
  ocsd_rawframe_elem_t element = OCSD_FRM_PACKED;
  switch (kind) {
    case frames::RawKind::kPacked:
      break;
    case frames::RawKind::kHsync:
      element = OCSD_FRM_HSYNC;
      break;
    case frames::RawKind::kFsync:
      element = OCSD_FRM_FSYNC;
      break;
    case frames::RawKind::kIdData:
      element = OCSD_FRM_ID_DATA;
      break;
  }
  raw->TraceRawFrameIn(OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(index), element,
                       static_cast<int>(bytes.size()), bytes.data(), id);
}

// -- The component. -------------------------------------------------------------------------------

TraceFormatterFrameDecoder::TraceFormatterFrameDecoder() : m_pDecoder(nullptr), m_instNum(-1) {}

TraceFormatterFrameDecoder::TraceFormatterFrameDecoder(int instNum)
    : m_pDecoder(nullptr), m_instNum(instNum) {}

TraceFormatterFrameDecoder::~TraceFormatterFrameDecoder() { delete m_pDecoder; }

ocsd_err_t TraceFormatterFrameDecoder::Init() {
  // The attach points exist from their first use on; data is only accepted after Init().
  if (m_pDecoder == nullptr) m_pDecoder = new TraceFmtDcdImpl(m_instNum);
  m_pDecoder->initialised = true;
  return OCSD_OK;
}

namespace {

TraceFmtDcdImpl& made(TraceFmtDcdImpl*& decoder, int instance) {
  if (decoder == nullptr) decoder = new TraceFmtDcdImpl(instance);
  return *decoder;
}

bool ready(const TraceFmtDcdImpl* decoder) { return decoder != nullptr && decoder->initialised; }

}  // namespace

ocsd_datapath_resp_t TraceFormatterFrameDecoder::TraceDataIn(ocsd_datapath_op_t op,
                                                             ocsd_trc_index_t index,
                                                             uint32_t dataBlockSize,
                                                             const uint8_t* pDataBlock,
                                                             uint32_t* numBytesProcessed) {
  if (!ready(m_pDecoder)) return OCSD_RESP_FATAL_NOT_INIT;
  return m_pDecoder->trace_data_in(op, index, dataBlockSize, pDataBlock, numBytesProcessed);
}

componentAttachPt<ITrcDataIn>* TraceFormatterFrameDecoder::getIDStreamAttachPt(uint8_t ID) {
  return ID < kTraceIdCount ? &made(m_pDecoder, m_instNum).streams[ID] : nullptr;
}

componentAttachPt<ITrcRawFrameIn>* TraceFormatterFrameDecoder::getTrcRawFrameAttachPt() {
  return &made(m_pDecoder, m_instNum).raw_frames;
}

componentAttachPt<ITrcSrcIndexCreator>* TraceFormatterFrameDecoder::getTrcSrcIndexAttachPt() {
  return &made(m_pDecoder, m_instNum).source_index;
}

componentAttachPt<ITraceErrorLog>* TraceFormatterFrameDecoder::getErrLogAttachPt() {
  return made(m_pDecoder, m_instNum).getErrorLogAttachPt();
}

ocsd_err_t TraceFormatterFrameDecoder::Configure(uint32_t cfg_flags) {
  return ready(m_pDecoder) ? m_pDecoder->configure(cfg_flags) : OCSD_ERR_NOT_INIT;
}

const uint32_t TraceFormatterFrameDecoder::getConfigFlags() const {
  return ready(m_pDecoder) ? m_pDecoder->flags : 0;
}

ocsd_err_t TraceFormatterFrameDecoder::OutputFilterIDs(std::vector<uint8_t>& id_list,
                                                       bool bEnable) {
  if (!ready(m_pDecoder)) return OCSD_ERR_NOT_INIT;
  if (std::ranges::any_of(id_list, [](uint8_t id) { return id >= kTraceIdCount; }))
    return OCSD_ERR_INVALID_ID;
  for (const uint8_t id : id_list) m_pDecoder->streams[id].set_enabled(bEnable);
  return OCSD_OK;
}

ocsd_err_t TraceFormatterFrameDecoder::OutputFilterAllIDs(bool bEnable) {
  if (!ready(m_pDecoder)) return OCSD_ERR_NOT_INIT;
  for (componentAttachPt<ITrcDataIn>& stream : m_pDecoder->streams) stream.set_enabled(bEnable);
  return OCSD_OK;
}

ocsd_datapath_resp_t TraceFormatterFrameDecoder::Reset() {
  return ready(m_pDecoder) ? m_pDecoder->reset() : OCSD_RESP_FATAL_NOT_INIT;
}

ocsd_datapath_resp_t TraceFormatterFrameDecoder::Flush() {
  return ready(m_pDecoder) ? m_pDecoder->flush() : OCSD_RESP_FATAL_NOT_INIT;
}

void TraceFormatterFrameDecoder::SetDemuxStatsBlock(ocsd_demux_stats_t* pStatsBlock) {
  made(m_pDecoder, m_instNum).statistics = pStatsBlock;
}

// The five packet processors of the library, which share one engine.
#include "processors.h"

#include <string>
#include <type_traits>

#include "component_name.h"

namespace waymark::compat {
namespace {

template <class Packet>
auto packet_type(const Packet& packet) {
  if constexpr (requires { packet.getPktType(); }) {
    return packet.getPktType();
  } else {
    return packet.getType();
  }
}

/// `Gate` is a friend of the processor, and gives the engine access to its private members.
template <class Parts, class Gate>
class ProcessorEngine : public Engine {
 public:
  using Processor = typename Parts::Processor;

  // NOLINTNEXTLINE(bugprone-crtp-constructor-accessibility): `Gate` inherits it.
  explicit ProcessorEngine(Processor& processor) : processor_(processor) {}

 protected:
  std::optional<Builtin> make(bool decode, std::uint32_t flags,
                              const image::Image& image) override {
    const typename Parts::Config* const config = processor_.getProtocolConfig();
    if (config == nullptr) return std::nullopt;
    const auto& registers = static_cast<const typename Parts::ConfigStruct&>(*config);
    if constexpr (std::is_same_v<Parts, EtmV4Parts>) {
      constexpr unsigned kFirstEte = 5;
      if (config->MajVersion() >= kFirstEte) {
        const ocsd_ete_cfg ete = {
            .reg_idr0 = registers.reg_idr0,
            .reg_idr1 = registers.reg_idr1,
            .reg_idr2 = registers.reg_idr2,
            .reg_idr8 = registers.reg_idr8,
            .reg_devarch = std::uint32_t{config->MajVersion()} << 12 |
                           std::uint32_t{config->MinVersion()} << 16,
            .reg_configr = registers.reg_configr,
            .reg_traceidr = registers.reg_traceidr,
            .arch_ver = registers.arch_ver,
            .core_prof = registers.core_prof,
        };
        return make_builtin(Protocol::kEte, &ete, decode, flags, image);
      }
    }
    return make_builtin(Parts::kProtocol, &registers, decode, flags, image);
  }

  std::uint32_t flags() override { return processor_.getComponentOpMode(); }

  bool has_monitor() override {
    return processor_.getRawPacketMonAttachPt()->hasAttachedAndEnabled();
  }

  bool shows_packets() override {
    return processor_.getPacketOutAttachPt()->hasAttachedAndEnabled() ||
           processor_.getRawPacketMonAttachPt()->hasAttachedAndEnabled() ||
           processor_.getTraceIDIndexerAttachPt()->hasAttachedAndEnabled() ||
           (flags() & OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS) != 0 ||
           (decodes() && processor_.getErrorLogAttachPt()->hasAttachedAndEnabled());
  }

  Response show(const PacketRef& packet, PacketStruct& structure) override {
    packet_ = static_cast<const typename Parts::Struct*>(structure.fill(packet));
    const auto index = static_cast<ocsd_trc_index_t>(packet.index);
    const typename Parts::PacketType type = packet_type(packet_);
    if (!packet.monitor_only) Gate::index(processor_, index, type);
    Gate::monitor(processor_, index, packet_, packet.bytes);
    return packet.monitor_only ? OCSD_RESP_CONT : Gate::sink(processor_, index, packet_);
  }

  void log(const ocsdError& error) override { Gate::log(processor_, error); }

 private:
  Processor& processor_;
  typename Parts::Packet packet_;
};

}  // namespace
}  // namespace waymark::compat

// The rest is the same for each class except for its name.
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types.
#define WAYMARK_PROCESSOR(CLASS, PARTS)                                                       \
  class CLASS##Impl final : public waymark::compat::ProcessorEngine<PARTS, CLASS##Impl> {     \
   public:                                                                                    \
    using ProcessorEngine::ProcessorEngine;                                                   \
    static void index(CLASS& to, ocsd_trc_index_t index, const PARTS::PacketType& type) {     \
      to.indexPacket(index, &type);                                                           \
    }                                                                                         \
    static void monitor(CLASS& to, ocsd_trc_index_t index, const PARTS::Packet& packet,       \
                        waymark::Bytes bytes) {                                               \
      to.outputRawPacketToMonitor(index, &packet, static_cast<uint32_t>(bytes.size()),        \
                                  bytes.data());                                              \
    }                                                                                         \
    static ocsd_datapath_resp_t sink(CLASS& to, ocsd_trc_index_t index,                       \
                                     const PARTS::Packet& packet) {                           \
      return to.outputDecodedPacket(index, &packet);                                          \
    }                                                                                         \
    static void log(CLASS& to, const ocsdError& error) { to.LogError(error); }                \
    static CLASS##Impl& of(CLASS& processor) { return *processor.m_pImpl; }                   \
    static void begin(CLASS& processor) {                                                     \
      processor.m_supported_op_flags = OCSD_OPFLG_PKTPROC_COMMON | OCSD_OPFLG_COMP_MODE_MASK; \
    }                                                                                         \
  };                                                                                          \
                                                                                              \
  CLASS::CLASS()                                                                              \
      : TrcPktProcBase(                                                                       \
            std::string(waymark::compat::component_names(PARTS::kProtocol).packets).c_str()), \
        m_pImpl(new CLASS##Impl(*this)) {                                                     \
    CLASS##Impl::begin(*this);                                                                \
  }                                                                                           \
  CLASS::CLASS(int instIDNum)                                                                 \
      : TrcPktProcBase(                                                                       \
            std::string(waymark::compat::component_names(PARTS::kProtocol).packets).c_str(),  \
            instIDNum),                                                                       \
        m_pImpl(new CLASS##Impl(*this)) {                                                     \
    CLASS##Impl::begin(*this);                                                                \
  }                                                                                           \
  CLASS::~CLASS() { delete m_pImpl; }                                                         \
                                                                                              \
  ocsd_datapath_resp_t CLASS::processData(ocsd_trc_index_t index, uint32_t dataBlockSize,     \
                                          const uint8_t* pDataBlock,                          \
                                          uint32_t* numBytesProcessed) {                      \
    return m_pImpl->data(index, {pDataBlock, dataBlockSize}, *numBytesProcessed);             \
  }                                                                                           \
  ocsd_datapath_resp_t CLASS::onEOT() { return m_pImpl->end_of_trace(); }                     \
  ocsd_datapath_resp_t CLASS::onReset() { return m_pImpl->reset(); }                          \
  ocsd_datapath_resp_t CLASS::onFlush() { return m_pImpl->flush(); }                          \
  ocsd_err_t CLASS::onProtocolConfig() {                                                      \
    m_pImpl->configure();                                                                     \
    return OCSD_OK;                                                                           \
  }                                                                                           \
  const bool CLASS::isBadPacket() const { return m_pImpl->bad_packet(); }                     \
                                                                                              \
  ocsd_err_t CLASS::getStatsBlock(ocsd_decode_stats_t** pp_stats) {                           \
    TrcPktProcBase::getStatsBlock(pp_stats);                                                  \
    if constexpr (PARTS::kProtocol != waymark::Protocol::kEtmV4) return OCSD_ERR_NOT_INIT;    \
    const waymark::SourceStatistics counts = m_pImpl->statistics();                           \
    (*pp_stats)->channel_total = counts.total_bytes;                                          \
    (*pp_stats)->channel_unsynced = counts.unsynced_bytes;                                    \
    (*pp_stats)->bad_header_errs = counts.bad_headers;                                        \
    (*pp_stats)->bad_sequence_errs = counts.bad_sequences;                                    \
    return OCSD_OK;                                                                           \
  }                                                                                           \
  void CLASS::resetStats() {                                                                  \
    TrcPktProcBase::resetStats();                                                             \
    m_pImpl->reset_statistics();                                                              \
  }                                                                                           \
                                                                                              \
  void waymark::compat::join(CLASS& processor, BuiltinDecoder& decoder) {                     \
    CLASS##Impl::of(processor).set_decoder(&decoder);                                         \
  }
// NOLINTEND(bugprone-macro-parentheses)

using waymark::compat::EtmV3Parts;
using waymark::compat::EtmV4Parts;
using waymark::compat::ItmParts;
using waymark::compat::PtmParts;
using waymark::compat::StmParts;

WAYMARK_PROCESSOR(TrcPktProcEtmV3, EtmV3Parts)
WAYMARK_PROCESSOR(TrcPktProcEtmV4I, EtmV4Parts)
WAYMARK_PROCESSOR(TrcPktProcPtm, PtmParts)
WAYMARK_PROCESSOR(TrcPktProcStm, StmParts)
WAYMARK_PROCESSOR(TrcPktProcItm, ItmParts)

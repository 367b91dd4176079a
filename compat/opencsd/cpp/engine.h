// The engine of the library's own packet processors and decoders: a waymark::Source, driven by the
// rules of the data path.  See frames.md 8, perf-cs-etm.md 7.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/trc_pkt_decode_base.h"
#include "core/builtin.h"
#include "core/element_struct.h"
#include "core/response.h"
#include "memory_view.h"
#include "waymark/frames/stream.h"
#include "waymark/protocol/source.h"

namespace waymark::compat {

/// The decoder of a built-in protocol, to which interfaces are attached.  The engine of its packet
/// processor, the associated component, does the work.
class BuiltinDecoder final : public TrcPktDecodeI {
 public:
  /// `instance` < 0: the name has no number.
  BuiltinDecoder(std::string_view name, int instance, bool reads_memory, TraceId trace_id);

  /// True: everything that decoding needs is attached.  Otherwise the reason is logged.
  bool ready();
  void log(const ocsdError& error) { LogError(error); }
  [[nodiscard]] ITrcGenElemIn* sink() { return m_trace_elem_out.first(); }
  [[nodiscard]] ITargetMemAccess* memory() { return m_mem_access.first(); }
  [[nodiscard]] IInstrDecode* instructions() { return m_instr_decode.first(); }
  /// The registers select a mode that cannot be decoded.
  void refuse() { m_config_init_ok = m_decode_init_ok = false; }

 protected:
  // Packets do not arrive one by one.
  ocsd_datapath_resp_t processPacket() override { return OCSD_RESP_FATAL_INVALID_OP; }
  ocsd_datapath_resp_t onEOT() override { return OCSD_RESP_FATAL_INVALID_OP; }
  ocsd_datapath_resp_t onReset() override { return OCSD_RESP_FATAL_INVALID_OP; }
  ocsd_datapath_resp_t onFlush() override { return OCSD_RESP_FATAL_INVALID_OP; }
  ocsd_err_t onProtocolConfig() override { return OCSD_OK; }
  const uint8_t getCoreSightTraceID() override { return trace_id_; }

 private:
  TraceId trace_id_;
};

class Engine : private Observer {
 public:
  Engine() = default;
  ~Engine() override = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// With a decoder, data becomes elements; the decoder must live as long as it is used.
  void set_decoder(BuiltinDecoder* decoder);

  Response data(ocsd_trc_index_t index, Bytes block, std::uint32_t& used);
  Response flush();
  Response end_of_trace();
  Response reset();

  /// The registers have changed.
  void configure();

  [[nodiscard]] bool decodes() const { return decoder_ != nullptr; }
  [[nodiscard]] bool bad_packet() const { return answer_.bad_packet; }
  [[nodiscard]] SourceStatistics statistics() const;
  void reset_statistics();

 protected:
  /// The source for the current registers.
  virtual std::optional<Builtin> make(bool decode, std::uint32_t flags,
                                      const image::Image& image) = 0;
  virtual std::uint32_t flags() = 0;
  /// A monitor, indexer or sink is attached.
  virtual bool shows_packets() = 0;
  virtual bool has_monitor() = 0;
  virtual Response show(const PacketRef& packet, PacketStruct& structure) = 0;
  virtual void log(const ocsdError& error) = 0;

 private:
  void on_packet(const PacketRef& packet) override;
  [[nodiscard]] bool wants_packets() const override { return showing_; }
  [[nodiscard]] bool monitors_packets() const override { return monitored_; }
  [[nodiscard]] bool pauses() const override { return answer_.paused; }
  void on_diagnostic(const Diagnostic& record) override;

  bool prepare();
  void observe();
  Response pump();
  Response stop();
  Response deliver(const Element& element);
  void follow_context(const Element& element);

  /// Elements [at, count) wait for the client.
  struct Batch {
    // A segment of a frame has at most 15 bytes; if it gives more elements than kMost, they come in
    // several batches.
    static constexpr std::size_t kMost = 64;
    static constexpr std::size_t kSegment = 15;

    std::array<Element, kMost> elements;
    std::size_t size = 1;  ///< How many the source may give at once.
    std::size_t at = 0;
    std::size_t count = 0;
    [[nodiscard]] bool empty() const { return at == count; }
    void clear() { at = count = 0; }
  };

  /// The answer to the client.
  struct Answer {
    Response response = OCSD_RESP_CONT;
    bool paused = false;
    bool bad_packet = false;
    void add(Response other) { response = worse(response, other); }
  };

  struct End {
    bool now = false;     ///< In end_of_trace().
    bool failed = false;  ///< The end came after a fatal error.
  };

  BuiltinDecoder* decoder_ = nullptr;
  std::optional<MemoryView> memory_;
  std::optional<Builtin> built_;
  std::uint32_t flags_ = 0;
  bool showing_ = false;
  bool monitored_ = false;

  frames::Run run_;
  Batch batch_;
  Answer answer_;
  End end_;
  ITrcGenElemIn* sink_ = nullptr;
  ElementStruct struct_;
  OcsdTraceElement element_;
  Element context_;         ///< The last kPeContext.
  bool refreshed_ = false;  ///< Since the last call of the client.
};

}  // namespace waymark::compat

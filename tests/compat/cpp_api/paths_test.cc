// Frames, packets and custom decoders: the parts of the data path that clients put together.
#include "common/cs_frame_mux_data.h"
#include "common/trc_pkt_decode_base.h"
#include "support.h"

namespace cpp_api {
namespace {

// -- Frames. --------------------------------------------------------------------------------------

class Bytes : public ITrcDataIn {
 public:
  ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                   const std::uint32_t size, const std::uint8_t* data,
                                   std::uint32_t* used) override {
    operations.push_back(op);
    if (op != OCSD_OP_DATA) return OCSD_RESP_CONT;
    indexes.push_back(index);
    const std::uint32_t taken = limit != 0 && size > limit ? limit : size;
    all.insert(all.end(), data, data + taken);
    *used = taken;
    return taken < size ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  }
  ByteVector all;
  std::vector<ocsd_trc_index_t> indexes;
  std::vector<ocsd_datapath_op_t> operations;
  std::uint32_t limit = 0;
};

const ByteVector kFrame = {0x21, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                           0x41, 0x08, 0x08, 0x0a, 0x0a, 0x0c, 0x0c, 0xe0};

TEST(cpp_api_frames, need_to_be_initialised_first) {
  TraceFormatterFrameDecoder frames;
  std::uint32_t used = 0;
  EXPECT_EQ(frames.Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(frames.OutputFilterAllIDs(true), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(frames.TraceDataIn(OCSD_OP_DATA, 0, 16, kFrame.data(), &used),
            OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_EQ(frames.getIDStreamAttachPt(0x80), nullptr);
}

TEST(cpp_api_frames, go_to_their_ids) {
  TraceFormatterFrameDecoder frames;
  Bytes ten;
  Bytes twenty;
  ocsd_demux_stats_t stats = {};
  frames.Init();
  ASSERT_EQ(frames.Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN), OCSD_OK);
  EXPECT_EQ(frames.getIDStreamAttachPt(0x10)->attach(&ten), OCSD_OK);
  EXPECT_EQ(frames.getIDStreamAttachPt(0x10)->attach(&twenty), OCSD_ERR_ATTACH_TOO_MANY);
  frames.getIDStreamAttachPt(0x20)->attach(&twenty);
  frames.SetDemuxStatsBlock(&stats);
  std::uint32_t used = 0;
  EXPECT_EQ(frames.TraceDataIn(OCSD_OP_DATA, 0, 16, kFrame.data(), &used), OCSD_RESP_CONT);
  EXPECT_EQ(used, 16U);
  EXPECT_EQ(ten.all, (ByteVector{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(twenty.all, (ByteVector{8, 9, 0xa, 0xb, 0xc, 0xd}));
  EXPECT_EQ(twenty.indexes, std::vector<ocsd_trc_index_t>{8});
  EXPECT_EQ(stats.valid_id_bytes, 13U);
  EXPECT_EQ(stats.frame_bytes, 3U);
  frames.TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr);
  frames.Reset();
  EXPECT_EQ(ten.operations,
            (std::vector<ocsd_datapath_op_t>{OCSD_OP_DATA, OCSD_OP_EOT, OCSD_OP_RESET}));
}

TEST(cpp_api_frames, wait_in_the_middle_of_a_segment) {
  TraceFormatterFrameDecoder frames;
  Bytes ten;
  Bytes twenty;
  ten.limit = 3;
  frames.Init();
  frames.Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN);
  frames.getIDStreamAttachPt(0x10)->attach(&ten);
  frames.getIDStreamAttachPt(0x20)->attach(&twenty);
  std::uint32_t used = 0;
  EXPECT_EQ(frames.TraceDataIn(OCSD_OP_DATA, 0, 16, kFrame.data(), &used), OCSD_RESP_WAIT);
  EXPECT_EQ(used, 16U);
  EXPECT_EQ(frames.Flush(), OCSD_RESP_WAIT);
  EXPECT_TRUE(twenty.all.empty());
  EXPECT_EQ(frames.Flush(), OCSD_RESP_CONT);
  EXPECT_EQ(ten.all, (ByteVector{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ten.indexes, (std::vector<ocsd_trc_index_t>{0, 3, 6}));
  EXPECT_EQ(twenty.all.size(), 6U);
  EXPECT_EQ(frames.Flush(), OCSD_RESP_CONT);
  EXPECT_EQ(twenty.all.size(), 6U);
}

TEST(cpp_api_frames, filtered_ids_get_nothing) {
  TraceFormatterFrameDecoder frames;
  Bytes ten;
  std::vector<std::uint8_t> ids = {0x10};
  std::vector<std::uint8_t> wrong = {0x80};
  frames.Init();
  frames.Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN);
  frames.getIDStreamAttachPt(0x10)->attach(&ten);
  EXPECT_EQ(frames.OutputFilterIDs(wrong, false), OCSD_ERR_INVALID_ID);
  EXPECT_EQ(frames.OutputFilterIDs(ids, false), OCSD_OK);
  std::uint32_t used = 0;
  frames.TraceDataIn(OCSD_OP_DATA, 0, 16, kFrame.data(), &used);
  frames.TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr);
  EXPECT_TRUE(ten.operations.empty());
}

TEST(cpp_api_frames, sync_errors_are_logged) {
  TextLog log;
  TraceFormatterFrameDecoder frames;
  frames.Init();
  frames.getErrLogAttachPt()->attach(&log.errors);
  EXPECT_EQ(frames.Configure(0), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(frames.Configure(OCSD_DFRMTR_HAS_FSYNCS), OCSD_OK);
  EXPECT_EQ(frames.getConfigFlags(), static_cast<std::uint32_t>(OCSD_DFRMTR_HAS_FSYNCS));
  log.text.clear();
  const ByteVector bytes = {0xFF, 0xFF, 0xFF, 0x7F, 0x21, 0x01, 0xFF, 0x7F};
  std::uint32_t used = 0;
  EXPECT_EQ(frames.TraceDataIn(OCSD_OP_DATA, 0, 8, bytes.data(), &used),
            OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_NE(log.text.find("OCSD_ERR_DFMTR_BAD_FHSYNC"), std::string::npos);
  EXPECT_NE(log.text.find("Bad HSYNC in frame."), std::string::npos) << log.text;
}

TEST(cpp_api_frames, printer_shows_them) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  const TreePointer tree = framed_tree();
  RawFramePrinter* printer = nullptr;
  EXPECT_EQ(
      tree->addRawFramePrinter(&printer, OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT),
      OCSD_OK);
  ASSERT_NE(printer, nullptr);
  EXPECT_EQ(tree->getPrinterList().size(), 1U);
  std::uint32_t used = 0;
  tree->TraceDataIn(OCSD_OP_DATA, 0, 16, kFrame.data(), &used);
  EXPECT_EQ(log.text,
            "Frame Data; Index      0;    RAW_PACKED; 21 01 02 03 04 05 06 07 41 08 08 0a 0a 0c 0c "
            "e0 \n"
            "Frame Data; Index      0;   ID_DATA[0x10]; 01 02 03 04 05 06 07 \n"
            "Frame Data; Index      8;   ID_DATA[0x20]; 08 09 0a 0b 0c 0d \n");
}

TEST(cpp_api_mux, builds_frames_that_can_be_taken_apart) {
  CSFrameMuxData mux;
  const ByteVector a = {1, 2, 3, 4, 5};
  const ByteVector b = {0x81, 0x82, 0x83};
  EXPECT_EQ(mux.muxInData(a.data(), 5, 0x10, false), 0);
  EXPECT_TRUE(mux.hasIncompleteFrame());
  EXPECT_EQ(mux.getFrameBufferSize(), 0U);
  EXPECT_EQ(mux.muxInData(b.data(), 3, 0x20, true), 1);
  EXPECT_FALSE(mux.hasIncompleteFrame());
  ASSERT_EQ(mux.getFrameBufferSize(), 16U);
  EXPECT_EQ(mux.muxInData(a.data(), 5, 0x7F, true), -1);

  TraceFormatterFrameDecoder frames;
  Bytes ten;
  Bytes twenty;
  frames.Init();
  frames.Configure(OCSD_DFRMTR_FRAME_MEM_ALIGN);
  frames.getIDStreamAttachPt(0x10)->attach(&ten);
  frames.getIDStreamAttachPt(0x20)->attach(&twenty);
  std::uint32_t used = 0;
  EXPECT_EQ(frames.TraceDataIn(OCSD_OP_DATA, 0, 16, mux.getFrameBuffer(), &used), OCSD_RESP_CONT);
  EXPECT_EQ(ten.all, a);
  EXPECT_EQ(twenty.all, b);
  mux.clearFrames(0);
  EXPECT_EQ(mux.getFrameBufferSize(), 0U);
}

// -- Packets. -------------------------------------------------------------------------------------

class PacketSink : public IPktDataIn<EtmV4ITrcPacket>, public IPktRawDataMon<EtmV4ITrcPacket> {
 public:
  ocsd_datapath_resp_t PacketDataIn(const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                    const EtmV4ITrcPacket* packet) override {
    if (op != OCSD_OP_DATA) {
      text += "op" + std::to_string(op) + " ";
      return OCSD_RESP_CONT;
    }
    text += std::to_string(index) + ":" + std::to_string(packet->getType()) + " ";
    return wait ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  }
  void RawPacketDataMon(const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                        const EtmV4ITrcPacket*, const std::uint32_t size,
                        const std::uint8_t*) override {
    if (op == OCSD_OP_DATA) text += "[" + std::to_string(index) + "+" + std::to_string(size) + "] ";
  }
  std::string text;
  bool wait = false;
};

const ByteVector kPackets = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0x01, 0x00, 0x04, 0xF7};

IDecoderMngr& manager_of(const char* name) {
  IDecoderMngr* manager = nullptr;
  EXPECT_EQ(OcsdLibDcdRegister::getDecoderRegister()->getDecoderMngrByName(name, &manager),
            OCSD_OK);
  return *manager;
}

TEST(cpp_api_packets, go_to_monitor_and_sink) {
  IDecoderMngr& manager = manager_of("ETMV4I");
  const EtmV4Config config = sample_config();
  PacketSink sink;
  PacketSink monitor;
  TraceComponent* component = nullptr;
  ITrcDataIn* input = nullptr;
  ASSERT_EQ(manager.createDecoder(OCSD_CREATE_FLG_PACKET_PROC, 0, &config, &component), OCSD_OK);
  EXPECT_EQ(manager.attachPktSink(component, static_cast<IPktDataIn<EtmV4ITrcPacket>*>(&sink)),
            OCSD_OK);
  EXPECT_EQ(
      manager.attachPktMonitor(component, static_cast<IPktRawDataMon<EtmV4ITrcPacket>*>(&monitor)),
      OCSD_OK);
  EXPECT_EQ(manager.attachOutputSink(component, nullptr), OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(manager.getDataInputI(component, &input), OCSD_OK);
  std::uint32_t used = 0;
  EXPECT_EQ(input->TraceDataIn(OCSD_OP_DATA, 100, 17, kPackets.data(), &used), OCSD_RESP_CONT);
  EXPECT_EQ(used, 17U);
  EXPECT_EQ(sink.text, "100:256 112:1 115:4 116:246 ");
  EXPECT_EQ(monitor.text, "[100+12] [112+3] [115+1] [116+1] ");
  EXPECT_EQ(input->TraceDataIn(OCSD_OP_DATA, 117, 0, kPackets.data(), &used),
            OCSD_RESP_FATAL_INVALID_PARAM);
  input->TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr);
  EXPECT_EQ(manager.destroyDecoder(component), OCSD_OK);
  EXPECT_EQ(sink.text, "100:256 112:1 115:4 116:246 op1 ");
}

TEST(cpp_api_packets, a_sink_can_wait_after_each) {
  const EtmV4Config config = sample_config();
  TrcPktProcEtmV4I processor(0x10);
  PacketSink sink;
  sink.wait = true;
  EXPECT_EQ(processor.getComponentName(), "PKTP_ETMV4I_0016");
  ASSERT_EQ(processor.setProtocolConfig(&config), OCSD_OK);
  processor.getPacketOutAttachPt()->attach(&sink);
  std::uint32_t at = 0;
  std::vector<std::uint32_t> steps;
  while (at < kPackets.size()) {
    std::uint32_t used = 0;
    const auto resp =
        processor.TraceDataIn(OCSD_OP_DATA, at, static_cast<std::uint32_t>(kPackets.size()) - at,
                              kPackets.data() + at, &used);
    ASSERT_EQ(resp, OCSD_RESP_WAIT);
    ASSERT_GT(used, 0U);
    steps.push_back(used);
    at += used;
    EXPECT_EQ(processor.TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
  }
  EXPECT_EQ(steps, (std::vector<std::uint32_t>{12, 3, 1, 1}));
  EXPECT_EQ(sink.text, "0:256 op2 12:1 op2 15:4 op2 16:246 op2 ");
}

TEST(cpp_api_packets, interfaces_of_other_protocols_are_refused) {
  IDecoderMngr& manager = manager_of("STM");
  const STMConfig config;
  PacketSink sink;
  Collector elements;
  TraceComponent* component = nullptr;
  ASSERT_EQ(manager.createDecoder(OCSD_CREATE_FLG_FULL_DECODER, 0, &config, &component), OCSD_OK);
  EXPECT_EQ(
      manager.attachPktMonitor(component, static_cast<IPktRawDataMon<EtmV4ITrcPacket>*>(&sink)),
      OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(manager.attachMemAccessor(component, nullptr), OCSD_ERR_DCD_INTERFACE_UNUSED);
  EXPECT_EQ(manager.attachInstrDecoder(component, nullptr), OCSD_ERR_DCD_INTERFACE_UNUSED);
  EXPECT_EQ(manager.attachOutputSink(component, &elements), OCSD_OK);
  EXPECT_EQ(manager.getProtocolType(), OCSD_PROTOCOL_STM);
  CSConfig* made = nullptr;
  const ocsd_stm_cfg registers = {0x00200005, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
  EXPECT_EQ(manager.createConfigFromDataStruct(&made, &registers), OCSD_OK);
  EXPECT_EQ(made->getTraceID(), 0x20);
  delete made;
  manager.destroyDecoder(component);
}

TEST(cpp_api_packets, printers_print_them_with_their_elements) {
  TextLog log;
  const LoggerInUse in_use(log.errors);
  const TreePointer tree = single_tree();
  const EtmV4Config config = sample_config();
  ASSERT_EQ(tree->createDecoder("ETMV4I", OCSD_CREATE_FLG_FULL_DECODER, &config), OCSD_OK);
  tree->createMemAccMapper();
  ItemPrinter* printer = nullptr;
  TrcGenericElementPrinter* elements = nullptr;
  EXPECT_EQ(tree->addPacketPrinter(0, false, &printer), OCSD_ERR_INVALID_PARAM_TYPE);
  EXPECT_EQ(tree->addPacketPrinter(0, true, &printer), OCSD_OK);
  EXPECT_EQ(tree->addGenElemPrinter(&elements), OCSD_OK);
  elements->setTestWaits(1);
  elements->set_collect_stats();
  EXPECT_NE(dynamic_cast<PacketPrinter<EtmV4ITrcPacket>*>(printer), nullptr);
  std::uint32_t used = 0;
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 17, kPackets.data(), &used), OCSD_RESP_WAIT);
  EXPECT_TRUE(elements->needAckWait());
  elements->ackWait();
  EXPECT_EQ(log.text,
            "Idx:0; ID:0; [0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x80 ];\t"
            "I_ASYNC : Alignment Synchronisation.\n"
            "Idx:0; ID:10; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])\n");
  log.text.clear();
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_FLUSH, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, used, 17 - used, kPackets.data() + used, &used),
            OCSD_RESP_CONT);
  printer->muteIDPrint(true);
  EXPECT_EQ(tree->TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
  EXPECT_NE(log.text.find("ID:0\tEND OF TRACE DATA\n"), std::string::npos) << log.text;
  EXPECT_NE(log.text.find("I_TRACE_ON : Trace On."), std::string::npos) << log.text;
  log.text.clear();
  elements->printStats();
  EXPECT_NE(log.text.find("OCSD_GEN_TRC_ELEM_NO_SYNC : 1\n"), std::string::npos) << log.text;
}

// -- A decoder of a client's own. -----------------------------------------------------------------

/// Each byte is a packet, and each packet an element: its value is an event number.
struct BytePacket {
  std::uint8_t value = 0;
};
using ByteType = std::uint8_t;

class ByteConfig : public CSConfig {
 public:
  const std::uint8_t getTraceID() const override { return 0x33; }
};

class ByteProcessor : public TrcPktProcBase<BytePacket, ByteType, ByteConfig> {
 public:
  ByteProcessor() : TrcPktProcBase<BytePacket, ByteType, ByteConfig>("PKTP_BYTE") { statsInit(); }

 protected:
  ocsd_datapath_resp_t processData(const ocsd_trc_index_t index, const std::uint32_t size,
                                   const std::uint8_t* data, std::uint32_t* used) override {
    *used = 0;
    if (!checkInit()) return OCSD_RESP_FATAL_NOT_INIT;
    ocsd_datapath_resp_t resp = OCSD_RESP_CONT;
    while (*used < size && OCSD_DATA_RESP_IS_CONT(resp)) {
      packet_.value = data[*used];
      std::vector<std::uint8_t> bytes(1, packet_.value);
      resp = outputOnAllInterfaces(index + *used, &packet_, &packet_.value, bytes);
      ++*used;
    }
    statsAddTotalCount(*used);
    return resp;
  }
  ocsd_datapath_resp_t onEOT() override { return OCSD_RESP_CONT; }
  ocsd_datapath_resp_t onReset() override { return OCSD_RESP_CONT; }
  ocsd_datapath_resp_t onFlush() override { return OCSD_RESP_CONT; }
  ocsd_err_t onProtocolConfig() override { return OCSD_OK; }
  const bool isBadPacket() const override { return packet_.value == 0xFF; }

 private:
  BytePacket packet_;
};

class ByteDecoder : public TrcPktDecodeBase<BytePacket, ByteConfig> {
 public:
  ByteDecoder() : TrcPktDecodeBase<BytePacket, ByteConfig>("DCD_BYTE") {
    setUsesMemAccess(false);
    setUsesIDecode(false);
  }

 protected:
  ocsd_datapath_resp_t processPacket() override {
    element_.setType(OCSD_GEN_TRC_ELEM_EVENT);
    element_.setEvent(EVENT_NUMBERED, m_curr_packet_in->value);
    return outputTraceElement(element_);
  }
  ocsd_datapath_resp_t onEOT() override {
    element_.setType(OCSD_GEN_TRC_ELEM_EO_TRACE);
    element_.setUnSyncEOTReason(UNSYNC_EOT);
    return outputTraceElement(element_);
  }
  ocsd_datapath_resp_t onReset() override { return OCSD_RESP_CONT; }
  ocsd_datapath_resp_t onFlush() override { return OCSD_RESP_CONT; }
  ocsd_err_t onProtocolConfig() override { return OCSD_OK; }
  const std::uint8_t getCoreSightTraceID() override { return m_config->getTraceID(); }

 private:
  OcsdTraceElement element_;
};

class ByteManager : public IDecoderMngr {
 public:
  explicit ByteManager(ocsd_trace_protocol_t protocol) : protocol_(protocol) {}
  ocsd_err_t createDecoder(const int, const int, const CSConfig* config,
                           TraceComponent** component) override {
    const auto* typed = dynamic_cast<const ByteConfig*>(config);
    if (typed == nullptr) return OCSD_ERR_INVALID_PARAM_TYPE;
    auto* processor = new ByteProcessor;
    auto* decoder = new ByteDecoder;
    processor->setProtocolConfig(typed);
    decoder->setProtocolConfig(typed);
    processor->getPacketOutAttachPt()->attach(decoder);
    decoder->setAssocComponent(processor);
    *component = decoder;
    return OCSD_OK;
  }
  ocsd_err_t destroyDecoder(TraceComponent* component) override {
    delete component->getAssocComponent();
    delete component;
    return OCSD_OK;
  }
  const ocsd_trace_protocol_t getProtocolType() const override { return protocol_; }
  ocsd_err_t attachErrorLogger(TraceComponent* component, ITraceErrorLog* log) override {
    return component->getErrorLogAttachPt()->replace_first(log);
  }
  ocsd_err_t attachInstrDecoder(TraceComponent*, IInstrDecode*) override {
    return OCSD_ERR_DCD_INTERFACE_UNUSED;
  }
  ocsd_err_t attachMemAccessor(TraceComponent*, ITargetMemAccess*) override {
    return OCSD_ERR_DCD_INTERFACE_UNUSED;
  }
  ocsd_err_t attachOutputSink(TraceComponent* component, ITrcGenElemIn* sink) override {
    return dynamic_cast<ByteDecoder*>(component)->getTraceElemOutAttachPt()->replace_first(sink);
  }
  ocsd_err_t attachPktMonitor(TraceComponent*, ITrcTypedBase*) override {
    return OCSD_ERR_DCD_INTERFACE_UNUSED;
  }
  ocsd_err_t attachPktIndexer(TraceComponent*, ITrcTypedBase*) override {
    return OCSD_ERR_DCD_INTERFACE_UNUSED;
  }
  ocsd_err_t attachPktSink(TraceComponent*, ITrcTypedBase*) override {
    return OCSD_ERR_DCD_INTERFACE_UNUSED;
  }
  ocsd_err_t getDataInputI(TraceComponent* component, ITrcDataIn** input) override {
    *input = dynamic_cast<ITrcDataIn*>(component->getAssocComponent());
    return OCSD_OK;
  }
  ocsd_err_t createConfigFromDataStruct(CSConfig** config, const void*) override {
    *config = new ByteConfig;
    return OCSD_OK;
  }

 private:
  ocsd_trace_protocol_t protocol_;
};

TEST(cpp_api_register, knows_the_librarys_decoders_by_name_and_type) {
  OcsdLibDcdRegister& decoders = *OcsdLibDcdRegister::getDecoderRegister();
  std::string name;
  std::vector<std::string> names;
  for (bool more = decoders.getFirstNamedDecoder(name); more;
       more = decoders.getNextNamedDecoder(name))
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"ETE", "ETMV3", "ETMV4I", "ITM", "PTM", "STM"}));
  EXPECT_TRUE(decoders.isRegisteredDecoder("ITM"));
  EXPECT_FALSE(decoders.isRegisteredDecoder("itm"));
  EXPECT_TRUE(decoders.isRegisteredDecoderType(OCSD_PROTOCOL_ETE));
  EXPECT_FALSE(decoders.isRegisteredDecoderType(OCSD_PROTOCOL_ETMV4D));
  IDecoderMngr* manager = nullptr;
  EXPECT_EQ(decoders.getDecoderMngrByType(OCSD_PROTOCOL_PTM, &manager), OCSD_OK);
  EXPECT_EQ(manager->getProtocolType(), OCSD_PROTOCOL_PTM);
  EXPECT_EQ(decoders.getDecoderMngrByType(OCSD_PROTOCOL_CUSTOM_9, &manager),
            OCSD_ERR_DCDREG_TYPE_UNKNOWN);
}

TEST(cpp_api_register, a_clients_decoder_works_in_a_tree) {
  OcsdLibDcdRegister& decoders = *OcsdLibDcdRegister::getDecoderRegister();
  const ocsd_trace_protocol_t protocol = OcsdLibDcdRegister::getNextCustomProtocolID();
  EXPECT_TRUE(OCSD_PROTOCOL_IS_CUSTOM(protocol));
  auto* manager = new ByteManager(protocol);
  EXPECT_EQ(decoders.registerDecoderTypeByName("STM", manager), OCSD_ERR_DCDREG_NAME_REPEAT);
  ASSERT_EQ(decoders.registerDecoderTypeByName("BYTE", manager), OCSD_OK);
  {
    const TreePointer tree = framed_tree();
    const ByteConfig config;
    Collector sink;
    tree->setGenTraceElemOutI(&sink);
    ASSERT_EQ(tree->createDecoder("BYTE", OCSD_CREATE_FLG_FULL_DECODER, &config), OCSD_OK);
    CSFrameMuxData mux;
    const ByteVector bytes = {5, 6};
    mux.muxInData(bytes.data(), 2, 0x33, true);
    std::uint32_t used = 0;
    EXPECT_EQ(tree->TraceDataIn(OCSD_OP_DATA, 0, 16, mux.getFrameBuffer(), &used), OCSD_RESP_CONT);
    EXPECT_EQ(tree->TraceDataIn(OCSD_OP_EOT, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
    ASSERT_EQ(sink.lines.size(), 3U);
    EXPECT_NE(sink.lines[0].find("Numbered:5"), std::string::npos);
    EXPECT_NE(sink.lines[1].find("Numbered:6"), std::string::npos);
    EXPECT_NE(sink.lines[2].find("end-of-trace"), std::string::npos);
    ocsd_decode_stats_t* stats = nullptr;
    EXPECT_EQ(tree->getDecoderStats(0x33, &stats), OCSD_OK);
    EXPECT_EQ(stats->channel_total, 2U);
    ItemPrinter* printer = nullptr;
    EXPECT_EQ(tree->addPacketPrinter(0x33, true, &printer), OCSD_ERR_NO_PROTOCOL);
  }
  OcsdLibDcdRegister::deregisterAllDecoders();
  OcsdLibDcdRegister::releaseLastCustomProtocolID();
  EXPECT_FALSE(OcsdLibDcdRegister::getDecoderRegister()->isRegisteredDecoder("BYTE"));
}

TEST(cpp_api_register, there_are_ten_custom_protocols) {
  int count = 0;
  while (OcsdLibDcdRegister::getNextCustomProtocolID() != OCSD_PROTOCOL_END) ++count;
  EXPECT_EQ(count, 10);
  for (int i = 0; i < count; ++i) OcsdLibDcdRegister::releaseLastCustomProtocolID();
  EXPECT_EQ(OcsdLibDcdRegister::getNextCustomProtocolID(), OCSD_PROTOCOL_CUSTOM_0);
  OcsdLibDcdRegister::releaseLastCustomProtocolID();
}

}  // namespace
}  // namespace cpp_api

// Loggers, errors, elements, packets, configurations, instructions: the classes that work alone.
#include <cstdio>
#include <filesystem>

#include "support.h"

namespace cpp_api {
namespace {

// -- Errors and loggers. --------------------------------------------------------------------------

TEST(cpp_api_errors, print_as_the_reference_prints_them) {
  const ocsdError full(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PCKT_HDR, 14, 0x10, "Bad.");
  EXPECT_EQ(
      ocsdError::getErrorString(full),
      "0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=14; CS ID=10; Bad.");
  const ocsdError bare(OCSD_ERR_SEV_ERROR, OCSD_OK);
  EXPECT_EQ(ocsdError::getErrorString(bare), "0x0000 (OCSD_OK) [No Error.]; ");
  EXPECT_EQ(bare.getErrorIndex(), OCSD_BAD_TRC_INDEX);
  EXPECT_EQ(bare.getErrorChanID(), OCSD_BAD_CS_SRC_ID);
  EXPECT_EQ(ocsdError::getErrorString(ocsdError(OCSD_ERR_SEV_NONE, OCSD_OK)),
            "LIBRARY INTERNAL ERROR: Invalid Error Object");
  const ocsdError beyond(OCSD_ERR_SEV_ERROR, static_cast<ocsd_err_t>(48));
  EXPECT_EQ(ocsdError::getErrorString(beyond), "0x0030 (unknown); ");
  ocsdError copy(&full);
  copy.setMessage("Other.");
  EXPECT_EQ(copy.getMessage(), "Other.");
  EXPECT_EQ(copy.getErrorCode(), OCSD_ERR_INVALID_PCKT_HDR);
  copy = bare;
  EXPECT_EQ(copy.getErrorSeverity(), OCSD_ERR_SEV_ERROR);
  copy = &full;
  EXPECT_EQ(copy.getErrorIndex(), 14U);
}

TEST(cpp_api_errors, answers_have_names) {
  EXPECT_STREQ(ocsdDataRespStr(OCSD_RESP_WAIT).getStr(), "OCSD_RESP_WAIT: Pause processing");
  EXPECT_STREQ(ocsdDataRespStr(static_cast<ocsd_datapath_resp_t>(15)).getStr(),
               "Unknown OCSD_RESP type.");
}

TEST(cpp_api_errors, the_logger_keeps_what_is_loud_enough) {
  TextLog log(OCSD_ERR_SEV_WARN);
  EXPECT_EQ(log.errors.GetLastError(), nullptr);
  const ocsd_hndl_err_log_t handle = log.errors.RegisterErrorSource("Mine");
  EXPECT_EQ(handle,
            static_cast<ocsd_hndl_err_log_t>(ITraceErrorLog::HANDLE_FIRST_REGISTERED_COMPONENT));
  const ocsdError info(OCSD_ERR_SEV_INFO, OCSD_ERR_FAIL);
  log.errors.LogError(handle, &info);
  EXPECT_EQ(log.errors.GetLastError(), nullptr);
  const ocsdError warning(OCSD_ERR_SEV_WARN, OCSD_ERR_FAIL, 3, 0x22);
  log.errors.LogError(handle, &warning);
  ASSERT_NE(log.errors.GetLastError(), nullptr);
  EXPECT_EQ(log.errors.GetLastIDError(0x22)->getErrorIndex(), 3U);
  EXPECT_EQ(log.errors.GetLastIDError(0x23), nullptr);
  EXPECT_EQ(log.errors.GetLastIDError(0xFF), nullptr);
  log.errors.LogMessage(handle, OCSD_ERR_SEV_INFO, "quiet\n");
  log.errors.LogMessage(ITraceErrorLog::HANDLE_GEN_WARN, OCSD_ERR_SEV_WARN, "loud\n");
  log.errors.LogMessage(77, OCSD_ERR_SEV_ERROR, "who\n");
  EXPECT_EQ(log.text,
            "Mine : 0x0001 (OCSD_ERR_FAIL) [General failure.]; TrcIdx=3; CS ID=22; "
            "Gen_Warn : loud\nunknown : who\n");
}

TEST(cpp_api_errors, the_logger_of_the_process_can_be_replaced) {
  TextLog log;
  EXPECT_EQ(DecodeTree::getCurrentErrorLogI(), DecodeTree::getDefaultErrorLogger());
  {
    const LoggerInUse in_use(log.errors);
    EXPECT_EQ(DecodeTree::getCurrentErrorLogI(), &log.errors);
  }
  EXPECT_EQ(DecodeTree::getCurrentErrorLogI(), DecodeTree::getDefaultErrorLogger());
}

TEST(cpp_api_errors, an_output_lives_as_long_as_its_printers) {
  class Lines : public ocsdMsgLogStrOutI {
   public:
    void printOutStr(const std::string& outStr) override { text += outStr; }
    std::string text;
  };
  Lines first;
  Lines second;
  ocsdDefaultErrorLogger errors;
  errors.initErrorLogger(OCSD_ERR_SEV_INFO, true);
  const auto use = [&](Lines& lines) {
    errors.getOutputLogger()->setLogOpts(ocsdMsgLogger::OUT_NONE);
    errors.getOutputLogger()->setStrOutFn(&lines);
  };
  use(first);
  const LoggerInUse in_use(errors);
  const TreePointer tree = framed_tree();
  ASSERT_EQ(tree->createMemAccMapper(), OCSD_OK);
  const EtmV4Config config = sample_config();
  ASSERT_EQ(tree->createDecoder(OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &config),
            OCSD_OK);
  ASSERT_EQ(tree->addGenElemPrinter(nullptr), OCSD_OK);
  ASSERT_EQ(tree->addPacketPrinter(kSampleId, true, nullptr), OCSD_OK);
  ASSERT_EQ(tree->addRawFramePrinter(nullptr, OCSD_DFRMTR_UNPACKED_RAW_OUT), OCSD_OK);

  errors.initErrorLogger(OCSD_ERR_SEV_INFO, true);
  use(second);
  run(*tree, read_file(sample("trace.bin")));
  EXPECT_NE(first.text.find("OCSD_GEN_TRC_ELEM_"), std::string::npos);
  EXPECT_NE(first.text.find("I_ASYNC"), std::string::npos);
  EXPECT_NE(first.text.find("Frame Data;"), std::string::npos);
  EXPECT_EQ(second.text, "");
  errors.LogMessage(ITraceErrorLog::HANDLE_GEN_INFO, OCSD_ERR_SEV_INFO, "newest\n");
  EXPECT_EQ(second.text, "Gen_Info : newest\n");
  // A client's own output replaces one that the logger made, and the logger does not delete it.
  ocsdMsgLogger own;
  errors.setOutputLogger(&own);
  EXPECT_EQ(errors.getOutputLogger(), &own);
}

TEST(cpp_api_messages, go_to_a_file_that_is_opened_late_and_appended_to) {
  const auto path = std::filesystem::temp_directory_path() / "waymark_cpp_api_messages.log";
  std::filesystem::remove(path);
  {
    ocsdMsgLogger logger;
    EXPECT_EQ(logger.getLogOpts(), static_cast<int>(ocsdMsgLogger::OUT_STDOUT));
    logger.setLogOpts(ocsdMsgLogger::OUT_NONE);
    EXPECT_FALSE(logger.isLogging());
    logger.setLogFileName(path.c_str());
    EXPECT_EQ(logger.getLogOpts(), static_cast<int>(ocsdMsgLogger::OUT_FILE));
    EXPECT_FALSE(std::filesystem::exists(path));
    logger.LogMsg("one\n");
    logger.setLogFileName("");
    logger.LogMsg("nowhere\n");
  }
  ocsdMsgLogger second;
  second.setLogOpts(ocsdMsgLogger::OUT_NONE);
  second.setLogFileName(path.c_str());
  second.LogMsg("two\n");
  const ByteVector content = read_file(path);
  EXPECT_EQ(std::string(content.begin(), content.end()), "one\ntwo\n");
  std::filesystem::remove(path);
}

TEST(cpp_api_version, is_that_of_the_interface) {
  EXPECT_EQ(ocsdVersion::vers_num(), 0x010800U);
  EXPECT_STREQ(ocsdVersion::vers_str(), "1.8.0");
}

// -- Attach points. -------------------------------------------------------------------------------

class Notified : public IComponentAttachNotifier {
 public:
  void attachNotify(const int num_attached) override { told.push_back(num_attached); }
  std::vector<int> told;
};

TEST(cpp_api_attach_point, holds_one) {
  componentAttachPt<ITrcGenElemIn> point;
  Notified notified;
  Collector a;
  Collector b;
  point.set_notifier(&notified);
  EXPECT_EQ(point.attach(nullptr), OCSD_ERR_ATTACH_INVALID_PARAM);
  EXPECT_EQ(point.attach(&a), OCSD_OK);
  EXPECT_EQ(point.attach(&b), OCSD_ERR_ATTACH_TOO_MANY);
  EXPECT_EQ(point.detach(&b), OCSD_ERR_ATTACH_COMP_NOT_FOUND);
  EXPECT_EQ(point.first(), &a);
  EXPECT_EQ(point.next(), nullptr);
  EXPECT_EQ(point.replace_first(&b), OCSD_OK);
  EXPECT_EQ(point.first(), &b);
  point.set_enabled(false);
  EXPECT_EQ(point.first(), nullptr);
  EXPECT_TRUE(point.hasAttached());
  EXPECT_FALSE(point.hasAttachedAndEnabled());
  point.set_enabled(true);
  EXPECT_EQ(point.detach(&b), OCSD_OK);
  EXPECT_EQ(point.num_attached(), 0);
  EXPECT_EQ(notified.told, (std::vector<int>{1, 0, 1, 0}));
}

// -- Elements. ------------------------------------------------------------------------------------

std::string text_of(const OcsdTraceElement& element) {
  std::string text;
  element.toString(text);
  return text;
}

TEST(cpp_api_element, prints_what_was_set) {
  OcsdTraceElement element(OCSD_GEN_TRC_ELEM_INSTR_RANGE);
  element.setISA(ocsd_isa_aarch64);
  element.setAddrRange(0xCDA88, 0xCDA98, 4);
  element.setLastInstrInfo(true, OCSD_INSTR_BR, OCSD_S_INSTR_NONE, 4);
  element.setLastInstrCond(1);
  EXPECT_EQ(text_of(element),
            "OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0xcda88:[0xcda98] num_i(4) last_sz(4) "
            "(ISA=A64) E BR   <cond>)");
  element.setType(OCSD_GEN_TRC_ELEM_TIMESTAMP);
  element.setTS(0x58e90bb867);
  element.setCycleCount(3);
  EXPECT_EQ(text_of(element), "OCSD_GEN_TRC_ELEM_TIMESTAMP( [ TS=0x0058e90bb867];  [CC=3]; )");
  element.setType(OCSD_GEN_TRC_ELEM_EVENT);
  element.setEvent(EVENT_NUMBERED, 1);
  EXPECT_EQ(text_of(element), "OCSD_GEN_TRC_ELEM_EVENT( Numbered:1; )");
  element.setType(OCSD_GEN_TRC_ELEM_INSTRUMENTATION);
  trace_sw_ite_t ite = {};
  ite.el = 1;
  ite.value = 0xFFFFF;
  element.setITEInfo(ite);
  EXPECT_EQ(text_of(element), "OCSD_GEN_TRC_ELEM_INSTRUMENTATION(EL1; 0x00000000000fffff)");
  element.setType(static_cast<ocsd_gen_trc_elem_t>(20));
  EXPECT_EQ(text_of(element), "OCSD_GEN_TRC_ELEM??: index out of range.");
}

TEST(cpp_api_element, is_the_plain_structure_too) {
  ocsd_generic_trace_elem plain = {};
  plain.elem_type = OCSD_GEN_TRC_ELEM_EO_TRACE;
  plain.unsync_eot_info = UNSYNC_EOT;
  OcsdTraceElement element;
  element = &plain;
  EXPECT_EQ(text_of(element), "OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])");
  const ocsd_generic_trace_elem* back = &element;
  EXPECT_NE(static_cast<const void*>(back), static_cast<const void*>(&element));
  EXPECT_EQ(back->elem_type, OCSD_GEN_TRC_ELEM_EO_TRACE);
  OcsdPeContext context;
  context.setEL(ocsd_EL1);
  context.setSecLevel(ocsd_sec_nonsecure);
  context.setCtxtID(0x77);
  context.set64bit(true);
  OcsdTraceElement source(OCSD_GEN_TRC_ELEM_PE_CONTEXT);
  source.setISA(ocsd_isa_aarch64);
  source.setContext(context);
  EXPECT_EQ(text_of(source), "OCSD_GEN_TRC_ELEM_PE_CONTEXT((ISA=A64) EL1N; 64-bit; CTXTID=0x77; )");
  element.copyPersistentData(source);
  EXPECT_EQ(element.getContext().context_id, 0x77U);
  EXPECT_EQ(element.getType(), OCSD_GEN_TRC_ELEM_EO_TRACE);
}

TEST(cpp_api_values, show_what_is_not_known) {
  std::string text;
  trcPrintableElem::getValStr(text, 32, 32, 0x1234ABCD);
  EXPECT_EQ(text, "0x1234ABCD");
  trcPrintableElem::getValStr(text, 32, 16, 0x1234ABCD, true, 8);
  EXPECT_EQ(text, "0x????ABCD (15:0) ~[0xCD]");
  trcPrintableElem::getValStr(text, 16, 16, 1000, false);
  EXPECT_EQ(text, "1000");
}

// -- Packets. -------------------------------------------------------------------------------------

template <class Packet>
std::string packet_text(const Packet& packet) {
  std::string text;
  packet.toString(text);
  return text;
}

TEST(cpp_api_packet, etmv4_prints_what_was_set) {
  EtmV4ITrcPacket packet;
  packet.setProtocolVersion(0x42);
  packet.setType(ETM4_PKT_I_ADDR_CTXT_L_32IS0);
  packet.set32BitAddress(0xCDA88, 0);
  packet.setContextInfo(true, 1, 1, 1);
  EXPECT_NE(
      packet_text(packet).find("I_ADDR_CTXT_L_32IS0 : Address & Context, Long, 32 bit, IS0.;"),
      std::string::npos)
      << packet_text(packet);
  EXPECT_NE(packet_text(packet).find("Ctxt: AArch64,EL1, NS;"), std::string::npos)
      << packet_text(packet);
  EXPECT_EQ(packet.getAddrVal(), 0xCDA88U);
  packet.initNextPacket();
  packet.setType(ETM4_PKT_I_ATOM_F2);
  packet.setAtomPacket(ATOM_PATTERN, 3, 2);
  EXPECT_EQ(packet_text(packet), "I_ATOM_F2 : Atom format 2.; EE");
  EXPECT_EQ(packet.getNumAtoms(), 2);
  packet.updateErrType(ETM4_PKT_I_BAD_SEQUENCE, 0x42);
  EXPECT_TRUE(packet.isBadPacket());
  EXPECT_EQ(packet.getErrType(), ETM4_PKT_I_ATOM_F2);
  EXPECT_EQ(packet.c_pkt(), static_cast<const ocsd_etmv4_i_pkt*>(&packet));
}

TEST(cpp_api_packet, etmv4_addresses_are_remembered) {
  EtmV4ITrcPacket packet;
  packet.set64BitAddress(0x1000, 0);
  packet.set64BitAddress(0x2000, 1);
  packet.set64BitAddress(0x3000, 0);
  packet.setAddressExactMatch(2);
  EXPECT_EQ(packet.getAddrVal(), 0x1000U);
  packet.setAddressExactMatch(2);
  EXPECT_EQ(packet.getAddrVal(), 0x2000U);
  EXPECT_EQ(packet.getAddrIS(), 1);
  packet.updateShortAddress(0x14, 0, 9);
  EXPECT_EQ(packet.getAddrVal(), 0x2014U);
}

TEST(cpp_api_packet, v7_packets_print_what_was_set) {
  PtmTrcPacket ptm;
  ptm.SetType(PTM_PKT_ATOM);
  ptm.SetAtomFromPHdr(0x84);
  EXPECT_NE(packet_text(ptm).find("ATOM"), std::string::npos) << packet_text(ptm);
  EXPECT_EQ(ptm.getAtom().num, 1);
  ptm.SetErrType(PTM_PKT_BAD_SEQUENCE);
  EXPECT_TRUE(ptm.isBadPacket());
  EtmV3TrcPacket etm;
  etm.SetType(ETM3_PKT_P_HDR);
  EXPECT_TRUE(etm.UpdateAtomFromPHdr(0x84, false));
  EXPECT_FALSE(etm.UpdateAtomFromPHdr(0x01, false));
  EXPECT_EQ(etm.getAtom().num, 1);
  EXPECT_EQ(etm.getPHdrFmt(), 1);
  EXPECT_NE(packet_text(etm).find("P_HDR : Atom P-header.; E"), std::string::npos)
      << packet_text(etm);
  etm.UpdateISA(ocsd_isa_thumb2);
  EXPECT_TRUE(etm.changedISA());
  etm.UpdateAddress(0x8000, 32);
  etm.Clear();
  EXPECT_EQ(etm.getAddr(), 0x8000U);
  EXPECT_EQ(etm.getType(), ETM3_PKT_NOERROR);
}

TEST(cpp_api_packet, software_packets_print_what_was_set) {
  StmTrcPacket stm;
  stm.onVersionPkt(STM_TS_NATBINARY);
  stm.setMaster(0x41);
  stm.setChannel(0x1234, false);
  stm.setChannel(0x56, true);
  EXPECT_EQ(stm.getChannel(), 0x1256);
  stm.setPacketType(STM_PKT_D8, true);
  stm.setD8Payload(0x5A);
  EXPECT_NE(packet_text(stm).find("0x5a"), std::string::npos) << packet_text(stm);
  ItmTrcPacket itm;
  itm.setPktType(ITM_PKT_SWIT);
  itm.setSrcID(3);
  itm.setValue(0xBB, 1);
  EXPECT_NE(packet_text(itm).find("0xbb"), std::string::npos) << packet_text(itm);
  itm.setExtValue(0x5AABBCCDD);
  EXPECT_EQ(itm.getExtValue(), 0x5AABBCCDDU);
}

// -- Configurations. ------------------------------------------------------------------------------

TEST(cpp_api_config, etmv4_fields) {
  const EtmV4Config config = sample_config();
  EXPECT_EQ(config.getTraceID(), kSampleId);
  EXPECT_EQ(config.FullVersion(), 0x40);
  EXPECT_TRUE(config.enabledCID());
  EXPECT_TRUE(config.enabledTS());
  EXPECT_FALSE(config.enabledCCI());
  EXPECT_FALSE(config.enabledRetStack());
  EXPECT_EQ(config.cidSize(), 32U);
  EXPECT_EQ(config.iaSizeMax(), 64U);
  EXPECT_EQ(config.archVersion(), ARCH_V8);
  const ocsd_etmv4_cfg& plain = config;
  EXPECT_EQ(plain.reg_configr, 0x841U);
  ocsd_ete_cfg ete = {};
  ete.reg_devarch = 0x47705A13;
  ete.reg_traceidr = 0x91;
  const ETEConfig ete_config(&ete);
  EXPECT_EQ(ete_config.FullVersion(), 0x50);
  EXPECT_EQ(ete_config.getTraceID(), 0x11);
  EtmV4Config other;
  other = &plain;
  EXPECT_EQ(other.getTraceID(), kSampleId);
}

TEST(cpp_api_config, other_fields) {
  ocsd_ptm_cfg ptm = {};
  ptm.reg_idr = 0x411CF312;
  ptm.reg_ccer = 0x34C01AC2;
  ptm.reg_ctrl = 0x1000D000;
  ptm.reg_trc_id = 0x13;
  const PtmConfig ptm_config(&ptm);
  EXPECT_EQ(ptm_config.MinorRev(), 1);
  EXPECT_TRUE(ptm_config.enaCycleAcc());
  EXPECT_TRUE(ptm_config.enaTS());
  EXPECT_EQ(ptm_config.CtxtIDBytes(), 4);
  EXPECT_TRUE(ptm_config.hasRetStack());
  EXPECT_TRUE(ptm_config.TSPkt64());

  ocsd_etmv3_cfg etm = {};
  etm.reg_idr = 0x410CF250;
  etm.reg_ctrl = 0x10001860 | 0xC;
  EtmV3Config etm_config(&etm);
  EXPECT_EQ(etm_config.MinorRev(), 5);
  EXPECT_TRUE(etm_config.isDataTrace());
  EXPECT_EQ(etm_config.GetTraceMode(), EtmV3Config::TM_I_DATA_VAL_ADDR);
  EXPECT_TRUE(etm_config.isCycleAcc());
  EXPECT_TRUE(etm_config.isTSEnabled());

  STMConfig stm;
  stm.setTraceID(0x20);
  EXPECT_EQ(stm.getTraceID(), 0x20);
  EXPECT_EQ(stm.getMaxMasterIdx(), 0xFF);
  EXPECT_EQ(stm.getMaxChannelIdx(), 0xFFFF);
  EXPECT_FALSE(stm.getHWTraceEn());
  stm.setHWTraceFeat(HwEvent_Enabled);
  EXPECT_TRUE(stm.getHWTraceEn());

  ITMConfig itm;
  itm.setTraceID(0x15);
  EXPECT_EQ(itm.getTraceID(), 0x15);
  EXPECT_EQ(itm.getTSPrescaleValue(), 1U);
}

// -- Instructions and cores. ----------------------------------------------------------------------

TEST(cpp_api_instructions, are_classified) {
  TrcIDecode decoder;
  ocsd_instr_info info = {};
  info.pe_type = {ARCH_V8, profile_CortexA};
  info.isa = ocsd_isa_aarch64;
  info.instr_addr = 0x1000;
  info.opcode = 0x94000004;  // BL .+16
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_OK);
  EXPECT_EQ(info.type, OCSD_INSTR_BR);
  EXPECT_EQ(info.sub_type, OCSD_S_INSTR_BR_LINK);
  EXPECT_EQ(info.branch_addr, 0x1010U);
  EXPECT_EQ(info.is_link, 1);
  EXPECT_EQ(info.instr_size, 4);
  info.opcode = 0x0000FFFF;
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_OK);
  decoder.setAA64_errOnBadOpcode(true);
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_ERR_INVALID_OPCODE);
  info.isa = ocsd_isa_jazelle;
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_ERR_UNSUPPORTED_ISA);
}

TEST(cpp_api_instructions, are_classified_as_the_reference_does) {
  TrcIDecode decoder;
  ocsd_instr_info info = {};
  info.pe_type = {ARCH_V7, profile_CortexA};
  info.isa = ocsd_isa_arm;
  info.opcode = 0xE160006E;  // ERET
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_OK);
  EXPECT_EQ(info.type, OCSD_INSTR_OTHER);
  info.pe_type = {ARCH_AA64, profile_CortexA};
  info.isa = ocsd_isa_aarch64;
  info.opcode = 0x74010040;  // CBGT
  EXPECT_EQ(decoder.DecodeInstruction(&info), OCSD_OK);
  EXPECT_EQ(info.type, OCSD_INSTR_BR);
  EXPECT_EQ(info.is_conditional, 0);
}

TEST(cpp_api_cores, are_found_by_name) {
  CoreArchProfileMap map;
  EXPECT_EQ(map.getArchProfile("Cortex-A53").arch, ARCH_V8);
  EXPECT_EQ(map.getArchProfile("Cortex-M3").profile, profile_CortexM);
  EXPECT_EQ(map.getArchProfile("none").arch, ARCH_UNKNOWN);
  EXPECT_EQ(map.getArchProfile("none").profile, profile_Unknown);
}

}  // namespace
}  // namespace cpp_api

// The decode tree of the C++ interface.  See opencsd-cpp-api.md 2 and
// opencsd-c-api.md 3.
#include <algorithm>
#include <atomic>
#include <memory>

#include "common/ocsd_dcd_tree.h"
#include "common/trc_pkt_proc_base.h"
#include "core/level.h"
#include "i_dec/trc_i_decode.h"
#include "mem_acc/trc_mem_acc.h"
#include "opencsd/etmv3/trc_pkt_elem_etmv3.h"
#include "opencsd/etmv4/trc_pkt_elem_etmv4i.h"
#include "opencsd/itm/trc_pkt_elem_itm.h"
#include "opencsd/ptm/trc_pkt_elem_ptm.h"
#include "opencsd/stm/trc_pkt_elem_stm.h"
#include "pkt_printers/trc_print_fact.h"

// -- Elements. ------------------------------------------------------------------------------------

DecodeTreeElement::DecodeTreeElement() : decoder_element() {
  dcd_name = "unknown";
  protocol = OCSD_PROTOCOL_END;
}

DecodeTreeElement::~DecodeTreeElement() = default;

void DecodeTreeElement::SetDecoderElement(const std::string& name, IDecoderMngr* dcdMngr,
                                          TraceComponent* pHandle, bool bCreated) {
  dcd_name = name;
  dcd_mngr = dcdMngr;
  dcd_handle = pHandle;
  created = bCreated;
  protocol = dcdMngr != nullptr ? dcdMngr->getProtocolType() : OCSD_PROTOCOL_UNKNOWN;
}

void DecodeTreeElement::DestroyElem() {
  if (created && dcd_mngr != nullptr && dcd_handle != nullptr) dcd_mngr->destroyDecoder(dcd_handle);
  dcd_handle = nullptr;
}

// -- The logger of the process. -------------------------------------------------------------------

namespace {

struct ProcessLogger {
  ProcessLogger() { default_logger.initErrorLogger(OCSD_ERR_SEV_INFO); }
  ocsdDefaultErrorLogger default_logger;
  std::atomic<ITraceErrorLog*> current{&default_logger};
};

/// An interface that the decoder does not use is not missing.
ocsd_err_t needed(ocsd_err_t err) { return err == OCSD_ERR_DCD_INTERFACE_UNUSED ? OCSD_OK : err; }

ProcessLogger& process_logger() {
  // Never destroyed, because trees may live longer.
  static auto* const logger = new ProcessLogger;
  return *logger;
}

TrcIDecode& process_instruction_decoder() {
  static auto* const decoder = new TrcIDecode;
  return *decoder;
}

bool is_tree_id(uint8_t id) { return id < 0x80; }

}  // namespace

ocsdDefaultErrorLogger* DecodeTree::getDefaultErrorLogger() {
  return &process_logger().default_logger;
}

ITraceErrorLog* DecodeTree::getCurrentErrorLogI() { return process_logger().current; }

void DecodeTree::setAlternateErrorLogger(ITraceErrorLog* p_error_logger) {
  process_logger().current =
      p_error_logger != nullptr ? p_error_logger : &process_logger().default_logger;
}

void DecodeTree::logError(ocsd_err_t err, const std::string& msg) {
  const ocsdError error(OCSD_ERR_SEV_ERROR, err, msg);
  getCurrentErrorLogI()->LogError(ITraceErrorLog::HANDLE_GEN_ERR, &error);
}

// -- Making and destroying. -----------------------------------------------------------------------

DecodeTree::DecodeTree()
    : m_dcd_tree_type(OCSD_TRC_SRC_SINGLE),
      m_i_instr_decode(&process_instruction_decoder()),
      m_i_mem_access(nullptr),
      m_i_gen_elem_out(nullptr),
      m_i_decoder_root(nullptr),
      m_frame_deformatter_root(nullptr),
      m_decode_elements(),
      m_decode_elem_iter(0),
      m_default_mapper(nullptr),
      m_created_mapper(false),
      m_demux_stats() {
  process_instruction_decoder().envSetAA64_errOnBadOpcode();
}

DecodeTree::~DecodeTree() {
  for (uint8_t id = 0; is_tree_id(id); ++id) destroyDecodeElement(id);
  PktPrinterFact::destroyAllPrinters(m_printer_list);
  delete m_frame_deformatter_root;
  destroyMemAccMapper();
}

DecodeTree* DecodeTree::CreateDecodeTree(ocsd_dcd_tree_src_t src_type, uint32_t formatterCfgFlags) {
  auto tree = std::make_unique<DecodeTree>();
  return tree->initialise(src_type, formatterCfgFlags) ? tree.release() : nullptr;
}

void DecodeTree::DestroyDecodeTree(DecodeTree* p_dcd_tree) { delete p_dcd_tree; }

bool DecodeTree::initialise(ocsd_dcd_tree_src_t type, uint32_t formatterCfgFlags) {
  m_dcd_tree_type = type;
  if (const auto level = waymark::compat::chosen_level(); !level) {
    const ocsdError error(OCSD_ERR_SEV_ERROR, OCSD_ERR_INVALID_PARAM_VAL, level.error().detail);
    ITraceErrorLog* const log = getCurrentErrorLogI();
    log->LogError(log->RegisterErrorSource(waymark::compat::kLevelVariable), &error);
    return false;
  }
  if (type == OCSD_TRC_SRC_SINGLE) return true;
  if (type != OCSD_TRC_SRC_FRAME_FORMATTED) return false;
  m_frame_deformatter_root = new TraceFormatterFrameDecoder;
  m_frame_deformatter_root->Init();
  m_frame_deformatter_root->getErrLogAttachPt()->attach(getCurrentErrorLogI());
  // A tree must know where frames begin; the deformatter alone does not.
  constexpr uint32_t kLayout =
      OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS | OCSD_DFRMTR_FRAME_MEM_ALIGN;
  const bool known = (formatterCfgFlags & ~uint32_t{OCSD_DFRMTR_VALID_MASK}) != 0 ||
                     (formatterCfgFlags & kLayout) != 0;
  if (m_frame_deformatter_root->Configure(known ? formatterCfgFlags : 0) != OCSD_OK) return false;
  m_frame_deformatter_root->SetDemuxStatsBlock(&m_demux_stats);
  m_i_decoder_root = m_frame_deformatter_root;
  return true;
}

// -- The data path. -------------------------------------------------------------------------------

ocsd_datapath_resp_t DecodeTree::TraceDataIn(ocsd_datapath_op_t op, ocsd_trc_index_t index,
                                             uint32_t dataBlockSize, const uint8_t* pDataBlock,
                                             uint32_t* numBytesProcessed) {
  if (m_i_decoder_root != nullptr)
    return m_i_decoder_root->TraceDataIn(op, index, dataBlockSize, pDataBlock, numBytesProcessed);
  if (numBytesProcessed != nullptr) *numBytesProcessed = 0;
  return OCSD_RESP_FATAL_NOT_INIT;
}

// -- Decoders. ------------------------------------------------------------------------------------

ocsd_err_t DecodeTree::createDecodeElement(uint8_t CSID) {
  if (!is_tree_id(CSID)) return OCSD_ERR_INVALID_ID;
  if (m_decode_elements[CSID] != nullptr) return OCSD_ERR_ATTACH_TOO_MANY;
  m_decode_elements[CSID] = new DecodeTreeElement;
  return OCSD_OK;
}

void DecodeTree::destroyDecodeElement(uint8_t CSID) {
  DecodeTreeElement*& element = m_decode_elements[CSID];
  if (element == nullptr) return;
  if (m_frame_deformatter_root != nullptr) {
    m_frame_deformatter_root->getIDStreamAttachPt(CSID)->detach_all();
  } else {
    m_i_decoder_root = nullptr;
  }
  element->DestroyElem();
  delete element;
  element = nullptr;
}

ocsd_err_t DecodeTree::createDecoder(const std::string& decoderName, int createFlags,
                                     const CSConfig* pConfig) {
  if (pConfig == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  IDecoderMngr* manager = nullptr;
  ocsd_err_t err =
      OcsdLibDcdRegister::getDecoderRegister()->getDecoderMngrByName(decoderName, &manager);
  if (err != OCSD_OK) return err;
  const bool framed = m_dcd_tree_type == OCSD_TRC_SRC_FRAME_FORMATTED;
  const uint8_t id = framed ? pConfig->getTraceID() : uint8_t{0};
  err = createDecodeElement(id);
  if (err != OCSD_OK) return err;
  if (framed) createFlags |= OCSD_CREATE_FLG_INST_ID;

  TraceComponent* component = nullptr;
  err = manager->createDecoder(createFlags, pConfig->getTraceID(), pConfig, &component);
  if (err == OCSD_OK) {
    m_decode_elements[id]->SetDecoderElement(decoderName, manager, component, true);
    err = connectDecoder(m_decode_elements[id], id, createFlags);
  }
  if (err != OCSD_OK) destroyDecodeElement(id);
  return err;
}

ocsd_err_t DecodeTree::connectDecoder(DecodeTreeElement* element, uint8_t CSID, int createFlags) {
  IDecoderMngr& manager = *element->getDecoderMngr();
  TraceComponent* const component = element->getDecoderHandle();
  ocsd_err_t err = manager.attachErrorLogger(component, getCurrentErrorLogI());
  if (err != OCSD_OK) return err;
  if ((createFlags & OCSD_CREATE_FLG_FULL_DECODER) != 0) {
    if (m_i_instr_decode != nullptr)
      err = needed(manager.attachInstrDecoder(component, m_i_instr_decode));
    if (err == OCSD_OK && m_i_mem_access != nullptr)
      err = needed(manager.attachMemAccessor(component, m_i_mem_access));
    if (err == OCSD_OK && m_i_gen_elem_out != nullptr)
      err = manager.attachOutputSink(component, m_i_gen_elem_out);
  }
  ITrcDataIn* input = nullptr;
  if (err == OCSD_OK) err = manager.getDataInputI(component, &input);
  if (err != OCSD_OK) return err;
  if (m_frame_deformatter_root != nullptr)
    return m_frame_deformatter_root->getIDStreamAttachPt(CSID)->attach(input);
  m_i_decoder_root = input;
  return OCSD_OK;
}

ocsd_err_t DecodeTree::removeDecoder(uint8_t CSID) {
  if (m_dcd_tree_type == OCSD_TRC_SRC_SINGLE) CSID = 0;
  if (m_dcd_tree_type == OCSD_TRC_SRC_FRAME_FORMATTED && !OCSD_IS_VALID_CS_SRC_ID(CSID))
    return OCSD_ERR_INVALID_ID;
  destroyDecodeElement(CSID);
  return OCSD_OK;
}

DecodeTreeElement* DecodeTree::getDecoderElement(uint8_t CSID) const {
  // An invalid ID means the first element.
  const bool valid =
      m_dcd_tree_type == OCSD_TRC_SRC_FRAME_FORMATTED && OCSD_IS_VALID_CS_SRC_ID(CSID);
  return m_decode_elements[valid ? CSID : 0];
}

DecodeTreeElement* DecodeTree::getFirstElement(uint8_t& elemID) {
  m_decode_elem_iter = 0;
  return getNextElement(elemID);
}

DecodeTreeElement* DecodeTree::getNextElement(uint8_t& elemID) {
  while (is_tree_id(m_decode_elem_iter)) {
    const uint8_t id = m_decode_elem_iter++;
    if (m_decode_elements[id] == nullptr) continue;
    elemID = id;
    return m_decode_elements[id];
  }
  return nullptr;
}

TrcPktProcI* DecodeTree::getPktProcI(uint8_t CSID) {
  DecodeTreeElement* const element = getDecoderElement(CSID);
  if (element == nullptr || element->getDecoderHandle() == nullptr) return nullptr;
  TraceComponent* const component = element->getDecoderHandle();
  TraceComponent* const associated = component->getAssocComponent();
  return dynamic_cast<TrcPktProcI*>(associated != nullptr ? associated : component);
}

ocsd_err_t DecodeTree::getDecoderStats(uint8_t CSID, ocsd_decode_stats_t** p_stats_block) {
  TrcPktProcI* const processor = getPktProcI(CSID);
  if (processor == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  const ocsd_err_t err = processor->getStatsBlock(p_stats_block);
  if (err == OCSD_OK) (*p_stats_block)->demux = m_demux_stats;
  return err;
}

ocsd_err_t DecodeTree::resetDecoderStats(uint8_t CSID) {
  TrcPktProcI* const processor = getPktProcI(CSID);
  if (processor == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  processor->resetStats();
  m_demux_stats = {};
  return OCSD_OK;
}

// -- What decoders use. ---------------------------------------------------------------------------

void DecodeTree::setGenTraceElemOutI(ITrcGenElemIn* i_gen_trace_elem) {
  m_i_gen_elem_out = i_gen_trace_elem;
  uint8_t id = 0;
  for (DecodeTreeElement* e = getFirstElement(id); e != nullptr; e = getNextElement(id))
    e->getDecoderMngr()->attachOutputSink(e->getDecoderHandle(), i_gen_trace_elem);
}

void DecodeTree::setInstrDecoder(IInstrDecode* i_instr_decode) {
  uint8_t id = 0;
  for (DecodeTreeElement* e = getFirstElement(id); e != nullptr; e = getNextElement(id))
    e->getDecoderMngr()->attachInstrDecoder(e->getDecoderHandle(), i_instr_decode);
}

void DecodeTree::setMemAccessI(ITargetMemAccess* i_mem_access) {
  m_i_mem_access = i_mem_access;
  uint8_t id = 0;
  for (DecodeTreeElement* e = getFirstElement(id); e != nullptr; e = getNextElement(id))
    e->getDecoderMngr()->attachMemAccessor(e->getDecoderHandle(), i_mem_access);
}

// -- Memory. --------------------------------------------------------------------------------------

ocsd_err_t DecodeTree::createMemAccMapper(memacc_mapper_t type) {
  if (type != MEMACC_MAP_GLOBAL) return OCSD_ERR_INVALID_PARAM_VAL;
  destroyMemAccMapper();
  auto mapper = std::make_unique<TrcMemAccMapGlobalSpace>();
  mapper->setErrorLog(getCurrentErrorLogI());
  bool enable = true;
  int page_size = MEM_ACC_CACHE_DEFAULT_PAGE_SIZE;
  int pages = MEM_ACC_CACHE_DEFAULT_MRU_SIZE;
  TrcMemAccCache::getenvMemaccCacheSizes(enable, page_size, pages);
  mapper->setCacheSizes(static_cast<uint16_t>(page_size), pages);
  mapper->enableCaching(enable);
  m_default_mapper = mapper.release();
  m_created_mapper = true;
  setMemAccessI(m_default_mapper);
  return OCSD_OK;
}

void DecodeTree::setExternMemAccMapper(TrcMemAccMapper* pMapper) {
  destroyMemAccMapper();
  m_default_mapper = pMapper;
  setMemAccessI(pMapper);
}

void DecodeTree::destroyMemAccMapper() {
  if (m_default_mapper != nullptr && m_created_mapper) {
    setMemAccessI(nullptr);
    delete m_default_mapper;
  }
  m_default_mapper = nullptr;
  m_created_mapper = false;
}

void DecodeTree::logMappedRanges() {
  if (m_default_mapper != nullptr) m_default_mapper->logMappedRanges();
}

ocsd_err_t DecodeTree::setMemAccCacheing(bool enable, uint16_t page_size, int nr_pages) {
  if (m_default_mapper == nullptr) return OCSD_ERR_NOT_INIT;
  if (!enable) return m_default_mapper->enableCaching(false);
  const ocsd_err_t err = m_default_mapper->setCacheSizes(page_size, nr_pages, true);
  return err == OCSD_OK ? m_default_mapper->enableCaching(true) : err;
}

// Gives the accessor to the mapper, or destroys it.
ocsd_err_t DecodeTree::addAccessor(TrcMemAccessorBase* pAccessor, ocsd_err_t err) {
  if (err == OCSD_OK) err = m_default_mapper->AddAccessor(pAccessor, 0);
  if (err == OCSD_OK) {
    m_default_mapper->adoptAccessor(pAccessor);
  } else if (pAccessor != nullptr) {
    TrcMemAccFactory::DestroyAccessor(pAccessor);
  }
  return err;
}

ocsd_err_t DecodeTree::addBufferMemAcc(ocsd_vaddr_t address, ocsd_mem_space_acc_t mem_space,
                                       const uint8_t* p_mem_buffer, uint32_t mem_length) {
  constexpr uint32_t kLeast = 4;
  if (!hasMemAccMapper()) return OCSD_ERR_NOT_INIT;
  if (p_mem_buffer == nullptr || mem_length < kLeast) return OCSD_ERR_INVALID_PARAM_VAL;
  TrcMemAccessorBase* accessor = nullptr;
  const ocsd_err_t err =
      TrcMemAccFactory::CreateBufferAccessor(&accessor, address, p_mem_buffer, mem_length);
  if (accessor != nullptr) accessor->setMemSpace(mem_space);
  return addAccessor(accessor, err);
}

ocsd_err_t DecodeTree::addBinFileMemAcc(ocsd_vaddr_t address, ocsd_mem_space_acc_t mem_space,
                                        const std::string& filepath) {
  const ocsd_file_mem_region_t whole = {0, address, 0};
  return addBinFileRegionMemAcc(&whole, 1, mem_space, filepath);
}

ocsd_err_t DecodeTree::addBinFileRegionMemAcc(const ocsd_file_mem_region_t* region_array,
                                              int num_regions, ocsd_mem_space_acc_t mem_space,
                                              const std::string& filepath) {
  if (!hasMemAccMapper()) return OCSD_ERR_NOT_INIT;
  if (region_array == nullptr || num_regions < 1 || filepath.empty())
    return OCSD_ERR_INVALID_PARAM_VAL;
  TrcMemAccessorBase* accessor = nullptr;
  ocsd_err_t err = TrcMemAccFactory::CreateFileAccessor(
      &accessor, filepath, region_array[0].start_address, region_array[0].file_offset,
      region_array[0].region_size);
  if (err == OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE) return err;
  // The reference does not report the reason either.
  if (err != OCSD_OK) return OCSD_ERR_NOT_INIT;
  auto* const file = dynamic_cast<TrcMemAccessorFile*>(accessor);
  if (file != nullptr) {
    // It may be shared with a tree in another thread.
    if (accessor->getMemSpace() != mem_space) accessor->setMemSpace(mem_space);
    for (int i = 1; i < num_regions; ++i)
      file->AddOffsetRange(region_array[i].start_address, region_array[i].region_size,
                           region_array[i].file_offset);
  }
  return addAccessor(accessor, err);
}

ocsd_err_t DecodeTree::updateBinFileRegionMemAcc(const ocsd_file_mem_region_t* region_array,
                                                 int num_regions, ocsd_mem_space_acc_t mem_space,
                                                 const std::string& filepath) {
  if (!hasMemAccMapper()) return OCSD_ERR_NOT_INIT;
  if (region_array == nullptr || num_regions < 1 || filepath.empty())
    return OCSD_ERR_INVALID_PARAM_VAL;
  TrcMemAccessorFile* const file = TrcMemAccessorFile::getExistingFileAccessor(filepath);
  if (file == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  if (file->getMemSpace() != mem_space) return OCSD_ERR_INVALID_PARAM_VAL;
  ocsd_err_t err = OCSD_OK;
  for (int i = 0; i < num_regions; ++i) {
    const ocsd_file_mem_region_t& region = region_array[i];
    // A region that exists already is not added again.
    if (file->addrStartOfRange(region.start_address)) continue;
    if (!file->AddOffsetRange(region.start_address, region.region_size, region.file_offset))
      err = OCSD_ERR_MEM_ACC_RANGE_INVALID;
  }
  m_default_mapper->accessorsChanged();
  return err;
}

ocsd_err_t DecodeTree::initCallbackMemAcc(ocsd_vaddr_t st_address, ocsd_vaddr_t en_address,
                                          ocsd_mem_space_acc_t mem_space, Fn_MemAcc_CB p_cb_func,
                                          Fn_MemAccID_CB p_id_cb_func, const void* p_context) {
  if (!hasMemAccMapper()) return OCSD_ERR_NOT_INIT;
  if (p_cb_func == nullptr && p_id_cb_func == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  TrcMemAccessorBase* accessor = nullptr;
  const ocsd_err_t err =
      TrcMemAccFactory::CreateCBAccessor(&accessor, st_address, en_address, mem_space);
  if (auto* const callback = dynamic_cast<TrcMemAccCB*>(accessor)) {
    if (p_id_cb_func != nullptr) {
      callback->setCBIDIfFn(p_id_cb_func, p_context);
    } else {
      callback->setCBIfFn(p_cb_func, p_context);
    }
  }
  return addAccessor(accessor, err);
}

ocsd_err_t DecodeTree::addCallbackMemAcc(ocsd_vaddr_t st_address, ocsd_vaddr_t en_address,
                                         ocsd_mem_space_acc_t mem_space, Fn_MemAcc_CB p_cb_func,
                                         const void* p_context) {
  return initCallbackMemAcc(st_address, en_address, mem_space, p_cb_func, nullptr, p_context);
}

ocsd_err_t DecodeTree::addCallbackIDMemAcc(ocsd_vaddr_t st_address, ocsd_vaddr_t en_address,
                                           ocsd_mem_space_acc_t mem_space, Fn_MemAccID_CB p_cb_func,
                                           const void* p_context) {
  return initCallbackMemAcc(st_address, en_address, mem_space, nullptr, p_cb_func, p_context);
}

ocsd_err_t DecodeTree::removeMemAccByAddress(ocsd_vaddr_t address, ocsd_mem_space_acc_t mem_space) {
  if (!hasMemAccMapper()) return OCSD_ERR_NOT_INIT;
  return m_default_mapper->RemoveAccessorByAddress(address, mem_space, 0);
}

// -- The filter. ----------------------------------------------------------------------------------

ocsd_err_t DecodeTree::setIDFilter(std::vector<uint8_t>& ids) {
  if (m_frame_deformatter_root == nullptr) return OCSD_ERR_DCDT_NO_FORMATTER;
  const ocsd_err_t err = m_frame_deformatter_root->OutputFilterAllIDs(false);
  return err == OCSD_OK ? m_frame_deformatter_root->OutputFilterIDs(ids, true) : err;
}

ocsd_err_t DecodeTree::clearIDFilter() {
  if (m_frame_deformatter_root == nullptr) return OCSD_ERR_DCDT_NO_FORMATTER;
  return m_frame_deformatter_root->OutputFilterAllIDs(true);
}

// -- Printers. ------------------------------------------------------------------------------------

namespace {

template <class Packet>
ITrcTypedBase* typed_base_of(ItemPrinter* printer, bool monitor) {
  auto* const typed = dynamic_cast<PacketPrinter<Packet>*>(printer);
  if (typed == nullptr) return nullptr;
  // A printer is both, and has a typed base in each.
  if (monitor) return static_cast<IPktRawDataMon<Packet>*>(typed);
  return static_cast<IPktDataIn<Packet>*>(typed);
}

ITrcTypedBase* typed_base(ItemPrinter* printer, bool monitor) {
  ITrcTypedBase* found = typed_base_of<EtmV4ITrcPacket>(printer, monitor);
  if (found == nullptr) found = typed_base_of<EtmV3TrcPacket>(printer, monitor);
  if (found == nullptr) found = typed_base_of<PtmTrcPacket>(printer, monitor);
  if (found == nullptr) found = typed_base_of<StmTrcPacket>(printer, monitor);
  return found != nullptr ? found : typed_base_of<ItmTrcPacket>(printer, monitor);
}

}  // namespace

ocsd_err_t DecodeTree::addPacketPrinter(uint8_t CSID, bool bMonitor, ItemPrinter** ppPrinter) {
  DecodeTreeElement* const element = getDecoderElement(CSID);
  if (element == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  ItemPrinter* const printer = PktPrinterFact::createProtocolPrinter(
      m_printer_list, element->getProtocol(), CSID, getCurrentErrorLogI()->getOutputLogger());
  if (printer == nullptr) return OCSD_ERR_NO_PROTOCOL;
  IDecoderMngr& manager = *element->getDecoderMngr();
  TraceComponent* const component = element->getDecoderHandle();
  const ocsd_err_t err = bMonitor ? manager.attachPktMonitor(component, typed_base(printer, true))
                                  : manager.attachPktSink(component, typed_base(printer, false));
  if (err != OCSD_OK) {
    PktPrinterFact::destroyPrinter(m_printer_list, printer);
    return err;
  }
  if (ppPrinter != nullptr) *ppPrinter = printer;
  return OCSD_OK;
}

ocsd_err_t DecodeTree::addRawFramePrinter(RawFramePrinter** ppPrinter, uint32_t flags) {
  if (m_frame_deformatter_root == nullptr) return OCSD_ERR_DCDT_NO_FORMATTER;
  constexpr uint32_t kRaw = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT;
  ocsd_err_t err = m_frame_deformatter_root->Configure(m_frame_deformatter_root->getConfigFlags() |
                                                       (flags & kRaw));
  if (err != OCSD_OK) return err;
  RawFramePrinter* const printer = PktPrinterFact::createRawFramePrinter(
      m_printer_list, getCurrentErrorLogI()->getOutputLogger());
  err = m_frame_deformatter_root->getTrcRawFrameAttachPt()->replace_first(printer);
  if (ppPrinter != nullptr) *ppPrinter = printer;
  return err;
}

ocsd_err_t DecodeTree::addGenElemPrinter(TrcGenericElementPrinter** ppPrinter) {
  TrcGenericElementPrinter* const printer = PktPrinterFact::createGenElemPrinter(
      m_printer_list, getCurrentErrorLogI()->getOutputLogger());
  setGenTraceElemOutI(printer);
  if (ppPrinter != nullptr) *ppPrinter = printer;
  return OCSD_OK;
}

// The decode tree: its decoders by trace ID, the memory that they read, and where elements go.
#pragma once

#include <string>
#include <vector>

#include "common/ocsd_dcd_tree_elem.h"
#include "common/ocsd_error_logger.h"
#include "common/ocsd_lib_dcd_register.h"
#include "common/trc_cs_config.h"
#include "common/trc_frame_deformatter.h"
#include "interfaces/trc_data_raw_in_i.h"
#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_gen_elem_in_i.h"
#include "interfaces/trc_instr_decode_i.h"
#include "interfaces/trc_tgt_mem_access_i.h"
#include "mem_acc/trc_mem_acc_mapper.h"
#include "opencsd/ocsd_if_types.h"
#include "pkt_printers/gen_elem_printer.h"
#include "pkt_printers/raw_frame_printer.h"

class ItemPrinter;
class TrcPktProcI;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// One owner; not thread safe.  Trees are independent, except for the error logger.
class DecodeTree : public ITrcDataIn {
 public:
  // The two static functions make and destroy trees.
  DecodeTree();
  ~DecodeTree();

  /// `formatterCfgFlags`: OCSD_DFRMTR_ bits, which only apply to framed trace.  NULL: they are not
  /// valid.
  OCSD_BEGINS static DecodeTree *CreateDecodeTree(const ocsd_dcd_tree_src_t src_type,
                                                  const uint32_t formatterCfgFlags);
  static void DestroyDecodeTree(DecodeTree *p_dcd_tree);

  // The logger of the process; it is borrowed, and NULL restores the default one.
  static ocsdDefaultErrorLogger *getDefaultErrorLogger();
  static ITraceErrorLog *getCurrentErrorLogI();
  static void setAlternateErrorLogger(ITraceErrorLog *p_error_logger);

  /// The printers that the tree owns.  Their output goes where the logger's messages went when they
  /// were added.  The pointer for the result may be NULL.
  std::vector<ItemPrinter *> &getPrinterList() { return m_printer_list; }
  ocsd_err_t addPacketPrinter(uint8_t CSID, bool bMonitor, ItemPrinter **ppPrinter);
  ocsd_err_t addRawFramePrinter(RawFramePrinter **ppPrinter, uint32_t flags);
  ocsd_err_t addGenElemPrinter(TrcGenericElementPrinter **ppPrinter);

  virtual ocsd_datapath_resp_t TraceDataIn(const ocsd_datapath_op_t op,
                                           const ocsd_trc_index_t index,
                                           const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                           uint32_t *numBytesProcessed);

  /// For present and future decoders; borrowed.
  void setGenTraceElemOutI(ITrcGenElemIn *i_gen_trace_elem);
  ITrcGenElemIn *getGenTraceElemOutI() const { return m_i_gen_elem_out; }

  /// Looks `decoderName` up in the register.  The configuration is copied.
  ocsd_err_t createDecoder(const std::string &decoderName, const int createFlags,
                           const CSConfig *pConfig);
  ocsd_err_t removeDecoder(const uint8_t CSID);

  /// The decoder owns the block.  OCSD_ERR_NOT_INIT: its protocol has no counts.
  ocsd_err_t getDecoderStats(const uint8_t CSID, ocsd_decode_stats_t **p_stats_block);
  ocsd_err_t resetDecoderStats(const uint8_t CSID);

  /// For an unframed tree the ID is ignored.  NULL: none.
  DecodeTreeElement *getDecoderElement(const uint8_t CSID) const;
  /// Iterates over all elements, by ID.  Both functions share one position.
  DecodeTreeElement *getFirstElement(uint8_t &elemID);
  DecodeTreeElement *getNextElement(uint8_t &elemID);

  /// For present decoders.
  void setInstrDecoder(IInstrDecode *i_instr_decode);
  /// For present and future decoders; borrowed.
  void setMemAccessI(ITargetMemAccess *i_mem_access);

  /// Must come before memory is added.
  ocsd_err_t createMemAccMapper(memacc_mapper_t type = MEMACC_MAP_GLOBAL);
  TrcMemAccMapper *getMemAccMapper() const { return m_default_mapper; }
  /// Sets a borrowed mapper, which the tree does not delete.
  void setExternMemAccMapper(TrcMemAccMapper *pMapper);
  const bool hasMemAccMapper() const { return m_default_mapper != 0; }
  void logMappedRanges();
  ocsd_err_t setMemAccCacheing(const bool enable, const uint16_t page_size, const int nr_pages);

  /// The buffer is borrowed.
  ocsd_err_t addBufferMemAcc(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                             const uint8_t *p_mem_buffer, const uint32_t mem_length);
  ocsd_err_t addBinFileMemAcc(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                              const std::string &filepath);
  ocsd_err_t addBinFileRegionMemAcc(const ocsd_file_mem_region_t *region_array,
                                    const int num_regions, const ocsd_mem_space_acc_t mem_space,
                                    const std::string &filepath);
  /// Adds regions of a file that was already added.
  ocsd_err_t updateBinFileRegionMemAcc(const ocsd_file_mem_region_t *region_array,
                                       const int num_regions, const ocsd_mem_space_acc_t mem_space,
                                       const std::string &filepath);
  ocsd_err_t addCallbackMemAcc(const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
                               const ocsd_mem_space_acc_t mem_space, Fn_MemAcc_CB p_cb_func,
                               const void *p_context);
  ocsd_err_t addCallbackIDMemAcc(const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
                                 const ocsd_mem_space_acc_t mem_space, Fn_MemAccID_CB p_cb_func,
                                 const void *p_context);
  ocsd_err_t removeMemAccByAddress(const ocsd_vaddr_t address,
                                   const ocsd_mem_space_acc_t mem_space);

  /// NULL for an unframed tree.
  TraceFormatterFrameDecoder *getFrameDeformatter() const { return m_frame_deformatter_root; }

  /// Only these IDs are decoded.  OCSD_ERR_DCDT_NO_FORMATTER: the tree is unframed.
  ocsd_err_t setIDFilter(std::vector<uint8_t> &ids);
  ocsd_err_t clearIDFilter();

 private:
  DecodeTree(const DecodeTree &);
  DecodeTree &operator=(const DecodeTree &);

  bool initialise(const ocsd_dcd_tree_src_t type, uint32_t formatterCfgFlags);
  ocsd_err_t createDecodeElement(const uint8_t CSID);
  void destroyDecodeElement(const uint8_t CSID);
  void destroyMemAccMapper();
  ocsd_err_t connectDecoder(DecodeTreeElement *element, const uint8_t CSID, const int createFlags);
  ocsd_err_t addAccessor(TrcMemAccessorBase *pAccessor, ocsd_err_t err);
  ocsd_err_t initCallbackMemAcc(const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
                                const ocsd_mem_space_acc_t mem_space, Fn_MemAcc_CB p_cb_func,
                                Fn_MemAccID_CB p_id_cb_func, const void *p_context);
  TrcPktProcI *getPktProcI(const uint8_t CSID);
  void logError(ocsd_err_t err, const std::string &msg);

  ocsd_dcd_tree_src_t m_dcd_tree_type;
  IInstrDecode *m_i_instr_decode;
  ITargetMemAccess *m_i_mem_access;
  ITrcGenElemIn *m_i_gen_elem_out;
  ITrcDataIn *m_i_decoder_root;
  TraceFormatterFrameDecoder *m_frame_deformatter_root;
  DecodeTreeElement *m_decode_elements[0x80];
  uint8_t m_decode_elem_iter;
  TrcMemAccMapper *m_default_mapper;
  bool m_created_mapper;
  std::vector<ItemPrinter *> m_printer_list;
  ocsd_demux_stats_t m_demux_stats;
};

#pragma GCC diagnostic pop

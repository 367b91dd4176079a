// Makes the decoders of one protocol and connects them.
#pragma once

#include "common/trc_component.h"
#include "common/trc_cs_config.h"
#include "interfaces/trc_abs_typed_base_i.h"
#include "interfaces/trc_data_raw_in_i.h"
#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_gen_elem_in_i.h"
#include "interfaces/trc_instr_decode_i.h"
#include "interfaces/trc_tgt_mem_access_i.h"
#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// An attached interface is borrowed and replaces the previous one; NULL detaches.  All attach
/// functions return OCSD_ERR_INVALID_PARAM_TYPE for an interface of a wrong type, and
/// OCSD_ERR_DCD_INTERFACE_UNUSED if the decoder does not use it.
class IDecoderMngr {
 public:
  IDecoderMngr() {}
  virtual ~IDecoderMngr() {}

  /// `create_flags`: OCSD_CREATE_FLG_ and OCSD_OPFLG_ bits.  The component is destroyed with
  /// destroyDecoder() of the same manager.
  virtual ocsd_err_t createDecoder(const int create_flags, const int instID,
                                   const CSConfig *p_config, TraceComponent **ppComponent) = 0;
  virtual ocsd_err_t destroyDecoder(TraceComponent *pComponent) = 0;

  virtual const ocsd_trace_protocol_t getProtocolType() const = 0;

  virtual ocsd_err_t attachErrorLogger(TraceComponent *pComponent, ITraceErrorLog *pIErrorLog) = 0;

  // For full decoders.
  virtual ocsd_err_t attachInstrDecoder(TraceComponent *pComponent, IInstrDecode *pIInstrDec) = 0;
  virtual ocsd_err_t attachMemAccessor(TraceComponent *pComponent,
                                       ITargetMemAccess *pMemAccessor) = 0;
  virtual ocsd_err_t attachOutputSink(TraceComponent *pComponent, ITrcGenElemIn *pOutSink) = 0;

  // The packet interfaces: IPktRawDataMon<P>, ITrcPktIndexer<Pt>, IPktDataIn<P> of the protocol.
  virtual ocsd_err_t attachPktMonitor(TraceComponent *pComponent,
                                      ITrcTypedBase *pPktRawDataMon) = 0;
  virtual ocsd_err_t attachPktIndexer(TraceComponent *pComponent, ITrcTypedBase *pPktIndexer) = 0;
  /// Only for packet processors without a decoder.
  virtual ocsd_err_t attachPktSink(TraceComponent *pComponent, ITrcTypedBase *pPktDataInSink) = 0;

  virtual ocsd_err_t getDataInputI(TraceComponent *pComponent, ITrcDataIn **ppDataIn) = 0;

  /// Makes it from the protocol's C structure; the caller deletes it.
  virtual ocsd_err_t createConfigFromDataStruct(CSConfig **pConfigBase,
                                                const void *pDataStruct) = 0;
};

#pragma GCC diagnostic pop

/*
 * Custom decoders: the functions of a decoder outside the library, and those that it can call.
 */
#ifndef OPENCSD_C_API_OCSD_C_API_CUSTOM_H
#define OPENCSD_C_API_OCSD_C_API_CUSTOM_H

#include "ocsd_c_api_types.h"

/* -- Functions of the library: the first argument is `lib_context`. -----------------------------*/

/* Passes on a generic element of the decoder. */
typedef ocsd_datapath_resp_t (*fnGenElemOpCB)(const void *lib_context,
                                              const ocsd_trc_index_t index_sop,
                                              const uint8_t trc_chan_id,
                                              const ocsd_generic_trace_elem *elem);

/* Writes an error to the library's log. */
typedef void (*fnLogErrorCB)(const void *lib_context, const ocsd_err_severity_t filter_level,
                             const ocsd_err_t code, const ocsd_trc_index_t idx,
                             const uint8_t chan_id, const char *pMsg);

/* Writes a message to the library's log. */
typedef void (*fnLogMsgCB)(const void *lib_context, const ocsd_err_severity_t filter_level,
                           const char *msg);

/* Decodes an A32, T32 or A64 instruction. */
typedef ocsd_err_t (*fnDecodeArmInstCB)(const void *lib_context, ocsd_instr_info *instr_info);

/* Reads the memory of the traced program; `num_bytes`: bytes requested, then bytes read. */
typedef ocsd_err_t (*fnMemAccessCB)(const void *lib_context, const ocsd_vaddr_t address,
                                    const uint8_t cs_trace_id, const ocsd_mem_space_acc_t mem_space,
                                    uint32_t *num_bytes, uint8_t *p_buffer);

/* Passes a packet to the monitor; only with OCSD_CUST_DCD_PKT_CB_USE_MON. */
typedef void (*fnPktMonCB)(const void *lib_context, const ocsd_datapath_op_t op,
                           const ocsd_trc_index_t index_sop, const void *pkt, const uint32_t size,
                           const uint8_t *p_data);

/* Passes a packet to the client; only with OCSD_CUST_DCD_PKT_CB_USE_SINK. */
typedef ocsd_datapath_resp_t (*fnPktDataSinkCB)(const void *lib_context,
                                                const ocsd_datapath_op_t op,
                                                const ocsd_trc_index_t index_sop, const void *pkt);

/* The receivers of packets. */
#define OCSD_CUST_DCD_PKT_CB_USE_MON 0x1
#define OCSD_CUST_DCD_PKT_CB_USE_SINK 0x2

/* All of the above.  The decoder keeps a copy. */
typedef struct _ocsd_extern_dcd_cb_fns {
  fnGenElemOpCB fn_gen_elem_out;
  fnLogErrorCB fn_log_error;
  fnLogMsgCB fn_log_msg;
  fnDecodeArmInstCB fn_arm_instruction_decode;
  fnMemAccessCB fn_memory_access;
  fnPktMonCB fn_packet_mon;
  fnPktDataSinkCB fn_packet_data_sink;
  int packetCBFlags; /* The present receivers; fnUpdatePktMonFlags reports changes. */
  const void *lib_context;
} ocsd_extern_dcd_cb_fns;

/* -- Functions of a decoder: the first argument is its handle. ----------------------------------*/

/* The data path, like ocsd_dt_process_data(). */
typedef ocsd_datapath_resp_t (*fnTraceDataIn)(
    const void *decoder_handle, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
    const uint32_t dataBlockSize, const uint8_t *pDataBlock, uint32_t *numBytesProcessed);

/* Reports the current receivers of packets: OCSD_CUST_DCD_PKT_CB_USE_... */
typedef void (*fnUpdatePktMonFlags)(const void *decoder_handle, const int flags);

/* One decoder; filled in by createDecoder.  All members must be given. */
typedef struct _ocsd_extern_dcd_inst {
  fnTraceDataIn fn_data_in;
  fnUpdatePktMonFlags fn_update_pkt_mon;
  void *decoder_handle;
  char *p_decoder_name;
  uint8_t cs_id;
} ocsd_extern_dcd_inst_t;

/* -- Input of ocsd_register_custom_decoder(). ---------------------------------------------------*/

typedef ocsd_err_t (*fnCreateCustomDecoder)(const int create_flags, const void *decoder_cfg,
                                            const ocsd_extern_dcd_cb_fns *p_lib_callbacks,
                                            ocsd_extern_dcd_inst_t *p_decoder_inst);
typedef ocsd_err_t (*fnDestroyCustomDecoder)(const void *decoder_handle);

/* Gives the trace ID in a configuration. */
typedef ocsd_err_t (*fnGetCSIDFromConfig)(const void *decoder_cfg, unsigned char *pCSID);

/* Gives the text of a packet. */
typedef ocsd_err_t (*fnPacketToString)(const void *trc_pkt, char *buffer, const int buflen);

typedef struct _ocsd_extern_dcd_fact {
  fnCreateCustomDecoder createDecoder;
  fnDestroyCustomDecoder destroyDecoder;
  fnGetCSIDFromConfig csidFromConfig;
  fnPacketToString pktToString;      /* May be NULL. */
  ocsd_trace_protocol_t protocol_id; /* Written by the library. */
} ocsd_extern_dcd_fact_t;

#endif

/*
 * Types of the C API: the tree's handle and the callbacks.
 */
#ifndef OPENCSD_C_API_OCSD_C_API_TYPES_H
#define OPENCSD_C_API_OCSD_C_API_TYPES_H

#include "../ete/trc_pkt_types_ete.h"
#include "../etmv3/trc_pkt_types_etmv3.h"
#include "../etmv4/trc_pkt_types_etmv4.h"
#include "../itm/trc_pkt_types_itm.h"
#include "../ocsd_if_types.h"
#include "../ptm/trc_pkt_types_ptm.h"
#include "../stm/trc_pkt_types_stm.h"
#include "../trc_gen_elem_types.h"
#include "../trc_pkt_types.h"

/* A decode tree. */
typedef void *dcd_tree_handle_t;
#define C_API_INVALID_TREE_HANDLE ((dcd_tree_handle_t)0)

/* The outputs of the library's log: ocsd_def_errlog_config_output(). */
#define C_API_MSGLOGOUT_FLG_NONE 0x0
#define C_API_MSGLOGOUT_FLG_FILE 0x1
#define C_API_MSGLOGOUT_FLG_STDERR 0x2
#define C_API_MSGLOGOUT_FLG_STDOUT 0x4
#define C_API_MSGLOGOUT_MASK 0x7

/* The arguments of a callback are valid only during the call. */

/* Gets the generic elements of all sources of a tree, in order.  The response says how to continue:
 * after a WAIT, no further element comes before OCSD_OP_FLUSH. */
typedef ocsd_datapath_resp_t (*FnTraceElemIn)(const void *p_context,
                                              const ocsd_trc_index_t index_sop,
                                              const uint8_t trc_chan_id,
                                              const ocsd_generic_trace_elem *elem);

/* Gets the packets of one source that has no decoder.  `p_packet_in` is the packet structure of the
 * protocol, or NULL for an operation other than data. */
typedef ocsd_datapath_resp_t (*FnDefPktDataIn)(const void *p_context, const ocsd_datapath_op_t op,
                                               const ocsd_trc_index_t index_sop,
                                               const void *p_packet_in);

/* Sees the packets of one source, with their bytes. */
typedef void (*FnDefPktDataMon)(const void *p_context, const ocsd_datapath_op_t op,
                                const ocsd_trc_index_t index_sop, const void *p_packet_in,
                                const uint32_t size, const uint8_t *p_data);

/* Gets the library's log and what printers print. */
typedef void (*FnDefLoggerPrintStrCB)(const void *p_context, const char *psz_msg_str,
                                      const int str_len);

/* What ocsd_dt_attach_packet_callback() attaches: a FnDefPktDataIn, or a FnDefPktDataMon. */
typedef enum _ocsd_c_api_cb_types {
  OCSD_C_API_CB_PKT_SINK = 0,
  OCSD_C_API_CB_PKT_MON = 1
} ocsd_c_api_cb_types;

#endif

/*
 * Packets and configuration of an ITM.  The C API does not include this header by itself.
 */
#ifndef OPENCSD_ITM_TRC_PKT_TYPES_ITM_H
#define OPENCSD_ITM_TRC_PKT_TYPES_ITM_H

#include "../trc_pkt_types.h"

typedef enum _ocsd_itm_pkt_type {
  ITM_PKT_NOTSYNC = 0,
  ITM_PKT_INCOMPLETE_EOT = 1,
  ITM_PKT_NO_ERR_TYPE = 2,
  ITM_PKT_ASYNC = 3,
  ITM_PKT_OVERFLOW = 4,
  ITM_PKT_SWIT = 5,
  ITM_PKT_DWT = 6,
  ITM_PKT_TS_LOCAL = 7,
  ITM_PKT_TS_GLOBAL_1 = 8,
  ITM_PKT_TS_GLOBAL_2 = 9,
  ITM_PKT_EXTENSION = 10,
  ITM_PKT_BAD_SEQUENCE = 11,
  ITM_PKT_RESERVED = 12
} ocsd_itm_pkt_type;

/* Bits of a DWT event counter packet. */
typedef enum _ocsd_itm_dwt_ecntr {
  ITM_DWT_ECNTR_CPI = 1,
  ITM_DWT_ECNTR_EXC = 2,
  ITM_DWT_ECNTR_SLP = 4,
  ITM_DWT_ECNTR_LSU = 8,
  ITM_DWT_ECNTR_FLD = 0x10,
  ITM_DWT_ECNTR_CYC = 0x20
} ocsd_itm_dwt_ecntr;

typedef struct _ocsd_itm_pkt {
  ocsd_itm_pkt_type type;
  uint8_t src_id; /* Stimulus port, or hardware source. */
  uint32_t value;
  uint8_t val_sz;             /* Bytes. */
  uint8_t val_ext;            /* The part outside value: the high part of a timestamp, its kind. */
  ocsd_itm_pkt_type err_type; /* Original type of a bad packet. */
} ocsd_itm_pkt;

typedef struct _ocsd_itm_cfg {
  uint32_t reg_tcr;
} ocsd_itm_cfg;

#endif

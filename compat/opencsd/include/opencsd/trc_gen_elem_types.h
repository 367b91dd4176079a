/*
 * The generic trace element, which the decoders of all protocols give.
 */
#ifndef OPENCSD_TRC_GEN_ELEM_TYPES_H
#define OPENCSD_TRC_GEN_ELEM_TYPES_H

#include "ocsd_if_types.h"

/* Kinds of element. */
typedef enum _ocsd_gen_trc_elem_t {
  OCSD_GEN_TRC_ELEM_UNKNOWN = 0,
  OCSD_GEN_TRC_ELEM_NO_SYNC = 1,
  OCSD_GEN_TRC_ELEM_TRACE_ON = 2,
  OCSD_GEN_TRC_ELEM_EO_TRACE = 3,
  OCSD_GEN_TRC_ELEM_PE_CONTEXT = 4,
  OCSD_GEN_TRC_ELEM_INSTR_RANGE = 5,
  OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH = 6,
  OCSD_GEN_TRC_ELEM_ADDR_NACC = 7,
  OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN = 8,
  OCSD_GEN_TRC_ELEM_EXCEPTION = 9,
  OCSD_GEN_TRC_ELEM_EXCEPTION_RET = 10,
  OCSD_GEN_TRC_ELEM_TIMESTAMP = 11,
  OCSD_GEN_TRC_ELEM_CYCLE_COUNT = 12,
  OCSD_GEN_TRC_ELEM_EVENT = 13,
  OCSD_GEN_TRC_ELEM_SWTRACE = 14,
  OCSD_GEN_TRC_ELEM_SYNC_MARKER = 15,
  OCSD_GEN_TRC_ELEM_MEMTRANS = 16,
  OCSD_GEN_TRC_ELEM_INSTRUMENTATION = 17,
  OCSD_GEN_TRC_ELEM_ITMTRACE = 18,
  OCSD_GEN_TRC_ELEM_CUSTOM = 19
} ocsd_gen_trc_elem_t;

/* Why tracing began. */
typedef enum _trace_on_reason_t {
  TRACE_ON_NORMAL = 0,
  TRACE_ON_OVERFLOW = 1,
  TRACE_ON_EX_DEBUG = 2
} trace_on_reason_t;

/* Why synchronisation was lost, or what ended the trace. */
typedef enum _unsync_info_t {
  UNSYNC_UNKNOWN = 0,
  UNSYNC_INIT_DECODER = 1,
  UNSYNC_RESET_DECODER = 2,
  UNSYNC_OVERFLOW = 3,
  UNSYNC_DISCARD = 4,
  UNSYNC_BAD_PACKET = 5,
  UNSYNC_BAD_IMAGE = 6,
  UNSYNC_EOT = 7
} unsync_info_t;

typedef enum _event_t { EVENT_UNKNOWN = 0, EVENT_TRIGGER = 1, EVENT_NUMBERED = 2 } event_t;

typedef struct _trace_event_t {
  uint16_t ev_type; /* event_t */
  uint16_t ev_number;
} trace_event_t;

typedef enum _trace_sync_marker_t { ELEM_MARKER_TS = 0 } trace_sync_marker_t;

typedef struct _trace_marker_payload_t {
  trace_sync_marker_t type;
  uint32_t value;
} trace_marker_payload_t;

/* Transactional memory. */
typedef enum _memtrans_t {
  OCSD_MEM_TRANS_TRACE_INIT = 0,
  OCSD_MEM_TRANS_START = 1,
  OCSD_MEM_TRANS_COMMIT = 2,
  OCSD_MEM_TRANS_FAIL = 3
} trace_memtrans_t;

/* Software trace: the value that an instrumentation instruction wrote. */
typedef struct _sw_ite_t {
  uint8_t el;
  uint64_t value;
} trace_sw_ite_t;

/* The kind of an ITM element; all timestamps except TS_GLOBAL are local. */
typedef enum _swt_itm_type {
  SWIT_PAYLOAD = 0,
  DWT_PAYLOAD = 1,
  TS_SYNC = 2,
  TS_DELAY = 3,
  TS_PKT_DELAY = 4,
  TS_PKT_TS_DELAY = 5,
  TS_GLOBAL = 6
} swt_itm_type;

typedef struct _swt_itm_info {
  swt_itm_type pkt_type;
  uint8_t payload_src_id; /* Stimulus port, or hardware source. */
  uint8_t payload_size;   /* Bytes. */
  uint32_t value;         /* Payload, or timestamp delta. */
  uint8_t overflow;       /* Packets were lost before this one. */
} swt_itm_info;

/* One element.  Valid only during the callback. */
typedef struct _ocsd_generic_trace_elem {
  ocsd_gen_trc_elem_t elem_type;
  ocsd_isa isa;
  ocsd_vaddr_t st_addr; /* First instruction of a range; an address that could not be read. */
  ocsd_vaddr_t en_addr; /* After the last instruction; preferred return address of an exception. */
  ocsd_pe_context context;
  uint64_t timestamp;
  uint32_t cycle_count;
  ocsd_instr_type last_i_type; /* For ranges. */
  ocsd_instr_subtype last_i_subtype;

  OCSD_EXTENSION union {
    OCSD_EXTENSION struct {
      uint32_t last_instr_exec : 1; /* The last instruction was executed (atom E). */
      uint32_t last_instr_sz : 3;   /* Bytes. */
      uint32_t has_cc : 1;          /* cycle_count is valid. */
      uint32_t cpu_freq_change : 1;
      uint32_t excep_ret_addr : 1;    /* en_addr is the preferred return address. */
      uint32_t excep_data_marker : 1; /* A data trace marker, not an exception. */
      uint32_t extended_data : 1;     /* ptr_extended_data is valid. */
      uint32_t has_ts : 1;            /* timestamp is valid. */
      uint32_t last_instr_cond : 1;
      uint32_t excep_ret_addr_br_tgt : 1; /* en_addr is also the target of the last branch. */
      uint32_t excep_M_tail_chain : 1;
    };
    uint32_t flag_bits;
  };

  /* By elem_type. */
  OCSD_EXTENSION union {
    uint32_t exception_number; /* Also the memory space of ADDR_NACC. */
    trace_event_t trace_event;
    trace_on_reason_t trace_on_reason;
    ocsd_swt_info_t sw_trace_info;
    uint32_t num_instr_range; /* Instructions of a range. */
    unsync_info_t unsync_eot_info;
    trace_marker_payload_t sync_marker;
    trace_memtrans_t mem_trans;
    trace_sw_ite_t sw_ite;
    swt_itm_info swt_itm;
  };

  /* At offset 88; 80 in versions up to 1.3.3. */
  const void *ptr_extended_data;
} ocsd_generic_trace_elem;

#endif

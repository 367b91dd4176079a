/*
 * Packets and configuration of an ETMv4; an ETE has the same packets.
 */
#ifndef OPENCSD_ETMV4_TRC_PKT_TYPES_ETMV4_H
#define OPENCSD_ETMV4_TRC_PKT_TYPES_ETMV4_H

#include "../trc_pkt_types.h"

/* Packets of the instruction stream: the header byte, or the first of a range of headers; from
 * 0x100 on, packets after an extension header; then states and errors. */
typedef enum _ocsd_etmv4_i_pkt_type {
  ETM4_PKT_I_NOTSYNC = 0x200,
  ETM4_PKT_I_INCOMPLETE_EOT = 0x201,
  ETM4_PKT_I_NO_ERR_TYPE = 0x202,
  ETM4_PKT_I_BAD_SEQUENCE = 0x300,
  ETM4_PKT_I_BAD_TRACEMODE = 0x301,
  ETM4_PKT_I_RESERVED = 0x302,
  ETM4_PKT_I_RESERVED_CFG = 0x303,
  ETM4_PKT_I_EXTENSION = 0,
  ETM4_PKT_I_TRACE_INFO = 1,
  ETM4_PKT_I_TIMESTAMP = 2,
  ETM4_PKT_I_TRACE_ON = 4,
  ETM4_PKT_I_FUNC_RET = 5,
  ETM4_PKT_I_EXCEPT = 6,
  ETM4_PKT_I_EXCEPT_RTN = 7,
  ETE_PKT_I_ITE = 9,
  ETE_PKT_I_TRANS_ST = 0xA,
  ETE_PKT_I_TRANS_COMMIT = 0xB,
  ETM4_PKT_I_CCNT_F2 = 0xC,
  ETM4_PKT_I_CCNT_F1 = 0xE,
  ETM4_PKT_I_CCNT_F3 = 0x10,
  ETM4_PKT_I_NUM_DS_MKR = 0x20,
  ETM4_PKT_I_UNNUM_DS_MKR = 0x28,
  ETM4_PKT_I_COMMIT = 0x2D,
  ETM4_PKT_I_CANCEL_F1 = 0x2E,
  ETM4_PKT_I_CANCEL_F1_MISPRED = 0x2F,
  ETM4_PKT_I_MISPREDICT = 0x30,
  ETM4_PKT_I_CANCEL_F2 = 0x34,
  ETM4_PKT_I_CANCEL_F3 = 0x38,
  ETM4_PKT_I_COND_I_F2 = 0x40,
  ETM4_PKT_I_COND_FLUSH = 0x43,
  ETM4_PKT_I_COND_RES_F4 = 0x44,
  ETM4_PKT_I_COND_RES_F2 = 0x48,
  ETM4_PKT_I_COND_RES_F3 = 0x50,
  ETM4_PKT_I_COND_RES_F1 = 0x68,
  ETM4_PKT_I_COND_I_F1 = 0x6C,
  ETM4_PKT_I_COND_I_F3 = 0x6D,
  ETM4_PKT_I_IGNORE = 0x70,
  ETM4_PKT_I_EVENT = 0x71,
  ETM4_PKT_I_CTXT = 0x80,
  ETM4_PKT_I_ADDR_CTXT_L_32IS0 = 0x82,
  ETM4_PKT_I_ADDR_CTXT_L_32IS1 = 0x83,
  ETM4_PKT_I_ADDR_CTXT_L_64IS0 = 0x85,
  ETM4_PKT_I_ADDR_CTXT_L_64IS1 = 0x86,
  ETE_PKT_I_TS_MARKER = 0x88,
  ETM4_PKT_I_ADDR_MATCH = 0x90,
  ETM4_PKT_I_ADDR_S_IS0 = 0x95,
  ETM4_PKT_I_ADDR_S_IS1 = 0x96,
  ETM4_PKT_I_ADDR_L_32IS0 = 0x9A,
  ETM4_PKT_I_ADDR_L_32IS1 = 0x9B,
  ETM4_PKT_I_ADDR_L_64IS0 = 0x9D,
  ETM4_PKT_I_ADDR_L_64IS1 = 0x9E,
  ETM4_PKT_I_Q = 0xA0,
  ETE_PKT_I_SRC_ADDR_MATCH = 0xB0,
  ETE_PKT_I_SRC_ADDR_S_IS0 = 0xB4,
  ETE_PKT_I_SRC_ADDR_S_IS1 = 0xB5,
  ETE_PKT_I_SRC_ADDR_L_32IS0 = 0xB6,
  ETE_PKT_I_SRC_ADDR_L_32IS1 = 0xB7,
  ETE_PKT_I_SRC_ADDR_L_64IS0 = 0xB8,
  ETE_PKT_I_SRC_ADDR_L_64IS1 = 0xB9,
  ETM4_PKT_I_ATOM_F6 = 0xC0,
  ETM4_PKT_I_ATOM_F5 = 0xD5,
  ETM4_PKT_I_ATOM_F2 = 0xD8,
  ETM4_PKT_I_ATOM_F4 = 0xDC,
  ETM4_PKT_I_ATOM_F1 = 0xF6,
  ETM4_PKT_I_ATOM_F3 = 0xF8,
  ETM4_PKT_I_ASYNC = 0x100,
  ETM4_PKT_I_DISCARD = 0x103,
  ETM4_PKT_I_OVERFLOW = 0x105,
  ETE_PKT_I_PE_RESET = 0x400,
  ETE_PKT_I_TRANS_FAIL = 0x401
} ocsd_etmv4_i_pkt_type;

typedef union _etmv4_trace_info_t {
  uint32_t val;
  struct {
    uint32_t cc_enabled : 1;
    uint32_t cond_enabled : 3;
    uint32_t p0_load : 1;
    uint32_t p0_store : 1;
    uint32_t in_trans_state : 1;
    uint32_t pad : 9;
    uint32_t initial_t_info : 1; /* The first since the trace was unsynchronised. */
    uint32_t spec_field_present : 1;
  } bits;
} etmv4_trace_info_t;

typedef struct _etmv4_context_t {
  OCSD_EXTENSION struct {
    uint32_t EL : 2;
    uint32_t SF : 1; /* AArch64 state. */
    uint32_t NS : 1;
    uint32_t updated : 1;   /* By this packet. */
    uint32_t updated_c : 1; /* ctxtID */
    uint32_t updated_v : 1; /* VMID */
    uint32_t NSE : 1;       /* With NS: root and realm. */
  };
  uint32_t ctxtID;
  uint32_t VMID;
} etmv4_context_t;

/* One of the last addresses. */
typedef struct _etmv4_addr_val_t {
  ocsd_vaddr_t val;
  uint8_t isa; /* 0 or 1: IS0 or IS1. */
} etmv4_addr_val_t;

typedef struct _ocsd_etmv4_i_pkt {
  ocsd_etmv4_i_pkt_type type;

  ocsd_pkt_vaddr v_addr;
  uint8_t v_addr_ISA;
  etmv4_context_t context;
  struct {
    uint64_t timestamp;
    uint8_t bits_changed;
  } ts;
  uint32_t cc_threshold;

  ocsd_pkt_atom atom;
  uint32_t cycle_count;

  uint32_t curr_spec_depth;
  uint32_t p0_key;
  uint32_t commit_elements;
  uint32_t cancel_elements;
  etmv4_trace_info_t trace_info;

  struct {
    uint32_t exceptionType : 10;
    uint32_t addr_interp : 2; /* Meaning of the address that follows. */
    uint32_t m_fault_pending : 1;
    uint32_t m_type : 1;
  } exception_info;

  uint8_t addr_exact_match_idx;
  uint8_t dsm_val;
  uint8_t event_val;

  struct {
    uint32_t cond_c_key;
    uint8_t num_c_elem;
    OCSD_EXTENSION struct {
      uint32_t cond_key_set : 1;
      uint32_t f3_final_elem : 1;
      uint32_t f2_cond_incr : 1;
    };
  } cond_instr;

  struct {
    uint32_t cond_r_key_0;
    uint32_t cond_r_key_1;
    OCSD_EXTENSION struct {
      uint32_t res_0 : 4;
      uint32_t res_1 : 4;
      uint32_t ci_0 : 1;
      uint32_t ci_1 : 1;
      uint32_t key_res_0_set : 1;
      uint32_t key_res_1_set : 1;
      uint32_t f2_key_incr : 2;
      uint32_t f2f4_token : 2;
      uint32_t f3_tokens : 12;
    };
  } cond_result;

  struct {
    uint32_t q_count;
    OCSD_EXTENSION struct {
      uint32_t addr_present : 1;
      uint32_t addr_match : 1;
      uint32_t count_present : 1;
      uint32_t q_type : 4;
    };
  } Q_pkt;

  /* New since 1.3.3: instrumentation. */
  struct {
    uint8_t el;
    uint64_t value;
  } ite_pkt;

  /* The content of this packet. */
  union {
    uint32_t val;
    struct {
      uint32_t context_valid : 1;
      uint32_t ts_valid : 1;
      uint32_t spec_depth_valid : 1;
      uint32_t p0_key_valid : 1;
      uint32_t cond_c_key_valid : 1;
      uint32_t cond_r_key_valid : 1;
      uint32_t trace_info_valid : 1;
      uint32_t cc_thresh_valid : 1;
      uint32_t cc_valid : 1;
      uint32_t commit_elem_valid : 1;
      uint32_t cancel_elem_valid : 1;
    } bits;
  } pkt_valid;

  ocsd_etmv4_i_pkt_type err_type; /* Original type of a bad packet. */
  uint8_t err_hdr_val;
  uint8_t protocol_version; /* 0x40 and up: ETMv4; 0x50 and up: ETE. */
} ocsd_etmv4_i_pkt;

/* Packets of the data stream. */
typedef enum _ocsd_etmv4_d_pkt_type {
  ETM4_PKT_D_NOTSYNC = 0x200,
  ETM4_PKT_D_BAD_SEQUENCE = 0x201,
  ETM4_PKT_D_BAD_TRACEMODE = 0x202,
  ETM4_PKT_D_RESERVED = 0x203,
  ETM4_PKT_D_INCOMPLETE_EOT = 0x204,
  ETM4_PKT_D_NO_HEADER = 0x205,
  ETM4_PKT_D_NO_ERR_TYPE = 0x206,
  ETM4_PKT_DNUM_DS_MKR = 0x111,
  ETM4_PKT_D_EXTENSION = 0,
  ETM4_PKT_DUNNUM_DS_MKR = 1,
  ETM4_PKT_DEVENT = 4,
  ETM4_PKT_DTIMESTAMP = 2,
  ETM4_PKT_DADDR_P1_F1 = 0x70,
  ETM4_PKT_DADDR_P1_F2 = 0x80,
  ETM4_PKT_DADDR_P1_F3 = 0x14,
  ETM4_PKT_DADDR_P1_F4 = 0x60,
  ETM4_PKT_DADDR_P1_F5 = 0xF8,
  ETM4_PKT_DADDR_P1_F6 = 0xF6,
  ETM4_PKT_DADDR_P1_F7 = 0xF5,
  ETM4_PKT_DVAL_P2_F1 = 0x20,
  ETM4_PKT_DVAL_P2_F2 = 0x30,
  ETM4_PKT_DVAL_P2_F3 = 0x40,
  ETM4_PKT_DVAL_P2_F4 = 0x10,
  ETM4_PKT_DVAL_P2_F5 = 0x18,
  ETM4_PKT_DVAL_P2_F6 = 0x38,
  ETM4_PKT_DSUPPRESSION = 3,
  ETM4_PKT_DTRACE_INFO = 0x101,
  ETM4_PKT_D_ASYNC = 0x100,
  ETM4_PKT_D_DISCARD = 0x103,
  ETM4_PKT_D_OVERFLOW = 0x105
} ocsd_etmv4_d_pkt_type;

typedef struct _ocsd_etmv4_d_pkt {
  ocsd_etmv4_d_pkt_type type;
  ocsd_pkt_vaddr d_addr;
  uint64_t pkt_val;
  ocsd_etmv4_d_pkt_type err_type;
} ocsd_etmv4_d_pkt;

typedef struct _ocsd_etmv4_cfg {
  uint32_t reg_idr0;
  uint32_t reg_idr1;
  uint32_t reg_idr2;
  uint32_t reg_idr8;
  uint32_t reg_idr9;
  uint32_t reg_idr10;
  uint32_t reg_idr11;
  uint32_t reg_idr12;
  uint32_t reg_idr13;
  uint32_t reg_configr;
  uint32_t reg_traceidr;
  ocsd_arch_version_t arch_ver;
  ocsd_core_profile_t core_prof;
} ocsd_etmv4_cfg;

/* Flags for making an ETMv4 or ETE decoder. */
#define ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS 0x00010000
#define ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK 0x00020000
#define ETE_ETM4_OPFLG_MASK (ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS | ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK)

#endif

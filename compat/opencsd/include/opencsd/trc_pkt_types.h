/*
 * What the packets of several protocols have in common.
 */
#ifndef OPENCSD_TRC_PKT_TYPES_H
#define OPENCSD_TRC_PKT_TYPES_H

#include "ocsd_if_types.h"

typedef enum _ocsd_pkt_va_size { VA_32BIT = 0, VA_64BIT = 1 } ocsd_pkt_va_size;

/* An address that packets give in parts. */
typedef struct _ocsd_pkt_vaddr {
  ocsd_pkt_va_size size;
  ocsd_vaddr_t val;
  uint8_t pkt_bits;   /* Bits in this packet. */
  uint8_t valid_bits; /* Bits that are known. */
} ocsd_pkt_vaddr;

typedef struct _ocsd_pkt_byte_sz_val {
  uint32_t val;
  uint8_t size_bytes;
  uint8_t valid_bytes;
} ocsd_pkt_byte_sz_val;

typedef enum _ocsd_pkt_atm_type { ATOM_PATTERN = 0, ATOM_REPEAT = 1 } ocsd_pkt_atm_type;

typedef enum _ocsd_atm_val { ATOM_N = 0, ATOM_E = 1 } ocsd_atm_val;

/* Atoms: 1 for E, 0 for N, the oldest in bit 0. */
typedef struct _ocsd_pkt_atom {
  uint32_t En_bits;
  uint8_t num;
} ocsd_pkt_atom;

/* The reason for a synchronisation packet. */
typedef enum _ocsd_iSync_reason {
  iSync_Periodic = 0,
  iSync_TraceEnable = 1,
  iSync_TraceRestartAfterOverflow = 2,
  iSync_DebugExit = 3
} ocsd_iSync_reason;

/* Exceptions of Armv7; the CM ones belong to the M profile. */
typedef enum _ocsd_armv7_exception {
  Excp_Reserved = 0,
  Excp_NoException = 1,
  Excp_Reset = 2,
  Excp_IRQ = 3,
  Excp_FIQ = 4,
  Excp_AsyncDAbort = 5,
  Excp_DebugHalt = 6,
  Excp_Jazelle = 7,
  Excp_SVC = 8,
  Excp_SMC = 9,
  Excp_Hyp = 10,
  Excp_Undef = 11,
  Excp_PrefAbort = 12,
  Excp_Generic = 13,
  Excp_SyncDataAbort = 14,
  Excp_CMUsageFault = 15,
  Excp_CMNMI = 16,
  Excp_CMDebugMonitor = 17,
  Excp_CMMemManage = 18,
  Excp_CMPendSV = 19,
  Excp_CMSysTick = 20,
  Excp_CMBusFault = 21,
  Excp_CMHardFault = 22,
  Excp_CMIRQn = 23,
  Excp_ThumbEECheckFail = 24
} ocsd_armv7_exception;

#endif

/*
 * The types that every part of the OpenCSD interface shares: trace indexes and IDs, error codes,
 * data path operations and responses, cores and instructions, memory, decoder names and flags.
 * Names, values and layouts are those of OpenCSD 1.8.0; they do not change.
 */
#ifndef OPENCSD_OCSD_IF_TYPES_H
#define OPENCSD_OCSD_IF_TYPES_H

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

/* Members of an unnamed structure belong to the structure around it: C11, and an extension before
 * it and in C++. */
#if defined(__GNUC__)
#define OCSD_EXTENSION __extension__
#else
#define OCSD_EXTENSION
#endif

/* -- Trace indexes and source IDs. --------------------------------------------------------------*/

/* Byte offset in the trace: 32 bits, or 64 bits if ENABLE_LARGE_TRACE_SOURCES is defined.  A client
 * and its library must agree.  Those with 64 bits are called OpenCSD with the option
 * WAYMARK_OPENCSD_LARGE_INDEX, which marks the functions that a client begins with: another client
 * does not link. */
#ifdef ENABLE_LARGE_TRACE_SOURCES
typedef uint64_t ocsd_trc_index_t;
#define OCSD_TRC_IDX_STR PRIu64
#else
typedef uint32_t ocsd_trc_index_t;
#define OCSD_TRC_IDX_STR PRIu32
#endif

/* In C++: a function without which a client cannot begin. */
#if defined(__cplusplus) && defined(ENABLE_LARGE_TRACE_SOURCES) && defined(__GNUC__)
#define OCSD_BEGINS __attribute__((abi_tag("index64")))
#else
#define OCSD_BEGINS
#endif

/* No index. */
#define OCSD_BAD_TRC_INDEX ((ocsd_trc_index_t) - 1)

/* No trace source ID. */
#define OCSD_BAD_CS_SRC_ID ((uint8_t)-1)
#define OCSD_IS_VALID_CS_SRC_ID(id) ((id) > 0 && (id) < 0x70)
#define OCSD_IS_RESERVED_CS_SRC_ID(id) ((id) == 0 || ((id) >= 0x70 && (id) <= 0x7F))

/* -- Errors. ------------------------------------------------------------------------------------*/

/* The result of a function; OCSD_OK is success.  ocsd_err_str() has a sentence for each. */
typedef enum _ocsd_err_t {
  OCSD_OK = 0,
  OCSD_ERR_FAIL = 1,
  OCSD_ERR_MEM = 2,
  OCSD_ERR_NOT_INIT = 3,
  OCSD_ERR_INVALID_ID = 4,
  OCSD_ERR_BAD_HANDLE = 5,
  OCSD_ERR_INVALID_PARAM_VAL = 6,
  OCSD_ERR_INVALID_PARAM_TYPE = 7,
  OCSD_ERR_FILE_ERROR = 8,
  OCSD_ERR_NO_PROTOCOL = 9,
  OCSD_ERR_ATTACH_TOO_MANY = 10,
  OCSD_ERR_ATTACH_INVALID_PARAM = 11,
  OCSD_ERR_ATTACH_COMP_NOT_FOUND = 12,
  OCSD_ERR_RDR_FILE_NOT_FOUND = 13,
  OCSD_ERR_RDR_INVALID_INIT = 14,
  OCSD_ERR_RDR_NO_DECODER = 15,
  OCSD_ERR_DATA_DECODE_FATAL = 16,
  OCSD_ERR_DFMTR_NOTCONTTRACE = 17,
  OCSD_ERR_DFMTR_BAD_FHSYNC = 18,
  OCSD_ERR_BAD_PACKET_SEQ = 19,
  OCSD_ERR_INVALID_PCKT_HDR = 20,
  OCSD_ERR_PKT_INTERP_FAIL = 21,
  OCSD_ERR_UNSUPPORTED_ISA = 22,
  OCSD_ERR_HW_CFG_UNSUPP = 23,
  OCSD_ERR_UNSUPP_DECODE_PKT = 24,
  OCSD_ERR_BAD_DECODE_PKT = 25,
  OCSD_ERR_COMMIT_PKT_OVERRUN = 26,
  OCSD_ERR_MEM_NACC = 27,
  OCSD_ERR_RET_STACK_OVERFLOW = 28,
  OCSD_ERR_DCDT_NO_FORMATTER = 29,
  OCSD_ERR_MEM_ACC_OVERLAP = 30,
  OCSD_ERR_MEM_ACC_FILE_NOT_FOUND = 31,
  OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE = 32,
  OCSD_ERR_MEM_ACC_RANGE_INVALID = 33,
  OCSD_ERR_MEM_ACC_BAD_LEN = 34,
  OCSD_ERR_TEST_SNAPSHOT_PARSE = 35,
  OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO = 36,
  OCSD_ERR_TEST_SNAPSHOT_READ = 37,
  OCSD_ERR_TEST_SS_TO_DECODER = 38,
  OCSD_ERR_DCDREG_NAME_REPEAT = 39,
  OCSD_ERR_DCDREG_NAME_UNKNOWN = 40,
  OCSD_ERR_DCDREG_TYPE_UNKNOWN = 41,
  OCSD_ERR_DCDREG_TOOMANY = 42,
  OCSD_ERR_DCD_INTERFACE_UNUSED = 43,
  OCSD_ERR_INVALID_OPCODE = 44,
  OCSD_ERR_I_RANGE_LIMIT_OVERRUN = 45,
  OCSD_ERR_BAD_DECODE_IMAGE = 46,
  OCSD_ERR_LAST = 47
} ocsd_err_t;

/* Component handle in error reports. */
typedef unsigned int ocsd_hndl_rdr_t;
typedef unsigned int ocsd_hndl_err_log_t;
#define OCSD_INVALID_HANDLE ((unsigned int)-1)

/* Severity of an error, and verbosity of a logger. */
typedef enum _ocsd_err_severity_t {
  OCSD_ERR_SEV_NONE = 0,
  OCSD_ERR_SEV_ERROR = 1,
  OCSD_ERR_SEV_WARN = 2,
  OCSD_ERR_SEV_INFO = 3
} ocsd_err_severity_t;

/* -- Data path. ---------------------------------------------------------------------------------*/

/* Operations of the data path. */
typedef enum _ocsd_datapath_op_t {
  OCSD_OP_DATA = 0,
  OCSD_OP_EOT = 1,
  OCSD_OP_FLUSH = 2,
  OCSD_OP_RESET = 3
} ocsd_datapath_op_t;

/* Responses of the data path.  After a WAIT, OCSD_OP_FLUSH until the response is not WAIT. */
typedef enum _ocsd_datapath_resp_t {
  OCSD_RESP_CONT = 0,
  OCSD_RESP_WARN_CONT = 1,
  OCSD_RESP_ERR_CONT = 2,
  OCSD_RESP_WAIT = 3,
  OCSD_RESP_WARN_WAIT = 4,
  OCSD_RESP_ERR_WAIT = 5,
  OCSD_RESP_FATAL_NOT_INIT = 6,
  OCSD_RESP_FATAL_INVALID_OP = 7,
  OCSD_RESP_FATAL_INVALID_PARAM = 8,
  OCSD_RESP_FATAL_INVALID_DATA = 9,
  OCSD_RESP_FATAL_SYS_ERR = 10
} ocsd_datapath_resp_t;

#define OCSD_DATA_RESP_IS_FATAL(x) ((x) >= OCSD_RESP_FATAL_NOT_INIT)
#define OCSD_DATA_RESP_IS_WARN(x) ((x) == OCSD_RESP_WARN_CONT || (x) == OCSD_RESP_WARN_WAIT)
#define OCSD_DATA_RESP_IS_ERR(x) ((x) == OCSD_RESP_ERR_CONT || (x) == OCSD_RESP_ERR_WAIT)
#define OCSD_DATA_RESP_IS_WARN_OR_ERR(x) (OCSD_DATA_RESP_IS_ERR(x) || OCSD_DATA_RESP_IS_WARN(x))
#define OCSD_DATA_RESP_IS_CONT(x) ((x) < OCSD_RESP_WAIT)
#define OCSD_DATA_RESP_IS_WAIT(x) ((x) >= OCSD_RESP_WAIT && (x) < OCSD_RESP_FATAL_NOT_INIT)

/* Kinds of raw frame data. */
typedef enum _rcdtl_rawframe_elem_t {
  OCSD_FRM_NONE = 0,
  OCSD_FRM_PACKED = 1,
  OCSD_FRM_HSYNC = 2,
  OCSD_FRM_FSYNC = 3,
  OCSD_FRM_ID_DATA = 4
} ocsd_rawframe_elem_t;

/* Trace in CoreSight frames, or of one source without frames. */
typedef enum _ocsd_dcd_tree_src_t {
  OCSD_TRC_SRC_FRAME_FORMATTED = 0,
  OCSD_TRC_SRC_SINGLE = 1
} ocsd_dcd_tree_src_t;

/* The layout of frames: flags for making a decode tree. */
#define OCSD_DFRMTR_HAS_FSYNCS 0x01        /* Full syncs between frames. */
#define OCSD_DFRMTR_HAS_HSYNCS 0x02        /* Half syncs in frames. */
#define OCSD_DFRMTR_FRAME_MEM_ALIGN 0x04   /* No syncs: a frame in each 16 bytes. */
#define OCSD_DFRMTR_PACKED_RAW_OUT 0x08    /* Raw frames to the printer. */
#define OCSD_DFRMTR_UNPACKED_RAW_OUT 0x10  /* Bytes by ID to the printer. */
#define OCSD_DFRMTR_RESET_ON_4X_FSYNC 0x20 /* Four full syncs in a row reset the decoders. */
#define OCSD_DFRMTR_VALID_MASK 0x3F
#define OCSD_DFRMTR_FRAME_SIZE 0x10

/* -- Component names and kinds of decoding. -----------------------------------------------------*/

#define OCSD_CMPNAME_PREFIX_SOURCE_READER "SRDR"
#define OCSD_CMPNAME_PREFIX_FRAMEDEFORMATTER "DFMT"
#define OCSD_CMPNAME_PREFIX_PKTPROC "PKTP"
#define OCSD_CMPNAME_PREFIX_PKTDEC "PDEC"

/* Flags for making a decoder: one of the first two must be given. */
#define OCSD_CREATE_FLG_PACKET_PROC 0x01  /* Packets only. */
#define OCSD_CREATE_FLG_FULL_DECODER 0x02 /* Packets and generic elements. */
#define OCSD_CREATE_FLG_INST_ID 0x04      /* The component's name gets the trace ID. */

/* The handling of bad packets, combined with the flags above. */
#define OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS 0x00000010
#define OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS 0x00000020
#define OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS 0x00000040
#define OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS 0x00000080
#define OCSD_OPFLG_PKTPROC_COMMON                                          \
  (OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS | OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS | \
   OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS | OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS)

/* How strictly a decoder compares the trace with the program. */
#define OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS 0x00000100
#define OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS 0x00000200
#define OCSD_OPFLG_N_UNCOND_DIR_BR_CHK 0x00000400
#define OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK 0x00000800
#define OCSD_OPFLG_CHK_RANGE_CONTINUE 0x00001000
#define OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB 0x00002000
#define OCSD_OPFLG_PKTDEC_COMMON                                        \
  (OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS | OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS | \
   OCSD_OPFLG_N_UNCOND_DIR_BR_CHK | OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK | \
   OCSD_OPFLG_CHK_RANGE_CONTINUE | OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB)

/* The bits whose meaning depends on the protocol. */
#define OCSD_OPFLG_COMP_MODE_MASK 0xFFFF0000

/* Names of the decoders, for ocsd_dt_create_decoder(). */
#define OCSD_BUILTIN_DCD_STM "STM"
#define OCSD_BUILTIN_DCD_ETMV3 "ETMV3"
#define OCSD_BUILTIN_DCD_ETMV4I "ETMV4I"
#define OCSD_BUILTIN_DCD_ETMV4D "ETMV4D"
#define OCSD_BUILTIN_DCD_PTM "PTM"
#define OCSD_BUILTIN_DCD_ETE "ETE"
#define OCSD_BUILTIN_DCD_ITM "ITM"

/* Trace protocols; custom decoders get one of the ten custom numbers. */
typedef enum _ocsd_trace_protocol_t {
  OCSD_PROTOCOL_UNKNOWN = 0,
  OCSD_PROTOCOL_ETMV3 = 1,
  OCSD_PROTOCOL_ETMV4I = 2,
  OCSD_PROTOCOL_ETMV4D = 3,
  OCSD_PROTOCOL_PTM = 4,
  OCSD_PROTOCOL_STM = 5,
  OCSD_PROTOCOL_ETE = 6,
  OCSD_PROTOCOL_ITM = 7,
  OCSD_PROTOCOL_BUILTIN_END = 8,
  OCSD_PROTOCOL_CUSTOM_0 = 0x64,
  OCSD_PROTOCOL_CUSTOM_1 = 0x65,
  OCSD_PROTOCOL_CUSTOM_2 = 0x66,
  OCSD_PROTOCOL_CUSTOM_3 = 0x67,
  OCSD_PROTOCOL_CUSTOM_4 = 0x68,
  OCSD_PROTOCOL_CUSTOM_5 = 0x69,
  OCSD_PROTOCOL_CUSTOM_6 = 0x6A,
  OCSD_PROTOCOL_CUSTOM_7 = 0x6B,
  OCSD_PROTOCOL_CUSTOM_8 = 0x6C,
  OCSD_PROTOCOL_CUSTOM_9 = 0x6D,
  OCSD_PROTOCOL_END = 0x6E
} ocsd_trace_protocol_t;

#define OCSD_PROTOCOL_IS_BUILTIN(P) ((P) > OCSD_PROTOCOL_UNKNOWN && (P) < OCSD_PROTOCOL_BUILTIN_END)
#define OCSD_PROTOCOL_IS_CUSTOM(P) ((P) >= OCSD_PROTOCOL_CUSTOM_0 && (P) < OCSD_PROTOCOL_END)

/* -- Cores. -------------------------------------------------------------------------------------*/

/* Architecture of a core; compare with >= only. */
typedef enum _ocsd_arch_version {
  ARCH_UNKNOWN = 0,
  ARCH_CUSTOM = 1,
  ARCH_V7 = 0x700,
  ARCH_V8 = 0x800,
  ARCH_V8r3 = 0x803,
  ARCH_AA64 = 0x864,
  ARCH_V8_max = 0x864
} ocsd_arch_version_t;

#define OCSD_IS_V8_ARCH(arch) ((arch) >= ARCH_V8 && (arch) <= ARCH_V8_max)
#define OCSD_IS_ARCH_MINVER(arch, min_arch) ((arch) >= (min_arch))

typedef enum _ocsd_core_profile {
  profile_Unknown = 0,
  profile_CortexM = 1,
  profile_CortexR = 2,
  profile_CortexA = 3,
  profile_Custom = 4
} ocsd_core_profile_t;

typedef struct _ocsd_arch_profile_t {
  ocsd_arch_version_t arch;
  ocsd_core_profile_t profile;
} ocsd_arch_profile_t;

/* Address in the traced program. */
#ifdef USE_32BIT_V_ADDR
typedef uint32_t ocsd_vaddr_t;
#define OCSD_MAX_VA_BITSIZE 32
#define OCSD_VA_MASK 0xFFFFFFFFUL
#else
typedef uint64_t ocsd_vaddr_t;
#define OCSD_MAX_VA_BITSIZE 64
#define OCSD_VA_MASK (~0ULL)
#endif

/* A mask of the low `bits` bits. */
#define OCSD_BIT_MASK(bits) \
  ((bits) >= OCSD_MAX_VA_BITSIZE ? (ocsd_vaddr_t)OCSD_VA_MASK : (((ocsd_vaddr_t)1 << (bits)) - 1))

/* Instruction sets. */
typedef enum _ocsd_isa {
  ocsd_isa_arm = 0,
  ocsd_isa_thumb2 = 1,
  ocsd_isa_aarch64 = 2,
  ocsd_isa_tee = 3,
  ocsd_isa_jazelle = 4,
  ocsd_isa_custom = 5,
  ocsd_isa_unknown = 6
} ocsd_isa;

typedef enum _ocsd_sec_level {
  ocsd_sec_secure = 0,
  ocsd_sec_nonsecure = 1,
  ocsd_sec_root = 2,
  ocsd_sec_realm = 3
} ocsd_sec_level;

typedef enum _ocsd_ex_level {
  ocsd_EL_unknown = -1,
  ocsd_EL0 = 0,
  ocsd_EL1 = 1,
  ocsd_EL2 = 2,
  ocsd_EL3 = 3
} ocsd_ex_level;

/* -- Instructions. ------------------------------------------------------------------------------*/

/* Kinds of instruction; all except OTHER are waypoints. */
typedef enum _ocsd_instr_type {
  OCSD_INSTR_OTHER = 0,
  OCSD_INSTR_BR = 1,
  OCSD_INSTR_BR_INDIRECT = 2,
  OCSD_INSTR_ISB = 3,
  OCSD_INSTR_DSB_DMB = 4,
  OCSD_INSTR_WFI_WFE = 5,
  OCSD_INSTR_TSTART = 6
} ocsd_instr_type;

typedef enum _ocsd_instr_subtype {
  OCSD_S_INSTR_NONE = 0,
  OCSD_S_INSTR_BR_LINK = 1,
  OCSD_S_INSTR_V8_RET = 2,
  OCSD_S_INSTR_V8_ERET = 3,
  OCSD_S_INSTR_V7_IMPLIED_RET = 4
} ocsd_instr_subtype;

/* One instruction: input and output of the instruction decoder. */
typedef struct _ocsd_instr_info {
  /* Set by the caller. */
  ocsd_arch_profile_t pe_type;
  ocsd_isa isa;
  ocsd_vaddr_t instr_addr;
  uint32_t opcode;
  uint8_t dsb_dmb_waypoints; /* Barriers count as waypoints. */
  uint8_t wfi_wfe_branch;    /* WFI and WFE count as branches. */
  uint8_t track_it_block;    /* Follow Thumb IT blocks; new since 1.3.3. */

  /* Set by the decoder. */
  ocsd_instr_type type;
  ocsd_vaddr_t branch_addr; /* The target of a direct branch. */
  ocsd_isa next_isa;        /* After a taken branch. */
  uint8_t instr_size;
  uint8_t is_conditional;
  uint8_t is_link;
  uint8_t thumb_it_conditions; /* Instructions left in the IT block; kept by the caller. */
  ocsd_instr_subtype sub_type;
} ocsd_instr_info;

/* -- The state of a core, and its memory. -------------------------------------------------------*/

typedef struct _ocsd_pe_context {
  ocsd_sec_level security_level;
  ocsd_ex_level exception_level;
  uint32_t context_id;
  uint32_t vmid;
  OCSD_EXTENSION struct {
    uint32_t bits64 : 1; /* AArch64 state. */
    uint32_t ctxt_id_valid : 1;
    uint32_t vmid_valid : 1;
    uint32_t el_valid : 1;
  };
} ocsd_pe_context;

/* A set of memory spaces, one bit each. */
typedef enum _ocsd_mem_space_acc_t {
  OCSD_MEM_SPACE_NONE = 0,
  OCSD_MEM_SPACE_EL1S = 1,
  OCSD_MEM_SPACE_EL1N = 2,
  OCSD_MEM_SPACE_EL2 = 4,
  OCSD_MEM_SPACE_EL3 = 8,
  OCSD_MEM_SPACE_EL2S = 0x10,
  OCSD_MEM_SPACE_EL1R = 0x20,
  OCSD_MEM_SPACE_EL2R = 0x40,
  OCSD_MEM_SPACE_ROOT = 0x80,
  OCSD_MEM_SPACE_S = 0x19,
  OCSD_MEM_SPACE_N = 6,
  OCSD_MEM_SPACE_R = 0x60,
  OCSD_MEM_SPACE_ANY = 0xFF
} ocsd_mem_space_acc_t;

/* Reads the memory of the traced program for the library: puts at most `reqBytes` bytes from
 * `address` on into `byteBuffer` and returns their number; 0: not readable. */
typedef uint32_t (*Fn_MemAcc_CB)(const void *p_context, const ocsd_vaddr_t address,
                                 const ocsd_mem_space_acc_t mem_space, const uint32_t reqBytes,
                                 uint8_t *byteBuffer);

/* The same, with the trace ID that needs it. */
typedef uint32_t (*Fn_MemAccID_CB)(const void *p_context, const ocsd_vaddr_t address,
                                   const ocsd_mem_space_acc_t mem_space, const uint8_t trcID,
                                   const uint32_t reqBytes, uint8_t *byteBuffer);

/* Part of a file, and its address in memory. */
typedef struct _ocsd_file_mem_region {
  size_t file_offset;
  ocsd_vaddr_t start_address;
  size_t region_size; /* Bytes. */
} ocsd_file_mem_region_t;

/* -- Software trace. ----------------------------------------------------------------------------*/

/* The kind of an STM packet; the payload is separate. */
typedef struct _ocsd_swt_info {
  uint16_t swt_master_id;
  uint16_t swt_channel_id;
  OCSD_EXTENSION union {
    OCSD_EXTENSION struct {
      uint32_t swt_payload_pkt_bitsize : 8; /* 0: no payload. */
      uint32_t swt_payload_num_packets : 8;
      uint32_t swt_marker_packet : 1;
      uint32_t swt_has_timestamp : 1;
      uint32_t swt_marker_first : 1;
      uint32_t swt_master_err : 1;
      uint32_t swt_global_err : 1;
      uint32_t swt_trigger_event : 1;
      uint32_t swt_frequency : 1;
      uint32_t swt_id_valid : 1; /* Master and channel are known. */
    };
    uint32_t swt_flag_bits;
  };
} ocsd_swt_info_t;

#define SWT_ID_VALID_MASK (0x1 << 23)

/* -- Statistics. --------------------------------------------------------------------------------*/

/* Bytes that the frame layer has seen; the sum of the five is their total. */
typedef struct _ocsd_demux_stats {
  uint64_t valid_id_bytes; /* To a decoder. */
  uint64_t no_id_bytes;    /* IDs without a decoder. */
  uint64_t reserved_id_bytes;
  uint64_t unknown_id_bytes; /* Before the first ID. */
  uint64_t frame_bytes;      /* IDs, flags and syncs. */
} ocsd_demux_stats_t;

/* Counts of one decoder; `version` and `revision` say which ones the library fills in. */
typedef struct _ocsd_decode_stats {
  uint32_t version;
  uint16_t revision;
  uint64_t channel_total;
  uint64_t channel_unsynced;
  uint32_t bad_header_errs;
  uint32_t bad_sequence_errs;
  ocsd_demux_stats_t demux;
} ocsd_decode_stats_t;

#define OCSD_STATS_REVISION 0x1

#endif

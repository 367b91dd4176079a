/*
 * A client of the C API, as programs in C are: it counts elements, and answers for the memory of
 * the traced program by a function.  Which library it runs on is a table of functions.
 */
#ifndef WAYMARK_BENCH_CAPI_CLIENT_H
#define WAYMARK_BENCH_CAPI_CLIENT_H

#include <opencsd/c_api/opencsd_c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions of one library. */
struct capi_library {
  const char *(*version)(void);
  dcd_tree_handle_t (*create_tree)(ocsd_dcd_tree_src_t, uint32_t);
  void (*destroy_tree)(dcd_tree_handle_t);
  ocsd_datapath_resp_t (*process)(dcd_tree_handle_t, ocsd_datapath_op_t, ocsd_trc_index_t, uint32_t,
                                  const uint8_t *, uint32_t *);
  ocsd_err_t (*create_decoder)(dcd_tree_handle_t, const char *, int, const void *, unsigned char *);
  ocsd_err_t (*set_elements)(dcd_tree_handle_t, FnTraceElemIn, const void *);
  ocsd_err_t (*add_memory)(dcd_tree_handle_t, ocsd_vaddr_t, ocsd_vaddr_t, ocsd_mem_space_acc_t,
                           Fn_MemAccID_CB, const void *);
  ocsd_err_t (*init_log)(ocsd_err_severity_t, int);
  ocsd_err_t (*config_log)(int, const char *);
};

struct capi_source {
  const char *decoder;
  const void *config;
};

/* Part of the memory of the traced program. */
struct capi_memory {
  uint64_t address;
  uint64_t size;
  unsigned space;
  const uint8_t *bytes;
};

struct capi_capture {
  const uint8_t *trace;
  size_t trace_size;
  size_t block_size;
  int formatted;
  uint32_t framing; /* OCSD_DFRMTR_... */
  const struct capi_source *sources;
  size_t source_count;
  const struct capi_memory *memory;
  size_t memory_count;
};

struct capi_counts {
  uint64_t elements;
  uint64_t ranges;
  uint64_t instructions;
  uint64_t reads;
  double seconds; /* Processor time, from the first byte to the end of the trace. */
};

/* NULL: done; else what failed. */
const char *capi_count(const struct capi_library *library, const struct capi_capture *capture,
                       struct capi_counts *counts);

#ifdef __cplusplus
}
#endif

#endif

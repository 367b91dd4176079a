#define _POSIX_C_SOURCE 199309L
#include "bench/capi_client.h"

#include <string.h>
#include <time.h>

struct client {
  const struct capi_capture *capture;
  struct capi_counts *counts;
};

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *elem) {
  struct capi_counts *counts = ((const struct client *)context)->counts;
  (void)index;
  (void)id;
  ++counts->elements;
  if (elem->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
    ++counts->ranges;
    counts->instructions += elem->num_instr_range;
  }
  return OCSD_RESP_CONT;
}

static uint32_t read_memory(const void *context, const ocsd_vaddr_t address,
                            const ocsd_mem_space_acc_t space, const uint8_t id,
                            const uint32_t wanted, uint8_t *bytes) {
  const struct client *client = (const struct client *)context;
  const struct capi_memory *part = client->capture->memory;
  const struct capi_memory *const end = part + client->capture->memory_count;
  (void)id;
  ++client->counts->reads;
  for (; part != end; ++part) {
    const uint64_t offset = address - part->address;
    if (address < part->address || offset >= part->size) continue;
    if ((part->space & (unsigned)space) == 0) continue;
    const uint64_t rest = part->size - offset;
    const uint32_t size = rest < wanted ? (uint32_t)rest : wanted;
    memcpy(bytes, part->bytes + offset, size);
    return size;
  }
  return 0;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static const char *feed(const struct capi_library *library, dcd_tree_handle_t tree,
                        const struct capi_capture *capture) {
  size_t at = 0;
  while (at < capture->trace_size) {
    const size_t rest = capture->trace_size - at;
    const size_t size = rest < capture->block_size ? rest : capture->block_size;
    uint32_t used = 0;
    const ocsd_datapath_resp_t answer = library->process(
        tree, OCSD_OP_DATA, (ocsd_trc_index_t)at, (uint32_t)size, capture->trace + at, &used);
    if (OCSD_DATA_RESP_IS_FATAL(answer) || used == 0) return "decoding stopped";
    at += used;
  }
  library->process(tree, OCSD_OP_EOT, 0, 0, NULL, NULL);
  return NULL;
}

static const char *run(const struct capi_library *library, dcd_tree_handle_t tree,
                       const struct client *client) {
  const struct capi_capture *const capture = client->capture;
  const char *error;
  double start;
  size_t i;
  for (i = 0; i < capture->source_count; ++i) {
    unsigned char id = 0;
    if (library->create_decoder(tree, capture->sources[i].decoder, OCSD_CREATE_FLG_FULL_DECODER,
                                capture->sources[i].config, &id) != OCSD_OK)
      return "a decoder could not be created";
  }
  if (library->set_elements(tree, on_element, client) != OCSD_OK) return "no element function";
  /* 0x1F is every space of every version. */
  if (library->add_memory(tree, 0, ~(ocsd_vaddr_t)0, (ocsd_mem_space_acc_t)0x1F, read_memory,
                          client) != OCSD_OK)
    return "no memory function";
  start = now();
  error = feed(library, tree, capture);
  client->counts->seconds = now() - start;
  return error;
}

const char *capi_count(const struct capi_library *library, const struct capi_capture *capture,
                       struct capi_counts *counts) {
  struct client client;
  dcd_tree_handle_t tree;
  const char *error;
  memset(counts, 0, sizeof(*counts));
  client.capture = capture;
  client.counts = counts;
  library->init_log(OCSD_ERR_SEV_NONE, 1);
  library->config_log(C_API_MSGLOGOUT_FLG_NONE, NULL);
  tree = library->create_tree(
      capture->formatted ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE, capture->framing);
  if (tree == C_API_INVALID_TREE_HANDLE) return "no decode tree";
  error = run(library, tree, &client);
  library->destroy_tree(tree);
  return error;
}

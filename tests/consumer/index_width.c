/* Prints the index of the first element after 4 GiB of trace. */
#include <opencsd/c_api/opencsd_c_api.h>
#include <stdio.h>
#include <string.h>

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t trace_id,
                                       const ocsd_generic_trace_elem *element) {
  (void)context;
  (void)trace_id;
  if (element->elem_type == OCSD_GEN_TRC_ELEM_ITMTRACE) printf("%" OCSD_TRC_IDX_STR "\n", index);
  return OCSD_RESP_CONT;
}

int main(void) {
  /* A synchronisation, and a byte that software wrote. */
  static const uint8_t trace[] = {0, 0, 0, 0, 0, 0x80, 0x01, 0x41};
  const dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  ocsd_itm_cfg config;
  unsigned char id = 0;
  uint32_t used = 0;
  memset(&config, 0, sizeof(config));
  config.reg_tcr = 0x10 << 16;
  if (ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ITM, OCSD_CREATE_FLG_FULL_DECODER, &config,
                             &id) != OCSD_OK ||
      ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL) != OCSD_OK)
    return 1;
  ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)0x100000000, sizeof(trace), trace,
                       &used);
  ocsd_destroy_dcd_tree(tree);
  return 0;
}

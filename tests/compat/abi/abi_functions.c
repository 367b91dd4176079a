/*
 * The functions of the C API with their types: compiles only against headers that declare them so.
 */
#include <opencsd/c_api/opencsd_c_api.h>

uint32_t (*const check_get_version)(void) = ocsd_get_version;
const char *(*const check_get_version_str)(void) = ocsd_get_version_str;
dcd_tree_handle_t (*const check_create_dcd_tree)(
    const ocsd_dcd_tree_src_t src_type, const uint32_t deformatterCfgFlags) = ocsd_create_dcd_tree;
void (*const check_destroy_dcd_tree)(const dcd_tree_handle_t handle) = ocsd_destroy_dcd_tree;
ocsd_datapath_resp_t (*const check_dt_process_data)(
    const dcd_tree_handle_t handle, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
    const uint32_t dataBlockSize, const uint8_t *pDataBlock,
    uint32_t *numBytesProcessed) = ocsd_dt_process_data;
ocsd_err_t (*const check_dt_set_gen_elem_outfn)(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                                const void *p_context) = ocsd_dt_set_gen_elem_outfn;
ocsd_err_t (*const check_dt_create_decoder)(const dcd_tree_handle_t handle,
                                            const char *decoder_name, const int create_flags,
                                            const void *decoder_cfg,
                                            unsigned char *pCSID) = ocsd_dt_create_decoder;
ocsd_err_t (*const check_dt_remove_decoder)(const dcd_tree_handle_t handle,
                                            const unsigned char CSID) = ocsd_dt_remove_decoder;
ocsd_err_t (*const check_dt_attach_packet_callback)(
    const dcd_tree_handle_t handle, const unsigned char CSID,
    const ocsd_c_api_cb_types callback_type, void *p_fn_callback_data,
    const void *p_context) = ocsd_dt_attach_packet_callback;
ocsd_err_t (*const check_dt_get_decode_stats)(
    const dcd_tree_handle_t handle, const unsigned char CSID,
    ocsd_decode_stats_t **p_stats_block) = ocsd_dt_get_decode_stats;
ocsd_err_t (*const check_dt_reset_decode_stats)(
    const dcd_tree_handle_t handle, const unsigned char CSID) = ocsd_dt_reset_decode_stats;
ocsd_err_t (*const check_dt_add_binfile_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
    const ocsd_mem_space_acc_t mem_space, const char *filepath) = ocsd_dt_add_binfile_mem_acc;
ocsd_err_t (*const check_dt_add_binfile_region_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_file_mem_region_t *region_array,
    const int num_regions, const ocsd_mem_space_acc_t mem_space,
    const char *filepath) = ocsd_dt_add_binfile_region_mem_acc;
ocsd_err_t (*const check_dt_add_buffer_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
    const ocsd_mem_space_acc_t mem_space, const uint8_t *p_mem_buffer,
    const uint32_t mem_length) = ocsd_dt_add_buffer_mem_acc;
ocsd_err_t (*const check_dt_add_callback_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
    const ocsd_mem_space_acc_t mem_space, Fn_MemAcc_CB p_cb_func,
    const void *p_context) = ocsd_dt_add_callback_mem_acc;
ocsd_err_t (*const check_dt_add_callback_trcid_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address, const ocsd_vaddr_t en_address,
    const ocsd_mem_space_acc_t mem_space, Fn_MemAccID_CB p_cb_func,
    const void *p_context) = ocsd_dt_add_callback_trcid_mem_acc;
ocsd_err_t (*const check_dt_remove_mem_acc)(
    const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
    const ocsd_mem_space_acc_t mem_space) = ocsd_dt_remove_mem_acc;
void (*const check_tl_log_mapped_mem_ranges)(const dcd_tree_handle_t handle) =
    ocsd_tl_log_mapped_mem_ranges;
#ifdef PROBE_NEW
ocsd_err_t (*const check_dt_set_mem_acc_cacheing)(const dcd_tree_handle_t handle, const int enable,
                                                  const uint16_t page_size, const int nr_pages) =
    ocsd_dt_set_mem_acc_cacheing;
#endif
ocsd_err_t (*const check_def_errlog_init)(const ocsd_err_severity_t verbosity,
                                          const int create_output_logger) = ocsd_def_errlog_init;
ocsd_err_t (*const check_def_errlog_config_output)(
    const int output_flags, const char *log_file_name) = ocsd_def_errlog_config_output;
ocsd_err_t (*const check_def_errlog_set_strprint_cb)(
    const dcd_tree_handle_t handle, void *p_context,
    FnDefLoggerPrintStrCB p_str_print_cb) = ocsd_def_errlog_set_strprint_cb;
void (*const check_def_errlog_msgout)(const char *msg) = ocsd_def_errlog_msgout;
void (*const check_err_str)(const ocsd_err_t err, char *buffer,
                            const int buffer_size) = ocsd_err_str;
ocsd_err_t (*const check_get_last_err)(ocsd_trc_index_t *index, uint8_t *chan_id, char *message,
                                       const int message_len) = ocsd_get_last_err;
ocsd_err_t (*const check_pkt_str)(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt,
                                  char *buffer, const int buffer_size) = ocsd_pkt_str;
ocsd_err_t (*const check_gen_elem_str)(const ocsd_generic_trace_elem *p_pkt, char *buffer,
                                       const int buffer_size) = ocsd_gen_elem_str;
void (*const check_gen_elem_init)(ocsd_generic_trace_elem *p_pkt,
                                  const ocsd_gen_trc_elem_t elem_type) = ocsd_gen_elem_init;
ocsd_err_t (*const check_dt_set_raw_frame_printer)(const dcd_tree_handle_t handle,
                                                   int flags) = ocsd_dt_set_raw_frame_printer;
ocsd_err_t (*const check_dt_set_gen_elem_printer)(const dcd_tree_handle_t handle) =
    ocsd_dt_set_gen_elem_printer;
ocsd_err_t (*const check_dt_set_pkt_protocol_printer)(
    const dcd_tree_handle_t handle, uint8_t cs_id, int monitor) = ocsd_dt_set_pkt_protocol_printer;
ocsd_err_t (*const check_register_custom_decoder)(
    const char *name, ocsd_extern_dcd_fact_t *p_dcd_fact) = ocsd_register_custom_decoder;
ocsd_err_t (*const check_deregister_decoders)(void) = ocsd_deregister_decoders;
ocsd_err_t (*const check_cust_protocol_to_str)(const ocsd_trace_protocol_t pkt_protocol,
                                               const void *trc_pkt, char *buffer,
                                               const int buflen) = ocsd_cust_protocol_to_str;

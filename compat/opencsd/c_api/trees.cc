// Trees, decoders and the data path.
#include "core/logger.h"
#include "handles.h"

using namespace waymark::compat;
using namespace waymark::compat::capi;

namespace {

constexpr ocsd_err_t kNoTree = OCSD_ERR_INVALID_PARAM_VAL;

}  // namespace

uint32_t ocsd_get_version(void) { return OCSD_VER_NUM; }

const char* ocsd_get_version_str(void) { return OCSD_VER_STRING; }

dcd_tree_handle_t ocsd_create_dcd_tree(const ocsd_dcd_tree_src_t src_type,
                                       const uint32_t deformatterCfgFlags) {
  std::unique_ptr<Tree> tree = Tree::create(src_type, deformatterCfgFlags);
  return tree != nullptr ? remember(std::move(tree)) : C_API_INVALID_TREE_HANDLE;
}

void ocsd_destroy_dcd_tree(const dcd_tree_handle_t handle) { forget(handle).reset(); }

// The only function that does not check whether the tree is live: clients that answer WAIT call it
// for each element.
ocsd_datapath_resp_t ocsd_dt_process_data(const dcd_tree_handle_t handle,
                                          const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                          const uint32_t dataBlockSize, const uint8_t* pDataBlock,
                                          uint32_t* numBytesProcessed) {
  if (handle == C_API_INVALID_TREE_HANDLE) return OCSD_RESP_FATAL_NOT_INIT;
  return static_cast<Tree*>(handle)->process(op, index, dataBlockSize, pDataBlock,
                                             numBytesProcessed);
}

ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                      const void* p_context) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return kNoTree;
  tree->set_output({.function = pFn, .context = p_context, .printer = {}});
  return OCSD_OK;
}

ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle, const char* decoder_name,
                                  const int create_flags, const void* decoder_cfg,
                                  unsigned char* pCSID) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr || decoder_name == nullptr) return kNoTree;
  return number(tree->create_decoder(decoder_name, create_flags, decoder_cfg, pCSID));
}

ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle, const unsigned char CSID) {
  Tree* const tree = tree_of(handle);
  return tree != nullptr ? number(tree->remove_decoder(CSID)) : kNoTree;
}

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle, const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type,
                                          void* p_fn_callback_data, const void* p_context) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return kNoTree;
  Channel* const channel = tree->channel(CSID);
  if (channel == nullptr) return OCSD_ERR_INVALID_ID;
  if (p_fn_callback_data == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  switch (callback_type) {
    case OCSD_C_API_CB_PKT_SINK:
      return number(
          channel->attach_sink(reinterpret_cast<FnDefPktDataIn>(p_fn_callback_data), p_context));
    case OCSD_C_API_CB_PKT_MON:
      return number(channel->attach_monitor(reinterpret_cast<FnDefPktDataMon>(p_fn_callback_data),
                                            p_context));
  }
  return OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID,
                                    ocsd_decode_stats_t** p_stats_block) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr || p_stats_block == nullptr) return kNoTree;
  return number(tree->statistics(CSID, *p_stats_block));
}

ocsd_err_t ocsd_dt_reset_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID) {
  Tree* const tree = tree_of(handle);
  return tree != nullptr ? number(tree->reset_statistics(CSID)) : kNoTree;
}

// -- Printers. ------------------------------------------------------------------------------------

ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return OCSD_ERR_NOT_INIT;
  tree->print_raw_frames(static_cast<std::uint32_t>(flags));
  return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return OCSD_ERR_NOT_INIT;
  tree->set_output(
      {.function = nullptr, .context = nullptr, .printer = Logger::instance().make_printer()});
  return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle, uint8_t cs_id,
                                            int monitor) {
  Tree* const tree = tree_of(handle);
  if (tree == nullptr) return OCSD_ERR_NOT_INIT;
  Channel* const channel = tree->channel(cs_id);
  if (channel == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  return number(channel->attach_printer(cs_id, monitor != 0));
}

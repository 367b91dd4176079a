// The memory of the traced program.
#include "handles.h"

using namespace waymark::compat;
using namespace waymark::compat::capi;

namespace {

/// The answer of every function here for a handle that is not a tree.
template <class Call>
ocsd_err_t with_memory(dcd_tree_handle_t handle, Call call) {
  Tree* const tree = tree_of(handle);
  return tree != nullptr ? number(call(tree->memory())) : OCSD_ERR_INVALID_PARAM_VAL;
}

}  // namespace

ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                       const ocsd_mem_space_acc_t mem_space, const char* filepath) {
  return with_memory(handle,
                     [&](Memory& memory) { return memory.add_file(address, mem_space, filepath); });
}

ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_file_mem_region_t* region_array,
                                              const int num_regions,
                                              const ocsd_mem_space_acc_t mem_space,
                                              const char* filepath) {
  return with_memory(handle, [&](Memory& memory) {
    const bool none = region_array == nullptr || num_regions <= 0;
    return memory.add_file_regions({region_array, none ? 0 : static_cast<std::size_t>(num_regions)},
                                   mem_space, filepath);
  });
}

ocsd_err_t ocsd_dt_add_buffer_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                      const ocsd_mem_space_acc_t mem_space,
                                      const uint8_t* p_mem_buffer, const uint32_t mem_length) {
  return with_memory(handle, [&](Memory& memory) {
    return memory.add_buffer(address, mem_space, p_mem_buffer, mem_length);
  });
}

ocsd_err_t ocsd_dt_add_callback_mem_acc(const dcd_tree_handle_t handle,
                                        const ocsd_vaddr_t st_address,
                                        const ocsd_vaddr_t en_address,
                                        const ocsd_mem_space_acc_t mem_space,
                                        Fn_MemAcc_CB p_cb_func, const void* p_context) {
  return with_memory(handle, [&](Memory& memory) {
    return memory.add_callback(st_address, en_address, mem_space, p_cb_func, nullptr, p_context);
  });
}

ocsd_err_t ocsd_dt_add_callback_trcid_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_vaddr_t st_address,
                                              const ocsd_vaddr_t en_address,
                                              const ocsd_mem_space_acc_t mem_space,
                                              Fn_MemAccID_CB p_cb_func, const void* p_context) {
  return with_memory(handle, [&](Memory& memory) {
    return memory.add_callback(st_address, en_address, mem_space, nullptr, p_cb_func, p_context);
  });
}

ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                  const ocsd_mem_space_acc_t mem_space) {
  return with_memory(handle, [&](Memory& memory) { return memory.remove(st_address, mem_space); });
}

void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle) {
  if (Tree* const tree = tree_of(handle)) tree->memory().log_ranges();
}

ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                        const uint16_t page_size, const int nr_pages) {
  return with_memory(
      handle, [&](Memory& memory) { return memory.set_caching(enable != 0, page_size, nr_pages); });
}

// Memory that a client reads itself, by a function, with or without trace ID, or a class.
#pragma once

#include "mem_acc/trc_mem_acc_base.h"
#include "mem_acc/trc_mem_acc_cb_if.h"
#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// Calls the function or class that was set last.
class TrcMemAccCB : public TrcMemAccessorBase {
 public:
  TrcMemAccCB(const ocsd_vaddr_t s_address, const ocsd_vaddr_t e_address,
              const ocsd_mem_space_acc_t mem_space);
  TrcMemAccCB();
  void initAccessor(const ocsd_vaddr_t s_address, const ocsd_vaddr_t e_address,
                    const ocsd_mem_space_acc_t mem_space);
  virtual ~TrcMemAccCB() {}

  virtual const uint32_t readBytes(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t memSpace,
                                   const uint8_t trcID, const uint32_t reqBytes,
                                   uint8_t *byteBuffer);

  void setCBIfClass(TrcMemAccCBIF *p_if);
  void setCBIfFn(Fn_MemAcc_CB p_fn, const void *p_context);
  void setCBIDIfFn(Fn_MemAccID_CB p_fn, const void *p_context);

 private:
  void clearCBptrs();

  TrcMemAccCBIF *m_p_CBclass;
  Fn_MemAcc_CB m_p_CBfn;
  Fn_MemAccID_CB m_p_CBIDfn;
  const void *m_p_cbfn_context;
};

#pragma GCC diagnostic pop

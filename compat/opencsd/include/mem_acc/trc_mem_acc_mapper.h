// Finds the accessor of an address.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "interfaces/trc_error_log_i.h"
#include "interfaces/trc_tgt_mem_access_i.h"
#include "mem_acc/trc_mem_acc_base.h"
#include "mem_acc/trc_mem_acc_cache.h"
#include "opencsd/ocsd_if_types.h"

typedef enum _memacc_mapper_t { MEMACC_MAP_GLOBAL } memacc_mapper_t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcMemAccMapper : public ITargetMemAccess {
 public:
  TrcMemAccMapper();
  TrcMemAccMapper(bool using_trace_id);
  virtual ~TrcMemAccMapper();

  virtual ocsd_err_t ReadTargetMemory(const ocsd_vaddr_t address, const uint8_t cs_trace_id,
                                      const ocsd_mem_space_acc_t mem_space, uint32_t *num_bytes,
                                      uint8_t *p_buffer);
  virtual void InvalidateMemAccCache(const uint8_t cs_trace_id);

  /// The accessor is borrowed.  OCSD_ERR_MEM_ACC_RANGE_INVALID, OCSD_ERR_MEM_ACC_OVERLAP.
  virtual ocsd_err_t AddAccessor(TrcMemAccessorBase *p_accessor, const uint8_t cs_trace_id) = 0;
  virtual ocsd_err_t RemoveAccessor(const TrcMemAccessorBase *p_accessor) = 0;
  /// Does not destroy them, except for those of adoptAccessor().
  void RemoveAllAccessors();
  /// Removes the one that contains the address and shares a space.
  /// OCSD_ERR_INVALID_PARAM_VAL: there is none.
  ocsd_err_t RemoveAccessorByAddress(const ocsd_vaddr_t st_address,
                                     const ocsd_mem_space_acc_t mem_space,
                                     const uint8_t cs_trace_id = 0);

  /// The mapper destroys this accessor of TrcMemAccFactory when it is removed by one of the two
  /// functions above, or together with the mapper.
  void adoptAccessor(TrcMemAccessorBase *p_accessor) { m_adopted.push_back(p_accessor); }

  /// The logger is borrowed.
  void setErrorLog(ITraceErrorLog *err_log_i);
  virtual void logMappedRanges() = 0;

  ocsd_err_t enableCaching(bool bEnable) { return m_cache.enableCaching(bEnable); }
  ocsd_err_t setCacheSizes(uint16_t page_size, int num_pages, const bool err_on_limit = false) {
    return m_cache.setCacheSizes(page_size, num_pages, err_on_limit);
  }

  /// Changes with each accessor that is added or removed; differs between mappers.
  const uint32_t getGeneration() const { return m_generation; }
  /// Call it when the range of an added accessor has changed.
  void accessorsChanged();

 protected:
  /// Makes the accessor of an address the current one.
  virtual bool findAccessor(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                            const uint8_t cs_trace_id) = 0;
  /// The current accessor has this address.
  virtual bool readFromCurrent(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                               const uint8_t cs_trace_id) = 0;
  virtual TrcMemAccessorBase *getFirstAccessor() = 0;
  virtual TrcMemAccessorBase *getNextAccessor() = 0;
  virtual void clearAccessorList() = 0;

  void LogMessage(const std::string &msg);
  void LogWarn(const ocsd_err_t err, const std::string &msg);

  TrcMemAccessorBase *m_acc_curr;
  uint8_t m_trace_id_curr;
  const bool m_using_trace_id;
  ITraceErrorLog *m_err_log;
  TrcMemAccCache m_cache;
  uint32_t m_generation;

 private:
  TrcMemAccMapper(const TrcMemAccMapper &);
  TrcMemAccMapper &operator=(const TrcMemAccMapper &);

  void destroyAdopted();

  std::vector<TrcMemAccessorBase *> m_adopted;
};

/// One address space for all trace IDs.
class TrcMemAccMapGlobalSpace : public TrcMemAccMapper {
 public:
  TrcMemAccMapGlobalSpace();
  virtual ~TrcMemAccMapGlobalSpace();

  virtual ocsd_err_t AddAccessor(TrcMemAccessorBase *p_accessor, const uint8_t cs_trace_id);
  virtual void logMappedRanges();

  /// In the order in which they were added.
  const std::vector<TrcMemAccessorBase *> &getAccessors() const { return m_acc_global; }

 protected:
  virtual bool findAccessor(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                            const uint8_t cs_trace_id);
  virtual bool readFromCurrent(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t mem_space,
                               const uint8_t cs_trace_id);
  virtual TrcMemAccessorBase *getFirstAccessor();
  virtual TrcMemAccessorBase *getNextAccessor();
  virtual void clearAccessorList();
  virtual ocsd_err_t RemoveAccessor(const TrcMemAccessorBase *p_accessor);

 private:
  std::vector<TrcMemAccessorBase *> m_acc_global;
  std::size_t m_acc_it;
};

#pragma GCC diagnostic pop

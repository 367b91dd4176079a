// Caches pages of memory that accessors gave.
#pragma once

#include <stdint.h>

#include <vector>

#include "interfaces/trc_error_log_i.h"
#include "mem_acc/trc_mem_acc_base.h"
#include "opencsd/ocsd_if_types.h"

#define MEM_ACC_CACHE_DEFAULT_PAGE_SIZE 2048
#define MEM_ACC_CACHE_DEFAULT_MRU_SIZE 16
#define MEM_ACC_CACHE_PAGE_SIZE_MIN 64
#define MEM_ACC_CACHE_PAGE_SIZE_MAX 16384
#define MEM_ACC_CACHE_MRU_SIZE_MIN 4
#define MEM_ACC_CACHE_MRU_SIZE_MAX 256

#define OCSD_ENV_MEMACC_CACHE_OFF "OPENCSD_MEMACC_CACHE_OFF"
#define OCSD_ENV_MEMACC_CACHE_PG_SIZE "OPENCSD_MEMACC_CACHE_PAGE_SIZE"
#define OCSD_ENV_MEMACC_CACHE_PG_NUM "OPENCSD_MEMACC_CACHE_PAGE_NUM"

/// One page: what was read for one trace ID from one address on.
typedef struct cache_block {
  ocsd_vaddr_t st_addr;
  uint32_t valid_len; /* 0: free. */
  uint8_t *data;
  uint8_t trcID;
  uint32_t use_sequence;
} cache_block_t;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

class TrcMemAccCache {
 public:
  TrcMemAccCache();
  ~TrcMemAccCache();

  /// Initially off.
  ocsd_err_t enableCaching(bool bEnable);

  /// Sets the size of a page and the number of pages.  Outside the limits:
  /// OCSD_ERR_INVALID_PARAM_VAL with `err_on_limit`; without it the limit is used.  All pages
  /// are forgotten if anything changes.
  ocsd_err_t setCacheSizes(const uint16_t page_size, const int nr_pages,
                           const bool err_on_limit = false);

  const bool enabled() const { return m_bCacheEnabled; }
  const bool enabled_for_size(const uint32_t reqSize) const {
    return m_bCacheEnabled && reqSize <= m_mru_page_size;
  }

  void invalidateAll();
  void invalidateByTraceID(int8_t trcID);
  void clearPage(cache_block_t *page);

  /// Reads from a page, which is first read from the accessor if there is none.  `*numBytes`
  /// gets 0 if the accessor has less than requested.
  ocsd_err_t readBytesFromCache(TrcMemAccessorBase *p_accessor, const ocsd_vaddr_t address,
                                const ocsd_mem_space_acc_t mem_space, const uint8_t trcID,
                                uint32_t *numBytes, uint8_t *byteBuffer);

  void setErrorLog(ITraceErrorLog *log) { m_err_log = log; }
  /// Logs hits and misses as a message.
  void logAndClearCounts();

  /// Reads the environment, within the limits; arguments that it does not set keep their values.
  static void getenvMemaccCacheSizes(bool &enable, int &page_size, int &num_pages);

 private:
  TrcMemAccCache(const TrcMemAccCache &);
  TrcMemAccCache &operator=(const TrcMemAccCache &);

  ocsd_err_t createCaches();
  void destroyCaches();
  cache_block_t *findPage(const ocsd_vaddr_t address, const uint32_t reqSize, const uint8_t trcID);
  void logMsg(const std::string &szMsg);

  std::vector<cache_block_t> m_mru;
  std::vector<uint8_t> m_data;
  cache_block_t *m_last_page;
  uint32_t m_mru_sequence;
  int m_mru_num_pages;
  uint16_t m_mru_page_size;
  bool m_bCacheEnabled;
  uint64_t m_hits;
  uint64_t m_misses;
  ITraceErrorLog *m_err_log;
};

#pragma GCC diagnostic pop

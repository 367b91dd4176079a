// The map of accessors and its cache.  See opencsd-c-api.md 3, "Memory mapper".
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "common/ocsd_error.h"
#include "mem_acc/trc_mem_acc_cache.h"
#include "mem_acc/trc_mem_acc_mapper.h"

// -- Cache. ---------------------------------------------------------------------------------------

TrcMemAccCache::TrcMemAccCache()
    : m_last_page(nullptr),
      m_mru_sequence(0),
      m_mru_num_pages(MEM_ACC_CACHE_DEFAULT_MRU_SIZE),
      m_mru_page_size(MEM_ACC_CACHE_DEFAULT_PAGE_SIZE),
      m_bCacheEnabled(false),
      m_hits(0),
      m_misses(0),
      m_err_log(nullptr) {}

TrcMemAccCache::~TrcMemAccCache() = default;

ocsd_err_t TrcMemAccCache::createCaches() {
  const auto pages = static_cast<std::size_t>(m_mru_num_pages);
  m_data.assign(pages * m_mru_page_size, 0);
  m_mru.assign(pages, cache_block_t{});
  for (std::size_t i = 0; i < pages; ++i) {
    m_mru[i].data = m_data.data() + i * m_mru_page_size;
    clearPage(&m_mru[i]);
  }
  m_last_page = nullptr;
  m_mru_sequence = 1;
  return OCSD_OK;
}

void TrcMemAccCache::destroyCaches() {
  m_mru.clear();
  m_data.clear();
  m_last_page = nullptr;
}

ocsd_err_t TrcMemAccCache::enableCaching(bool bEnable) {
  if (bEnable && m_mru.empty()) {
    const ocsd_err_t err = createCaches();
    if (err != OCSD_OK) return err;
  }
  m_bCacheEnabled = bEnable;
  return OCSD_OK;
}

ocsd_err_t TrcMemAccCache::setCacheSizes(uint16_t page_size, int nr_pages, bool err_on_limit) {
  const auto size =
      std::clamp<uint16_t>(page_size, MEM_ACC_CACHE_PAGE_SIZE_MIN, MEM_ACC_CACHE_PAGE_SIZE_MAX);
  const int pages = std::clamp(nr_pages, MEM_ACC_CACHE_MRU_SIZE_MIN, MEM_ACC_CACHE_MRU_SIZE_MAX);
  if (err_on_limit && (size != page_size || pages != nr_pages)) {
    logMsg("MemAcc Caching: page size or number of pages out of range.\n");
    return OCSD_ERR_INVALID_PARAM_VAL;
  }
  if (size == m_mru_page_size && pages == m_mru_num_pages && !m_mru.empty()) return OCSD_OK;
  destroyCaches();
  m_mru_page_size = size;
  m_mru_num_pages = pages;
  return m_bCacheEnabled ? createCaches() : OCSD_OK;
}

void TrcMemAccCache::clearPage(cache_block_t* page) {
  page->st_addr = 0;
  page->valid_len = 0;
  page->trcID = OCSD_BAD_CS_SRC_ID;
  page->use_sequence = 0;
}

void TrcMemAccCache::invalidateAll() {
  for (cache_block_t& page : m_mru) clearPage(&page);
  m_last_page = nullptr;
}

void TrcMemAccCache::invalidateByTraceID(int8_t trcID) {
  for (cache_block_t& page : m_mru)
    if (page.trcID == static_cast<uint8_t>(trcID)) clearPage(&page);
  m_last_page = nullptr;
}

cache_block_t* TrcMemAccCache::findPage(ocsd_vaddr_t address, uint32_t reqSize, uint8_t trcID) {
  const auto holds = [&](const cache_block_t& page) {
    return page.trcID == trcID && page.valid_len >= reqSize && address >= page.st_addr &&
           address - page.st_addr <= page.valid_len - reqSize;
  };
  if (m_last_page != nullptr && holds(*m_last_page)) return m_last_page;
  for (cache_block_t& page : m_mru)
    if (page.valid_len != 0 && holds(page)) return &page;
  return nullptr;
}

ocsd_err_t TrcMemAccCache::readBytesFromCache(TrcMemAccessorBase* p_accessor, ocsd_vaddr_t address,
                                              ocsd_mem_space_acc_t mem_space, uint8_t trcID,
                                              uint32_t* numBytes, uint8_t* byteBuffer) {
  const uint32_t wanted = *numBytes;
  *numBytes = 0;
  if (!enabled_for_size(wanted) || m_mru.empty()) return OCSD_OK;
  cache_block_t* page = findPage(address, wanted, trcID);
  if (page == nullptr) {
    ++m_misses;
    page = &*std::ranges::min_element(m_mru, {}, &cache_block_t::use_sequence);
    clearPage(page);
    m_last_page = nullptr;
    const uint32_t read =
        p_accessor->readBytes(address, mem_space, trcID, m_mru_page_size, page->data);
    if (read > m_mru_page_size) return OCSD_ERR_MEM_ACC_BAD_LEN;
    if (read == 0) return OCSD_OK;
    page->st_addr = address;
    page->valid_len = read;
    page->trcID = trcID;
  } else {
    ++m_hits;
  }
  page->use_sequence = m_mru_sequence++;
  m_last_page = page;
  const auto offset = static_cast<uint32_t>(address - page->st_addr);
  // Everything or nothing.
  if (page->valid_len - offset < wanted) return OCSD_OK;
  *numBytes = wanted;
  std::memcpy(byteBuffer, page->data + offset, wanted);
  return OCSD_OK;
}

void TrcMemAccCache::logMsg(const std::string& szMsg) {
  if (m_err_log != nullptr)
    m_err_log->LogMessage(ITraceErrorLog::HANDLE_GEN_INFO, OCSD_ERR_SEV_INFO, szMsg);
}

void TrcMemAccCache::logAndClearCounts() {
  logMsg("MemAcc Cache: hits " + std::to_string(m_hits) + "; misses " + std::to_string(m_misses) +
         "\n");
  m_hits = m_misses = 0;
}

void TrcMemAccCache::getenvMemaccCacheSizes(bool& enable, int& page_size, int& num_pages) {
  const auto number = [](const char* name, int low, int high, int& value) {
    const char* const text = std::getenv(name);
    if (text == nullptr) return;
    const long read = std::strtol(text, nullptr, 0);
    if (read > 0) value = static_cast<int>(std::clamp<long>(read, low, high));
  };
  enable = std::getenv(OCSD_ENV_MEMACC_CACHE_OFF) == nullptr;
  number(OCSD_ENV_MEMACC_CACHE_PG_SIZE, MEM_ACC_CACHE_PAGE_SIZE_MIN, MEM_ACC_CACHE_PAGE_SIZE_MAX,
         page_size);
  number(OCSD_ENV_MEMACC_CACHE_PG_NUM, MEM_ACC_CACHE_MRU_SIZE_MIN, MEM_ACC_CACHE_MRU_SIZE_MAX,
         num_pages);
}

// -- Mapper. --------------------------------------------------------------------------------------

TrcMemAccMapper::TrcMemAccMapper() : TrcMemAccMapper(false) {}

TrcMemAccMapper::TrcMemAccMapper(bool using_trace_id)
    : m_acc_curr(nullptr),
      m_trace_id_curr(0),
      m_using_trace_id(using_trace_id),
      m_err_log(nullptr),
      m_generation(0) {
  accessorsChanged();
}

TrcMemAccMapper::~TrcMemAccMapper() { destroyAdopted(); }

void TrcMemAccMapper::destroyAdopted() {
  for (TrcMemAccessorBase* const accessor : m_adopted) TrcMemAccFactory::DestroyAccessor(accessor);
  m_adopted.clear();
}

void TrcMemAccMapper::accessorsChanged() {
  static std::atomic<uint32_t> last{0};
  m_generation = ++last;
}

void TrcMemAccMapper::setErrorLog(ITraceErrorLog* err_log_i) {
  m_err_log = err_log_i;
  m_cache.setErrorLog(err_log_i);
}

ocsd_err_t TrcMemAccMapper::ReadTargetMemory(ocsd_vaddr_t address, uint8_t cs_trace_id,
                                             ocsd_mem_space_acc_t mem_space, uint32_t* num_bytes,
                                             uint8_t* p_buffer) {
  const uint32_t wanted = *num_bytes;
  *num_bytes = 0;
  if (!readFromCurrent(address, mem_space, cs_trace_id)) {
    if (!findAccessor(address, mem_space, cs_trace_id)) return OCSD_OK;
    // From now on another accessor answers.
    if (m_cache.enabled()) m_cache.invalidateByTraceID(static_cast<int8_t>(cs_trace_id));
  }
  uint32_t read = 0;
  if (m_cache.enabled_for_size(wanted)) {
    read = wanted;
    const ocsd_err_t err =
        m_cache.readBytesFromCache(m_acc_curr, address, mem_space, cs_trace_id, &read, p_buffer);
    if (err != OCSD_OK) {
      LogWarn(err, "Mem Acc: Cache access error");
      return err;
    }
  } else {
    read = m_acc_curr->readBytes(address, mem_space, cs_trace_id, wanted, p_buffer);
    if (read > wanted) {
      LogWarn(OCSD_ERR_MEM_ACC_BAD_LEN, "Mem acc: bad return length");
      return OCSD_ERR_MEM_ACC_BAD_LEN;
    }
  }
  *num_bytes = read;
  return OCSD_OK;
}

void TrcMemAccMapper::InvalidateMemAccCache(uint8_t cs_trace_id) {
  if (m_cache.enabled()) m_cache.invalidateByTraceID(static_cast<int8_t>(cs_trace_id));
}

void TrcMemAccMapper::RemoveAllAccessors() {
  clearAccessorList();
  m_acc_curr = nullptr;
  destroyAdopted();
  if (m_cache.enabled()) m_cache.invalidateAll();
  accessorsChanged();
}

ocsd_err_t TrcMemAccMapper::RemoveAccessorByAddress(ocsd_vaddr_t st_address,
                                                    ocsd_mem_space_acc_t mem_space,
                                                    uint8_t cs_trace_id) {
  if (!findAccessor(st_address, mem_space, cs_trace_id)) return OCSD_ERR_INVALID_PARAM_VAL;
  TrcMemAccessorBase* const accessor = m_acc_curr;
  const ocsd_err_t err = RemoveAccessor(accessor);
  if (err != OCSD_OK) return err;
  const auto adopted = std::ranges::find(m_adopted, accessor);
  if (adopted == m_adopted.end()) return OCSD_OK;
  m_adopted.erase(adopted);
  TrcMemAccFactory::DestroyAccessor(accessor);
  return OCSD_OK;
}

void TrcMemAccMapper::LogMessage(const std::string& msg) {
  if (m_err_log != nullptr)
    m_err_log->LogMessage(ITraceErrorLog::HANDLE_GEN_INFO, OCSD_ERR_SEV_INFO, msg);
}

void TrcMemAccMapper::LogWarn(ocsd_err_t err, const std::string& msg) {
  if (m_err_log == nullptr) return;
  const ocsdError warning(OCSD_ERR_SEV_WARN, err, msg);
  m_err_log->LogError(ITraceErrorLog::HANDLE_GEN_INFO, &warning);
}

// -- One space for all. ---------------------------------------------------------------------------

TrcMemAccMapGlobalSpace::TrcMemAccMapGlobalSpace() : m_acc_it(0) {}
TrcMemAccMapGlobalSpace::~TrcMemAccMapGlobalSpace() = default;

ocsd_err_t TrcMemAccMapGlobalSpace::AddAccessor(TrcMemAccessorBase* p_accessor,
                                                uint8_t /*cs_trace_id*/) {
  if (p_accessor == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
  if (!p_accessor->validateRange()) return OCSD_ERR_MEM_ACC_RANGE_INVALID;
  const bool overlap = std::ranges::any_of(m_acc_global, [&](const TrcMemAccessorBase* other) {
    return other->inMemSpace(p_accessor->getMemSpace()) && other->overLapRange(p_accessor);
  });
  if (overlap) return OCSD_ERR_MEM_ACC_OVERLAP;
  m_acc_global.push_back(p_accessor);
  accessorsChanged();
  return OCSD_OK;
}

bool TrcMemAccMapGlobalSpace::findAccessor(ocsd_vaddr_t address, ocsd_mem_space_acc_t mem_space,
                                           uint8_t /*cs_trace_id*/) {
  const auto found = std::ranges::find_if(m_acc_global, [&](const TrcMemAccessorBase* accessor) {
    return accessor->addrInRange(address) && accessor->inMemSpace(mem_space);
  });
  if (found == m_acc_global.end()) return false;
  m_acc_curr = *found;
  return true;
}

bool TrcMemAccMapGlobalSpace::readFromCurrent(ocsd_vaddr_t address, ocsd_mem_space_acc_t mem_space,
                                              uint8_t /*cs_trace_id*/) {
  return m_acc_curr != nullptr && m_acc_curr->addrInRange(address) &&
         m_acc_curr->inMemSpace(mem_space);
}

TrcMemAccessorBase* TrcMemAccMapGlobalSpace::getFirstAccessor() {
  m_acc_it = 0;
  return m_acc_global.empty() ? nullptr : m_acc_global[0];
}

TrcMemAccessorBase* TrcMemAccMapGlobalSpace::getNextAccessor() {
  ++m_acc_it;
  return m_acc_it < m_acc_global.size() ? m_acc_global[m_acc_it] : nullptr;
}

void TrcMemAccMapGlobalSpace::clearAccessorList() { m_acc_global.clear(); }

ocsd_err_t TrcMemAccMapGlobalSpace::RemoveAccessor(const TrcMemAccessorBase* p_accessor) {
  const auto found = std::ranges::find(m_acc_global, p_accessor);
  if (found == m_acc_global.end()) return OCSD_ERR_INVALID_PARAM_VAL;
  m_acc_global.erase(found);
  m_acc_curr = nullptr;
  if (m_cache.enabled()) m_cache.invalidateAll();
  accessorsChanged();
  return OCSD_OK;
}

void TrcMemAccMapGlobalSpace::logMappedRanges() {
  LogMessage("Mapped Memory Accessors\n");
  for (const TrcMemAccessorBase* accessor : m_acc_global) {
    std::string text;
    accessor->getMemAccString(text);
    LogMessage(text);
  }
  LogMessage("========================\n");
}

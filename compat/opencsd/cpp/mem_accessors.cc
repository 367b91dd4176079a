// Memory accessors: base, buffer, callback and their factory.  See opencsd-c-api.md
// 3.
#include <algorithm>
#include <cstring>
#include <memory>

#include "mem_acc/trc_mem_acc.h"
#include "waymark/base/text_buffer.h"
#include "waymark/image/image.h"

// -- Base. ----------------------------------------------------------------------------------------

TrcMemAccessorBase::TrcMemAccessorBase(MemAccTypes type) : TrcMemAccessorBase(type, 0, 0) {}

TrcMemAccessorBase::TrcMemAccessorBase(MemAccTypes type, ocsd_vaddr_t startAddr,
                                       ocsd_vaddr_t endAddr)
    : m_startAddress(startAddr),
      m_endAddress(endAddr),
      m_type(type),
      m_mem_space(OCSD_MEM_SPACE_ANY) {}

const bool TrcMemAccessorBase::addrInRange(ocsd_vaddr_t s_address) const {
  return s_address >= m_startAddress && s_address <= m_endAddress;
}

const bool TrcMemAccessorBase::addrStartOfRange(ocsd_vaddr_t s_address) const {
  return s_address == m_startAddress;
}

const uint32_t TrcMemAccessorBase::bytesInRange(ocsd_vaddr_t s_address, uint32_t reqBytes) const {
  // Not the virtual function of a derived class: only this range counts.
  if (!TrcMemAccessorBase::addrInRange(s_address) || reqBytes == 0) return 0;
  const ocsd_vaddr_t after = m_endAddress - s_address;
  return after < reqBytes - 1 ? static_cast<uint32_t>(after + 1) : reqBytes;
}

const bool TrcMemAccessorBase::overLapRange(const TrcMemAccessorBase* p_test_acc) const {
  return TrcMemAccessorBase::addrInRange(p_test_acc->m_startAddress) ||
         TrcMemAccessorBase::addrInRange(p_test_acc->m_endAddress);
}

const bool TrcMemAccessorBase::validateRange() {
  return (m_startAddress & 1) == 0 && (m_endAddress & 1) == 1 && m_startAddress < m_endAddress;
}

void TrcMemAccessorBase::getMemAccString(std::string& accStr) const {
  const char* kind = "UnknAcc";
  switch (m_type) {
    case MEMACC_FILE:
      kind = "FileAcc";
      break;
    case MEMACC_BUFPTR:
      kind = "BuffAcc";
      break;
    case MEMACC_CB_IF:
      kind = "CB  Acc";
      break;
    case MEMACC_UNKNOWN:
      break;
  }
  waymark::TextBuffer text;
  text.put(kind);
  text.put("; Range::0x");
  text.hex(m_startAddress, 2);
  text.put(':');
  text.hex(m_endAddress);
  text.put("; Mem Space::");
  text.put(waymark::image::space_name(static_cast<waymark::image::SpaceMask>(m_mem_space)));
  text.put('\n');
  accStr.assign(text.view());
}

void TrcMemAccessorBase::getMemAccSpaceString(std::string& spaceStr,
                                              ocsd_mem_space_acc_t mem_space) {
  spaceStr = waymark::image::space_name(static_cast<waymark::image::SpaceMask>(mem_space));
}

// -- Buffer. --------------------------------------------------------------------------------------

TrcMemAccBufPtr::TrcMemAccBufPtr()
    : TrcMemAccessorBase(MEMACC_BUFPTR), m_p_buffer(nullptr), m_size(0) {}

TrcMemAccBufPtr::TrcMemAccBufPtr(ocsd_vaddr_t s_address, const uint8_t* p_buffer, uint32_t size)
    : TrcMemAccBufPtr() {
  initAccessor(s_address, p_buffer, size);
}

void TrcMemAccBufPtr::initAccessor(ocsd_vaddr_t s_address, const uint8_t* p_buffer, uint32_t size) {
  m_p_buffer = p_buffer;
  m_size = size;
  setRange(s_address, size != 0 ? s_address + size - 1 : s_address);
}

const uint32_t TrcMemAccBufPtr::readBytes(ocsd_vaddr_t address, ocsd_mem_space_acc_t /*memSpace*/,
                                          uint8_t /*trcID*/, uint32_t reqBytes,
                                          uint8_t* byteBuffer) {
  const uint32_t count = bytesInRange(address, reqBytes);
  if (count == 0 || m_p_buffer == nullptr || address - m_startAddress >= m_size) return 0;
  // setRange() may have made the range longer than the buffer.
  const auto left = m_size - static_cast<uint32_t>(address - m_startAddress);
  const uint32_t taken = std::min(count, left);
  std::memcpy(byteBuffer, m_p_buffer + (address - m_startAddress), taken);
  return taken;
}

// -- Callback. ------------------------------------------------------------------------------------

TrcMemAccCB::TrcMemAccCB() : TrcMemAccessorBase(MEMACC_CB_IF) { clearCBptrs(); }

TrcMemAccCB::TrcMemAccCB(ocsd_vaddr_t s_address, ocsd_vaddr_t e_address,
                         ocsd_mem_space_acc_t mem_space)
    : TrcMemAccCB() {
  initAccessor(s_address, e_address, mem_space);
}

void TrcMemAccCB::initAccessor(ocsd_vaddr_t s_address, ocsd_vaddr_t e_address,
                               ocsd_mem_space_acc_t mem_space) {
  setRange(s_address, e_address);
  setMemSpace(mem_space);
}

void TrcMemAccCB::clearCBptrs() {
  m_p_CBclass = nullptr;
  m_p_CBfn = nullptr;
  m_p_CBIDfn = nullptr;
  m_p_cbfn_context = nullptr;
}

void TrcMemAccCB::setCBIfClass(TrcMemAccCBIF* p_if) {
  clearCBptrs();
  m_p_CBclass = p_if;
}

void TrcMemAccCB::setCBIfFn(Fn_MemAcc_CB p_fn, const void* p_context) {
  clearCBptrs();
  m_p_CBfn = p_fn;
  m_p_cbfn_context = p_context;
}

void TrcMemAccCB::setCBIDIfFn(Fn_MemAccID_CB p_fn, const void* p_context) {
  clearCBptrs();
  m_p_CBIDfn = p_fn;
  m_p_cbfn_context = p_context;
}

const uint32_t TrcMemAccCB::readBytes(ocsd_vaddr_t address, ocsd_mem_space_acc_t memSpace,
                                      uint8_t trcID, uint32_t reqBytes, uint8_t* byteBuffer) {
  if (m_p_CBIDfn != nullptr)
    return m_p_CBIDfn(m_p_cbfn_context, address, memSpace, trcID, reqBytes, byteBuffer);
  if (m_p_CBfn != nullptr)
    return m_p_CBfn(m_p_cbfn_context, address, memSpace, reqBytes, byteBuffer);
  if (m_p_CBclass != nullptr)
    return m_p_CBclass->readBytes(address, memSpace, reqBytes, byteBuffer);
  return 0;
}

// -- Factory. -------------------------------------------------------------------------------------

ocsd_err_t TrcMemAccFactory::CreateBufferAccessor(TrcMemAccessorBase** pAccessor,
                                                  ocsd_vaddr_t s_address, const uint8_t* p_buffer,
                                                  uint32_t size) {
  *pAccessor = new TrcMemAccBufPtr(s_address, p_buffer, size);
  return OCSD_OK;
}

ocsd_err_t TrcMemAccFactory::CreateFileAccessor(TrcMemAccessorBase** pAccessor,
                                                const std::string& pathToFile,
                                                ocsd_vaddr_t startAddr, size_t offset,
                                                size_t size) {
  TrcMemAccessorFile* accessor = nullptr;
  const ocsd_err_t err =
      TrcMemAccessorFile::createFileAccessor(&accessor, pathToFile, startAddr, offset, size);
  *pAccessor = accessor;
  return err;
}

ocsd_err_t TrcMemAccFactory::CreateCBAccessor(TrcMemAccessorBase** pAccessor,
                                              ocsd_vaddr_t s_address, ocsd_vaddr_t e_address,
                                              ocsd_mem_space_acc_t mem_space) {
  *pAccessor = new TrcMemAccCB(s_address, e_address, mem_space);
  return OCSD_OK;
}

void TrcMemAccFactory::DestroyAccessor(TrcMemAccessorBase* pAccessor) {
  if (pAccessor == nullptr) return;
  if (pAccessor->getType() == TrcMemAccessorBase::MEMACC_FILE) {
    // Shared by all users of its path.
    if (auto* const file = dynamic_cast<TrcMemAccessorFile*>(pAccessor)) {
      TrcMemAccessorFile::destroyFileAccessor(file);
      return;
    }
  }
  delete pAccessor;
}

// Memory accessors: one stretch of the traced program's memory each.
#pragma once

#include <cstddef>
#include <string>

#include "opencsd/ocsd_if_types.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// A range of addresses, inclusive at both ends, in some memory spaces.  The start must be even and
/// the end odd.
class TrcMemAccessorBase {
 public:
  enum MemAccTypes { MEMACC_UNKNOWN, MEMACC_FILE, MEMACC_BUFPTR, MEMACC_CB_IF };

  TrcMemAccessorBase(MemAccTypes type);
  TrcMemAccessorBase(MemAccTypes type, ocsd_vaddr_t startAddr, ocsd_vaddr_t endAddr);
  virtual ~TrcMemAccessorBase() {}

  void setRange(ocsd_vaddr_t startAddr, ocsd_vaddr_t endAddr) {
    m_startAddress = startAddr;
    m_endAddress = endAddr;
  }

  const ocsd_vaddr_t getRangeStart() const { return m_startAddress; }
  /// Inclusive.
  const ocsd_vaddr_t getRangeEnd() const { return m_endAddress; }

  virtual const bool addrInRange(const ocsd_vaddr_t s_address) const;
  virtual const bool addrStartOfRange(const ocsd_vaddr_t s_address) const;
  /// The number of the `reqBytes` bytes from the address on that are in the range.
  virtual const uint32_t bytesInRange(const ocsd_vaddr_t s_address, const uint32_t reqBytes) const;
  /// The other range begins or ends in this one.
  virtual const bool overLapRange(const TrcMemAccessorBase *p_test_acc) const;

  /// Reads up to `reqBytes` bytes and returns the number read; 0: none.
  virtual const uint32_t readBytes(const ocsd_vaddr_t s_address,
                                   const ocsd_mem_space_acc_t memSpace, const uint8_t trcID,
                                   const uint32_t reqBytes, uint8_t *byteBuffer) = 0;

  virtual const bool validateRange();

  const enum MemAccTypes getType() const { return m_type; }

  /// Initially OCSD_MEM_SPACE_ANY.
  void setMemSpace(ocsd_mem_space_acc_t memSpace) { m_mem_space = memSpace; }
  const ocsd_mem_space_acc_t getMemSpace() const { return m_mem_space; }
  const bool inMemSpace(const ocsd_mem_space_acc_t mem_space) const {
    return (static_cast<unsigned>(m_mem_space) & static_cast<unsigned>(mem_space)) != 0;
  }

  /// "FileAcc; Range::0x1000:1fff; Mem Space::Any".
  virtual void getMemAccString(std::string &accStr) const;
  /// "EL1N", "Any S".
  static void getMemAccSpaceString(std::string &spaceStr, const ocsd_mem_space_acc_t mem_space);

 protected:
  ocsd_vaddr_t m_startAddress;
  ocsd_vaddr_t m_endAddress;
  const MemAccTypes m_type;
  ocsd_mem_space_acc_t m_mem_space;

 private:
  TrcMemAccessorBase(const TrcMemAccessorBase &);
  TrcMemAccessorBase &operator=(const TrcMemAccessorBase &);
};

/// Makes and destroys accessors.
class TrcMemAccFactory {
 public:
  /// The buffer is borrowed.
  static ocsd_err_t CreateBufferAccessor(TrcMemAccessorBase **pAccessor,
                                         const ocsd_vaddr_t s_address, const uint8_t *p_buffer,
                                         const uint32_t size);
  /// Like TrcMemAccessorFile::createFileAccessor().
  static ocsd_err_t CreateFileAccessor(TrcMemAccessorBase **pAccessor,
                                       const std::string &pathToFile, ocsd_vaddr_t startAddr,
                                       size_t offset = 0, size_t size = 0);
  static ocsd_err_t CreateCBAccessor(TrcMemAccessorBase **pAccessor, const ocsd_vaddr_t s_address,
                                     const ocsd_vaddr_t e_address,
                                     const ocsd_mem_space_acc_t mem_space);
  static void DestroyAccessor(TrcMemAccessorBase *pAccessor);

 private:
  TrcMemAccFactory();
};

#pragma GCC diagnostic pop

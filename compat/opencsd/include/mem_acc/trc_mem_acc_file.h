// Memory in parts of a file.
#pragma once

#include <list>
#include <map>
#include <string>

#include "mem_acc/trc_mem_acc_base.h"

class TrcMemAccFileImage;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-qualifiers"

/// One part of a file: its range of addresses and its position in the file.
class FileRegionMemAccessor : public TrcMemAccessorBase {
 public:
  FileRegionMemAccessor() : TrcMemAccessorBase(MEMACC_FILE), m_file_offset(0) {}
  virtual ~FileRegionMemAccessor() {}

  void setOffset(const size_t offset) { m_file_offset = offset; }
  const size_t getOffset() const { return m_file_offset; }

  bool operator<(const FileRegionMemAccessor &rhs) { return m_startAddress < rhs.m_startAddress; }

  /// The file accessor reads instead.
  virtual const uint32_t readBytes(const ocsd_vaddr_t, const ocsd_mem_space_acc_t, const uint8_t,
                                   const uint32_t, uint8_t *) {
    return 0;
  }

  const ocsd_vaddr_t regionStartAddress() const { return m_startAddress; }
  const ocsd_vaddr_t regionEndAddress() const { return m_endAddress; }

 private:
  size_t m_file_offset;
};

/// There is one accessor per path in the process; they count their users.
class TrcMemAccessorFile : public TrcMemAccessorBase {
 public:
  virtual const uint32_t readBytes(const ocsd_vaddr_t address, const ocsd_mem_space_acc_t memSpace,
                                   const uint8_t trcID, const uint32_t reqBytes,
                                   uint8_t *byteBuffer);

 protected:
  TrcMemAccessorFile();
  virtual ~TrcMemAccessorFile();

  void IncRefCount() { m_ref_count++; }
  void DecRefCount() { m_ref_count--; }
  const int getRefCount() const { return m_ref_count; }
  ocsd_err_t initAccessor(const std::string &pathToFile, ocsd_vaddr_t startAddr, size_t offset,
                          size_t size);
  const std::string &getFilePath() const { return m_file_path; }
  FileRegionMemAccessor *getRegionForAddress(const ocsd_vaddr_t startAddr) const;
  virtual const bool validateRange();

 public:
  /// False: the part is not in the file, overlaps another part, or is not a range.
  bool AddOffsetRange(const ocsd_vaddr_t startAddr, const size_t size, const size_t offset);

  virtual const bool addrInRange(const ocsd_vaddr_t s_address) const;
  virtual const bool addrStartOfRange(const ocsd_vaddr_t s_address) const;
  virtual const uint32_t bytesInRange(const ocsd_vaddr_t s_address, const uint32_t reqBytes) const;
  virtual const bool overLapRange(const TrcMemAccessorBase *p_test_acc) const;
  virtual void getMemAccString(std::string &accStr) const;

  /// `size` 0: to the end of the file, rounded down to an even size.
  /// OCSD_ERR_MEM_ACC_FILE_NOT_FOUND; OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE: the path is in use with
  /// another start address; OCSD_ERR_MEM_ACC_RANGE_INVALID: not a range, or not in the file.
  static ocsd_err_t createFileAccessor(TrcMemAccessorFile **p_acc, const std::string &pathToFile,
                                       ocsd_vaddr_t startAddr, size_t offset = 0, size_t size = 0);
  /// The last user's call destroys the accessor.
  static void destroyFileAccessor(TrcMemAccessorFile *p_accessor);
  static const bool isExistingFileAccessor(const std::string &pathToFile);
  static TrcMemAccessorFile *getExistingFileAccessor(const std::string &pathToFile);

 private:
  friend class TrcMemAccFileImage;

  TrcMemAccFileImage *m_image;
  bool m_base_range_set;
  bool m_has_access_regions;
  std::list<FileRegionMemAccessor *> m_access_regions;
  int m_ref_count;
  std::string m_file_path;
  size_t m_base_offset;
};

#pragma GCC diagnostic pop

// File accessors: mapped, shared by path.  See opencsd-c-api.md 3.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "file_image.h"
#include "mem_acc/trc_mem_acc_file.h"
#include "waymark/base/mapped_file.h"

using waymark::Bytes;

class TrcMemAccFileImage {
 public:
  explicit TrcMemAccFileImage(waymark::MappedFile file) : file_(std::move(file)) {}

  [[nodiscard]] Bytes bytes() const { return file_.bytes(); }

  static void visit(const TrcMemAccessorFile& accessor,
                    const waymark::compat::FilePartVisitor& to) {
    if (accessor.m_image == nullptr) return;
    const Bytes all = accessor.m_image->bytes();
    const auto give = [&](ocsd_vaddr_t first, ocsd_vaddr_t last, std::size_t offset) {
      to(first, all.subspan(offset, static_cast<std::size_t>(last - first) + 1));
    };
    if (accessor.m_base_range_set)
      give(accessor.m_startAddress, accessor.m_endAddress, accessor.m_base_offset);
    for (const FileRegionMemAccessor* region : accessor.m_access_regions)
      give(region->regionStartAddress(), region->regionEndAddress(), region->getOffset());
  }

 private:
  waymark::MappedFile file_;
};

namespace {

struct Shared {
  std::recursive_mutex mutex;
  std::map<std::string, TrcMemAccessorFile*, std::less<>> by_path;
};

Shared& shared() {
  // Never destroyed, because accessors may live longer.
  static auto* const all = new Shared;
  return *all;
}

}  // namespace

void waymark::compat::visit_file_parts(const TrcMemAccessorFile& accessor,
                                       const FilePartVisitor& visitor) {
  // Another tree may add a part to it.
  const std::lock_guard lock(shared().mutex);
  TrcMemAccFileImage::visit(accessor, visitor);
}

TrcMemAccessorFile::TrcMemAccessorFile()
    : TrcMemAccessorBase(MEMACC_FILE),
      m_image(nullptr),
      m_base_range_set(false),
      m_has_access_regions(false),
      m_ref_count(0),
      m_base_offset(0) {}

TrcMemAccessorFile::~TrcMemAccessorFile() {
  for (FileRegionMemAccessor* region : m_access_regions) delete region;
  delete m_image;
}

ocsd_err_t TrcMemAccessorFile::initAccessor(const std::string& pathToFile, ocsd_vaddr_t startAddr,
                                            size_t offset, size_t size) {
  auto file = waymark::MappedFile::open(pathToFile);
  if (!file) return OCSD_ERR_MEM_ACC_FILE_NOT_FOUND;
  m_image = new TrcMemAccFileImage(std::move(*file));
  m_file_path = pathToFile;
  const size_t all = m_image->bytes().size();
  if (offset > all || size > all - offset) return OCSD_ERR_MEM_ACC_RANGE_INVALID;
  // An odd byte cannot be part of an instruction.
  if (size == 0) size = (all - offset) & ~size_t{1};
  if (size == 0) return OCSD_ERR_MEM_ACC_RANGE_INVALID;
  setRange(startAddr, startAddr + size - 1);
  m_base_offset = offset;
  m_base_range_set = true;
  return validateRange() ? OCSD_OK : OCSD_ERR_MEM_ACC_RANGE_INVALID;
}

FileRegionMemAccessor* TrcMemAccessorFile::getRegionForAddress(ocsd_vaddr_t startAddr) const {
  for (FileRegionMemAccessor* region : m_access_regions)
    if (region->addrInRange(startAddr)) return region;
  return nullptr;
}

const uint32_t TrcMemAccessorFile::readBytes(ocsd_vaddr_t address,
                                             ocsd_mem_space_acc_t /*memSpace*/, uint8_t /*trcID*/,
                                             uint32_t reqBytes, uint8_t* byteBuffer) {
  if (m_image == nullptr) return 0;
  size_t offset = 0;
  uint32_t count = 0;
  if (m_base_range_set && TrcMemAccessorBase::addrInRange(address)) {
    count = TrcMemAccessorBase::bytesInRange(address, reqBytes);
    offset = m_base_offset + static_cast<size_t>(address - m_startAddress);
  } else if (const FileRegionMemAccessor* region = getRegionForAddress(address)) {
    count = region->bytesInRange(address, reqBytes);
    offset = region->getOffset() + static_cast<size_t>(address - region->regionStartAddress());
  }
  if (count == 0) return 0;
  std::memcpy(byteBuffer, m_image->bytes().subspan(offset, count).data(), count);
  return count;
}

const bool TrcMemAccessorFile::validateRange() {
  if (m_base_range_set && !TrcMemAccessorBase::validateRange()) return false;
  return std::ranges::all_of(m_access_regions,
                             [](FileRegionMemAccessor* region) { return region->validateRange(); });
}

bool TrcMemAccessorFile::AddOffsetRange(ocsd_vaddr_t startAddr, size_t size, size_t offset) {
  const std::lock_guard lock(shared().mutex);
  if (m_image == nullptr || size == 0) return false;
  const size_t all = m_image->bytes().size();
  if (offset > all || size > all - offset) return false;
  auto region = std::make_unique<FileRegionMemAccessor>();
  region->setRange(startAddr, startAddr + size - 1);
  region->setOffset(offset);
  region->setMemSpace(getMemSpace());
  if (!region->validateRange() || overLapRange(region.get())) return false;
  m_access_regions.push_back(region.release());
  m_access_regions.sort([](FileRegionMemAccessor* a, FileRegionMemAccessor* b) { return *a < *b; });
  m_has_access_regions = true;
  return true;
}

const bool TrcMemAccessorFile::addrInRange(ocsd_vaddr_t s_address) const {
  return (m_base_range_set && TrcMemAccessorBase::addrInRange(s_address)) ||
         getRegionForAddress(s_address) != nullptr;
}

const bool TrcMemAccessorFile::addrStartOfRange(ocsd_vaddr_t s_address) const {
  if (m_base_range_set && TrcMemAccessorBase::addrStartOfRange(s_address)) return true;
  const FileRegionMemAccessor* region = getRegionForAddress(s_address);
  return region != nullptr && region->regionStartAddress() == s_address;
}

const uint32_t TrcMemAccessorFile::bytesInRange(ocsd_vaddr_t s_address, uint32_t reqBytes) const {
  if (m_base_range_set && TrcMemAccessorBase::addrInRange(s_address))
    return TrcMemAccessorBase::bytesInRange(s_address, reqBytes);
  const FileRegionMemAccessor* region = getRegionForAddress(s_address);
  return region != nullptr ? region->bytesInRange(s_address, reqBytes) : 0;
}

const bool TrcMemAccessorFile::overLapRange(const TrcMemAccessorBase* p_test_acc) const {
  if (m_base_range_set && TrcMemAccessorBase::overLapRange(p_test_acc)) return true;
  return std::ranges::any_of(m_access_regions, [&](const FileRegionMemAccessor* region) {
    return region->overLapRange(p_test_acc);
  });
}

void TrcMemAccessorFile::getMemAccString(std::string& accStr) const {
  accStr.clear();
  if (m_base_range_set) TrcMemAccessorBase::getMemAccString(accStr);
  for (const FileRegionMemAccessor* region : m_access_regions) {
    std::string text;
    region->getMemAccString(text);
    accStr += text;
  }
  accStr += "Filename=";
  accStr += m_file_path;
  accStr += '\n';
}

ocsd_err_t TrcMemAccessorFile::createFileAccessor(TrcMemAccessorFile** p_acc,
                                                  const std::string& pathToFile,
                                                  ocsd_vaddr_t startAddr, size_t offset,
                                                  size_t size) {
  *p_acc = nullptr;
  const std::lock_guard lock(shared().mutex);
  const auto known = shared().by_path.find(pathToFile);
  if (known != shared().by_path.end()) {
    if (!known->second->addrStartOfRange(startAddr)) return OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE;
    known->second->IncRefCount();
    *p_acc = known->second;
    return OCSD_OK;
  }
  auto* const accessor = new TrcMemAccessorFile;
  const ocsd_err_t err = accessor->initAccessor(pathToFile, startAddr, offset, size);
  if (err != OCSD_OK) {
    delete accessor;
    return err;
  }
  accessor->IncRefCount();
  shared().by_path.emplace(pathToFile, accessor);
  *p_acc = accessor;
  return OCSD_OK;
}

void TrcMemAccessorFile::destroyFileAccessor(TrcMemAccessorFile* p_accessor) {
  if (p_accessor == nullptr) return;
  const std::lock_guard lock(shared().mutex);
  p_accessor->DecRefCount();
  if (p_accessor->getRefCount() > 0) return;
  const auto known = shared().by_path.find(p_accessor->getFilePath());
  if (known != shared().by_path.end() && known->second == p_accessor) shared().by_path.erase(known);
  delete p_accessor;
}

const bool TrcMemAccessorFile::isExistingFileAccessor(const std::string& pathToFile) {
  return getExistingFileAccessor(pathToFile) != nullptr;
}

TrcMemAccessorFile* TrcMemAccessorFile::getExistingFileAccessor(const std::string& pathToFile) {
  const std::lock_guard lock(shared().mutex);
  const auto known = shared().by_path.find(pathToFile);
  return known != shared().by_path.end() ? known->second : nullptr;
}

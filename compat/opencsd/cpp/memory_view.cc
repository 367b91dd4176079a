#include "memory_view.h"

#include <algorithm>
#include <limits>
#include <typeinfo>
#include <vector>

#include "core/uncovered.h"
#include "file_image.h"
#include "mem_acc/trc_mem_acc_bufptr.h"
#include "mem_acc/trc_mem_acc_cb.h"

namespace waymark::compat {
namespace {

/// The fewest bytes that a decoder needs; the reference asks for this number.
constexpr std::uint32_t kOpcodeSize = 4;

template <class T>
bool is_exactly(const TrcMemAccessorBase& accessor) {
  return typeid(accessor) == typeid(T);
}

image::SpaceMask mask(const TrcMemAccessorBase& accessor) {
  return static_cast<image::SpaceMask>(accessor.getMemSpace());
}

}  // namespace

void MemoryView::clear() {
  // Memory that was refused is missing here; that is not an error.
  for (const auto& [address, space] : regions_) static_cast<void>(image_.remove(address, space));
  regions_.clear();
}

bool MemoryView::update(ITargetMemAccess* memory) {
  if (memory == memory_ && (mapper_ == nullptr || mapper_->getGeneration() == generation_))
      [[likely]]
    return false;
  memory_ = memory;
  mapper_ = dynamic_cast<const TrcMemAccMapper*>(memory);
  generation_ = mapper_ != nullptr ? mapper_->getGeneration() : 0;
  clear();
  if (memory == nullptr) return true;
  // A client's mapper may do anything.
  if (mapper_ != nullptr && typeid(*mapper_) == typeid(TrcMemAccMapGlobalSpace) &&
      show_accessors(static_cast<const TrcMemAccMapGlobalSpace&>(*mapper_)))
    return true;
  clear();
  ask(*memory);
  return true;
}

// False: an accessor has a class of the client.
bool MemoryView::show_accessors(const TrcMemAccMapGlobalSpace& mapper) {
  std::vector<Stretch> shown;
  for (TrcMemAccessorBase* const accessor : mapper.getAccessors()) {
    const std::uint64_t first = accessor->getRangeStart();
    const image::SpaceMask space = mask(*accessor);
    // An accessor may enclose earlier ones.
    const auto add_parts = [&](const Stretch& range, const auto& add) {
      for (const Stretch& part : uncovered(range, shown)) {
        regions_.emplace_back(part.first, part.space);
        add(part);
      }
      shown.push_back(range);
    };
    const auto add_view = [&](std::uint64_t address, Bytes bytes) {
      if (bytes.empty()) return;
      add_parts({address, address + bytes.size() - 1, space}, [&](const Stretch& part) {
        static_cast<void>(
            image_.add_view(part.first,
                            bytes.subspan(static_cast<std::size_t>(part.first - address),
                                          static_cast<std::size_t>(part.last - part.first) + 1),
                            part.space));
      });
    };
    if (is_exactly<TrcMemAccBufPtr>(*accessor)) {
      const auto& buffer = static_cast<const TrcMemAccBufPtr&>(*accessor);
      const std::uint64_t size = accessor->getRangeEnd() - first + 1;
      add_view(first, {buffer.getBuffer(), static_cast<std::size_t>(size)});
    } else if (is_exactly<TrcMemAccessorFile>(*accessor)) {
      visit_file_parts(static_cast<const TrcMemAccessorFile&>(*accessor), add_view);
    } else if (is_exactly<TrcMemAccCB>(*accessor)) {
      const auto read = [this, accessor](std::uint64_t address, image::SpaceMask asked_space,
                                         TraceId id, std::span<std::uint8_t> out) {
        const auto size = static_cast<std::uint32_t>(
            std::min<std::size_t>(out.size(), std::numeric_limits<std::uint32_t>::max()));
        return checked(accessor->readBytes(static_cast<ocsd_vaddr_t>(address),
                                           static_cast<ocsd_mem_space_acc_t>(asked_space), id, size,
                                           out.data()),
                       size);
      };
      add_parts({first, accessor->getRangeEnd(), space}, [&](const Stretch& part) {
        static_cast<void>(image_.add_callback(part.first, part.last, part.space, read));
      });
    } else {
      return false;
    }
  }
  return true;
}

void MemoryView::ask(ITargetMemAccess& memory) {
  regions_.emplace_back(0, image::kSpaceAny);
  const auto read = [this, &memory](std::uint64_t address, image::SpaceMask space, TraceId id,
                                    std::span<std::uint8_t> out) {
    const auto size = static_cast<std::uint32_t>(
        std::min<std::size_t>(out.size(), std::numeric_limits<std::uint32_t>::max()));
    const auto read_some = [&](std::uint32_t wanted) -> std::size_t {
      std::uint32_t count = wanted;
      if (memory.ReadTargetMemory(static_cast<ocsd_vaddr_t>(address), id,
                                  static_cast<ocsd_mem_space_acc_t>(space), &count,
                                  out.data()) != OCSD_OK)
        return 0;
      return checked(count, wanted);
    };
    const std::size_t count = read_some(size);
    // Some accessors answer with everything or nothing, and near the end of their memory there is
    // less than a page.
    return count == 0 && size > kOpcodeSize ? read_some(kOpcodeSize) : count;
  };
  static_cast<void>(
      image_.add_callback(0, std::numeric_limits<std::uint64_t>::max(), image::kSpaceAny, read));
}

std::size_t MemoryView::checked(std::uint32_t read, std::size_t asked) const {
  if (read <= asked) return read;
  warn_(ocsdError(OCSD_ERR_SEV_WARN, OCSD_ERR_MEM_ACC_BAD_LEN, "Mem acc: bad return length"));
  return 0;
}

}  // namespace waymark::compat

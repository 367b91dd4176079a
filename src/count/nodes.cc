#include "waymark/count/nodes.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace waymark::count {
namespace {

constexpr std::size_t kFirstTable = std::size_t{1} << 10;

constexpr std::size_t kStepBytes = (Nodes::kMax + Nodes::kMaxExits) * sizeof(Step);

// Zeros that take no memory until they are written; calloc() might write them.
Step* reserve_steps() {
  void* const at = mmap(nullptr, kStepBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<Step*>(at);
}

}  // namespace

void Nodes::Free::operator()(Step* steps) const { (void)munmap(steps, kStepBytes); }

Nodes::Nodes() : steps_(reserve_steps()) { clear(); }

Node& Nodes::make(std::uint32_t context) {
  if (used_ == slabs_.size() * kSlab) slabs_.push_back(std::make_unique<Node[]>(kSlab));
  Node& node = numbered(used_);
  node = {};
  node.place = static_cast<Place>(used_ * sizeof(Step));
  node.context = context;
  ++used_;
  return node;
}

void Nodes::add_exit(Node& block) {
  block.far = static_cast<Place>(exits_.size() * sizeof(Step)) | kExitBit;
  exits_.push_back(block.place);
}

// The next nodes use the same memory.
void Nodes::clear() {
  for (std::size_t i = kFirst; i < used_; ++i) steps_[i] = {};
  for (std::size_t i = 0; i < exits_.size(); ++i) steps_[kMax + i] = {};
  exits_.clear();
  used_ = 0;
  while (used_ < kFirst) make(0);
}

void NodeTable::clear() {
  slots_.assign(std::max(slots_.size(), kFirstTable), 0);
  used_ = 0;
}

}  // namespace waymark::count

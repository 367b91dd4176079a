#include "waymark/flow/step_store.h"

namespace waymark::flow {
namespace {

constexpr std::size_t kLineSlab = 32;
constexpr std::size_t kMaxLines = std::size_t{1} << 15;
constexpr std::size_t kMaxStepSlabs = std::size_t{1} << 10;
constexpr std::size_t kFirstTable = 256;

std::size_t hash(std::uint32_t address, isa::Isa isa, std::uint32_t view) {
  std::uint64_t h =
      (address >> 7) ^ (std::uint64_t{view} << 40) ^ (static_cast<std::uint64_t>(isa) << 57);
  h *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(h >> 32);
}

}  // namespace

// -- Lines. ---------------------------------------------------------------------------------------

void StepLines::clear() {
  slabs_.clear();
  used_ = 0;
  table_.assign(kFirstTable, nullptr);
}

bool StepLines::full() const { return used_ == kMaxLines; }

StepLine& StepLines::numbered(std::size_t number) const {
  return slabs_[number / kLineSlab][number % kLineSlab];
}

void StepLines::insert(StepLine& line) {
  const std::size_t mask = table_.size() - 1;
  std::size_t i = hash(line.address, line.isa, line.view) & mask;
  while (table_[i] != nullptr) i = (i + 1) & mask;
  table_[i] = &line;
}

StepLine& StepLines::at(std::uint32_t address, isa::Isa isa, std::uint32_t view) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = hash(address, isa, view) & mask; table_[i] != nullptr; i = (i + 1) & mask) {
    StepLine& line = *table_[i];
    if (line.address == address && line.isa == isa && line.view == view) return line;
  }
  if (used_ % kLineSlab == 0) slabs_.push_back(std::make_unique<StepLine[]>(kLineSlab));
  StepLine& line = numbered(used_++);
  line.address = address;
  line.isa = isa;
  line.view = view;
  if (used_ * 2 > table_.size()) {
    table_.assign(table_.size() * 2, nullptr);
    for (std::size_t i = 0; i < used_; ++i) insert(numbered(i));
  } else {
    insert(line);
  }
  return line;
}

// -- Steps. ---------------------------------------------------------------------------------------

void StepStore::clear() {
  slabs_.clear();
  used_ = kSlab;
}

bool StepStore::full() const { return slabs_.size() == kMaxStepSlabs; }

Step* StepStore::space() {
  if (kSlab - used_ < kLongest) {
    slabs_.push_back(std::make_unique<Step[]>(kSlab + 1));
    used_ = 0;
  }
  return &slabs_.back()[used_];
}

}  // namespace waymark::flow

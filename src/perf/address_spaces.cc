#include "waymark/perf/address_spaces.h"

#include <atomic>
#include <ranges>
#include <utility>

namespace waymark::perf {
namespace {

/// A copy of a space keeps its version: it has the same content.
std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

void AddressSpace::map(const std::shared_ptr<const Mapping>& mapping) {
  if (mapping->size == 0) return;
  const std::uint64_t first = mapping->address;
  const std::uint64_t last = mapping->size - 1 > ~std::uint64_t{0} - first
                                 ? ~std::uint64_t{0}
                                 : first + (mapping->size - 1);
  map(MappedRange{first, last, mapping->file_offset, mapping});
}

bool is_anonymous(const std::string& path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("[anon:") ||
         path.starts_with("/memfd:") || path.starts_with("/anon_hugepage") ||
         path.starts_with("/dev/zero");
}

void AddressSpace::map(const MappedRange& range) {
  has_jitted_ |= range.mapping->jitted != nullptr;
  if (has_jitted_ && !range.mapping->jitted && is_anonymous(range.mapping->path)) {
    map_around_jitted(range);
  } else {
    replace(range);
  }
}

/// Of memory without a file, only what is new changes the version.
void AddressSpace::map_around_jitted(const MappedRange& range) {
  const auto stays = [&](const MappedRange& old) {
    return old.mapping->jitted != nullptr || (old.mapping->path == range.mapping->path &&
                                              old.mapping->executable == range.mapping->executable);
  };
  std::vector<MappedRange> parts;
  std::uint64_t from = range.first;
  const auto add = [&](std::uint64_t to) {
    parts.push_back({from, to, range.file_offset + (from - range.first), range.mapping});
  };
  auto at = ranges_.upper_bound(range.first);
  if (at != ranges_.begin() && std::prev(at)->second.last >= range.first) --at;
  for (; at != ranges_.end() && at->first <= range.last; ++at) {
    if (!stays(at->second)) continue;
    if (at->first > from) add(at->first - 1);
    from = at->second.last + 1;
    if (at->second.last >= range.last) break;
  }
  if (at == ranges_.end() || at->first > range.last) add(range.last);
  for (const MappedRange& part : parts) replace(part);
}

void AddressSpace::replace(const MappedRange& range) {
  const auto [first, last, offset, mapping] = range;
  const auto part = [](const MappedRange& of, std::uint64_t from, std::uint64_t to) {
    return MappedRange{from, to, of.file_offset + (from - of.first), of.mapping};
  };
  auto at = ranges_.upper_bound(first);
  if (at != ranges_.begin() && std::prev(at)->second.last >= first) --at;
  while (at != ranges_.end() && at->second.first <= last) {
    const MappedRange old = std::move(at->second);
    at = ranges_.erase(at);
    if (old.first < first) ranges_[old.first] = part(old, old.first, first - 1);
    if (old.last > last) {
      ranges_[last + 1] = part(old, last + 1, old.last);
      break;
    }
  }
  ranges_[first] = range;
  version_ = new_version();
}

void AddressSpace::clear() {
  if (ranges_.empty()) return;
  ranges_.clear();
  has_jitted_ = false;
  version_ = new_version();
}

const MappedRange* AddressSpace::find(std::uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return nullptr;
  --at;
  return at->second.last >= address ? &at->second : nullptr;
}

std::vector<MappedRange> AddressSpace::ranges() const {
  std::vector<MappedRange> all;
  all.reserve(ranges_.size());
  for (const auto& [first, range] : ranges_) all.push_back(range);
  return all;
}

AddressSpaces::AddressSpaces() = default;

void AddressSpaces::apply(const TaskEvent& event) {
  if (event.tid >= 0 && event.pid >= 0) processes_[event.tid] = event.pid;
  if (const auto* mapping = std::get_if<Mapping>(&event.what)) {
    // Programs of a guest run in processes that the recording does not know.
    if (event.mode == CpuMode::kGuestUser) return;
    const bool in_guest = event.mode == CpuMode::kGuestKernel;
    const bool in_kernel = in_guest || event.pid < 0 || event.mode == CpuMode::kKernel;
    AddressSpace& space = in_guest ? guest_ : in_kernel ? kernel_ : spaces_[event.pid];
    auto mapped = std::make_shared<Mapping>(*mapping);
    mapped->in_kernel = in_kernel;
    const std::uint64_t before = space.version();
    space.map(mapped);
    if (space.version() != before) changes_[space.version()] = {before, std::move(mapped)};
  } else if (const auto* named = std::get_if<NewName>(&event.what)) {
    name(event, *named);
  } else if (const auto* forked = std::get_if<Forked>(&event.what)) {
    fork(event, *forked);
  }
}

void AddressSpaces::name(const TaskEvent& event, const NewName& name) {
  names_[event.tid] = name.name;
  if (name.exec) spaces_[event.pid].clear();
}

void AddressSpaces::fork(const TaskEvent& event, const Forked& forked) {
  const auto parent_pid = static_cast<std::int32_t>(forked.parent_pid);
  const auto parent_tid = static_cast<std::int32_t>(forked.parent_tid);
  // A new thread shares the memory of its process.
  if (event.pid != parent_pid) {
    const auto parent = spaces_.find(parent_pid);
    AddressSpace copy = parent == spaces_.end() ? AddressSpace() : parent->second;
    spaces_[event.pid] = std::move(copy);
  }
  if (const auto named = names_.find(parent_tid); named != names_.end()) {
    std::string name = named->second;
    names_[event.tid] = std::move(name);
  }
}

std::int32_t AddressSpaces::process_of(std::int32_t tid) const {
  const auto found = processes_.find(tid);
  return found == processes_.end() ? tid : found->second;
}

const AddressSpace& AddressSpaces::of(std::int32_t pid) const {
  static const AddressSpace kEmpty;
  const auto found = spaces_.find(pid);
  return found == spaces_.end() ? kEmpty : found->second;
}

AddressSpace AddressSpaces::at(std::uint64_t version) const {
  std::vector<const std::shared_ptr<const Mapping>*> mappings;
  for (auto change = changes_.find(version); change != changes_.end();
       change = changes_.find(change->second.before))
    mappings.push_back(&change->second.mapping);
  AddressSpace space;
  for (const auto* const mapping : std::views::reverse(mappings)) space.map(*mapping);
  return space;
}

const std::string& AddressSpaces::name_of(std::int32_t tid) const {
  static const std::string kNone;
  const auto found = names_.find(tid);
  return found == names_.end() ? kNone : found->second;
}

}  // namespace waymark::perf

#include "dwarf_inlines.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace waymark::program {
namespace {

/// The attributes of an entry that matter here.
struct Entry {
  DwarfExtent extent{};
  DwarfValue name{};
  DwarfValue linkage_name{};
  DwarfValue origin{};
  DwarfValue specification{};
  std::uint64_t sibling = 0;
  CodeNode call{};
};

Entry read_entry(const DwarfDie& die, ByteReader& in) {
  Entry entry;
  DwarfValue low;
  each_attribute(die, in, [&](std::uint16_t name, const DwarfValue& value) {
    switch (name) {
      case kAttrLowPc:
        low = value;
        break;
      case kAttrHighPc:
        entry.extent.high = value;
        break;
      case kAttrRanges:
        entry.extent.ranges = value;
        break;
      case kAttrName:
        entry.name = value;
        break;
      case kAttrLinkageName:
      case kAttrMipsLinkageName:
        entry.linkage_name = value;
        break;
      case kAttrAbstractOrigin:
        entry.origin = value;
        break;
      case kAttrDeclLine:
        entry.call.declared = static_cast<std::uint32_t>(value.number);
        break;
      case kAttrSpecification:
        entry.specification = value;
        break;
      case kAttrSibling:
        entry.sibling = as_reference(*die.unit, value).second;
        break;
      case kAttrCallFile:
        entry.call.call_file = value.number;
        break;
      case kAttrCallLine:
        entry.call.call_line = static_cast<std::uint32_t>(value.number);
        break;
      case kAttrCallColumn:
        entry.call.call_column = static_cast<std::uint32_t>(value.number);
        break;
      case kAttrGnuDiscriminator:
        entry.call.call_discriminator = static_cast<std::uint32_t>(value.number);
        break;
      default:
        break;
    }
  });
  entry.extent.low = as_address(*die.unit, low);
  return entry;
}

/// Whether the children of such an entry never have code.
bool has_no_code(std::uint16_t tag) {
  constexpr std::uint16_t kArrayType = 0x01;
  constexpr std::uint16_t kEnumerationType = 0x04;
  constexpr std::uint16_t kSubroutineType = 0x15;
  return tag == kArrayType || tag == kEnumerationType || tag == kSubroutineType;
}

class TreeReader {
 public:
  TreeReader(const DwarfUnit& unit, const std::function<bool(std::uint64_t)>& is_code)
      : unit_(unit), is_code_(is_code) {}

  CodeTree run() {
    walk();
    tree_.changes = paint(stretches_);
    return std::move(tree_);
  }

 private:
  struct Names {
    std::string_view linker{};
    std::string_view source{};
    std::uint32_t declared = 0;
  };

  void walk();
  void add(const DwarfDie& die, const Entry& entry, std::uint32_t parent);
  Names names_at(const DwarfUnit* unit, std::uint64_t offset, int depth);
  Names names_of(const DwarfUnit& unit, const Entry& entry, int depth);

  const DwarfUnit& unit_;
  const std::function<bool(std::uint64_t)>& is_code_;
  CodeTree tree_;
  std::vector<Stretch> stretches_;
  std::vector<DwarfRange> ranges_;
  std::map<std::pair<const DwarfUnit*, std::uint64_t>, Names> names_;
};

void TreeReader::walk() {
  const DwarfSections& sections = unit_.info->sections;
  ByteReader in(sections.info.first(in_memory(unit_.end)), sections.big_endian, unit_.first_die);
  // The functions around the entries that are read, one for each level.
  std::vector<std::uint32_t> around;
  do {
    const DwarfDie die = read_die(unit_, in);
    if (!in.ok()) return;
    if (die.abbrev == nullptr) {
      if (!around.empty()) around.pop_back();
      continue;
    }
    std::uint32_t inside = around.empty() ? CodeNode::kNone : around.back();
    const std::uint16_t tag = die.abbrev->tag;
    std::uint64_t sibling = 0;
    if (tag == kTagSubprogram || tag == kTagInlinedSubroutine) {
      const Entry entry = read_entry(die, in);
      sibling = entry.sibling;
      const std::size_t before = tree_.nodes.size();
      add(die, entry, tag == kTagInlinedSubroutine ? inside : CodeNode::kNone);
      if (tree_.nodes.size() != before) inside = static_cast<std::uint32_t>(before);
    } else {
      each_attribute(die, in, [&](std::uint16_t name, const DwarfValue& value) {
        if (name == kAttrSibling) sibling = as_reference(unit_, value).second;
      });
    }
    if (!in.ok()) return;
    if (!die.abbrev->has_children) continue;
    if (has_no_code(tag) && sibling > in.position()) {
      in.seek(sibling);
    } else {
      around.push_back(inside);
    }
  } while (!around.empty() && !in.at_end());
}

void TreeReader::add(const DwarfDie& die, const Entry& entry, std::uint32_t parent) {
  // Lists of ranges may be shared in a damaged file: all of them together are bounded.
  const std::size_t most = std::min<std::size_t>(
      std::size_t{1} << 16,
      (std::size_t{1} << 24) - std::min<std::size_t>(stretches_.size(), 1U << 24));
  ranges_.clear();
  add_ranges(*die.unit, entry.extent, most, ranges_);
  std::erase_if(ranges_, [&](const DwarfRange& range) { return !is_code_(range.low); });
  if (ranges_.empty()) return;
  const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
  CodeNode node = entry.call;
  node.parent = parent;
  const Names names = names_of(*die.unit, entry, 0);
  node.name = names.linker.empty() ? names.source : names.linker;
  node.declared = names.declared;
  tree_.nodes.push_back(node);
  for (const DwarfRange& range : ranges_) stretches_.push_back({range.low, range.high, index});
}

TreeReader::Names TreeReader::names_of(const DwarfUnit& unit, const Entry& entry, int depth) {
  Names names{as_text(unit, entry.linkage_name), as_text(unit, entry.name), entry.call.declared};
  for (const DwarfValue& reference : {entry.origin, entry.specification}) {
    const bool complete = !names.linker.empty() && !names.source.empty() && names.declared != 0;
    if (!reference || complete) continue;
    const auto [owner, offset] = as_reference(unit, reference);
    const Names more = names_at(owner, offset, depth + 1);
    if (names.linker.empty()) names.linker = more.linker;
    if (names.source.empty()) names.source = more.source;
    if (names.declared == 0) names.declared = more.declared;
  }
  return names;
}

TreeReader::Names TreeReader::names_at(const DwarfUnit* unit, std::uint64_t offset, int depth) {
  constexpr int kDeepest = 16;
  if (unit == nullptr || depth > kDeepest) return {};
  const auto [at, is_new] = names_.try_emplace({unit, offset});
  if (!is_new) return at->second;
  const DwarfSections& sections = unit->info->sections;
  ByteReader in(sections.info.first(in_memory(unit->end)), sections.big_endian, offset);
  const DwarfDie die = read_die(*unit, in);
  if (die.abbrev == nullptr) return {};
  const Names names = names_of(*unit, read_entry(die, in), depth);
  at->second = names;
  return names;
}

}  // namespace

std::vector<CodeChange> paint(const std::vector<Stretch>& stretches) {
  std::vector<std::uint32_t> order;
  order.reserve(stretches.size());
  for (std::uint32_t i = 0; i < stretches.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return stretches[i].low; });
  std::vector<CodeChange> changes;
  // The stretches that cover the current address, and some that ended; the last of them on top.
  std::priority_queue<std::uint32_t> open;
  const auto put = [&](std::uint64_t address) {
    while (!open.empty() && stretches[open.top()].high <= address) open.pop();
    const std::uint32_t owner = open.empty() ? CodeNode::kNone : stretches[open.top()].owner;
    if (!changes.empty() && changes.back().address == address) {
      changes.back().node = owner;
    } else if (changes.empty() || changes.back().node != owner) {
      changes.push_back({address, owner});
    }
  };
  const auto close_until = [&](std::uint64_t address) {
    while (!open.empty() && stretches[open.top()].high <= address) put(stretches[open.top()].high);
  };
  for (const std::uint32_t i : order) {
    if (stretches[i].low >= stretches[i].high) continue;
    close_until(stretches[i].low);
    open.push(i);
    put(stretches[i].low);
  }
  close_until(~std::uint64_t{0});
  return changes;
}

std::uint32_t owner_at(const std::vector<CodeChange>& changes, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(changes, address, {}, &CodeChange::address);
  return after == changes.begin() ? CodeNode::kNone : std::prev(after)->node;
}

const CodeNode* CodeTree::find(std::uint64_t address) const {
  const std::uint32_t node = owner_at(changes, address);
  return node == CodeNode::kNone ? nullptr : &nodes[node];
}

std::string_view CodeTree::function(std::uint64_t address) const {
  const CodeNode* node = find(address);
  while (node != nullptr && node->parent != CodeNode::kNone) node = &nodes[node->parent];
  return node == nullptr ? std::string_view() : node->name;
}

CodeTree read_code_tree(const DwarfUnit& unit, const std::function<bool(std::uint64_t)>& is_code) {
  return TreeReader(unit, is_code).run();
}

}  // namespace waymark::program

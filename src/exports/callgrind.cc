#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "waymark/exports/call_trees.h"
#include "waymark/exports/frame_name.h"
#include "waymark/stacks/lines.h"

namespace waymark::exports {
namespace {

using stacks::CodeId;
using stacks::NodeId;

struct Position {
  std::uint64_t address = 0;  ///< 0 without TreeOptions::addresses.
  std::uint32_t line = 0;     ///< 0: not known.
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Cost {
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;
};

struct Call {
  std::uint64_t times = 0;
  Cost cost{};
  Position callee{};
};

/// A function with the file of its code.
struct Function {
  std::string name{};
  std::string file{};
  std::string object{};
  Position start{};
  std::map<Position, Cost> own{};
  std::map<std::pair<CodeId, Position>, Call> calls{};
};

/// "(1) name" the first time, then "(1)".
class Names {
 public:
  std::string of(const std::string& name) {
    const auto [at, is_new] = ids_.try_emplace(name, ids_.size() + 1);
    return is_new ? fmt::format("({}) {}", at->second, name) : fmt::format("({})", at->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
};

class CostCollector {
 public:
  CostCollector(const stacks::Tree& tree, const TreeOptions& options)
      : tree_(tree), options_(options), functions_(tree.codes().size()) {}

  const std::vector<Function>& collect() {
    for (CodeId id = 0; id < functions_.size(); ++id) describe(id);
    const auto costs = stacks::costs_by_address(tree_);
    const std::vector<stacks::Inclusive> sums = tree_.inclusive();
    const auto nodes = tree_.nodes();
    for (NodeId id = 0; id < nodes.size(); ++id) {
      add_own(nodes[id], costs[id]);
    }
    // Only the outermost call of a recursion counts with all that it did.
    std::unordered_map<std::uint64_t, std::uint32_t> open;
    const auto edge = [&](NodeId id) {
      return std::uint64_t{nodes[nodes[id].parent].code} << 32 | nodes[id].code;
    };
    stacks::walk(
        tree_, [&](NodeId id) { add_call(id, sums[id], open[edge(id)]++ == 0); },
        [&](NodeId id) { --open[edge(id)]; });
    return functions_;
  }

 private:
  [[nodiscard]] Position position(const stacks::Code& code, std::uint64_t address) {
    Position result{.address = options_.addresses ? address : 0};
    const auto frames = lines_.frames(code.source, address);
    // The line in the function itself, also of inlined code.
    if (!frames.empty()) result.line = frames.back().line;
    return result;
  }

  void describe(CodeId id) {
    const stacks::Code& code = tree_.code(id);
    Function& function = functions_[id];
    function.name = frame_name(code);
    function.object = code.program;
    if (code.kind != stacks::CodeKind::kFunction) return;
    const auto frames = lines_.frames(code.source, code.start);
    if (!frames.empty()) function.file = frames.back().file;
    function.start = position(code, code.start);
  }

  void add_own(const stacks::Node& node, const std::vector<stacks::AddressCost>& costs) {
    const stacks::Code& code = tree_.code(node.code);
    Function& function = functions_[node.code];
    std::uint64_t rest = node.instructions;
    std::uint64_t cycles = node.cycles;
    std::uint64_t passed = 0;
    for (const stacks::AddressCost& cost : costs) {
      const std::uint64_t part = std::min(cost.instructions, rest);
      Cost& own = function.own[position(code, cost.address)];
      own.instructions += part;
      rest -= part;
      passed += part;
      // Cycles are known for the whole node.
      const auto due = static_cast<std::uint64_t>(static_cast<long double>(node.cycles) *
                                                  static_cast<long double>(passed) /
                                                  static_cast<long double>(node.instructions));
      const std::uint64_t share = std::min(due - std::min(due, node.cycles - cycles), cycles);
      own.cycles += share;
      cycles -= share;
    }
    if (rest == 0 && cycles == 0) return;
    Cost& own = function.own[function.start];
    own.instructions += rest;
    own.cycles += cycles;
  }

  void add_call(NodeId id, const stacks::Inclusive& sum, bool is_outermost) {
    const stacks::Node& node = tree_.node(id);
    if (node.parent == stacks::kRootNode) return;
    const CodeId caller = tree_.node(node.parent).code;
    const stacks::Code& from = tree_.code(caller);
    const Position site = node.site == 0 ? functions_[caller].start : position(from, node.site);
    Call& call = functions_[caller].calls[{node.code, site}];
    call.times += node.calls;
    call.callee = functions_[node.code].start;
    if (!is_outermost) return;
    call.cost.instructions += sum.instructions;
    call.cost.cycles += sum.cycles;
  }

  const stacks::Tree& tree_;
  const TreeOptions& options_;
  std::vector<Function> functions_;
  stacks::Lines lines_;
};

void put_position(TextBuffer& out, const Position& position, const TreeOptions& options) {
  if (options.addresses) out.put(fmt::format("0x{:x} ", position.address));
  out.dec(position.line);
}

void put_cost(TextBuffer& out, const Cost& cost, const TreeOptions& options) {
  out.put(' ');
  out.dec(cost.instructions);
  if (options.cycles) {
    out.put(' ');
    out.dec(cost.cycles);
  }
  out.put('\n');
}

}  // namespace

Result<void> write_callgrind(const stacks::Tree& tree, const TreeOptions& options,
                             TextBuffer& out) {
  CostCollector collector(tree, options);
  const std::vector<Function>& functions = collector.collect();
  const stacks::Inclusive whole = tree.whole();
  out.put("# callgrind format\nversion: 1\ncreator: waymark\npid: 1\n");
  std::string command = options.command;
  std::ranges::replace_if(command, [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  out.put(fmt::format("cmd: {}\npart: 1\n\npositions:{} line\nevents: Ir{}\nsummary: {}", command,
                      options.addresses ? " instr" : "", options.cycles ? " Cycles" : "",
                      whole.instructions));
  if (options.cycles) out.put(fmt::format(" {}", whole.cycles));
  out.put("\n\n");
  Names objects;
  Names files;
  Names names;
  const auto file_of = [](const Function& function) {
    return function.file.empty() ? std::string("???") : function.file;
  };
  const auto object_of = [](const Function& function) {
    return function.object.empty() ? std::string("???") : function.object;
  };
  std::vector<const Function*> order;
  for (const Function& function : functions)
    if (!function.own.empty() || !function.calls.empty()) order.push_back(&function);
  std::ranges::stable_sort(order, [](const Function* a, const Function* b) {
    return std::tie(a->object, a->file, a->name) < std::tie(b->object, b->file, b->name);
  });
  for (const Function* const function : order) {
    out.put(fmt::format("ob={}\nfl={}\nfn={}\n", objects.of(object_of(*function)),
                        files.of(file_of(*function)), names.of(function->name)));
    for (const auto& [position, cost] : function->own) {
      put_position(out, position, options);
      put_cost(out, cost, options);
    }
    for (const auto& [key, call] : function->calls) {
      const Function& callee = functions[key.first];
      if (callee.object != function->object)
        out.put(fmt::format("cob={}\n", objects.of(object_of(callee))));
      if (callee.file != function->file)
        out.put(fmt::format("cfi={}\n", files.of(file_of(callee))));
      out.put(fmt::format("cfn={}\ncalls={} ", names.of(callee.name), call.times));
      put_position(out, call.callee, options);
      out.put('\n');
      put_position(out, key.second, options);
      put_cost(out, call.cost, options);
    }
    out.put('\n');
  }
  out.put(fmt::format("totals: {}", whole.instructions));
  if (options.cycles) out.put(fmt::format(" {}", whole.cycles));
  out.put('\n');
  return {};
}

}  // namespace waymark::exports

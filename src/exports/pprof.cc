#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gzip.h"
#include "waymark/exports/call_trees.h"
#include "waymark/exports/frame_name.h"
#include "waymark/exports/protobuf.h"
#include "waymark/stacks/lines.h"

namespace waymark::exports {
namespace {

using stacks::CodeId;
using stacks::NodeId;

// Fields of profile.proto.
namespace profile_field {
constexpr unsigned kSampleType = 1;
constexpr unsigned kSample = 2;
constexpr unsigned kMapping = 3;
constexpr unsigned kLocation = 4;
constexpr unsigned kFunction = 5;
constexpr unsigned kStringTable = 6;
constexpr unsigned kDefaultSampleType = 14;
}  // namespace profile_field

class Writer {
 public:
  Writer(const stacks::Tree& tree, const TreeOptions& options) : tree_(tree), options_(options) {
    string("");
  }

  std::string write() {
    value_type("instructions");
    if (options_.cycles) value_type("cycles");
    const auto costs = stacks::costs_by_address(tree_);
    const auto nodes = tree_.nodes();
    for (NodeId id = 0; id < nodes.size(); ++id) add_samples(id, costs[id]);
    std::string bytes(whole_.bytes());
    ProtobufMessage rest;
    for (const std::string& text : strings_in_order_) rest.text(profile_field::kStringTable, text);
    rest.number(profile_field::kDefaultSampleType, string("instructions"));
    bytes += rest.bytes();
    return bytes;
  }

 private:
  std::uint64_t string(const std::string& text) {
    const auto [at, is_new] = strings_.try_emplace(text, strings_.size());
    if (is_new) strings_in_order_.push_back(text);
    return at->second;
  }

  void value_type(const std::string& type) {
    ProtobufMessage message;
    message.number(1, string(type));
    message.number(2, string("count"));
    whole_.message(profile_field::kSampleType, message);
  }

  std::uint64_t mapping(const std::string& program) {
    if (program.empty()) return 0;
    const auto [at, is_new] = mappings_.try_emplace(program, mappings_.size() + 1);
    if (is_new) {
      ProtobufMessage message;
      message.number(1, at->second);
      message.number(5, string(program));
      message.number(7, 1);  // It has functions.
      message.number(8, 1);  // It has file names.
      message.number(9, 1);  // It has line numbers.
      whole_.message(profile_field::kMapping, message);
    }
    return at->second;
  }

  std::uint64_t function(CodeId id) {
    const auto [at, is_new] = functions_.try_emplace(id, functions_.size() + 1);
    if (!is_new) return at->second;
    const stacks::Code& code = tree_.code(id);
    ProtobufMessage message;
    message.number(1, at->second);
    message.number(2, string(frame_name(code)));
    message.number(3, string(code.name.empty() ? frame_name(code) : code.name));
    if (code.kind == stacks::CodeKind::kFunction) {
      const auto frames = lines_.frames(code.source, code.start);
      if (!frames.empty()) {
        message.number(4, string(std::string(frames.back().file)));
        message.number(5, frames.back().line);
      }
    }
    whole_.message(profile_field::kFunction, message);
    return at->second;
  }

  std::uint32_t line_at(CodeId id, std::uint64_t address) {
    if (address == 0) return 0;
    const auto frames = lines_.frames(tree_.code(id).source, address);
    return frames.empty() ? 0 : frames.back().line;
  }

  /// One for each line of a function, with the first of its addresses that was asked for.
  std::uint64_t location(CodeId id, std::uint64_t address) {
    const std::uint32_t line = line_at(id, address);
    const auto [at, is_new] = locations_.try_emplace({id, line}, locations_.size() + 1);
    if (!is_new) return at->second;
    const stacks::Code& code = tree_.code(id);
    ProtobufMessage own;
    own.number(1, function(id));
    if (line != 0) own.number(2, line);
    ProtobufMessage message;
    message.number(1, at->second);
    if (const std::uint64_t program = mapping(code.program); program != 0)
      message.number(2, program);
    message.number(3, address != 0 ? address : code.start);
    message.message(4, own);
    whole_.message(profile_field::kLocation, message);
    return at->second;
  }

  void add_samples(NodeId id, const std::vector<stacks::AddressCost>& costs) {
    const auto nodes = tree_.nodes();
    const stacks::Node& node = nodes[id];
    if (node.instructions == 0 && node.cycles == 0) return;
    callers_.clear();
    for (NodeId at = id; at != stacks::kRootNode && nodes[at].parent != stacks::kRootNode;
         at = nodes[at].parent)
      callers_.push_back(location(nodes[nodes[at].parent].code, nodes[at].site));
    std::map<std::uint64_t, std::uint64_t> by_location;
    std::uint64_t rest = node.instructions;
    for (const stacks::AddressCost& cost : costs) {
      const std::uint64_t part = std::min(cost.instructions, rest);
      by_location[location(node.code, cost.address)] += part;
      rest -= part;
    }
    if (rest != 0 || by_location.empty()) by_location[location(node.code, 0)] += rest;
    std::uint64_t cycles = node.cycles;
    for (auto at = by_location.begin(); at != by_location.end(); ++at) {
      // Cycles are known for the whole node; the last line gets what rounding leaves.
      std::uint64_t share = cycles;
      if (std::next(at) != by_location.end() && node.instructions != 0) {
        share = std::min(cycles,
                         static_cast<std::uint64_t>(static_cast<long double>(node.cycles) *
                                                    static_cast<long double>(at->second) /
                                                    static_cast<long double>(node.instructions)));
      }
      cycles -= share;
      write_sample(at->first, at->second, share);
    }
  }

  void write_sample(std::uint64_t leaf, std::uint64_t instructions, std::uint64_t cycles) {
    ProtobufMessage ids;
    ids.packed(leaf);
    for (const std::uint64_t caller : callers_) ids.packed(caller);
    ProtobufMessage values;
    values.packed(instructions);
    if (options_.cycles) values.packed(cycles);
    ProtobufMessage sample;
    sample.message(1, ids);
    sample.message(2, values);
    whole_.message(profile_field::kSample, sample);
  }

  const stacks::Tree& tree_;
  const TreeOptions& options_;
  ProtobufMessage whole_;
  stacks::Lines lines_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::vector<std::string> strings_in_order_;
  std::unordered_map<std::string, std::uint64_t> mappings_;
  std::unordered_map<CodeId, std::uint64_t> functions_;
  std::map<std::pair<CodeId, std::uint32_t>, std::uint64_t> locations_;
  std::vector<std::uint64_t> callers_;
};

}  // namespace

Result<void> write_pprof(const stacks::Tree& tree, const TreeOptions& options, TextBuffer& out) {
  return write_gzip(Writer(tree, options).write(), out);
}

}  // namespace waymark::exports

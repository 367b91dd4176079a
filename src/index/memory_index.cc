// An index in memory.
#include <algorithm>
#include <map>

#include "waymark/index/index.h"

namespace waymark::index {
namespace {

class MemoryIndex final : public Index {
 public:
  Result<std::optional<SourceBlock>> source_block(std::uint64_t number) override {
    const auto found = std::ranges::lower_bound(blocks_, number, {}, &SourceBlock::number);
    if (found == blocks_.end() || found->number != number) return std::nullopt;
    return *found;
  }

  Result<std::optional<SourceBlock>> find_place(std::uint64_t number) override {
    auto at = std::ranges::upper_bound(blocks_, number, {}, &SourceBlock::number);
    while (at != blocks_.begin())
      if ((--at)->place) return *at;
    return std::nullopt;
  }

  Result<std::optional<SourceBlock>> find_triggers(std::uint64_t number) override {
    const auto from = std::ranges::lower_bound(blocks_, number, {}, &SourceBlock::number);
    const auto found = std::find_if(from, blocks_.end(),
                                    [](const SourceBlock& block) { return block.triggers != 0; });
    if (found == blocks_.end()) return std::nullopt;
    return *found;
  }

  Result<std::optional<StreamBlock>> find(TraceId id, std::uint64_t number, Walk walk,
                                          const Want& want) override {
    const std::vector<StreamBlock>& blocks = streams_[id];
    if (walk == Walk::kForward) {
      auto at = std::ranges::lower_bound(blocks, number, {}, &StreamBlock::number);
      for (; at != blocks.end(); ++at)
        if (want.holds(*at)) return without_landmarks(*at);
      return std::nullopt;
    }
    auto at = std::ranges::upper_bound(blocks, number, {}, &StreamBlock::number);
    while (at != blocks.begin())
      if (want.holds(*--at)) return without_landmarks(*at);
    return std::nullopt;
  }

  Result<std::vector<Landmark>> landmarks(TraceId id, std::uint64_t number) override {
    const std::vector<StreamBlock>& blocks = streams_[id];
    const auto found = std::ranges::lower_bound(blocks, number, {}, &StreamBlock::number);
    if (found == blocks.end() || found->number != number) return std::vector<Landmark>{};
    return found->landmarks;
  }

  Result<void> append(const SourceBlock& block) override {
    blocks_.push_back(block);
    return {};
  }
  Result<void> append(TraceId id, const StreamBlock& block) override {
    streams_[id].push_back(block);
    return {};
  }
  Result<void> commit(const Header& header) override {
    header_ = header;
    return {};
  }
  Result<void> truncate(std::uint64_t number, const Header& header) override {
    std::erase_if(blocks_, [&](const SourceBlock& block) { return block.number >= number; });
    for (auto& [id, blocks] : streams_)
      std::erase_if(blocks, [&](const StreamBlock& block) { return block.number >= number; });
    header_ = header;
    return {};
  }

 private:
  static StreamBlock without_landmarks(const StreamBlock& block) {
    StreamBlock copy;
    copy.number = block.number;
    copy.tally = block.tally;
    copy.counts = block.counts;
    copy.whole_timestamps = block.whole_timestamps;
    copy.lasting_contexts = block.lasting_contexts;
    copy.first_sync = block.first_sync;
    copy.last_sync = block.last_sync;
    copy.first_timestamp = block.first_timestamp;
    copy.last_timestamp = block.last_timestamp;
    copy.highest_timestamp = block.highest_timestamp;
    return copy;
  }

  std::vector<SourceBlock> blocks_;
  std::map<TraceId, std::vector<StreamBlock>> streams_;
};

}  // namespace

std::unique_ptr<Index> make_memory_index() { return std::make_unique<MemoryIndex>(); }

}  // namespace waymark::index

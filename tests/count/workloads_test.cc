// Counts equal those made from elements, for any input and any way of counting: every protocol,
// with and without damage, in blocks of any size, mixed with decoding, and in parts on several
// threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/counting.h"
#include "support/seed_count.h"
#include "synth/truth_bench.h"
#include "waymark/count/counter.h"
#include "waymark/parallel/counting.h"
#include "waymark/synth/random.h"
#include "waymark/synth/workload.h"

namespace waymark::count {
namespace {

using CountsById = std::map<TraceId, Counts>;

bool repeats(const Source& source) {
  return source.protocol() == Protocol::kEtmV4 || source.protocol() == Protocol::kEte;
}

/// One capture, and all ways of counting it.
class Bench {
 public:
  Bench(std::uint64_t seed, std::vector<Protocol> protocols, bool damage, std::uint64_t size = 0) {
    auto workload = synth::Workload::random(
        {.seed = seed, .protocols = std::move(protocols), .size = size, .damage = damage});
    EXPECT_TRUE(workload);
    workload_ = std::make_unique<synth::Workload>(*std::move(workload));
    auto made = synth::make_in_memory(*workload_, false);
    EXPECT_TRUE(made);
    capture_ = std::make_unique<synth::MemoryCapture>(*std::move(made));
  }

  [[nodiscard]] std::size_t size() const { return capture_->bytes.size(); }

  /// Removes parts of the program: trace leads to memory that cannot be read.
  void remove_parts(synth::Random& random) {
    auto rest = std::make_unique<image::Image>();
    const std::uint64_t mean = random.between(10, 400);
    for (const image::RegionInfo& region : capture_->image->regions()) {
      std::uint64_t at = region.first;
      while (at <= region.last) {
        const Bytes all = capture_->image->read(at, region.space, 0, {});
        const Bytes part = all.first(std::min<std::size_t>(all.size(), 2 * random.about(mean)));
        if (!random.one_in(4)) {
          EXPECT_TRUE(rest->add_buffer(at, part, region.space));
        }
        at += part.size();
      }
    }
    capture_->image = std::move(rest);
  }

  [[nodiscard]] std::unique_ptr<DecodeTree> tree() const {
    auto tree = std::make_unique<DecodeTree>(capture_->maker.frame_options());
    for (auto& source : capture_->sources()) EXPECT_TRUE(tree->add(std::move(source)));
    return tree;
  }

  /// Calls `work` for each block of this size, and at the end.
  template <class Work>
  void each(DecodeTree& tree, std::size_t block, Work&& work) const {
    const std::size_t step = std::max(block / tree.alignment(), std::size_t{1}) * tree.alignment();
    const Bytes all = capture_->bytes;
    const std::size_t whole = all.size() / tree.alignment() * tree.alignment();
    for (std::size_t at = 0; at < whole; at += step) {
      ASSERT_TRUE(tree.feed(at, all.subspan(at, std::min(step, whole - at))));
      work();
    }
    tree.finish();
    work();
  }

  [[nodiscard]] CountsById by_elements() const {
    const auto tree = this->tree();
    std::map<TraceId, support::PlainCounter> counters;
    for (const Source* source : tree->sources())
      counters.try_emplace(source->trace_id(), repeats(*source), has_cycles(*source));
    std::vector<Element> out(300);
    each(*tree, 1 << 20, [&] {
      while (const std::size_t got = tree->next(out)) {
        for (const Element& element : std::span(out).first(got))
          counters.at(element.trace_id).add({&element, 1});
      }
    });
    CountsById counts;
    for (const auto& [id, counter] : counters) counts.emplace(id, counter.counts());
    return counts;
  }

  [[nodiscard]] CountsById by_counting(std::size_t block) const {
    const auto tree = this->tree();
    std::map<TraceId, Counter> counters;
    each(*tree, block,
         [&] { tree->work([&](Source& source) { source.count(counters[source.trace_id()]); }); });
    return taken(counters);
  }

  /// Switches between counting and decoding.  Each leaves the source in the state in which the
  /// other would leave it.  In rare cases a difference is visible from outside: then threads do
  /// some work twice.
  struct States {
    std::uint64_t same = 0;
    std::uint64_t other = 0;
  };
  [[nodiscard]] CountsById mixed(std::size_t block, synth::Random& random, States& states) const {
    const auto tree = this->tree();
    const auto other = this->tree();
    std::map<TraceId, Counter> counters;
    for (const Source* source : tree->sources()) set_up(counters[source->trace_id()], *source);
    std::vector<Element> out(64);
    std::size_t begin = 0;
    const auto drain = [&](Source& source, bool observes) {
      while (const std::size_t got = source.next(out))
        if (observes) counters[source.trace_id()].observe(std::span(out).first(got));
    };
    each(*tree, block, [&] {
      tree->work([&](Source& source) {
        if (random.coin()) {
          drain(source, true);
        } else {
          source.count(counters[source.trace_id()]);
        }
      });
      const std::size_t whole = size() / tree->alignment() * tree->alignment();
      const std::size_t end = std::min(begin + block_of(*tree, block), whole);
      if (begin == whole) return;
      ASSERT_TRUE(other->feed(begin, Bytes(capture_->bytes).subspan(begin, end - begin)));
      other->work([&](Source& source) { drain(source, false); });
      begin = end;
      for (const Source* source : tree->sources()) {
        const Source* same =
            other->formatted() ? other->source(source->trace_id()) : other->sources().front();
        if (source->can_jump()) ++(source->same_state(*same) ? states.same : states.other);
      }
    });
    return taken(counters);
  }

  [[nodiscard]] CountsById in_pieces(unsigned threads, std::size_t piece,
                                     parallel::Statistics& how) const {
    const auto tree = this->tree();
    parallel::CountingConsumer consumer(*tree);
    parallel::ParallelDecoder decoder(*tree, {.threads = threads, .piece_bytes = piece});
    const std::size_t whole = size() / tree->alignment() * tree->alignment();
    EXPECT_TRUE(decoder.decode(0, Bytes(capture_->bytes).first(whole), consumer));
    how = decoder.statistics();
    CountsById counts;
    for (const Source* source : tree->sources())
      counts.emplace(source->trace_id(), consumer.take_counts(*source));
    return counts;
  }

 private:
  [[nodiscard]] bool has_cycles(const Source& source) const {
    if (source.protocol() == Protocol::kStm || source.protocol() == Protocol::kItm) return true;
    for (const auto& unit : capture_->maker.units())
      if (unit->options().trace_id == source.trace_id()) return unit->options().cycle_counts;
    return true;
  }
  void set_up(Counter& counter, const Source& source) const {
    counter.set_timestamps_repeat_cycles(repeats(source));
    counter.set_shares_cycles(has_cycles(source));
  }
  static std::size_t block_of(const DecodeTree& tree, std::size_t block) {
    return std::max(block / tree.alignment(), std::size_t{1}) * tree.alignment();
  }
  static CountsById taken(std::map<TraceId, Counter>& counters) {
    CountsById counts;
    for (auto& [id, counter] : counters) counts.emplace(id, counter.take());
    return counts;
  }

  std::unique_ptr<synth::Workload> workload_;
  std::unique_ptr<synth::MemoryCapture> capture_;
};

std::string difference(const CountsById& plain, const CountsById& counted) {
  for (const auto& [id, counts] : plain) {
    const auto at = counted.find(id);
    if (at == counted.end()) return fmt::format("ID {} is missing", id);
    const std::string text = support::difference(counts, at->second);
    if (!text.empty()) return fmt::format("ID {}: {}", id, text);
  }
  return plain.size() == counted.size() ? "" : "an ID too many";
}

/// The first direct branch for which the two counts differ.
std::string other_target(const CountsById& a, const CountsById& b) {
  for (const auto& [id, counts] : a) {
    const std::vector<Row>& rows = b.at(id).rows;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (counts.rows[i].target != rows[i].target)
        return fmt::format("ID {}: {}: {:x} and {:x}", id, support::text_of(rows[i]),
                           counts.rows[i].target, rows[i].target);
    }
  }
  return {};
}

std::uint64_t instructions_of(const CountsById& counts) {
  std::uint64_t sum = 0;
  for (const auto& [id, of_one] : counts) sum += of_one.totals().instructions;
  return sum;
}

class CountedWorkload : public testing::TestWithParam<std::vector<Protocol>> {
 protected:
  void check(std::uint64_t seed, bool damage, bool lacks_parts = false) {
    synth::Random random(seed);
    Bench bench(seed, GetParam(), damage);
    if (lacks_parts) bench.remove_parts(random);
    const CountsById plain = bench.by_elements();
    instructions_ += instructions_of(plain);
    ASSERT_EQ(difference(plain, bench.by_counting(1 << 20)), "");
    const std::size_t block = 1 + random.below(5000);
    ASSERT_EQ(difference(plain, bench.by_counting(block)), "") << "blocks of " << block;
    ASSERT_EQ(difference(plain, bench.mixed(block, random, states_)), "") << "mixed, of " << block;
  }

  std::uint64_t instructions_ = 0;
  Bench::States states_;
};

TEST_P(CountedWorkload, adds_up_to_its_elements) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(150); ++seed) {
    check(seed, false);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  const bool runs_programs = !GetParam().empty() && GetParam().front() != Protocol::kStm;
  if (runs_programs) {
    EXPECT_GT(instructions_, 100'000U);
  }
  EXPECT_LE(states_.other * 100, states_.same);
}

TEST_P(CountedWorkload, adds_up_to_its_elements_where_it_is_damaged) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(150); ++seed) {
    check(seed, true);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

TEST_P(CountedWorkload, adds_up_to_its_elements_where_parts_of_its_program_are_missing) {
  for (std::uint64_t seed = 1; seed <= support::seed_count(150); ++seed) {
    check(seed, seed % 4 == 0, true);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
}

TEST_P(CountedWorkload, gives_the_same_in_parts_on_several_threads) {
  std::uint64_t taken = 0;
  for (std::uint64_t seed = 1; seed <= support::seed_count(60); ++seed) {
    Bench bench(seed, GetParam(), seed % 3 == 0, 20'000 + 997 * seed);
    if (seed % 5 == 0) {
      synth::Random random(seed);
      bench.remove_parts(random);
    }
    const CountsById alone = bench.by_counting(1 << 16);
    parallel::Statistics how;
    const CountsById together =
        bench.in_pieces(1 + static_cast<unsigned>(seed % 3), 1024 + 16 * seed, how);
    ASSERT_EQ(difference(alone, together), "") << "seed " << seed;
    ASSERT_EQ(other_target(alone, together), "") << "seed " << seed;
    taken += how.pieces;
  }
  EXPECT_GT(taken, support::seed_count(60) * 5);
}

INSTANTIATE_TEST_SUITE_P(All, CountedWorkload,
                         testing::Values(std::vector{Protocol::kEtmV4}, std::vector{Protocol::kEte},
                                         std::vector{Protocol::kPtm}, std::vector{Protocol::kEtmV3},
                                         std::vector{Protocol::kStm}, std::vector<Protocol>{}),
                         [](const auto& p) {
                           return p.param.empty() ? std::string("Mixed")
                                                  : std::string(protocol_name(p.param.front()));
                         });

// Typical programs and registers: long runs, and no work is repeated.
TEST(CountedWorkload, is_seldom_counted_again) {
  for (const Protocol protocol : {Protocol::kEtmV4, Protocol::kPtm, Protocol::kEtmV3}) {
    std::uint64_t pieces = 0;
    std::uint64_t redone = 0;
    for (std::uint64_t seed = 1; seed <= support::seed_count(20); ++seed) {
      parallel::Statistics how;
      static_cast<void>(Bench(seed, {protocol}, false, 100'000).in_pieces(2, 4096, how));
      pieces += how.pieces;
      redone += how.redone;
    }
    EXPECT_LT(redone * 3, pieces) << protocol_name(protocol);
  }
}

}  // namespace
}  // namespace waymark::count

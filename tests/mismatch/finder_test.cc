// Trace that no right image can explain, and trace that only looks so.
#include "waymark/mismatch/finder.h"

#include <gtest/gtest.h>

#include <vector>

namespace waymark::mismatch {
namespace {

constexpr std::uint64_t kCode = 0x1000;
constexpr TraceId kId = 0x10;
constexpr auto kBranch = isa::InstrType::kBranch;
constexpr auto kIndirect = isa::InstrType::kIndirectBranch;

class FinderTest : public testing::Test {
 protected:
  /// A range of this code; a word for the last instruction.
  Element range(std::uint64_t start, std::uint32_t count, isa::InstrType type, bool executed = true,
                bool conditional = false) {
    Element element;
    element.kind = ElementKind::kInstrRange;
    element.index = index_++;
    element.trace_id = kId;
    element.isa = isa::Isa::kA64;
    element.start = start;
    element.end = start + 4 * count;
    element.count = count;
    element.last_size = 4;
    element.last_type = type;
    element.flags = static_cast<std::uint16_t>((executed ? kElementExecuted : 0) |
                                               (conditional ? kElementConditional : 0));
    return element;
  }
  Element call() {
    Element element = range(0x101C, 1, kBranch);
    element.last_subtype = isa::InstrSubtype::kBranchLink;
    return element;
  }
  Element ret() {
    Element element = range(0x1018, 1, kIndirect);
    element.last_subtype = isa::InstrSubtype::kV8Return;
    return element;
  }
  Element simple(ElementKind kind) {
    Element element;
    element.kind = kind;
    element.index = index_++;
    element.trace_id = kId;
    return element;
  }
  Element exception(std::uint64_t return_address) {
    Element element = simple(ElementKind::kException);
    element.end = return_address;
    element.flags = kElementReturnAddress;
    return element;
  }

  void see(const std::vector<Element>& elements) { finder_.observe(elements); }
  /// What was found up to the end of the trace, which this is.
  [[nodiscard]] std::vector<std::uint64_t> found() {
    see({simple(ElementKind::kEndOfTrace)});
    std::vector<std::uint64_t> addresses;
    addresses.reserve(found_.size());
    for (const Mismatch& mismatch : found_) addresses.push_back(mismatch.address);
    return addresses;
  }
  using Addresses = std::vector<std::uint64_t>;

  // nop; nop; b +0x10 (to 0x1018); nop; cbz x0, +8 (to 0x1018); nop; ret; bl -0x1C (to 0x1000); ret
  const std::vector<std::uint32_t> code_ = {0xD503201F, 0xD503201F, 0x14000004,
                                            0xD503201F, 0xB4000040, 0xD503201F,
                                            0xD65F03C0, 0x97FFFFF9, 0xD65F03C0};
  TraceIndex index_ = 0;
  std::vector<Mismatch> found_;
  std::vector<std::vector<Walked>> paths_;
  Finder finder_{[this](const Element& /*element*/, std::uint64_t address,
                        std::span<std::uint8_t> /*scratch*/) -> Bytes {
                   const std::uint64_t at = address - kCode;
                   const Bytes all(reinterpret_cast<const std::uint8_t*>(code_.data()),
                                   4 * code_.size());
                   return at < all.size() ? all.subspan(at) : Bytes();
                 },
                 [this](const Mismatch& mismatch) {
                   paths_.emplace_back(mismatch.path.begin(), mismatch.path.end());
                   found_.push_back(mismatch);
                 }};
};

TEST_F(FinderTest, what_the_image_says) {
  see({range(kCode, 3, kBranch), range(0x1018, 1, kIndirect),
       range(0x100C, 2, kBranch, false, true), range(0x1014, 2, kIndirect),
       range(0x100C, 2, kBranch, true, true), range(0x1018, 1, kIndirect)});
  EXPECT_EQ(found(), Addresses());
}

TEST_F(FinderTest, a_direct_branch_that_leads_elsewhere) {
  see({range(kCode, 3, kBranch), range(0x100C, 2, kBranch, true, true)});
  EXPECT_EQ(found(), Addresses{0x1008});
  ASSERT_EQ(paths_.size(), 1U);
  ASSERT_EQ(paths_[0].size(), 1U);
  EXPECT_EQ(paths_[0][0].start, kCode);
}

TEST_F(FinderTest, a_branch_not_taken_that_leads_elsewhere) {
  see({range(0x100C, 2, kBranch, false, true), range(kCode, 3, kBranch)});
  EXPECT_EQ(found(), Addresses{0x1010});
}

TEST_F(FinderTest, the_path_begins_at_the_last_address_in_the_trace) {
  see({range(0x1018, 1, kIndirect), range(0x100C, 2, kBranch, true, true),
       range(0x1018, 1, kIndirect), range(0x100C, 2, kBranch, false, true),
       range(0x1014, 1, isa::InstrType::kIsb), range(0x1000, 3, kBranch)});
  EXPECT_EQ(found(), Addresses{0x1014});
  ASSERT_EQ(paths_.size(), 1U);
  ASSERT_EQ(paths_[0].size(), 2U);
  EXPECT_EQ(paths_[0][0].start, 0x100CU);
}

TEST_F(FinderTest, a_long_loop_does_not_hide_what_led_to_it) {
  see({range(0x1018, 1, kIndirect), range(0x1014, 2, isa::InstrType::kIsb)});
  // The loop: bl to 0x1000, b to 0x1018, and on to the bl.
  for (int i = 0; i < 1000; ++i)
    see({range(0x101C, 1, kBranch), range(kCode, 3, kBranch),
         range(0x1018, 1, isa::InstrType::kIsb)});
  see({range(0x101C, 1, kBranch, false)});
  ASSERT_EQ(found().size(), 1U);
  ASSERT_EQ(paths_[0].size(), 4U);
  EXPECT_EQ(paths_[0].front().start, 0x1014U);
}

TEST_F(FinderTest, a_return_leads_to_a_call) {
  see({ret(), range(0x1020, 1, kBranch, false), range(0x1018, 1, kIndirect)});
  see({ret(), range(0x100C, 2, kBranch, false)});
  ASSERT_EQ(found().size(), 2U);
  EXPECT_FALSE(paths_[0].front().no_call_before);
  EXPECT_TRUE(paths_[1].front().no_call_before);
  // Other branches may lead anywhere.
  see({range(0x1018, 1, kIndirect), range(0x100C, 2, kBranch, false)});
  ASSERT_EQ(found().size(), 3U);
  EXPECT_FALSE(paths_[2].front().no_call_before);
  // A return that was met after a contradiction may not have been executed.
  see({simple(ElementKind::kTraceOn), range(0x100C, 3, kBranch, false), ret(),
       range(0x100C, 2, kBranch, false)});
  EXPECT_EQ(found().size(), 5U);
  EXPECT_FALSE(paths_.back().front().no_call_before);
}

TEST_F(FinderTest, a_return_stack_states_no_address) {
  const Element popped = ret();
  Element next = range(0x1020, 1, kBranch, false);
  see({call(), range(kCode, 3, kBranch), popped, next});
  ASSERT_EQ(found().size(), 1U);
  EXPECT_EQ(paths_[0].size(), 1U);
  // Atoms of one packet are both before and after the return.
  see({ret(), call(), range(kCode, 3, kBranch), popped});
  next.index = popped.index;
  see({next});
  ASSERT_EQ(found().size(), 2U);
  EXPECT_EQ(paths_[1].size(), 4U);
  EXPECT_EQ(paths_[1].front().start, 0x101CU);
}

TEST_F(FinderTest, after_a_gap_anything_may_follow) {
  for (const ElementKind kind :
       {ElementKind::kTraceOn, ElementKind::kNoSync, ElementKind::kAddrNacc,
        ElementKind::kInstrRangeNoPath, ElementKind::kMemTrans, ElementKind::kExceptionReturn})
    see({range(kCode, 3, kBranch), simple(kind), range(0x1010, 3, kIndirect)});
  finder_.restart();
  see({range(kCode, 3, kBranch)});
  EXPECT_EQ(found(), Addresses());
}

TEST_F(FinderTest, another_process_goes_on_elsewhere) {
  Element other = range(kCode + 0x10, 1, kBranch);
  other.context_id = 7;
  see({range(kCode, 3, kBranch), other});
  EXPECT_EQ(found(), Addresses());
}

TEST_F(FinderTest, contexts_and_times_do_not_move) {
  see({range(kCode, 3, kBranch), simple(ElementKind::kPeContext), simple(ElementKind::kTimestamp),
       range(0x100C, 2, kBranch, true, true)});
  EXPECT_EQ(found(), Addresses{0x1008});
}

TEST_F(FinderTest, an_unconditional_branch_that_was_not_taken) {
  see({range(kCode, 3, kBranch, false)});
  EXPECT_EQ(found(), Addresses{0x1008});
}

TEST_F(FinderTest, what_follows_from_a_contradiction_is_not_another_one) {
  // Decoding goes on after the branch, where nothing ran, up to the next address in the trace.
  see({range(kCode, 3, kBranch, false), range(0x100C, 4, kIndirect),
       range(kCode, 3, kBranch, false)});
  see({range(0x100C, 2, kBranch, true, true), range(0x1018, 1, kBranch, false)});
  EXPECT_EQ(found(), (Addresses{0x1008, 0x1008}));
  see({simple(ElementKind::kTraceOn), range(kCode, 3, kBranch, false)});
  EXPECT_EQ(found().size(), 3U);
}

TEST_F(FinderTest, nothing_is_compared_between_a_way_that_was_not_traced_and_the_next_address) {
  Element way = simple(ElementKind::kInstrRangeNoPath);
  way.end = kCode;
  see({range(kCode, 3, kBranch), way, range(kCode, 3, kBranch, false),
       range(0x100C, 2, kBranch, true, true), range(0x1018, 1, kIndirect)});
  EXPECT_EQ(found(), Addresses());
  see({range(kCode, 3, kBranch, false)});
  EXPECT_EQ(found(), Addresses{0x1008});
}

TEST_F(FinderTest, an_exception_after_the_code_that_was_reached) {
  Element walked = range(0x1018, 0, isa::InstrType::kOther);
  see({range(kCode, 3, kBranch), exception(0x1018)});
  EXPECT_EQ(found(), Addresses());
  // The instructions up to the exception come as a range with its index.
  walked = range(0x100C, 1, isa::InstrType::kOther);
  Element taken = exception(0x1010);
  taken.index = walked.index;
  see({range(0x1018, 1, kIndirect), walked, taken});
  EXPECT_EQ(found(), Addresses());
  walked = range(kCode, 4, isa::InstrType::kOther);
  taken = exception(0x1010);
  taken.index = walked.index;
  see({range(0x1018, 1, kIndirect), walked, taken});
  EXPECT_EQ(found(), Addresses{0x1008});
}

TEST_F(FinderTest, an_exception_elsewhere) {
  see({range(kCode, 3, kBranch), exception(0x1004)});
  EXPECT_EQ(found(), Addresses{0x1018});
  Element tail = exception(0x1004);
  tail.flags |= kElementTailChain;
  see({range(kCode, 3, kBranch), tail});
  see({range(0x1018, 1, kIndirect), exception(0x1004)});
  EXPECT_EQ(found_.size(), 1U);
}

TEST_F(FinderTest, what_the_decoder_reports) {
  see({range(0x1018, 1, kIndirect)});
  Diagnostic record;
  record.fault = Fault::kBadImage;
  record.trace_id = kId;
  record.address = 0x1018;
  finder_.observe(record);
  EXPECT_EQ(found(), Addresses{0x1018});
  record.fault = Fault::kBadPacketSequence;
  finder_.observe(record);
  EXPECT_EQ(found_.size(), 1U);
}

}  // namespace
}  // namespace waymark::mismatch

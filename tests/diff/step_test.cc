#include "waymark/diff/step.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

namespace waymark::diff {
namespace {

Element range(std::uint64_t start, std::uint64_t end, isa::InstrType type = isa::InstrType::kOther,
              isa::InstrSubtype subtype = isa::InstrSubtype::kNone) {
  Element element;
  element.kind = ElementKind::kInstrRange;
  element.start = start;
  element.end = end;
  element.count = static_cast<std::uint32_t>((end - start) / 4);
  element.last_size = 4;
  element.last_type = type;
  element.last_subtype = subtype;
  element.flags = type == isa::InstrType::kOther ? 0 : kElementExecuted;
  return element;
}
Element branch(std::uint64_t start, std::uint64_t end) {
  return range(start, end, isa::InstrType::kBranch);
}
Element call(std::uint64_t start, std::uint64_t end) {
  return range(start, end, isa::InstrType::kBranch, isa::InstrSubtype::kBranchLink);
}
Element back(std::uint64_t start, std::uint64_t end) {
  return range(start, end, isa::InstrType::kIndirectBranch, isa::InstrSubtype::kV8Return);
}
Element exception(std::uint64_t preferred) {
  Element element;
  element.kind = ElementKind::kException;
  element.number = 14;
  element.flags = kElementReturnAddress;
  element.end = preferred;
  return element;
}

/// "100-108 branch".
class StepperTest : public testing::Test {
 protected:
  auto emit() {
    return [this](const Step& step) {
      constexpr const char* kWords[] = {"branch", "indirect", "exception",
                                        "gap",    "end",      "elsewhere"};
      char text[64];
      (void)std::snprintf(
          text, sizeof text, "%llx-%llx %s; ", static_cast<unsigned long long>(step.start),
          static_cast<unsigned long long>(step.end), kWords[static_cast<std::size_t>(step.leave)]);
      steps_ += text;
      EXPECT_EQ(step.count, (step.end - step.start) / 4);
    };
  }
  void run(const Element& element) {
    stepper_.range(element, emit(), [this](const Element& at) { return at.start == ignored_; });
  }
  std::string finish() {
    stepper_.finish(emit());
    return std::exchange(steps_, {});
  }

  Stepper stepper_;
  std::string steps_;
  std::uint64_t ignored_ = kNoAddress;
};

TEST_F(StepperTest, ranges_without_a_taken_branch_are_one_step) {
  run(range(0x100, 0x108));
  Element not_taken = branch(0x108, 0x110);
  not_taken.flags = kElementConditional;
  run(not_taken);
  run(branch(0x110, 0x114));
  run(range(0x200, 0x204));
  EXPECT_EQ(finish(), "100-114 branch; 200-204 end; ");
}

TEST_F(StepperTest, another_place_without_a_branch_begins_a_step) {
  run(range(0x100, 0x108));
  run(range(0x200, 0x204));
  EXPECT_EQ(finish(), "100-108 elsewhere; 200-204 end; ");
}

TEST_F(StepperTest, gaps_that_follow_one_another_are_one) {
  stepper_.gap(false, emit());
  run(range(0x100, 0x108));
  stepper_.gap(false, emit());
  stepper_.gap(true, emit());
  run(branch(0x200, 0x204));
  stepper_.gap(false, emit());
  EXPECT_EQ(finish(), "100-108 gap; 200-204 branch; 0-0 gap; ");
}

TEST_F(StepperTest, exception_after_a_branch_is_a_step_at_its_target) {
  run(branch(0x100, 0x104));
  stepper_.exception(exception(0x200), emit());
  run(back(0x900, 0x904));
  EXPECT_EQ(finish(), "100-104 branch; 200-200 exception; 900-904 indirect; ");
}

TEST_F(StepperTest, ignored_exception_leaves_the_step_whole) {
  run(range(0x100, 0x108));
  stepper_.ignore_exception(exception(0x108), emit());
  run(call(0x900, 0x904));
  run(back(0xa00, 0xa04));
  // A nested one, which is not asked for in the handler.
  stepper_.exception(exception(0x904), emit());
  run(back(0x980, 0x984));
  run(back(0x904, 0x908));
  run(branch(0x108, 0x110));
  EXPECT_EQ(finish(), "100-110 branch; ");
}

TEST_F(StepperTest, handler_that_is_not_traced_may_be_ignored) {
  run(range(0x100, 0x108));
  stepper_.ignore_exception(exception(0x108), emit());
  stepper_.gap(true, emit());
  run(branch(0x108, 0x110));
  EXPECT_EQ(finish(), "100-110 branch; ");
}

TEST_F(StepperTest, lost_trace_ends_what_is_ignored) {
  run(range(0x100, 0x108));
  stepper_.ignore_exception(exception(0x108), emit());
  run(range(0x900, 0x904));
  stepper_.gap(false, emit());
  run(branch(0x300, 0x304));
  EXPECT_EQ(finish(), "100-108 gap; 300-304 branch; ");
}

TEST_F(StepperTest, ignored_call_leaves_the_step_whole) {
  stepper_ = Stepper(true);
  ignored_ = 0x500;
  run(call(0x100, 0x108));
  run(call(0x500, 0x504));
  run(back(0x600, 0x604));
  run(back(0x504, 0x508));
  run(branch(0x108, 0x110));
  run(back(0x200, 0x204));
  EXPECT_EQ(finish(), "100-110 branch; 200-204 indirect; ");
}

TEST_F(StepperTest, recursion_of_an_ignored_function_is_ignored) {
  stepper_ = Stepper(true);
  ignored_ = 0x500;
  run(call(0x100, 0x108));
  run(branch(0x500, 0x504));
  // It calls from the same place again, through the caller.
  run(call(0x100, 0x108));
  run(back(0x500, 0x508));
  run(back(0x108, 0x10c));
  run(branch(0x108, 0x110));
  EXPECT_EQ(finish(), "100-110 branch; ");
}

TEST_F(StepperTest, jump_to_an_ignored_function_returns_to_the_caller_of_who_jumped) {
  stepper_ = Stepper(true);
  ignored_ = 0x500;
  run(call(0x100, 0x104));
  run(branch(0x200, 0x204));
  run(back(0x500, 0x508));
  run(branch(0x104, 0x108));
  EXPECT_EQ(finish(), "100-104 branch; 200-204 branch; 104-108 branch; ");
}

}  // namespace
}  // namespace waymark::diff

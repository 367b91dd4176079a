#include "../../src/locate/gap_images.h"

#include <gtest/gtest.h>

#include "support/small_recording.h"

namespace waymark::locate {
namespace {

constexpr std::uint64_t kFree = 0x900000;  ///< No process has memory there.

/// One process has the program "a"; another one has nothing at these addresses.
class GapImagesTest : public support::SmallRecording {
 protected:
  void SetUp() override {
    SmallRecording::SetUp();
    perf::RecordBytes records;
    one_unit(records, 0x841);
    records.mmap2(at(1), support::kSmallAddress, 0x1000, 0, "/a").aux(at(10), 0, 16);
    add_trace(records);
    open(records);
    gaps_ = std::make_unique<GapImages>(*images_);
    ASSERT_TRUE(gaps_->trial().add_buffer(kFree, std::vector<std::uint8_t>(16, 9)));
    ASSERT_TRUE(gaps_->trial().add_buffer(support::kSmallCode, std::vector<std::uint8_t>(16, 8)));
  }

  std::unique_ptr<GapImages> gaps_;
};

TEST_F(GapImagesTest, the_chosen_process_sees_the_program_where_it_has_no_memory) {
  gaps_->choose(kPid);
  EXPECT_EQ(code_in(*gaps_, 0, kPid, kFree), 9U);
  EXPECT_EQ(code_in(*gaps_, 0, kPid), 1U) << "the memory of the recording comes first";
  EXPECT_EQ(code_in(*gaps_, 0, kOtherPid, kFree), 0U) << "another process does not see it";
}

TEST_F(GapImagesTest, another_choice_takes_it_back) {
  gaps_->choose(kPid);
  EXPECT_EQ(code_in(*gaps_, 0, kPid, kFree), 9U);
  gaps_->choose(kOtherPid);
  EXPECT_EQ(code_in(*gaps_, 0, kPid, kFree), 0U);
  EXPECT_EQ(code_in(*gaps_, 0, kOtherPid, kFree), 9U);
  EXPECT_EQ(code_in(*gaps_, 0, kOtherPid), 8U) << "this process has no program there";
}

TEST_F(GapImagesTest, knows_what_the_recording_has_where_the_process_was_met) {
  gaps_->choose(kPid);
  EXPECT_EQ(gaps_->recorded_at(support::kSmallCode), "") << "it was not met yet";
  EXPECT_TRUE(gaps_->is_free(support::kSmallCode, 4));
  code_in(*gaps_, 0, kPid);
  EXPECT_EQ(gaps_->recorded_at(support::kSmallCode), "/a");
  EXPECT_EQ(gaps_->recorded_at(kFree), "");
  EXPECT_FALSE(gaps_->is_free(support::kSmallCode, 4));
  EXPECT_FALSE(gaps_->is_free(support::kSmallAddress - 4, 8)) << "its last bytes are not free";
  EXPECT_TRUE(gaps_->is_free(kFree, 16));
}

TEST_F(GapImagesTest, names_the_task_of_an_element) {
  Element element;
  element.trace_id = 0x10;
  element.context_id = kPid;
  EXPECT_EQ(gaps_->task_of(element).pid, static_cast<std::int32_t>(kPid));
  EXPECT_EQ(gaps_->task_at(0, 0x10, kPid).id, images_->task_at(0, 0x10, kPid).id);
}

}  // namespace
}  // namespace waymark::locate

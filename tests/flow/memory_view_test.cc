#include "waymark/flow/memory_view.h"

#include <gtest/gtest.h>

#include <array>

#include "waymark/image/image_selector.h"

namespace waymark::flow {
namespace {

constexpr std::uint64_t kAddress = 0x1000;
constexpr std::array<std::uint8_t, 4> kOnes = {1, 1, 1, 1};
constexpr std::array<std::uint8_t, 4> kTwos = {2, 2, 2, 2};

/// Context 1 has the first image, others the second; from index 100 on, context 1 has the second,
/// too.
class Selector final : public image::ImageSelector {
 public:
  Selector() {
    EXPECT_TRUE(images_[0].add_buffer(kAddress, kOnes));
    EXPECT_TRUE(images_[1].add_buffer(kAddress, kTwos));
  }
  const image::Image& image_at(TraceIndex index, TraceId /*trace_id*/,
                               ExecutionContext context) const override {
    return images_[context == 1 && index < 100 ? 0 : 1];
  }
  Task task_at(TraceIndex index, TraceId /*trace_id*/, ExecutionContext context) const override {
    if (context != 1) return {.id = {.thread = 1}};
    return index < 100 ? Task{.id = {}, .end = 100} : Task{.id = {.thread = 1}, .begin = 100};
  }

 private:
  std::array<image::Image, 2> images_;
};

std::uint8_t read(const MemoryView& view) {
  std::array<std::uint8_t, 4> scratch{};
  const Bytes bytes = view.read(kAddress, scratch);
  return bytes.empty() ? std::uint8_t{0} : bytes[0];
}

TEST(MemoryView, one_image_has_one_number) {
  image::Image image;
  EXPECT_TRUE(image.add_buffer(kAddress, kOnes));
  MemoryView view(image, 0x10);
  const std::uint32_t number = view.number();
  for (const std::uint64_t context : {0U, 1U, 2U}) {
    EXPECT_TRUE(view.select(image::kSpaceEl1N, context, 5));
    EXPECT_EQ(view.number(), number);
    EXPECT_EQ(read(view), 1);
  }
}

TEST(MemoryView, each_process_has_a_number_of_its_own) {
  image::Image image;
  const Selector selector;
  image.set_selector(&selector);
  MemoryView view(image, 0x10);
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 1, 0));
  const std::uint32_t first = view.number();
  EXPECT_EQ(read(view), 1);
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 2, 10));
  EXPECT_NE(view.number(), first);
  EXPECT_EQ(read(view), 2);
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 1, 20));
  EXPECT_EQ(view.number(), first);
  EXPECT_EQ(read(view), 1);
}

TEST(MemoryView, other_memory_of_a_process_has_another_number) {
  image::Image image;
  const Selector selector;
  image.set_selector(&selector);
  MemoryView view(image, 0x10);
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 1, 0));
  const std::uint32_t first = view.number();
  EXPECT_TRUE(view.covers(99));
  EXPECT_FALSE(view.covers(100));
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 1, 100));
  EXPECT_EQ(read(view), 2);
  EXPECT_NE(view.number(), first);
  EXPECT_EQ(view.begin(), 100U);
  EXPECT_FALSE(view.covers(99));
  EXPECT_TRUE(view.select(image::kSpaceEl1N, 1, 99));
  EXPECT_EQ(read(view), 1);
  EXPECT_EQ(view.number(), first);
}

TEST(MemoryView, a_changed_image_forgets_all_numbers) {
  image::Image image;
  EXPECT_TRUE(image.add_buffer(kAddress, kOnes));
  MemoryView view(image, 0x10);
  EXPECT_TRUE(view.current());
  EXPECT_TRUE(image.add_buffer(kAddress + 0x100, kTwos));
  EXPECT_FALSE(view.current());
  EXPECT_FALSE(view.select(image::kSpaceEl1N, 1, 0));
  EXPECT_TRUE(view.current());
}

}  // namespace
}  // namespace waymark::flow

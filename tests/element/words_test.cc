#include "waymark/element/words.h"

#include <gtest/gtest.h>

namespace waymark {
namespace {

Element full_element() {
  Element element;
  element.count = 0x01020304;
  element.cycle_count = 0x05060708;
  element.context_id = 0x11121314;
  element.vmid = 0x15161718;
  element.kind = ElementKind::kInstrRange;
  element.trace_id = 0x6F;
  element.flags = 0x2345;
  element.isa = isa::Isa::kA64;
  element.last_type = isa::InstrType::kIndirectBranch;
  element.last_subtype = isa::InstrSubtype::kBranchLink;
  element.last_size = 4;
  element.exception_level = 2;
  element.security = Security::kRealm;
  return element;
}

TEST(ElementWords, the_first_field_is_in_the_lowest_bits) {
  const Element element = full_element();
  EXPECT_EQ(word_of(element, offsetof(Element, count)), 0x0506070801020304);
  EXPECT_EQ(word_of(element, offsetof(Element, context_id)), 0x1516171811121314);
  const std::uint64_t described = word_of(element, offsetof(Element, kind));
  EXPECT_EQ(described & 0xFF, static_cast<std::uint64_t>(element.kind));
  EXPECT_EQ(described >> 8 & 0xFF, element.trace_id);
  EXPECT_EQ(described >> kFlagsShift & 0xFFFF, element.flags);
  EXPECT_EQ(described >> kInstructionShift & 0xFF, static_cast<std::uint64_t>(element.isa));
  EXPECT_EQ(described >> 56, element.last_size);
  const std::uint64_t rest = word_of(element, offsetof(Element, exception_level));
  EXPECT_EQ(rest & 0xFF, element.exception_level);
  EXPECT_EQ(rest >> 8 & 0xFF, static_cast<std::uint64_t>(element.security));
}

TEST(ElementWords, words_restore_the_element) {
  const Element element = full_element();
  Element made;
  for (std::size_t offset = 0; offset < sizeof(Element); offset += sizeof(std::uint64_t))
    set_word(&made, offset, word_of(element, offset));
  EXPECT_EQ(made, element);
}

}  // namespace
}  // namespace waymark

#include "waymark/shard/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::shard {
namespace {

std::string digest(const std::string& text) {
  return hex_of(sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

// The examples of FIPS 180-4.
TEST(Sha256, examples_of_the_standard) {
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(digest(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, lengths_around_a_block_differ) {
  EXPECT_NE(digest(std::string(55, 'x')), digest(std::string(56, 'x')));
  EXPECT_NE(digest(std::string(63, 'x')), digest(std::string(64, 'x')));
  EXPECT_NE(digest(std::string(64, 'x')), digest(std::string(65, 'x')));
}

}  // namespace
}  // namespace waymark::shard

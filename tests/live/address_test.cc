#include "waymark/live/address.h"

#include <gtest/gtest.h>

namespace waymark::live {
namespace {

Address good(const std::string& text) {
  const auto address = parse_address(text);
  EXPECT_TRUE(address.has_value()) << text << ": " << address.error().detail;
  return address.value_or(Address{});
}

std::string error_of(const std::string& text) {
  const auto address = parse_address(text);
  EXPECT_FALSE(address.has_value()) << text;
  return address ? "" : address.error().detail;
}

TEST(Address, tcp) {
  const Address address = good("tcp://board.local:3443");
  EXPECT_EQ(address.transport, Transport::kTcp);
  EXPECT_EQ(address.host, "board.local");
  EXPECT_EQ(address.port, 3443);
  EXPECT_EQ(address.place(), "board.local:3443");
}

TEST(Address, usual_ports) {
  EXPECT_EQ(good("openocd://localhost").port, 6666);
  EXPECT_EQ(good("openocd://localhost:16666").port, 16666);
  EXPECT_EQ(good("orbuculum://localhost").port, 3402);
  EXPECT_EQ(good("orbuculum://localhost/").port, 3402);
}

TEST(Address, ipv6_in_brackets) {
  const Address address = good("tcp://[::1]:3443");
  EXPECT_EQ(address.host, "::1");
  EXPECT_EQ(address.port, 3443);
  EXPECT_EQ(address.place(), "[::1]:3443");
  EXPECT_EQ(good("openocd://[fe80::1]").port, 6666);
}

TEST(Address, tag_and_baud) {
  EXPECT_EQ(good("orbuculum://h").tag, 1);
  EXPECT_EQ(good("orbuculum://h:1?tag=2").tag, 2);
  EXPECT_EQ(good("orbuculum://h?tag=0x7e").tag, 126);
  const Address serial = good("serial:///dev/ttyUSB0?baud=2000000");
  EXPECT_EQ(serial.transport, Transport::kSerial);
  EXPECT_EQ(serial.path, "/dev/ttyUSB0");
  EXPECT_EQ(serial.baud, 2000000U);
  EXPECT_EQ(good("serial:///dev/ttyUSB0").baud, 0U);
}

TEST(Address, what_is_wrong_is_named) {
  const std::pair<const char*, const char*> cases[] = {
      {"tcp://host", "the port is missing"},
      {"tcp://:3443", "the host is missing"},
      {"tcp://host:0", "from 1 to 65535"},
      {"tcp://host:65536", "from 1 to 65535"},
      {"tcp://host:", "from 1 to 65535"},
      {"tcp://host:12x", "from 1 to 65535"},
      {"tcp://::1:3443", "in brackets"},
      {"tcp://[::1:3443", "not closed"},
      {"tcp://[::1]3443", "after the bracket"},
      {"tcp://host:1?tag=2", "nothing can follow"},
      {"orbuculum://host?tag=0", "from 1 to 126"},
      {"orbuculum://host?tag=127", "from 1 to 126"},
      {"orbuculum://host?tag", "tag=NUMBER"},
      {"orbuculum://host?id=2", "tag=NUMBER"},
      {"serial://ttyUSB0", "whole path"},
      {"serial:///dev/ttyUSB0?baud=fast", "a baud rate"},
      {"orbuculm://host", "did you mean orbuculum://?"},
      {"http://host:80", "not a kind of live source"},
  };
  for (const auto& [text, what] : cases)
    EXPECT_NE(error_of(text).find(what), std::string::npos) << text << ": " << error_of(text);
}

TEST(Address, files_are_not_addresses) {
  for (const char* text : {"trace.bin", "-", "", "a/b://c", "://x", "/dev/null", "2://x"})
    EXPECT_FALSE(is_address(text)) << text;
  EXPECT_TRUE(is_address("http://host"));
  EXPECT_TRUE(is_address("tcp://"));
}

}  // namespace
}  // namespace waymark::live

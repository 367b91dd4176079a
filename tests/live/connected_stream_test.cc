#include "waymark/live/connected_stream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace waymark::live {
namespace {

/// Listens on a port of 127.0.0.1 that the system chooses.
class Listener {
 public:
  Listener() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(descriptor_, general, size), 0);
    EXPECT_EQ(::listen(descriptor_, 4), 0);
    EXPECT_EQ(::getsockname(descriptor_, general, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  /// Sends `text` to the next client, and ends the connection.
  void serve(const std::string& text) const {
    const int client = ::accept(descriptor_, nullptr, nullptr);
    EXPECT_GE(client, 0);
    EXPECT_EQ(::send(client, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    // A socket that is closed before its input is read resets the connection, and the client may
    // lose what it was sent.  This fails if the client has already gone.
    (void)::shutdown(client, SHUT_WR);
    std::array<char, 256> rest;
    while (::recv(client, rest.data(), rest.size(), 0) > 0) {
    }
    ::close(client);
  }
  [[nodiscard]] Address address(const std::string& scheme = "tcp") const {
    return parse_address(scheme + "://127.0.0.1:" + std::to_string(port_)).value();
  }

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

/// The text of a stream up to its end, with | for each gap; or its error.
std::string text_of(Stream& stream) {
  std::string text;
  while (true) {
    const auto piece = stream.next(Milliseconds(20));
    if (!piece) return piece.error().detail;
    if (piece->kind == PieceKind::kEnd) return text;
    if (piece->kind == PieceKind::kGap) text += '|';
    text.append(piece->bytes.begin(), piece->bytes.end());
    EXPECT_TRUE(piece->kind != PieceKind::kBytes || piece->arrival != 0);
  }
}

TEST(ConnectedStream, connects_again_and_says_where_bytes_are_missing) {
  Listener listener;
  std::thread server([&] {
    listener.serve("one");
    listener.serve("two");
    listener.close();
  });
  std::vector<std::string> told;
  auto stream = connect(listener.address(),
                        {.notify = [&](const std::string& sentence) { told.push_back(sentence); },
                         .retry_for = Milliseconds(1000)});
  ASSERT_TRUE(stream.has_value()) << stream.error().detail;
  EXPECT_EQ(text_of(**stream), "one|two");
  server.join();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_NE(told[0].find("is lost"), std::string::npos);
  EXPECT_NE(told[1].find("sends again"), std::string::npos);
  EXPECT_NE(told[2].find("is lost"), std::string::npos);
  EXPECT_NE(told[3].find("could not be reached again"), std::string::npos);
}

TEST(ConnectedStream, without_retry_the_end_of_the_connection_is_the_end) {
  const Listener listener;
  std::thread server([&] { listener.serve("all"); });
  auto stream = connect(listener.address(), {.retry_for = Milliseconds(0)});
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(text_of(**stream), "all");
  EXPECT_EQ((*stream)->next(Milliseconds(0))->kind, PieceKind::kEnd);
  server.join();
}

TEST(ConnectedStream, a_closed_port_is_an_error) {
  Listener listener;
  const Address address = listener.address();
  listener.close();
  const auto stream = connect(address, {});
  ASSERT_FALSE(stream.has_value());
  EXPECT_EQ(stream.error().code, ErrorCode::kIo);
  EXPECT_NE(stream.error().detail.find(address.place()), std::string::npos);
}

TEST(ConnectedStream, caller_can_stop_while_nothing_comes) {
  const Listener listener;
  int asked = 0;
  auto stream = connect(listener.address(), {.stop = [&] { return ++asked > 5; }});
  ASSERT_TRUE(stream.has_value());
  EXPECT_NE(text_of(**stream).find("interrupted"), std::string::npos);
}

TEST(ConnectedStream, damaged_orbflow_packet_is_a_gap) {
  const Listener listener;
  using std::string_literals::operator""s;
  // Tag 1: "A", a wrong sum, "B".
  std::thread server(
      [&] { listener.serve("\0\x04\x01\x41\xBE\0\x04\x01\x41\xBF\0\x04\x01\x42\xBD\0"s); });
  auto stream = connect(listener.address("orbuculum"), {.retry_for = Milliseconds(0)});
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(text_of(**stream), "A|B");
  server.join();
}

TEST(ConnectedStream, streams_other_than_orbflow_are_reported) {
  const Listener listener;
  std::thread server([&] { listener.serve(std::string(100000, 'x')); });
  auto stream = connect(listener.address("orbuculum"), {.retry_for = Milliseconds(0)});
  ASSERT_TRUE(stream.has_value());
  EXPECT_NE(text_of(**stream).find("is not ORBFLOW"), std::string::npos);
  stream->reset();
  server.join();
}

TEST(ConnectedStream, streams_other_than_openocd_are_reported) {
  const Listener listener;
  std::thread server([&] { listener.serve("220 mail ready\r\n"); });
  const auto stream = connect(listener.address("openocd"), {});
  ASSERT_FALSE(stream.has_value());
  EXPECT_NE(stream.error().detail.find("OpenOCD's Tcl port"), std::string::npos);
  server.join();
}

}  // namespace
}  // namespace waymark::live

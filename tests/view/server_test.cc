#include "waymark/view/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "view/fake_session.h"

namespace waymark::view {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A connection to a port of this machine.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    const timeval time{.tv_sec = 20, .tv_usec = 0};
    (void)::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  }
  ~Client() { leave(); }
  Client(Client&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void leave() {
    if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  }
  [[nodiscard]] bool connected() const { return connected_; }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  /// The next answer, head and body; what there is of it if the server ends the connection.
  std::string receive() {
    for (;;) {
      const auto end = in_.find("\r\n\r\n");
      if (end != std::string::npos) {
        constexpr std::string_view kLength = "Content-Length: ";
        const auto at = in_.find(kLength);
        const std::size_t body =
            at < end ? std::stoul(in_.substr(at + kLength.size())) : std::size_t{0};
        if (in_.size() >= end + 4 + body) {
          std::string answer = in_.substr(0, end + 4 + body);
          in_.erase(0, answer.size());
          return answer;
        }
      }
      char block[4096];
      const ssize_t count = ::recv(socket_, block, sizeof(block), 0);
      if (count <= 0) return std::exchange(in_, {});
      in_.append(block, static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
  bool connected_ = false;
  std::string in_;
};

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kPage = "<!DOCTYPE html><title>x</title>";

class ViewServer : public testing::Test {
 protected:
  ~ViewServer() override { stop(); }

  void start(ServerOptions options = {}) {
    options.token = kToken;
    options.version = "1.2.3";
    options.files = {{"", "text/html; charset=utf-8", kPage}};
    auto opened = Server::open(session_, std::move(options));
    ASSERT_TRUE(opened) << opened.error().detail;
    server_ = *std::move(opened);
    thread_ = std::thread([this] { (void)server_->run([this] { return stop_.load(); }); });
  }
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(server_->port()); }
  /// A request with the right token and host.
  [[nodiscard]] std::string get(std::string_view path, std::string_view headers = "") const {
    return "GET /" + std::string(kToken) + "/" + std::string(path) +
           " HTTP/1.1\r\nHost: " + host() + "\r\n" + std::string(headers) + "\r\n";
  }
  std::string ask(const std::string& request) {
    Client client(server_->port());
    client.send(request);
    return client.receive();
  }
  static int status(const std::string& answer) {
    return answer.size() > 12 ? std::stoi(answer.substr(9, 3)) : 0;
  }
  void wait_for(const std::atomic<int>& count, int least) {
    const auto end = steady_clock::now() + std::chrono::seconds(10);
    while (count < least && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(1));
    ASSERT_GE(count, least);
  }

  FakeSession session_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
};

TEST_F(ViewServer, answers_with_strict_headers) {
  start();
  const std::string page = ask(get(""));
  EXPECT_EQ(status(page), 200);
  EXPECT_TRUE(page.ends_with(kPage));
  for (const char* header :
       {"Content-Type: text/html; charset=utf-8\r\n", "X-Content-Type-Options: nosniff\r\n",
        ("Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
         "img-src "
         "'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
         "'none'\r\n"),
        "Referrer-Policy: no-referrer\r\n", "Cross-Origin-Resource-Policy: same-origin\r\n",
        "Cache-Control: no-store\r\n"}) {
    EXPECT_NE(page.find(header), std::string::npos) << header << page;
  }
  const std::string capture = ask(get("api/1/capture"));
  EXPECT_EQ(status(capture), 200);
  EXPECT_NE(capture.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(capture.find(R"("version":"1.2.3")"), std::string::npos);
}

TEST_F(ViewServer, keeps_connections_and_takes_requests_at_once) {
  start();
  Client client(server_->port());
  client.send(get("api/1/capture") + get("api/1/tracks") + get("api/1/none"));
  EXPECT_NE(client.receive().find("\"axis\""), std::string::npos);
  EXPECT_NE(client.receive().find("\"tracks\""), std::string::npos);
  EXPECT_EQ(status(client.receive()), 404);
  const std::string text = get("api/1/health");
  for (const char c : text) client.send({&c, 1});
  EXPECT_NE(client.receive().find("\"findings\""), std::string::npos);
  client.send(get("api/1/capture", "Connection: close\r\n"));
  EXPECT_EQ(status(client.receive()), 200);
  EXPECT_EQ(client.receive(), "");
}

TEST_F(ViewServer, refuses_what_comes_from_elsewhere) {
  start();
  const std::string line = "GET /" + std::string(kToken) + "/api/1/capture HTTP/1.1\r\n";
  const std::string port = std::to_string(server_->port());
  for (const std::string& headers :
       {std::string(), std::string("Host: example.org\r\n"), "Host: example.org:" + port + "\r\n",
        std::string("Host: 127.0.0.1\r\n"), "Host: 127.0.0.1:" + port + "0\r\n",
        "Host: " + host() + "\r\nHost: " + host() + "\r\n",
        "Host: " + host() + "\r\nOrigin: https://" + host() + "\r\n",
        "Host: " + host() + "\r\nOrigin: null\r\n",
        "Host: " + host() + "\r\nOrigin: http://example.org\r\n",
        "Host: " + host() + "\r\nSec-Fetch-Site: cross-site\r\n"}) {
    const std::string answer = ask(line + headers + "\r\n");
    EXPECT_EQ(status(answer), 403) << headers << answer;
    EXPECT_NE(answer.find("{\"error\":\""), std::string::npos) << answer;
  }
  EXPECT_EQ(status(ask(line + "Host: LOCALHOST:" + port + "\r\nOrigin: http://localhost:" + port +
                       "\r\nSec-Fetch-Site: same-origin\r\n\r\n")),
            200);
  // A link elsewhere may lead to the page.
  EXPECT_EQ(status(ask(get("", "Sec-Fetch-Site: cross-site\r\n"))), 200);
}

TEST_F(ViewServer, refuses_without_the_token) {
  start();
  for (const char* target : {"/", "/api/1/capture", "/ffffffffffffffffffffffffffffffff/",
                             "/../../etc/passwd", "*", "/favicon.ico"}) {
    const std::string answer =
        ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: " + host() + "\r\n\r\n");
    EXPECT_EQ(status(answer), 403) << target << answer;
  }
  EXPECT_EQ(status(ask(get("../../etc/passwd"))), 404);
  EXPECT_EQ(status(ask(get("%2e%2e/secret"))), 404);
}

TEST_F(ViewServer, a_person_without_the_token_gets_a_page) {
  start();
  const std::string request = "GET /wrong/ HTTP/1.1\r\nHost: " + host() + "\r\n";
  const std::string page = ask(request + "Sec-Fetch-Mode: navigate\r\n\r\n");
  EXPECT_EQ(status(page), 403);
  EXPECT_NE(page.find("Content-Type: text/html"), std::string::npos) << page;
  EXPECT_NE(page.find("the address that 'waymark view' printed"), std::string::npos) << page;
  const std::string answer = ask(request + "Sec-Fetch-Mode: cors\r\n\r\n");
  EXPECT_EQ(status(answer), 403);
  EXPECT_NE(answer.find("Content-Type: application/json"), std::string::npos) << answer;
}

TEST_F(ViewServer, answers_only_get) {
  start();
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"}) {
    // The end of the connection is that of an answer to HEAD, which has no body.
    const std::string answer =
        ask(std::string(method) + get("api/1/capture", "Connection: close\r\n").substr(3));
    EXPECT_EQ(status(answer), 405) << method << answer;
  }
  EXPECT_EQ(status(ask("SPIN" + get("", "Connection: close\r\n").substr(3))), 405);
  // A body is never taken for another request.
  for (const char* header :
       {"Content-Length: 200\r\n", "content-length: 0\r\n", "Transfer-Encoding: chunked\r\n"}) {
    Client client(server_->port());
    client.send(get("api/1/capture", header) + get("api/1/capture"));
    EXPECT_EQ(status(client.receive()), 400) << header;
    EXPECT_EQ(client.receive(), "") << header;
  }
}

TEST_F(ViewServer, refuses_what_is_too_long_or_no_request) {
  start();
  EXPECT_EQ(status(ask(get(std::string(9'000, 'a')))), 414);
  EXPECT_EQ(status(ask(get("", "X: " + std::string(20'000, 'a') + "\r\n"))), 431);
  for (const char* head :
       {"rubbish\r\n\r\n", " / HTTP/1.1\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/2\r\n\r\n",
        "GET / HTTP/1.1 \r\n\r\n", "GET /\t HTTP/1.1\r\n\r\n", "G:T / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\n folded: x\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "GET / HTTP/1.1\r\nX: a\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nX: \x01\r\n\r\n"})
    EXPECT_EQ(status(ask(head)), 400) << head;
  EXPECT_EQ(status(ask(std::string(100'000, 'z'))), 431);
}

TEST_F(ViewServer, prints_the_errors_of_the_session) {
  start();
  const std::string missing = ask(get("api/1/code?function=7"));
  EXPECT_EQ(status(missing), 404);
  EXPECT_TRUE(missing.ends_with(R"({"error":"There is no function 7."})")) << missing;
  session_.error = {ErrorCode::kBadData, "It is broken."};
  EXPECT_EQ(status(ask(get("api/1/code?function=7"))), 500);
  EXPECT_EQ(status(ask(get("api/1/measure?from=200"))), 400);
}

TEST_F(ViewServer, windows_are_open_to_the_end_of_the_axis) {
  start();
  EXPECT_EQ(status(ask(get("api/1/functions"))), 200);
  EXPECT_EQ(session_.asked.from, 0);
  EXPECT_EQ(session_.asked.to, 100);
  EXPECT_EQ(status(ask(get("api/1/timeline?from=5&to=7&width=10&tracks=2"))), 200);
  EXPECT_EQ(session_.asked.from, 5);
  EXPECT_EQ(session_.asked.to, 7);
  EXPECT_EQ(session_.asked.tracks, (std::vector<TrackNumber>{2}));
}

TEST_F(ViewServer, a_question_ends_after_its_time) {
  session_.delay = milliseconds(20'000);
  start({.question_time = milliseconds(50)});
  EXPECT_EQ(status(ask(get("api/1/measure"))), 408);
  EXPECT_EQ(session_.stopped, 1);
}

TEST_F(ViewServer, a_question_ends_when_its_client_leaves) {
  session_.delay = milliseconds(20'000);
  start();
  Client client(server_->port());
  client.send(get("api/1/measure"));
  wait_for(session_.measured, 1);
  client.leave();
  wait_for(session_.stopped, 1);
}

TEST_F(ViewServer, a_newer_question_with_the_same_key_replaces_the_older) {
  session_.delay = milliseconds(20'000);
  start({.workers = 1});
  Client first(server_->port());
  first.send(get("api/1/measure?cancel=page.timeline"));
  wait_for(session_.measured, 1);
  // It waits, and is replaced before its turn comes.
  Client second(server_->port());
  second.send(get("api/1/measure?cancel=page.other"));
  std::this_thread::sleep_for(milliseconds(50));
  Client third(server_->port());
  third.send(get("api/1/measure?cancel=page.other"));
  EXPECT_EQ(status(second.receive()), 409);
  EXPECT_EQ(session_.measured, 1);
  Client fourth(server_->port());
  fourth.send(get("api/1/measure?cancel=page.timeline"));
  EXPECT_EQ(status(first.receive()), 409);
  wait_for(session_.measured, 2);
}

TEST_F(ViewServer, other_clients_are_served_while_a_question_is_computed) {
  session_.delay = milliseconds(20'000);
  start({.workers = 1});
  Client slow(server_->port());
  slow.send(get("api/1/measure"));
  wait_for(session_.measured, 1);
  EXPECT_EQ(status(ask(get("api/1/capture"))), 200);
  EXPECT_EQ(status(ask(get(""))), 200);
}

TEST_F(ViewServer, pictures_are_drawn_while_slow_questions_are_computed) {
  session_.delay = milliseconds(20'000);
  start({.workers = 1});
  Client slow(server_->port());
  slow.send(get("api/1/measure?cancel=page.measure"));
  slow.send(get("api/1/measure?cancel=page.other"));
  wait_for(session_.measured, 1);
  // The same page, whose questions wait for each other.
  EXPECT_EQ(status(ask(get("api/1/timeline?width=100&cancel=page.timeline"))), 200);
  EXPECT_EQ(session_.measured, 1);
}

TEST_F(ViewServer, a_client_with_many_questions_takes_turns_with_the_others) {
  session_.delay = milliseconds(20);
  start({.workers = 1});
  std::vector<Client> greedy;
  for (int i = 0; i < 30; ++i) {
    greedy.emplace_back(server_->port());
    greedy.back().send(get("api/1/measure?cancel=greedy." + std::to_string(i)));
  }
  wait_for(session_.measured, 2);
  EXPECT_EQ(status(ask(get("api/1/measure?cancel=polite.1"))), 200);
  // At most the one that was computed, and one more.
  EXPECT_LT(session_.measured, 10);
}

TEST_F(ViewServer, silent_and_slow_clients_do_not_block_others) {
  start({.head_time = milliseconds(300), .most_connections = 40});
  std::vector<Client> silent;
  for (int i = 0; i < 100; ++i) {
    silent.emplace_back(server_->port());
    ASSERT_TRUE(silent.back().connected());
    if (i % 2 == 0) silent.back().send("GET /");
  }
  const auto begin = steady_clock::now();
  EXPECT_EQ(status(ask(get("api/1/capture"))), 200);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(ViewServer, a_request_that_does_not_arrive_ends) {
  start({.head_time = milliseconds(50)});
  Client client(server_->port());
  client.send("GET /");
  EXPECT_EQ(status(client.receive()), 408);
  EXPECT_EQ(client.receive(), "");
}

TEST_F(ViewServer, a_client_that_takes_no_answer_is_ended) {
  start({.write_time = milliseconds(100)});
  Mark mark{.at = 1, .kind = "text", .text = std::string(4000, 'a'), .count = 1};
  session_.picture.tracks.push_back(
      {.track = 1, .marks = std::vector<Mark>(10'000, mark)});  // 40 MB
  Client client(server_->port());
  client.send(get("api/1/timeline?width=1"));
  std::this_thread::sleep_for(milliseconds(1'500));
  const std::string answer = client.receive();
  EXPECT_LT(answer.size(), 39'000'000U);
  EXPECT_EQ(status(ask(get("api/1/capture"))), 200);
}

TEST_F(ViewServer, many_clients_at_once) {
  session_.delay = milliseconds(1);
  start();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> clients;
    clients.reserve(64);
    for (int i = 0; i < 64; ++i) {
      clients.emplace_back([&, i] {
        Client client(server_->port());
        for (int round = 0; round < 5; ++round) {
          client.send(get("api/1/measure"));
          // Some vanish.
          if (i % 4 == 3 && round == 2) return;
          if (status(client.receive()) == 200) ++good;
        }
      });
    }
  }
  EXPECT_EQ(good, 48 * 5 + 16 * 2);
}

TEST_F(ViewServer, many_clients_take_turns_with_the_first) {
  constexpr int kOthers = 63;
  constexpr int kRounds = 4;
  session_.delay = milliseconds(2);
  start({.workers = 1});
  Client first(server_->port());
  std::vector<Client> others;
  for (int i = 0; i < 3 * kOthers; ++i) {
    others.emplace_back(server_->port());
    for (int round = 0; round < 10; ++round) {
      others.back().send(get("api/1/measure?cancel=c" + std::to_string(i % kOthers) + "." +
                             std::to_string(i) + "r" + std::to_string(round)));
    }
  }
  wait_for(session_.measured, kOthers);
  for (int round = 0; round < kRounds; ++round) {
    const int before = session_.measured;
    first.send(get("api/1/measure?cancel=first." + std::to_string(round)));
    EXPECT_EQ(status(first.receive()), 200);
    // The question being computed, one question of each other client, and its own.
    EXPECT_LE(session_.measured - before, 2 + kOthers) << "round " << round;
    // A third of the others vanish, and leave their turns.
    for (int i = 0; round == 1 && i < kOthers; ++i) others.pop_back();
  }
}

TEST_F(ViewServer, stops_while_it_computes) {
  session_.delay = milliseconds(20'000);
  start();
  Client client(server_->port());
  client.send(get("api/1/measure"));
  wait_for(session_.measured, 1);
  const auto begin = steady_clock::now();
  stop();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(ViewServer, a_port_in_use_is_reported) {
  start();
  const auto second = Server::open(session_, {.port = server_->port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().detail,
            "Port " + std::to_string(server_->port()) +
                " is in use; name another one, or leave out --port to use any free port.");
}

TEST(ViewToken, tokens_are_random_and_long) {
  const auto one = random_token();
  const auto two = random_token();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 32U);
  EXPECT_EQ(one->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*one, *two);
}

}  // namespace
}  // namespace waymark::view

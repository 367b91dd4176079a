#include "unpacker.h"

#include <fmt/format.h>

#include <string>

#include "waymark/base/escape.h"
#include "waymark/live/orbflow.h"
#include "waymark/live/rpc_reader.h"

namespace waymark::live {
namespace {

class Raw final : public Unpacker {
 public:
  Result<void> begin(Connection& /*connection*/, const Stop& /*stop*/,
                     std::vector<std::uint8_t>& /*out*/) override {
    return {};
  }
  Result<bool> take(Bytes& in, std::vector<std::uint8_t>& out) override {
    out.insert(out.end(), in.begin(), in.end());
    in = {};
    return false;
  }
};

class Orbflow final : public Unpacker {
 public:
  explicit Orbflow(const Address& address)
      : place_(address.place()), tag_(address.tag), reader_(address.tag) {}

  Result<void> begin(Connection& /*connection*/, const Stop& /*stop*/,
                     std::vector<std::uint8_t>& /*out*/) override {
    reader_.restart();
    return {};
  }

  Result<bool> take(Bytes& in, std::vector<std::uint8_t>& out) override {
    constexpr std::uint64_t kMostBad = 16;
    constexpr std::uint64_t kMostOpen = 4 * OrbflowReader::kMostMessage;
    in = in.subspan(reader_.read(in, out));
    const OrbflowCounts& counts = reader_.counts();
    const bool is_other = counts.packets == 0 && (counts.bad_frames + counts.bad_sums >= kMostBad ||
                                                  reader_.since_end() > kMostOpen);
    if (!is_other) return reader_.damaged();
    return fail(ErrorCode::kUnsupported,
                fmt::format("The data from {0} is not ORBFLOW; if it is raw trace, use tcp://{0}.",
                            place_));
  }

  std::string left_out() override {
    if (reported_ || reader_.other_tag() == 0) return {};
    reported_ = true;
    return fmt::format(
        "{} sends packets with tags other than {}, which are left out. The first is tag {}; "
        "to read it, add ?tag={} after the port.",
        place_, tag_, reader_.other_tag(), reader_.other_tag());
  }

 private:
  std::string place_;
  unsigned tag_;
  OrbflowReader reader_;
  bool reported_ = false;
};

class Openocd final : public Unpacker {
 public:
  explicit Openocd(const Address& address) : place_(address.place()) {}

  Result<void> begin(Connection& connection, const Stop& stop,
                     std::vector<std::uint8_t>& out) override {
    reader_.restart();
    buffer_.resize(std::size_t{64} << 10);
    rest_ = {};
    // OpenOCD gives the same answer if it refuses, so that the state is asked for.
    WAYMARK_TRY(ask(connection, stop, "tcl_trace on", out));
    WAYMARK_TRY(ask(connection, stop, "capture {tcl_trace}", out));
    if (reader_.reply().find("enabled") != std::string::npos) return {};
    std::string reply = reader_.reply().substr(0, 80);
    while (reply.ends_with('\n') || reply.ends_with('\r')) reply.pop_back();
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} does not send trace ('{}'); check that this is OpenOCD's Tcl port, "
                            "and that OpenOCD has run init.",
                            place_, escaped(reply)));
  }

  Result<bool> take(Bytes& in, std::vector<std::uint8_t>& out) override {
    if (!rest_.empty()) {
      // The bytes that came with the last reply.
      Bytes early(rest_);
      const bool damaged = read(early, out);
      rest_.erase(rest_.begin(), rest_.end() - static_cast<std::ptrdiff_t>(early.size()));
      if (damaged) return true;
    }
    return read(in, out);
  }

 private:
  /// True: trace is missing.
  bool read(Bytes& in, std::vector<std::uint8_t>& out) {
    while (!in.empty()) {
      if (reader_.next(in, out) == RpcReader::Found::kDamage) return true;
    }
    return false;
  }

  Result<void> ask(Connection& connection, const Stop& stop, std::string_view request,
                   std::vector<std::uint8_t>& out) {
    constexpr Milliseconds kStep{50};
    constexpr auto kMostWaiting = std::chrono::seconds(5);
    using Clock = std::chrono::steady_clock;
    WAYMARK_TRY(connection.send(std::string(request) + static_cast<char>(kRecordEnd)));
    const auto end = Clock::now() + kMostWaiting;
    while (true) {
      Bytes in(rest_);
      bool replied = false;
      while (!in.empty() && !replied) replied = reader_.next(in, out) == RpcReader::Found::kReply;
      rest_.assign(in.begin(), in.end());
      if (replied) return {};
      if (stop && stop())
        return fail(ErrorCode::kIo, fmt::format("Connecting to {} was interrupted.", place_));
      if (reader_.too_long() || Clock::now() > end)
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{} does not answer as OpenOCD's Tcl port does; check the port, "
                                "which is {} by default.",
                                place_, kOpenocdPort));
      const auto size = connection.read(buffer_, kStep);
      if (!size) return std::unexpected(size.error());
      if (!*size) continue;
      if (**size == 0)
        return fail(ErrorCode::kIo,
                    fmt::format("{} ended the connection before it answered; check that this is "
                                "OpenOCD's Tcl port.",
                                place_));
      rest_.assign(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(**size));
    }
  }

  std::string place_;
  RpcReader reader_;
  std::vector<std::uint8_t> buffer_;
  std::vector<std::uint8_t> rest_;  ///< Read with a reply, but after it.
};

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(const Address& address) {
  switch (address.transport) {
    case Transport::kOrbflow:
      return std::make_unique<Orbflow>(address);
    case Transport::kOpenocd:
      return std::make_unique<Openocd>(address);
    case Transport::kTcp:
    case Transport::kSerial:
      break;
  }
  return std::make_unique<Raw>();
}

}  // namespace waymark::live

#include "waymark/live/connected_stream.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "connection.h"
#include "unpacker.h"

namespace waymark::live {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr Milliseconds kStep{50};
constexpr Milliseconds kFirstDelay{100};
constexpr Milliseconds kMostDelay{5000};

class ConnectedStream final : public Stream {
 public:
  ConnectedStream(const Address& address, ConnectOptions options)
      : address_(address),
        options_(std::move(options)),
        unpacker_(make_unpacker(address)),
        block_(kBlock) {}

  Result<void> open() {
    auto connection = Connection::open(address_, options_.stop);
    if (!connection) return std::unexpected(connection.error());
    unread_ = {};
    out_.clear();
    if (const auto begun = unpacker_->begin(*connection, options_.stop, out_); !begun) {
      out_.clear();
      return begun;
    }
    connection_ = *std::move(connection);
    arrival_ = arrival_now();
    // The bytes that came with the answer of the server.
    return unpack();
  }

  Result<Piece> next(Milliseconds patience) override {
    const auto end = Clock::now() + patience;
    if (std::exchange(given_, false)) out_.clear();
    while (true) {
      if (options_.stop && options_.stop())
        return fail(ErrorCode::kIo, fmt::format("Reading {} was interrupted.", address_.text));
      if (!out_.empty()) return give();
      if (!unread_.empty()) {
        WAYMARK_TRY(unpack());
        continue;
      }
      if (ended_) return Piece{.kind = PieceKind::kEnd};
      const auto left = std::chrono::ceil<Milliseconds>(end - Clock::now());
      if (left.count() <= 0) return Piece{.kind = PieceKind::kIdle};
      if (connection_) {
        WAYMARK_TRY(read(std::min(left, kStep)));
      } else {
        WAYMARK_TRY(try_again(std::min(left, kStep)));
      }
    }
  }

  [[nodiscard]] std::string name() const override { return address_.text; }

 private:
  struct Lost {
    Clock::time_point since;
    Clock::time_point next_try;
    Milliseconds delay = kFirstDelay;
    bool reported = false;  ///< The user knows that the connection is lost.
  };

  Piece give() {
    // A gap is shown once there are bytes after it.
    if (std::exchange(gap_, false)) return {.kind = PieceKind::kGap, .arrival = arrival_};
    given_ = true;
    gap_ = std::exchange(damaged_, false);
    return {.kind = PieceKind::kBytes, .bytes = out_, .arrival = arrival_};
  }

  Result<void> unpack() {
    const auto damaged = unpacker_->take(unread_, out_);
    if (!damaged) return std::unexpected(damaged.error());
    // A gap comes after the bytes that were read up to it.
    (out_.empty() ? gap_ : damaged_) |= *damaged;
    notify(unpacker_->left_out());
    return {};
  }

  Result<void> read(Milliseconds patience) {
    const auto size = connection_->read(block_, patience);
    if (!size) {
      lose(size.error().detail);
    } else if (*size && **size == 0) {
      lose("the other side ended it");
    } else if (*size) {
      arrival_ = arrival_now();
      unread_ = Bytes(block_).first(**size);
      if (lost_) found_again();
    }
    return {};
  }

  void lose(const std::string& why) {
    connection_.reset();
    if (!lost_) lost_ = Lost{.since = Clock::now(), .next_try = {}};
    lost_->next_try = Clock::now() + lost_->delay;
    if (options_.retry_for == Milliseconds(0)) {
      ended_ = true;
      return;
    }
    if (std::exchange(lost_->reported, true)) return;
    notify(fmt::format("The connection to {} is lost ({}). Trying again.", address_.place(), why));
  }

  void found_again() {
    const std::chrono::duration<double> time = Clock::now() - lost_->since;
    if (lost_->reported)
      notify(fmt::format("{} sends again after {:.1f} s. The trace it sent in between is missing.",
                         address_.place(), time.count()));
    lost_.reset();
    gap_ = true;
  }

  Result<void> try_again(Milliseconds patience) {
    const auto now = Clock::now();
    if (options_.retry_for && now - lost_->since > *options_.retry_for) {
      notify(fmt::format("{} could not be reached again; the trace ends here.", address_.place()));
      ended_ = true;
      return {};
    }
    if (now < lost_->next_try) {
      const auto left = std::chrono::ceil<Milliseconds>(lost_->next_try - now);
      (void)::poll(nullptr, 0, static_cast<int>(std::min(left, patience).count()));
      return {};
    }
    lost_->delay = std::min(lost_->delay * 2, kMostDelay);
    const auto opened = open();
    if (!opened && options_.stop && options_.stop()) return opened;
    if (!opened) lost_->next_try = Clock::now() + lost_->delay;
    if (opened && !out_.empty()) found_again();
    return {};
  }

  void notify(const std::string& sentence) const {
    if (options_.notify && !sentence.empty()) options_.notify(sentence);
  }

  Address address_;
  ConnectOptions options_;
  std::unique_ptr<Unpacker> unpacker_;
  std::optional<Connection> connection_;
  std::optional<Lost> lost_;  ///< Until bytes come again.
  std::vector<std::uint8_t> block_;
  Bytes unread_;                   ///< The part of block_ that was not unpacked.
  std::vector<std::uint8_t> out_;  ///< What was unpacked.
  ArrivalTime arrival_ = 0;
  bool given_ = false;    ///< out_ was given to the caller.
  bool gap_ = false;      ///< Bytes are missing before out_.
  bool damaged_ = false;  ///< Bytes are missing after out_.
  bool ended_ = false;
};

}  // namespace

ArrivalTime arrival_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<std::unique_ptr<Stream>> connect(const Address& address, ConnectOptions options) {
  auto stream = std::make_unique<ConnectedStream>(address, std::move(options));
  WAYMARK_TRY(stream->open());
  return stream;
}

}  // namespace waymark::live

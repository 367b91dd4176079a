// The bytes on an SWO pin, in both codings, and the rate and coding that a capture shows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace waymark::logic {

/// Consecutive samples of one level.
struct Run {
  bool high = false;
  std::uint64_t samples = 0;
};

/// kUart: a low start bit, eight bits, the least significant first, and a high stop bit; idle is
/// high.  kManchester: a bit is two halves, high and low for 1, low and high for 0; a start bit 1,
/// one to eight bytes, the least significant bit first, and a low stop bit; idle is low.
enum class Coding : std::uint8_t { kUart, kManchester };

/// Gets runs and gives bytes.  A byte is given when it is whole.
class SwoDecoder {
 public:
  /// `bit`: how many samples a bit has.
  SwoDecoder(Coding coding, double bit) : coding_(coding), bit_(bit) {}

  void take(Run run, std::vector<std::uint8_t>& out);
  /// Nothing follows.
  void finish(std::vector<std::uint8_t>& out);

  /// How often a byte (UART) was broken and left out, or a packet (Manchester) broke off.
  [[nodiscard]] std::uint64_t errors() const { return errors_; }
  /// The sample where the first of them begins.
  [[nodiscard]] std::uint64_t first_error() const { return first_error_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  enum class State : std::uint8_t { kLost, kIdle, kInside };

  void take_uart(Run run, std::vector<std::uint8_t>& out);
  void take_manchester(Run run, std::vector<std::uint8_t>& out);
  void take_half(bool high, std::vector<std::uint8_t>& out);
  void fail();

  Coding coding_;
  double bit_;
  State state_ = State::kLost;
  bool begun_ = false;  ///< An idle level was seen; what is broken before that is not counted.
  std::uint64_t sample_ = 0;  ///< Where the run begins.
  std::uint64_t start_ = 0;   ///< Where the byte or packet begins.
  double position_ = 0;       ///< Samples since then.
  unsigned bits_ = 0;         ///< How many of it were read.
  std::uint16_t value_ = 0;
  std::optional<bool> half_;  ///< The first half of a bit.
  std::uint64_t errors_ = 0;
  std::uint64_t first_error_ = 0;
  std::uint64_t bytes_ = 0;
};

/// The evidence of a part of a capture.
struct SwoFacts {
  Coding coding = Coding::kUart;
  double bit = 0;  ///< The samples of a bit.
  std::uint64_t bytes = 0;
  std::uint64_t errors = 0;
};

/// Tries both codings, or the given one.  `bit`: the samples of a bit if that is known.  Nothing:
/// with neither, most of what was read are whole bytes.
std::optional<SwoFacts> find_coding(std::span<const Run> runs, std::optional<Coding> coding,
                                    std::optional<double> bit);

}  // namespace waymark::logic

#include "waymark/logic/swo.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace waymark::logic {
namespace {

constexpr unsigned kByte = 8;

/// The samples of one unit, from runs of 1 to `most` units, of which the shortest have `shortest`;
/// 0: there are none.
double unit_of(std::span<const Run> runs, bool high, double most, double shortest) {
  std::map<std::uint64_t, std::uint64_t> lengths;
  std::uint64_t all = 0;
  for (const Run& run : runs) {
    if (run.high != high) continue;
    ++lengths[run.samples];
    ++all;
  }
  // A glitch is rare, and shorter than everything else.
  constexpr std::uint64_t kRare = 1000;
  double unit = 0;
  for (const auto& [length, count] : lengths) {
    if (count * kRare < all) continue;
    // Sampling makes one length into two.
    const auto next = lengths.find(length + 1);
    const auto longer = static_cast<double>(next == lengths.end() ? 0 : next->second);
    const double share = longer / (longer + static_cast<double>(count));
    unit = (static_cast<double>(length) + share) / shortest;
    break;
  }
  if (unit == 0) return 0;
  // The mean of all runs is more exact than the shortest.
  for (int round = 0; round != 8; ++round) {
    double samples = 0;
    double units = 0;
    for (const auto& [length, count] : lengths) {
      const double number = std::round(static_cast<double>(length) / unit);
      if (number < 1 || number > most) continue;
      samples += static_cast<double>(length * count);
      units += number * static_cast<double>(count);
    }
    if (units == 0) return 0;
    unit = samples / units;
  }
  return unit;
}

SwoFacts attempt(std::span<const Run> runs, Coding coding, double bit) {
  SwoDecoder decoder(coding, bit);
  std::vector<std::uint8_t> bytes;
  for (const Run& run : runs) {
    decoder.take(run, bytes);
    bytes.clear();
  }
  decoder.finish(bytes);
  return {coding, bit, decoder.bytes(), decoder.errors()};
}

/// Better: fewer errors per byte, and then more bytes.
bool better(const SwoFacts& a, const SwoFacts& b) {
  const std::uint64_t mine = a.errors * (b.bytes + 1);
  const std::uint64_t theirs = b.errors * (a.bytes + 1);
  return mine != theirs ? mine < theirs : a.bytes > b.bytes;
}

}  // namespace

void SwoDecoder::take(Run run, std::vector<std::uint8_t>& out) {
  if (coding_ == Coding::kUart) {
    take_uart(run, out);
  } else {
    take_manchester(run, out);
  }
  sample_ += run.samples;
}

void SwoDecoder::finish(std::vector<std::uint8_t>& out) {
  // A capture may end as soon as the last byte is there.
  if (coding_ == Coding::kUart && state_ == State::kInside && bits_ == kByte + 1) {
    out.push_back(static_cast<std::uint8_t>(value_));
    ++bytes_;
  }
  state_ = State::kLost;
}

void SwoDecoder::fail() {
  if (begun_ && errors_++ == 0) first_error_ = start_;
  state_ = State::kLost;
}

void SwoDecoder::take_uart(Run run, std::vector<std::uint8_t>& out) {
  if (state_ != State::kInside) {
    if (run.high) {
      state_ = State::kIdle;
      // A byte has at most nine high bits in sequence.
      if (static_cast<double>(run.samples) > 9.5 * bit_) begun_ = true;
      return;
    }
    if (state_ == State::kLost) return;
    state_ = State::kInside;
    start_ = sample_;
    position_ = 0;
    bits_ = 0;
    value_ = 0;
  }
  const double end = position_ + static_cast<double>(run.samples);
  constexpr unsigned kStop = kByte + 1;
  // Each bit is read in its middle.
  for (; (bits_ + 0.5) * bit_ < end; ++bits_) {
    if (bits_ == 0 && run.high) {  // Too short for a start bit.
      state_ = State::kIdle;
      return;
    }
    if (bits_ == kStop) {
      if (!run.high) {
        fail();
        return;
      }
      out.push_back(static_cast<std::uint8_t>(value_));
      ++bytes_;
      begun_ = true;
      state_ = State::kIdle;
      return;
    }
    if (bits_ != 0 && run.high) value_ = static_cast<std::uint16_t>(value_ | 1U << (bits_ - 1));
  }
  position_ = end;
}

void SwoDecoder::take_manchester(Run run, std::vector<std::uint8_t>& out) {
  const double halves = 2 * static_cast<double>(run.samples) / bit_;
  if (state_ != State::kInside) {
    // Inside a packet, at most two halves in sequence are low.
    if (!run.high) {
      if (halves > 2.5) {
        state_ = State::kIdle;
        begun_ = true;
      }
      return;
    }
    if (state_ == State::kLost) return;
    start_ = sample_;
    if (halves < 0.5 || halves > 1.5) {
      fail();
      return;
    }
    state_ = State::kInside;
    half_.reset();
    bits_ = 0;
    value_ = 0;
  }
  if (halves < 0.5 || (run.high && halves > 2.5)) {
    fail();
    return;
  }
  // A stop bit and what is idle after it are one run.
  constexpr double kMost = 4;
  const auto number = static_cast<unsigned>(std::round(std::min(halves, kMost)));
  for (unsigned i = 0; i != number && state_ == State::kInside; ++i) take_half(run.high, out);
  // After the stop bit.
  if (!run.high && state_ == State::kLost && halves > 2.5) state_ = State::kIdle;
}

void SwoDecoder::take_half(bool high, std::vector<std::uint8_t>& out) {
  if (!half_) {
    half_ = high;
    return;
  }
  const bool first = *half_;
  half_.reset();
  if (first == high) {
    // The stop bit, after whole bytes.
    constexpr unsigned kMostBytes = 8;
    const bool whole = bits_ > kByte && bits_ % kByte == 1 && bits_ / kByte <= kMostBytes;
    if (high || !whole) {
      fail();
      return;
    }
    begun_ = true;
    state_ = State::kIdle;
    return;
  }
  if (bits_ != 0 && first)
    value_ = static_cast<std::uint16_t>(value_ | 1U << ((bits_ - 1) % kByte));
  ++bits_;
  if (bits_ > 1 && bits_ % kByte == 1) {
    out.push_back(static_cast<std::uint8_t>(value_));
    ++bytes_;
    value_ = 0;
  }
}

std::optional<SwoFacts> find_coding(std::span<const Run> runs, std::optional<Coding> coding,
                                    std::optional<double> bit) {
  std::optional<SwoFacts> best;
  const auto consider = [&](Coding tried, double samples) {
    // Below this, levels cannot be told from each other.
    constexpr double kLeast = 2;
    if (samples < kLeast) return;
    const SwoFacts facts = attempt(runs, tried, samples);
    if (facts.bytes != 0 && (!best || better(facts, *best))) best = facts;
  };
  if (coding.value_or(Coding::kUart) == Coding::kUart) {
    // Only low runs are whole bits.  Where no single one is low, the shortest has two or three.
    for (const double shortest : {1.0, 2.0, 3.0}) {
      consider(Coding::kUart, bit ? *bit : unit_of(runs, false, kByte + 1, shortest));
      if (bit) break;
    }
  }
  if (coding.value_or(Coding::kManchester) == Coding::kManchester)
    consider(Coding::kManchester, bit ? *bit : 2 * unit_of(runs, true, 2, 1));
  // Another signal gives a few bytes by chance.
  if (!best || best->errors * 4 > best->bytes) return std::nullopt;
  return best;
}

}  // namespace waymark::logic

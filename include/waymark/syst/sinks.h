// The destinations of the messages of instrument.h: lines of text, plain bytes, STP, and the
// stimulus ports of a CoreSight STM..  Header only, C++20..  See mipi-syst.md 4 and 7.1.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace waymark::syst::instrument {

/// One line of text per message, as MIPI's printer reads it and Zephyr's console writes it.
/// `Write` takes a std::span<const char>.
template <class Write>
class LineSink {
 public:
  explicit LineSink(Write write) : write_(write) {}

  void message(std::span<const std::uint8_t> bytes, bool /*is_short*/) {
    constexpr char kTag[] = "SYS-T RAW DATA: ";
    constexpr char kDigits[] = "0123456789ABCDEF";
    write_(std::span(kTag, sizeof kTag - 1));
    std::array<char, 64> text;
    while (!bytes.empty()) {
      std::size_t count = 0;
      for (; count + 2 <= text.size() && !bytes.empty(); bytes = bytes.subspan(1)) {
        text[count++] = kDigits[bytes.front() >> 4];
        text[count++] = kDigits[bytes.front() & 0xF];
      }
      write_(std::span<const char>(text).first(count));
    }
    constexpr char kEnd = '\n';
    write_(std::span(&kEnd, 1));
  }

 private:
  Write write_;
};

/// One message directly after the other.  `Write` takes a std::span<const std::uint8_t>.
template <class Write>
class PlainSink {
 public:
  explicit PlainSink(Write write) : write_(write) {}
  void message(std::span<const std::uint8_t> bytes, bool /*is_short*/) { write_(bytes); }

 private:
  Write write_;
};

/// Which nibble of a field comes first.
enum class StpOrder : std::uint8_t {
  kCoreSight,  ///< The most significant one.
  kSimulator,  ///< The least significant one, as in MIPI's simulator and Zephyr.
};

/// How a long message ends.
enum class StpEnd : std::uint8_t {
  kFlag,    ///< With a FLAG packet, as software producers do.
  kMarker,  ///< With the marker of its last data packet.
};

/// STPv2: a message is a timestamped packet, data, and an end.  Master and channel can change
/// between messages.  `Write` takes one byte.
template <class Write>
class StpSink {
 public:
  using Clock = std::uint64_t (*)();

  /// Synchronises, and states the version and the frequency of `clock` in Hz.
  StpSink(Write write, Clock clock, std::uint32_t hertz, StpOrder order = StpOrder::kCoreSight,
          StpEnd end = StpEnd::kFlag)
      : write_(write), clock_(clock), hertz_(hertz), order_(order), end_(end) {
    synchronise();
  }

  /// Masters above 255 need the M16 packet of the simulator, which CoreSight does not have.
  void select(std::uint16_t master, std::uint16_t channel) {
    if (master != master_ || !selected_) {
      if (master > 0xFF || order_ == StpOrder::kSimulator) {
        nibble(0xF);
        nibble(0x1);
        field(master, 4);
      } else {
        nibble(0x1);
        field(master, 2);
      }
      channel_ = 0;
    }
    if (channel != channel_) {
      const bool low_only = (channel >> 8) == (channel_ >> 8);
      if (low_only) {
        nibble(0x3);
        field(channel & 0xFFU, 2);
      } else {
        nibble(0xF);
        nibble(0x3);
        field(channel, 4);
      }
    }
    master_ = master;
    channel_ = channel;
    selected_ = true;
  }

  /// ASYNC, VERSION and FREQ; master and channel are sent again after them.
  void synchronise() {
    for (int i = 0; i < 21; ++i) nibble(0xF);
    nibble(0x0);
    for (const unsigned n : {0xFU, 0x0U, 0x0U, 0x3U}) nibble(n);
    for (const unsigned n : {0xFU, 0x0U, 0x8U}) nibble(n);
    field(hertz_, 8);
    selected_ = false;
    last_time_ = 0;
    time_shown_ = false;
    align();
  }

  void message(std::span<const std::uint8_t> bytes, bool is_short) {
    if (!selected_) select(master_, channel_);
    if (is_short) {
      // D32MTS or D64MTS.
      nibble(bytes.size() == 8 ? 0xB : 0xA);
      data(bytes);
      timestamp();
      align();
      return;
    }
    bool first = true;
    while (!bytes.empty()) {
      // The header goes first and alone, then the largest packets that fit.
      const std::size_t size = first               ? 4
                               : bytes.size() >= 8 ? 8
                               : bytes.size() >= 4 ? 4
                               : bytes.size() >= 2 ? 2
                                                   : 1;
      const bool last = size == bytes.size();
      packet(size, first, last && end_ == StpEnd::kMarker);
      data(bytes.first(size));
      if (first) timestamp();
      bytes = bytes.subspan(size);
      first = false;
    }
    if (end_ == StpEnd::kFlag) {
      nibble(0xF);
      nibble(0xE);
    }
    align();
  }

  /// Completes a half byte with a NULL nibble.
  void align() {
    if (half_) nibble(0);
  }

 private:
  // D8 is 4, D16 5, D32 6, D64 7.  F before it: with a timestamp.  8 to B: with both marks.  F 8 to
  // F B: with a marker only.
  void packet(std::size_t size, bool timestamped, bool marked) {
    const unsigned width = size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
    if (timestamped != marked) nibble(0xF);
    nibble((marked ? 8U : 4U) + width);
  }

  void data(std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    field(value, static_cast<unsigned>(2 * bytes.size()));
  }

  // Sends the nibbles that changed; those above them keep their value.
  void timestamp() {
    const std::uint64_t now = clock_();
    unsigned count = 1;
    while (count < 16 && now >> (4 * count) != last_time_ >> (4 * count)) ++count;
    if (!time_shown_) count = 16;
    if (count == 13) count = 14;
    if (count > 14) count = 16;
    nibble(count == 14 ? 13 : count == 16 ? 14 : count);
    field(count == 16 ? now : now & ((std::uint64_t{1} << (4 * count)) - 1), count);
    last_time_ = now;
    time_shown_ = true;
  }

  void field(std::uint64_t value, unsigned nibbles) {
    for (unsigned i = 0; i < nibbles; ++i) {
      const unsigned at = order_ == StpOrder::kCoreSight ? nibbles - 1 - i : i;
      nibble(static_cast<unsigned>(value >> (4 * at) & 0xF));
    }
  }

  void nibble(unsigned value) {
    if (half_) {
      write_(static_cast<std::uint8_t>(low_ | value << 4));
    } else {
      low_ = value;
    }
    half_ = !half_;
  }

  Write write_;
  Clock clock_;
  std::uint32_t hertz_;
  StpOrder order_;
  StpEnd end_;
  std::uint64_t last_time_ = 0;
  std::uint16_t master_ = 0;
  std::uint16_t channel_ = 0;
  unsigned low_ = 0;
  bool half_ = false;
  bool selected_ = false;
  bool time_shown_ = false;
};

/// The stimulus ports of a CoreSight STM.  Stores become packets, which the hardware frames,
/// timestamps and sends.  `Store` is called as store(offset, value, size), with the offset in the
/// channel's 256 bytes of the extended stimulus space.  Stores are guaranteed ones.
template <class Store>
class StmPortSink {
 public:
  explicit StmPortSink(Store store) : store_(store) {}

  void message(std::span<const std::uint8_t> bytes, bool is_short) {
    constexpr std::uint32_t kMarkedTimestamped = 0x00;
    constexpr std::uint32_t kTimestamped = 0x10;
    constexpr std::uint32_t kData = 0x18;
    constexpr std::uint32_t kFlag = 0x68;
    if (is_short) {
      put(kMarkedTimestamped, bytes);
      return;
    }
    put(kTimestamped, bytes.first(4));
    bytes = bytes.subspan(4);
    // Every STM accepts stores of 32 bits; stores of 64 bits need a bus that has them.
    while (!bytes.empty()) {
      const std::size_t size = bytes.size() >= 4 ? 4 : bytes.size() >= 2 ? 2 : 1;
      put(kData, bytes.first(size));
      bytes = bytes.subspan(size);
    }
    store_(kFlag, std::uint64_t{0}, std::size_t{1});
  }

 private:
  void put(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
    store_(offset, value, bytes.size());
  }

  Store store_;
};

}  // namespace waymark::syst::instrument

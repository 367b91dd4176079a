// Instrumentation: a program sends SyS-T messages.  Header only, C++20, without allocation, and
// with no other header of Waymark than arguments.h, so that firmware can use it.  See mipi-syst.md
// 1 to 4 and 10.  docs/howto/syst.md has a walk-through.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "waymark/syst/arguments.h"

namespace waymark::syst::instrument {

enum class Level : std::uint8_t {
  kNone = 0,
  kFatal = 1,
  kError = 2,
  kWarning = 3,
  kInfo = 4,
  kUser1 = 5,
  kUser2 = 6,
  kDebug = 7,
};

/// The hash with which MIPI's tools make catalog IDs: over the last 64 bytes of the text.
constexpr std::uint32_t hash(std::string_view text, std::uint32_t offset = 0) {
  constexpr std::size_t kLongest = 64;
  constexpr std::uint32_t kFactor = 65599;
  if (text.size() > kLongest) text.remove_prefix(text.size() - kLongest);
  std::uint32_t value = 0;
  for (const char c : text) value = value * kFactor + static_cast<unsigned char>(c);
  return value + offset;
}

/// The sender.
struct Origin {
  std::array<std::uint8_t, 16> guid{};
  bool has_guid = false;
  std::uint8_t module_id = 0;  ///< 0..127, without a GUID.
  std::uint16_t unit = 0;      ///< 0..15; with a GUID, 0..2047.

  static constexpr Origin module_unit(std::uint8_t module_id, std::uint16_t unit) {
    return {.guid = {}, .has_guid = false, .module_id = module_id, .unit = unit};
  }
  static constexpr Origin guid_unit(const std::array<std::uint8_t, 16>& guid, std::uint16_t unit) {
    return {.guid = guid, .has_guid = true, .module_id = 0, .unit = unit};
  }
};

/// Where a message is sent.
struct Place {
  enum class Kind : std::uint8_t { kNone, kLine16, kLine32, kAddress32, kAddress64 };
  Kind kind = Kind::kNone;
  std::uint32_t file = 0;  ///< An ID that the collateral names.
  std::uint32_t line = 0;
  std::uint64_t address = 0;
};

/// Fields that every message of a handle has.
struct Fields {
  bool length = true;  ///< Without it, plain bytes cannot be split into messages again.
  bool checksum = false;
  bool timestamp = false;
};

/// Takes whole messages.  `is_short`: the message has four or eight bytes and is one packet of STP.
template <class T>
concept Sink = requires(T& sink, std::span<const std::uint8_t> message, bool is_short) {
  sink.message(message, is_short);
};

/// CRC-32C with a table of 16 entries: small rather than fast.
constexpr std::uint32_t crc32c_small(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint32_t, 16> kTable = [] {
    std::array<std::uint32_t, 16> table{};
    for (std::uint32_t i = 0; i < 16; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 4; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0U);
      table[i] = crc;
    }
    return table;
  }();
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::uint8_t byte : bytes) {
    crc = (crc >> 4) ^ kTable[(crc ^ byte) & 0xF];
    crc = (crc >> 4) ^ kTable[(crc ^ (unsigned{byte} >> 4)) & 0xF];
  }
  return ~crc;
}

/// A message under construction, in a buffer on the caller's stack.
template <std::size_t Capacity>
class Draft {
 public:
  void put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) put_byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void put_byte(std::uint8_t byte) {
    if (size_ < Capacity) {
      bytes_[size_++] = byte;
    } else {
      failed_ = true;
    }
  }
  void put(std::string_view text) {
    for (const char c : text) put_byte(static_cast<std::uint8_t>(c));
  }
  void put(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) put_byte(byte);
  }
  void patch16(std::size_t at, std::size_t value) {
    bytes_[at] = static_cast<std::uint8_t>(value & 0xFF);
    bytes_[at + 1] = static_cast<std::uint8_t>(value >> 8 & 0xFF);
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The message does not fit, or a value cannot be represented.
  [[nodiscard]] bool failed() const { return failed_; }
  void fail() { failed_ = true; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const {
    return std::span(bytes_).first(size_);
  }

 private:
  std::array<std::uint8_t, Capacity> bytes_;
  std::size_t size_ = 0;
  bool failed_ = false;
};

/// Makes the messages of one sender.  Cheap to copy; `sink` must outlive it.  As thread safe as its
/// sink and clock.  `Capacity`: the size of the longest message.  A longer message, or one whose
/// arguments do not suit its format, is replaced by the STRING INVALIDPARAM that MIPI's library
/// sends.
template <Sink S, std::size_t Capacity = 1024 + 43>
class Handle {
 public:
  using Clock = std::uint64_t (*)();

  Handle(S& sink, const Origin& origin, const Fields& fields = {}, Clock clock = nullptr)
      : sink_(&sink), origin_(origin), fields_(fields), clock_(clock) {}

  /// The same handle with the argument sizes of another sender, for tests and simulators.
  [[nodiscard]] Handle packed(Packing packing) const {
    Handle other = *this;
    other.packing_ = packing;
    return other;
  }
  /// The same handle with a location in every message.
  [[nodiscard]] Handle at(const Place& place) const {
    Handle other = *this;
    other.place_ = place;
    return other;
  }
  [[nodiscard]] Handle at_line(std::uint32_t file, std::uint32_t line) const {
    const bool fits = file <= 0xFFFF && line <= 0xFFFF;
    return at({.kind = fits ? Place::Kind::kLine16 : Place::Kind::kLine32,
               .file = file,
               .line = line,
               .address = 0});
  }

  // -- Without any optional field ----------------------------------------------------------------
  void short32(std::uint32_t value) const { send_short(value << 4 | 1U, 4); }
  void short64(std::uint64_t value) const { send_short(value << 4 | 7U, 8); }
  /// 22 bits.
  void build_compact32(std::uint32_t number) const {
    send_short((number & 0xFFFFFU) << 4 | (number >> 20 & 3U) << 30, 4);
  }
  /// 54 bits.
  void build_compact64(std::uint64_t number) const {
    send_short((number & 0xFFFFFU) << 4 | std::uint64_t{1} << 24 | (number >> 20) << 30, 8);
  }

  // -- Messages with a header --------------------------------------------------------------------
  void build(Level level, std::uint64_t number, std::string_view text = {}) const {
    send(level, kBuild, 2, [&](auto& draft) {
      draft.put(number, 8);
      if (text.empty()) return;
      draft.put(up_to_nul(text));
      draft.put_byte(0);
    });
  }
  void text(Level level, std::string_view text) const { string(level, 1, text); }
  void enter(Level level, std::string_view function) const { string(level, 2, function); }
  void exit(Level level, std::string_view function) const { string(level, 3, function); }
  void invalid(Level level, std::string_view what) const { string(level, 5, what); }
  void assertion(Level level, std::string_view what) const { string(level, 7, what); }

  /// A printf format and its arguments, packed as the conversions say.  Texts are C strings, arrays
  /// of characters, or whatever converts to string_view; they end at their NUL or at the precision.
  template <class... Args>
  void printf(Level level, std::string_view format, const Args&... args) const {
    const std::string_view text = up_to_nul(format);
    send(
        level, kString, packing_ == Packing::k64 ? 12 : 11,
        [&](auto& draft) {
          draft.put(text);
          draft.put_byte(0);
          pack(draft, FormatSlots(text), args...);
        },
        text);
  }
  /// The same without the format, which the collateral has under `id`.  Arguments are packed by
  /// their types.  A pointer to characters is a text; for %p, cast it to const void*.
  template <class... Args>
  void catalog32(Level level, std::uint32_t id, const Args&... args) const {
    catalog(level, id, 4, packing_ == Packing::k64 ? 5 : 1, TypeSlots(), args...);
  }
  template <class... Args>
  void catalog64(Level level, std::uint64_t id, const Args&... args) const {
    catalog(level, id, 8, packing_ == Packing::k64 ? 6 : 2, TypeSlots(), args...);
  }
  /// The same with the slots of the format, for catalog.h.
  template <class... Args>
  void catalog32_slots(Level level, std::uint32_t id, const auto& slots,
                       const Args&... args) const {
    catalog(level, id, 4, packing_ == Packing::k64 ? 5 : 1, slots, args...);
  }
  /// Bytes of a user's own protocol, 0..63.
  void raw(Level level, unsigned protocol, std::span<const std::uint8_t> bytes) const {
    send(level, kRaw, protocol, [&](auto& draft) { draft.put(bytes); });
  }
  /// Relates the clock of timestamps to that of the transport.
  void clock_sync(std::uint64_t clock, std::uint64_t hertz) const {
    send(Level::kNone, kClock, 1, [&](auto& draft) {
      draft.put(clock, 8);
      draft.put(hertz, 8);
    });
  }
  /// Structured binary data.  `address_size`: 2, 4 or 8 bytes; any other size means no address.  An
  /// empty name is left out.
  void data32(Level level, std::uint32_t id, std::span<const std::uint8_t> blob,
              std::string_view name = {}, std::uint64_t address = 0,
              unsigned address_size = 0) const {
    data(level, id, 4, blob, name, address, address_size);
  }
  void data64(Level level, std::uint64_t id, std::span<const std::uint8_t> blob,
              std::string_view name = {}, std::uint64_t address = 0,
              unsigned address_size = 0) const {
    data(level, id, 8, blob, name, address, address_size);
  }

 private:
  enum Type : unsigned { kBuild = 0, kString = 2, kCatalog = 3, kRaw = 6, kClock = 8, kSbd = 9 };

  void send_short(std::uint64_t word, std::size_t size) const {
    Draft<8> draft;
    draft.put(word, size);
    sink_->message(draft.bytes(), true);
  }

  static constexpr std::string_view up_to_nul(std::string_view text) {
    return text.substr(0, text.find('\0'));
  }

  template <class Slots, class... Args>
  void pack(auto& draft, const Slots& slots, const Args&... args) const {
    ArgumentPacker packer(draft, slots, packing_);
    (packer.add(args), ...);
    if (!packer.good()) draft.fail();
  }

  void string(Level level, unsigned subtype, std::string_view whole) const {
    const std::string_view text = up_to_nul(whole);
    send(
        level, kString, subtype,
        [&](auto& draft) {
          draft.put(text);
          draft.put_byte(0);
        },
        text);
  }

  template <class Slots, class... Args>
  void catalog(Level level, std::uint64_t id, std::size_t size, unsigned subtype,
               const Slots& slots, const Args&... args) const {
    send(level, kCatalog, subtype, [&](auto& draft) {
      draft.put(id, size);
      pack(draft, slots, args...);
    });
  }

  void data(Level level, std::uint64_t id, std::size_t id_size, std::span<const std::uint8_t> blob,
            std::string_view whole_name, std::uint64_t address, unsigned address_size) const {
    const std::string_view name = up_to_nul(whole_name);
    const unsigned size_code = address_size == 8   ? 3U
                               : address_size == 4 ? 2U
                               : address_size == 2 ? 1U
                                                   : 0U;
    const unsigned subtype = (id_size == 8 ? 1U : 0U) | (name.empty() ? 0U : 2U) | size_code << 2;
    send(level, kSbd, subtype, [&](auto& draft) {
      draft.put(id, id_size);
      if (size_code != 0) draft.put(address, address_size);
      if (!name.empty()) {
        draft.put(name);
        draft.put_byte(0);
      }
      draft.put(blob);
    });
  }

  void put_place(auto& draft) const {
    using enum Place::Kind;
    switch (place_.kind) {
      case kNone:
        return;
      case kLine16:
        draft.put_byte(0);
        draft.put(place_.file, 2);
        draft.put(place_.line, 2);
        return;
      case kLine32:
        draft.put_byte(1);
        draft.put(place_.file, 4);
        draft.put(place_.line, 4);
        return;
      case kAddress32:
        draft.put_byte(2);
        draft.put(place_.address, 4);
        return;
      case kAddress64:
        draft.put_byte(3);
        draft.put(place_.address, 8);
        return;
    }
  }

  /// `put_payload` writes into the draft; `shown` replaces a message that is too long.
  void send(Level level, unsigned type, unsigned subtype, auto&& put_payload,
            std::string_view shown = "catarg") const {
    if (try_send(level, type, subtype, put_payload)) return;
    constexpr std::size_t kShown = 31;
    (void)try_send(level, kString, 5, [&](auto& draft) {
      draft.put(shown.substr(0, kShown));
      draft.put_byte(0);
    });
  }

  bool try_send(Level level, unsigned type, unsigned subtype, auto&& put_payload) const {
    Draft<Capacity> draft;
    const Clock clock = fields_.timestamp ? clock_ : nullptr;
    const std::uint32_t who = origin_.has_guid
                                  ? (origin_.unit & 0x7FFU) << 12 | 1U << 23
                                  : (origin_.unit & 0xFU) << 12 | (origin_.module_id & 0x7FU) << 16;
    draft.put(type | static_cast<unsigned>(level) << 4 | who |
                  (place_.kind != Place::Kind::kNone ? 1U << 8 : 0U) |
                  (fields_.length ? 1U << 9 : 0U) | (fields_.checksum ? 1U << 10 : 0U) |
                  (clock != nullptr ? 1U << 11 : 0U) | (subtype & 0x3FU) << 24,
              4);
    if (origin_.has_guid) draft.put(std::span(origin_.guid));
    put_place(draft);
    const std::size_t length_at = draft.size();
    if (fields_.length) draft.put(0, 2);
    if (clock != nullptr) draft.put(clock(), 8);
    const std::size_t payload_at = draft.size();
    put_payload(draft);
    const std::size_t payload_size = draft.size() - payload_at;
    if (draft.failed() || payload_size > 0xFFFF) return false;
    if (fields_.length) draft.patch16(length_at, payload_size);
    if (fields_.checksum) draft.put(crc32c_small(draft.bytes()), 4);
    if (draft.failed()) return false;
    sink_->message(draft.bytes(), false);
    return true;
  }

  S* sink_;
  Origin origin_;
  Fields fields_;
  Place place_;
  Clock clock_;
  Packing packing_ = kHostPacking;
};

}  // namespace waymark::syst::instrument

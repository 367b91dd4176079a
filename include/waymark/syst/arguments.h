// Packs the arguments of a printf into a message.  The conversions of the format decide,
// as in the sender's printf, and not the C++ types of the arguments.  Part of instrument.h: header
// only, C++20, without any other header of Waymark.  See mipi-syst.md 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace waymark::syst::instrument {

/// The sizes of the sender's long and pointers, with which formats are read.
enum class Packing : std::uint8_t { k32, k64 };
inline constexpr Packing kHostPacking = sizeof(void*) == 8 ? Packing::k64 : Packing::k32;

/// The result for one argument.
struct Slot {
  enum class Kind : std::uint8_t {
    kByType,   ///< No format is known; the type decides.
    kNothing,  ///< No conversion is left for it.
    kInt,      ///< Four bytes.
    kLong,     ///< As the sender's long; also for size_t and ptrdiff_t.
    kWide,     ///< Eight bytes.
    kDouble,
    kPointer,
    kText,
  };
  static constexpr std::int32_t kNoLimit = -1;
  static constexpr std::int32_t kStar = -2;  ///< Given by the argument before it.
  Kind kind = Kind::kNothing;
  std::int32_t limit = kNoLimit;  ///< For kText: the maximum number of characters.
};

/// The slots of a format, one after the other.
class FormatSlots {
 public:
  constexpr explicit FormatSlots(std::string_view format) : rest_(format) {}

  /// kNothing: no slot is left, or the format is not legal().
  constexpr Slot next() {
    if (stars_ == 0 && !read_conversion()) return {};
    if (stars_ > 1) {
      --stars_;
      return {Slot::Kind::kInt};
    }
    stars_ = 0;
    return slot_;
  }
  /// False: the format has a conversion that SyS-T does not know, or one that does not end.
  [[nodiscard]] constexpr bool legal() const { return legal_; }

 private:
  static constexpr bool is_in(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
  }
  constexpr char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  constexpr bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  constexpr std::int32_t take_number() {
    constexpr std::int32_t kMost = 1 << 24;  // More than any message.
    std::int32_t value = 0;
    while (is_digit(peek())) {
      value = value >= kMost ? kMost : value * 10 + (peek() - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  // Reads the slot of one conversion, which comes after one slot for each of its stars.  False:
  // there is none.
  constexpr bool read_conversion() {
    while (legal_) {
      const std::size_t percent = rest_.find('%');
      if (percent == std::string_view::npos) {
        rest_ = {};
        return false;
      }
      rest_.remove_prefix(percent + 1);
      if (take('%')) continue;
      unsigned stars = 0;
      while (peek() != '\0' && is_in(peek(), "-+ #0")) rest_.remove_prefix(1);
      if (take('*')) {
        ++stars;
      } else {
        (void)take_number();
      }
      std::int32_t limit = Slot::kNoLimit;
      if (take('.')) {
        if (take('*')) {
          ++stars;
          limit = Slot::kStar;
        } else {
          limit = take_number();
        }
      }
      char modifier = '\0';
      if (peek() != '\0' && is_in(peek(), "hljztL")) {
        modifier = peek();
        rest_.remove_prefix(1);
        // hh is narrower than int, as h is.
        if ((modifier == 'h' || modifier == 'l') && take(modifier) && modifier == 'l') {
          modifier = kTwice;
        }
      }
      const Slot::Kind kind = kind_of(peek(), modifier);
      legal_ = kind != Slot::Kind::kNothing;
      if (!legal_) return false;
      rest_.remove_prefix(1);
      slot_ = {kind, kind == Slot::Kind::kText ? limit : Slot::kNoLimit};
      stars_ = stars + 1;
      return true;
    }
    return false;
  }

  static constexpr char kTwice = 'w';  ///< In place of ll.

  static constexpr Slot::Kind kind_of(char conversion, char modifier) {
    using enum Slot::Kind;
    if (conversion == '\0') return kNothing;
    if (is_in(conversion, "diuoxX")) {
      if (modifier == 'j' || modifier == kTwice) return kWide;
      return modifier == 'l' || modifier == 'z' || modifier == 't' ? kLong : kInt;
    }
    if (is_in(conversion, "fFeEgGaA")) return kDouble;
    if (conversion == 'c') return kInt;
    if (conversion == 'p' || conversion == 'n') return kPointer;
    // The message format has no texts of wide characters.
    return conversion == 's' && modifier != 'l' && modifier != kTwice ? kText : kNothing;
  }

  std::string_view rest_;
  Slot slot_;
  unsigned stars_ = 0;  ///< Slots of the last conversion's stars that are not given yet.
  bool legal_ = true;
};

/// Slots without a format.
struct TypeSlots {
  static constexpr Slot next() { return {Slot::Kind::kByType}; }
  static constexpr bool legal() { return true; }
};

constexpr std::size_t count_slots(std::string_view format) {
  FormatSlots slots(format);
  std::size_t count = 0;
  while (slots.next().kind != Slot::Kind::kNothing) ++count;
  return count;
}

/// Slots that were read at compile time, so that the program does not need the format.
template <std::size_t Count>
class FixedSlots {
 public:
  constexpr explicit FixedSlots(std::string_view format) {
    FormatSlots slots(format);
    for (Slot& slot : slots_) slot = slots.next();
  }
  constexpr Slot next() { return at_ < Count ? slots_[at_++] : Slot{}; }
  static constexpr bool legal() { return true; }

 private:
  std::array<Slot, Count == 0 ? 1 : Count> slots_{};
  std::size_t at_ = 0;
};

template <class T>
inline constexpr bool kIsCharacter =
    std::is_same_v<T, char> || std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>;

/// Packs arguments into a Draft.
template <class Draft, class Slots>
class ArgumentPacker {
 public:
  ArgumentPacker(Draft& draft, Slots slots, Packing packing)
      : draft_(draft), slots_(slots), word_(packing == Packing::k64 ? 8 : 4) {}

  /// Packs the next argument.
  template <class T>
  void add(const T& value) {
    using Plain = std::remove_cv_t<T>;
    using Item = std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>;
    const Slot slot = slots_.next();
    if constexpr (std::is_null_pointer_v<Plain>) {
      add_pointer(slot, 0, "(null)");
    } else if constexpr (std::is_floating_point_v<Plain>) {
      add_double(slot, static_cast<double>(value));
    } else if constexpr (std::is_array_v<Plain> && kIsCharacter<Item>) {
      add_text(slot, value, [&](std::size_t limit) {
        return bounded(value, limit < sizeof value ? limit : sizeof value);
      });
    } else if constexpr (std::is_pointer_v<Plain> && kIsCharacter<Item>) {
      add_text(slot, value, [&](std::size_t limit) {
        return value == nullptr ? std::string_view("(null)").substr(0, limit)
                                : bounded(value, limit);
      });
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      const std::string_view text = value;
      add_text(slot, text.data(), [&](std::size_t limit) {
        return text.substr(0, text.substr(0, limit).find('\0')).substr(0, limit);
      });
    } else if constexpr (std::is_pointer_v<std::decay_t<T>>) {
      add_pointer(slot, address_of(value), {});
    } else if constexpr (std::is_enum_v<Plain>) {
      add_integer<std::underlying_type_t<Plain>>(slot,
                                                 static_cast<std::underlying_type_t<Plain>>(value));
    } else {
      static_assert(std::is_integral_v<Plain>, "printf has no conversion for this type");
      add_integer<Plain>(slot, value);
    }
  }

  /// False: a conversion cannot take its argument, or SyS-T does not know the format.
  [[nodiscard]] bool good() {
    // The text after the last argument must be legal too.
    while (good_ && is_format() && slots_.next().kind != Slot::Kind::kNothing) continue;
    return good_ && slots_.legal();
  }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  static constexpr bool is_format() { return !std::is_same_v<Slots, TypeSlots>; }

  template <class T>
  static std::uint64_t address_of(const T& value) {
    return reinterpret_cast<std::uintptr_t>(static_cast<std::decay_t<const T&>>(value));
  }

  template <class Character>
  static std::string_view bounded(const Character* text, std::size_t limit) {
    std::size_t size = 0;
    while (size < limit && text[size] != 0) ++size;
    return {reinterpret_cast<const char*>(text), size};
  }

  /// The maximum number of characters of a text.
  [[nodiscard]] std::size_t limit_of(const Slot& slot) const {
    const std::int32_t limit = slot.limit == Slot::kStar ? star_ : slot.limit;
    return limit < 0 ? kAll : static_cast<std::size_t>(limit);
  }

  void add_text(const Slot& slot, const void* address, auto&& text_within) {
    if (slot.kind == Slot::Kind::kPointer) {
      draft_.put(reinterpret_cast<std::uintptr_t>(address), word_);
      return;
    }
    if (slot.kind == Slot::Kind::kNothing) return;
    if (slot.kind != Slot::Kind::kText && slot.kind != Slot::Kind::kByType) {
      good_ = false;
      return;
    }
    draft_.put(std::string_view(text_within(limit_of(slot))));
    draft_.put_byte(0);
  }

  void add_pointer(const Slot& slot, std::uint64_t address, std::string_view as_text) {
    switch (slot.kind) {
      case Slot::Kind::kNothing:
        return;
      case Slot::Kind::kByType:
      case Slot::Kind::kPointer:
        draft_.put(address, word_);
        return;
      case Slot::Kind::kText:
        if (as_text.empty()) break;
        draft_.put(as_text.substr(0, limit_of(slot)));
        draft_.put_byte(0);
        return;
      default:
        break;
    }
    good_ = false;
  }

  void add_double(const Slot& slot, double number) {
    if (slot.kind == Slot::Kind::kNothing) return;
    if (slot.kind != Slot::Kind::kDouble && slot.kind != Slot::Kind::kByType) {
      good_ = false;
      return;
    }
    std::uint64_t bits = 0;
    static_assert(sizeof number == sizeof bits);
    std::memcpy(&bits, &number, sizeof bits);
    draft_.put(bits, 8);
  }

  template <class T>
  void add_integer(const Slot& slot, T number) {
    // Like any other conversion to 64 bits, this extends the sign, also of characters.
    // NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c)
    const auto wide = static_cast<std::uint64_t>(number);
    star_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(wide));
    switch (slot.kind) {
      case Slot::Kind::kNothing:
        return;
      case Slot::Kind::kInt:
        draft_.put(wide, 4);
        return;
      case Slot::Kind::kWide:
        draft_.put(wide, 8);
        return;
      case Slot::Kind::kLong:
      case Slot::Kind::kPointer:
        draft_.put(wide, word_);
        return;
      case Slot::Kind::kByType:
        if constexpr (std::is_same_v<T, long> || std::is_same_v<T, unsigned long>) {
          draft_.put(wide, word_);
        } else {
          draft_.put(wide, sizeof(T) > 4 ? 8 : 4);
        }
        return;
      default:
        good_ = false;
    }
  }

  Draft& draft_;
  Slots slots_;
  std::size_t word_;
  std::int32_t star_ = Slot::kNoLimit;
  bool good_ = true;
};

}  // namespace waymark::syst::instrument

#include "waymark/image/address_text.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "waymark/base/number.h"

namespace waymark::image {
namespace {

constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

std::unexpected<Error> invalid(std::string_view text, std::string_view reason) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' {}", text, reason));
}

/// Everything that is not a number is a name, known or not.
bool begins_as_number(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

class Reader {
 public:
  Reader(std::string_view text, const NameLookup& names) : text_(text), names_(names) {}

  [[nodiscard]] Result<AddressRange> range() const {
    if (const auto named = name(text_)) return *named;
    // A name may contain dots or a plus sign.
    if (const auto with_offset = extent(text_)) return with_offset;
    std::optional<Error> first_error;
    for (std::size_t at = text_.find(".."); at != std::string_view::npos;
         at = text_.find("..", at + 1)) {
      const auto found = between(text_.substr(0, at), text_.substr(at + 2));
      if (found) return found;
      if (!first_error) first_error = found.error();
    }
    if (first_error) return std::unexpected(*first_error);
    const std::size_t plus = text_.rfind('+');
    if (plus != std::string_view::npos) {
      const std::string_view start = text_.substr(0, plus);
      // After a bare name, the number is an offset.
      if (begins_as_number(start) || start.find('+') != std::string_view::npos) {
        const auto first = point(start);
        if (!first) return std::unexpected(first.error());
        return with_length(*first, text_.substr(plus + 1));
      }
    }
    const auto only = extent(text_);
    if (!only) return std::unexpected(only.error());
    return *only;
  }

  [[nodiscard]] Result<std::uint64_t> point(std::string_view part) const {
    const auto found = extent(part);
    if (!found) return std::unexpected(found.error());
    return found->first;
  }

 private:
  /// Only finds known names; extent() reports every other error.
  [[nodiscard]] std::optional<Result<AddressRange>> name(std::string_view part) const {
    if (!names_ || part.empty() || begins_as_number(part)) return std::nullopt;
    auto found = names_(part);
    if (!found && found.error().code == ErrorCode::kNotFound) return std::nullopt;
    return found;
  }

  /// P as the header defines it.
  [[nodiscard]] Result<AddressRange> extent(std::string_view part) const {
    if (begins_as_number(part)) {
      const auto value = parse_number(part);
      if (!value) return not_an_address(part);
      return AddressRange{*value, *value};
    }
    if (const auto named = name(part)) return *named;
    const std::size_t plus = part.rfind('+');
    if (plus == std::string_view::npos || plus == 0) return unknown(part);
    const std::string_view base = part.substr(0, plus);
    const auto named = name(base);
    if (!named) return unknown(base);
    if (!*named) return *named;
    const auto offset = parse_number(part.substr(plus + 1));
    if (!offset) return not_an_address(part);
    if (*offset > kTop - (*named)->first)
      return invalid(text_, "reaches beyond the top of memory.");
    const std::uint64_t address = (*named)->first + *offset;
    return AddressRange{address, address};
  }

  [[nodiscard]] Result<AddressRange> between(std::string_view from, std::string_view to) const {
    const auto first = point(from);
    if (!first) return std::unexpected(first.error());
    const auto end = point(to);
    if (!end) return std::unexpected(end.error());
    if (*end <= *first) {
      return invalid(text_,
                     fmt::format("is an empty range: 0x{:x} is not below 0x{:x}.", *first, *end));
    }
    return AddressRange{*first, *end - 1};
  }

  [[nodiscard]] Result<AddressRange> with_length(std::uint64_t first,
                                                 std::string_view length_text) const {
    const auto length = parse_number(length_text);
    if (!length) return not_an_address(text_);
    if (*length == 0) return invalid(text_, "is an empty range: its length is 0.");
    if (*length - 1 > kTop - first) return invalid(text_, "reaches beyond the top of memory.");
    return AddressRange{first, first + (*length - 1)};
  }

  [[nodiscard]] std::unexpected<Error> unknown(std::string_view part) const {
    if (!names_ || part.empty()) return not_an_address(part);
    const auto found = names_(part);
    const std::string reason = found ? std::string() : found.error().detail;
    return fail(ErrorCode::kNotFound,
                part == text_ ? reason : fmt::format("'{}' is not valid: {}", text_, reason));
  }

  [[nodiscard]] std::unexpected<Error> not_an_address(std::string_view part) const {
    const std::string which =
        part == text_ ? std::string("is not") : fmt::format("is not valid: '{}' is not", part);
    return invalid(text_, fmt::format("{} an address. Addresses are decimal, or hexadecimal after "
                                      "0x{}.",
                                      which, names_ ? ", or symbol names" : ""));
  }

  std::string_view text_;
  const NameLookup& names_;
};

}  // namespace

Result<AddressRange> parse_address_range(std::string_view text, const NameLookup& names) {
  return Reader(text, names).range();
}

std::string address_range_text(const AddressRange& range) {
  if (range.first == range.last) return fmt::format("0x{:x}", range.first);
  if (range.last == kTop) return fmt::format("0x{:x}+0x{:x}", range.first, kTop - range.first + 1);
  return fmt::format("0x{:x}..0x{:x}", range.first, range.last + 1);
}

}  // namespace waymark::image

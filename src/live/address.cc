#include "waymark/live/address.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "serial.h"
#include "waymark/base/nearest.h"
#include "waymark/base/number.h"

namespace waymark::live {
namespace {

struct Scheme {
  std::string_view name;
  Transport transport;
  std::uint16_t port;    ///< 0: it must be given.
  std::string_view key;  ///< The only key after '?'; empty: none.
};

constexpr std::array<Scheme, 4> kSchemes{{
    {"tcp", Transport::kTcp, 0, ""},
    {"openocd", Transport::kOpenocd, kOpenocdPort, ""},
    {"orbuculum", Transport::kOrbflow, kOrbuculumPort, "tag"},
    {"serial", Transport::kSerial, 0, "baud"},
}};

constexpr std::string_view kMark = "://";
constexpr std::uint32_t kLastTag = 0x7E;
constexpr std::uint32_t kMostBaud = 50'000'000;

std::unexpected<Error> wrong(const std::string& text, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", text, what));
}

/// The text before "://", if that is made of letters only.
std::string_view scheme_of(std::string_view text) {
  const std::size_t end = text.find(kMark);
  if (end == std::string_view::npos || end == 0) return {};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return std::ranges::all_of(text.substr(0, end), is_letter) ? text.substr(0, end)
                                                             : std::string_view();
}

bool is_serial_device(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && is_serial(path);
}

/// Divides "HOST:PORT" and "[HOST]:PORT".
Result<void> read_host(std::string_view rest, Address& address, const Scheme& scheme) {
  std::string_view port;
  bool has_port = false;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos)
      return wrong(address.text, "the bracket of the IPv6 address is not closed.");
    address.host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    if (!rest.empty() && !rest.starts_with(':'))
      return wrong(address.text, "after the bracket comes :PORT or nothing.");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = rest.find(':');
    address.host = rest.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = rest.substr(colon + 1);
    if (port.find(':') != std::string_view::npos)
      return wrong(address.text, "an IPv6 address is written in brackets, as in [::1]:3443.");
  }
  if (address.host.empty()) return wrong(address.text, "the host is missing.");
  if (!has_port && scheme.port == 0)
    return wrong(address.text,
                 fmt::format("the port is missing; write {}://HOST:PORT.", scheme.name));
  address.port = scheme.port;
  if (!has_port) return {};
  const auto number = parse_number(port);
  if (!number || *number == 0 || *number > 0xFFFF)
    return wrong(address.text, "a port is a number from 1 to 65535.");
  address.port = static_cast<std::uint16_t>(*number);
  return {};
}

Result<void> read_query(std::string_view query, Address& address, const Scheme& scheme) {
  const std::size_t equals = query.find('=');
  if (scheme.key.empty())
    return wrong(address.text, fmt::format("nothing can follow the port of {}://.", scheme.name));
  if (query.substr(0, equals) != scheme.key || equals == std::string_view::npos)
    return wrong(address.text, fmt::format("after ? comes {}=NUMBER.", scheme.key));
  const auto number = parse_number(query.substr(equals + 1));
  if (scheme.transport == Transport::kOrbflow) {
    if (!number || *number == 0 || *number > kLastTag)
      return wrong(address.text, "a tag is a number from 1 to 126.");
    address.tag = static_cast<TraceId>(*number);
    return {};
  }
  if (!number || *number == 0 || *number > kMostBaud)
    return wrong(address.text, fmt::format("a baud rate is a number from 1 to {}.", kMostBaud));
  address.baud = static_cast<std::uint32_t>(*number);
  return {};
}

std::unexpected<Error> unknown_scheme(const std::string& text, std::string_view name) {
  std::array<std::string_view, kSchemes.size()> names;
  std::ranges::transform(kSchemes, names.begin(), &Scheme::name);
  const auto meant = nearest(name, names);
  return wrong(text, fmt::format("'{}' is not a kind of live source; {}", name,
                                 meant ? fmt::format("did you mean {}://?", *meant)
                                       : fmt::format("use {}://.", fmt::join(names, "://, "))));
}

}  // namespace

std::string Address::place() const {
  if (transport == Transport::kSerial) return path;
  if (host.find(':') != std::string::npos) return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

bool is_address(const std::string& text) {
  return !scheme_of(text).empty() || is_serial_device(text);
}

Result<Address> parse_address(const std::string& text) {
  Address address;
  address.text = text;
  const std::string_view name = scheme_of(text);
  if (name.empty()) {
    address.transport = Transport::kSerial;
    address.path = text;
    return address;
  }
  const auto* const scheme = std::ranges::find(kSchemes, name, &Scheme::name);
  if (scheme == kSchemes.end()) return unknown_scheme(text, name);
  address.transport = scheme->transport;
  std::string_view rest = std::string_view(text).substr(name.size() + kMark.size());
  if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    WAYMARK_TRY(read_query(rest.substr(mark + 1), address, *scheme));
    rest = rest.substr(0, mark);
  }
  if (scheme->transport == Transport::kSerial) {
    address.path = rest;
    if (!rest.starts_with('/'))
      return wrong(text, "the device is written with its whole path, as in serial:///dev/ttyUSB0.");
    return address;
  }
  while (rest.ends_with('/')) rest.remove_suffix(1);
  WAYMARK_TRY(read_host(rest, address, *scheme));
  return address;
}

}  // namespace waymark::live

// The events that a parser passes to its visitor besides packets.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "waymark/base/types.h"
#include "waymark/frames/stream.h"

namespace waymark::protocol {

/// A visitor states it in takes().  What a parser does not have is not given, whatever is stated.
struct VisitorTakes {
  bool atom_rows = false;  ///< Consecutive headers of atoms at once: on_atom_row().
  bool p_headers = false;  ///< P-headers, as many as it likes: on_p_headers().
  bool places = false;     ///< Where packets are in the block, instead of indexes: on_place().
  /// Up to four headers of atoms, in the lowest bytes of a word, whose indexes follow each other,
  /// if wants_short_row(): on_short_row() returns how many it takes, and goes_on() whether it wants
  /// more.
  bool short_rows = false;
  bool own_packet = false;  ///< The packet is made where the visitor says: place().
};

/// The functions that a visitor has.
template <class Visitor>
consteval VisitorTakes functions_of() {
  return {.atom_rows = requires(Visitor & visitor,
                                Bytes headers){{visitor.on_atom_row(headers)} -> std::same_as<bool>;
}
,
    .p_headers =
        requires(Visitor& visitor, std::span<const frames::Run> runs, const std::uint8_t* data,
                 std::size_t position, std::size_t size) {
          { visitor.on_p_headers(runs, data, position, size) } -> std::same_as<std::size_t>;
        },
    .places = requires(Visitor& visitor, const std::uint8_t* at) { visitor.on_place(at); },
    .short_rows =
        requires(Visitor& visitor, TraceIndex index, std::uint32_t headers, unsigned packets) {
          { visitor.on_short_row(index, headers, packets) } -> std::same_as<unsigned>;
          { visitor.wants_short_row() } -> std::same_as<bool>;
          { visitor.goes_on() } -> std::same_as<bool>;
        },
    .own_packet = requires(Visitor& visitor) { visitor.place(); },
};  // namespace waymark::protocol
}

/// A visitor has the functions that it states, and no other of them: so a misspelt name is an
/// error.
template <class Visitor>
consteval bool has_what_it_takes() {
  constexpr VisitorTakes kHas = functions_of<Visitor>();
  static_assert(Visitor::takes().atom_rows == kHas.atom_rows,
                "atom_rows: bool on_atom_row(Bytes headers).");
  static_assert(Visitor::takes().p_headers == kHas.p_headers,
                "p_headers: std::size_t on_p_headers(runs, data, position, size).");
  static_assert(Visitor::takes().places == kHas.places,
                "places: void on_place(const std::uint8_t* at).");
  static_assert(Visitor::takes().short_rows == kHas.short_rows,
                "short_rows: unsigned on_short_row(TraceIndex index, std::uint32_t headers, "
                "unsigned packets), bool wants_short_row() and bool goes_on().");
  static_assert(Visitor::takes().own_packet == kHas.own_packet, "own_packet: Packet& place().");
  return true;
}

}  // namespace waymark::protocol

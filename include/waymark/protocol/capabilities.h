// The optional capabilities of a protocol.
#pragma once

namespace waymark::protocol {

/// Yes or no.  It has no default, so a struct of them must state each one.
class Stated {
 public:
  consteval Stated(bool value) : value_(value) {}     // NOLINT(google-explicit-constructor)
  constexpr operator bool() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  bool value_;
};

/// Each names functions that PacketSource then calls.  A protocol has all functions of those that
/// it states, and all functions of no other: requirements.h has them, and checks this.
struct Capabilities {
  Stated counts;           ///< Counts without making elements.
  Stated runs_atoms;       ///< The parser gives atoms without making packets of them.
  Stated settles_atoms;    ///< The decoder can resolve what it holds back, to run atoms again.
  Stated runs_rows;        ///< The decoder takes rows of consecutive headers.
  Stated runs_short_rows;  ///< It takes up to four consecutive packets of atoms at once.
  Stated puts;             ///< The decoder writes a packet's elements where the client wants them.
  Stated leaves_spans;     ///< The decoder keeps elements in the client's span between calls.
  Stated marks_parts;      ///< Each packet has its length, and no elements come without a packet.
  Stated jumps;            ///< State can be compared, and taken up in the middle of a trace.
  Stated takes_place;      ///< A copy of a decoder must see the original.
  Stated refreshes;        ///< The decoder keeps what it read from the image.
  Stated remembers_elements;  ///< With quirks, the decoder needs the elements that were given.
  Stated is_monitored;        ///< With quirks, the parser must know of monitors.
  Stated checks_registers;    ///< Packets may contradict the registers.
  Stated passes_packets;      ///< A quick test excludes most packets from landmarks.
};

}  // namespace waymark::protocol

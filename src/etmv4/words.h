// What a decoder says about damaged trace, in its own words and in those of the reference.
#pragma once

#include <string_view>

namespace waymark::etmv4 {

struct Words {
  std::string_view native;
  std::string_view reference;  ///< With the quirk reference_messages; etmv4-ete.md 4.11.
};

inline constexpr Words kReservedHeader{"A packet header is reserved.", "Reserved packet header"};
inline constexpr Words kBadBytes{"The bytes of a packet are not possible.",
                                 "Bad byte sequence in packet."};
inline constexpr Words kBadMode{"A packet is not possible in this mode of the trace unit.",
                                "Invalid packet type for trace mode."};
inline constexpr Words kUnknownPacket{"A packet is cut off, or of an unknown type.",
                                      "Unknown packet type."};
inline constexpr Words kDataTrace{
    "Packets of data trace and of conditional instructions cannot be decoded here.",
    "Data trace related, unsupported packet type."};

inline constexpr Words kTooManyEntries{"Too many elements wait for a commit.",
                                       "Too many elements wait for a commit."};
inline constexpr Words kCommitsTooMuch{"The trace commits more elements than are outstanding.",
                                       "Not enough elements to commit"};
inline constexpr Words kCancelsTooMuch{"The trace cancels more elements than are outstanding.",
                                       "Not enough elements to cancel"};
inline constexpr Words kNoMispredicted{"The trace has a mispredict, but no atom is outstanding.",
                                       "Not found mispredict atom"};
inline constexpr Words kStackEmpty{
    "An atom stands for a return, but no call is on the return stack.",
    "Trace Return Stack Overflow."};

inline constexpr Words kNoExceptionAddress{"No address follows an exception packet.",
                                           "Address missing in exception packet."};
inline constexpr Words kNoQAddress{"No address follows a Q packet.",
                                   "Address missing in Q packet."};

inline constexpr Words kAtomWalk{"The instructions that an atom stands for cannot be followed.",
                                 "Error processing atom packet."};
inline constexpr Words kExceptionWalk{"The instructions before an exception cannot be followed.",
                                      "Error processing exception packet."};
inline constexpr Words kQWalk{"The instructions of a Q packet cannot be followed.",
                              "Error processing Q packet"};
inline constexpr Words kSourceRead{"The instructions of a source address packet cannot be read.",
                                   "Mem access error processing source address packet."};
inline constexpr Words kSourceDecode{
    "The instructions of a source address packet cannot be followed.",
    "Instruction decode error processing source address packet."};
inline constexpr Words kRangeTooLong{"A range has more instructions than the limit allows.",
                                     "Decode Instruction Range Limit Overrun"};

inline constexpr Words kNotTakenDirect{
    "An atom N stands for an unconditional direct branch: trace and code image disagree.",
    "Bad program image - N Atom on unconditional direct BR.\n"};
inline constexpr Words kNotTakenIndirect{
    "An atom N stands for an unconditional indirect branch: trace and code image disagree.",
    "Bad program image - N Atom on unconditional indirect BR.\n"};
inline constexpr Words kNotContinuous{
    "A range does not begin where the last one ended: trace and code image disagree.",
    "Discontinuous ranges - Inconsistent program image for decode\n"};

}  // namespace waymark::etmv4

#include "waymark/syst/frame.h"

#include <utility>

namespace waymark::syst {

std::string_view frame_end_name(FrameEnd end) {
  constexpr std::string_view kNames[] = {"whole",    "restarted", "lost",    "end_of_input",
                                         "too_long", "bad_text",  "guessed", "no_message"};
  return kNames[std::to_underlying(end)];
}

std::string_view frame_end_sentence(FrameEnd end) {
  switch (end) {
    case FrameEnd::kWhole:
      return "";
    case FrameEnd::kRestarted:
      return "the next message of the channel began before its end";
    case FrameEnd::kLost:
      return "the transport lost data before its end";
    case FrameEnd::kEndOfInput:
      return "the capture ends within this message";
    case FrameEnd::kTooLong:
      return "it is longer than a message can be";
    case FrameEnd::kBadText:
      return "a digit of its text is missing";
    case FrameEnd::kGuessed:
      return "it has no length field, so its end is a guess";
    case FrameEnd::kNoMessage:
      return "no message starts here";
  }
  return "";
}

}  // namespace waymark::syst

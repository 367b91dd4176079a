// The words of the frame layer; frames.md 4.
#include "wording/wording.h"

namespace waymark::compat {
namespace {

std::string_view size_words(unsigned size) {
  switch (size) {
    case 2:
      return "Input block incorrect size, must be 2 byte multiple";
    case 4:
      return "Input block incorrect size, must be 4 byte multiple";
    default:
      return "Input block incorrect size, must be 16 byte multiple";
  }
}

}  // namespace

Words frames_words(const Diagnostic& record) {
  switch (record.finding) {
    case Finding::kBlockAfterError:
      return "Input block after a framing error";
    case Finding::kBlockTooEarly:
      return "Input block before the last one was used up";
    case Finding::kBlockEmpty:
      return "Input block is empty";
    case Finding::kBlockNotContinuous:
      return "";
    case Finding::kBlockSize:
      return size_words(record.number);
    case Finding::kFsyncRun:
      return "Incorrect FSYNC frame reset pattern";
    case Finding::kFsyncCutShort:
      return "Bad FSYNC pattern before frame or invalid ID.(0x7F)";
    case Finding::kFsyncInFrame:
      return "Bad FSYNC start in frame or invalid ID (0x7F).";
    case Finding::kHsyncInFrame:
      return "Bad HSYNC in frame.";
    case Finding::kSegmentEmpty:
      return "Packet Processor: Zero length data block or NULL pointer error\n";
    default:
      return {};
  }
}

}  // namespace waymark::compat

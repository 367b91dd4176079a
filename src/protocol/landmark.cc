#include "waymark/protocol/landmark.h"

namespace waymark {

std::string_view landmark_name(LandmarkKind kind) {
  switch (kind) {
    case LandmarkKind::kAlign:
      return "align";
    case LandmarkKind::kSync:
      return "sync";
    case LandmarkKind::kTimestamp:
      return "timestamp";
    case LandmarkKind::kContext:
      return "context";
    case LandmarkKind::kEvent:
      return "event";
    case LandmarkKind::kTrigger:
      return "trigger";
    case LandmarkKind::kException:
      return "exception";
    case LandmarkKind::kOverflow:
      return "overflow";
    case LandmarkKind::kDiscard:
      return "discard";
    case LandmarkKind::kTraceOn:
      return "trace-on";
    case LandmarkKind::kGap:
      return "gap";
  }
  return "?";
}

}  // namespace waymark

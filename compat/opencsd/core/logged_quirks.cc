#include "logged_quirks.h"

#include "logger.h"

namespace waymark::compat {

bool level_is_known() {
  const Result<Level> level = chosen_level();
  if (!level)
    Logger::instance().error(kLevelVariable, OCSD_ERR_SEV_ERROR, ErrorNumber::kInvalidParamVal,
                             kNoIndex, kNoTraceId, level.error().detail + "\n");
  return level.has_value();
}

frames::Quirks frame_quirks() {
  std::vector<std::string> unknown;
  const frames::Quirks quirks = QuirkChoice::of_environment(unknown).frames();
  for (const std::string& name : unknown)
    Logger::instance().error(kQuirksVariable, OCSD_ERR_SEV_WARN, ErrorNumber::kInvalidParamVal,
                             kNoIndex, kNoTraceId,
                             "No quirk is named '" + name +
                                 "': write group.quirk as in docs/opencsd-compatibility.md.\n");
  return quirks;
}

}  // namespace waymark::compat

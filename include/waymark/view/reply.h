// A question to a session, and its answer as a client gets it.
#pragma once

#include <string>
#include <string_view>

#include "waymark/base/result.h"
#include "waymark/view/request.h"
#include "waymark/view/session.h"

namespace waymark::view {

struct Reply {
  std::string type = "application/json";  ///< Of MIME.
  std::string body{};
};

/// Asks the session.  `version`: that of the program.  Errors: those of the session, and
/// kInvalidArgument for a window that is after the end of the axis.
Result<Reply> reply_to(Session& session, const Question& question, std::string_view version,
                       const Stop& stop);

}  // namespace waymark::view

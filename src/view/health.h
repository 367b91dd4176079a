// Problems of a capture, as findings with places.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "overview.h"
#include "waymark/base/result.h"
#include "waymark/view/answers.h"
#include "waymark/view/session.h"

namespace waymark::view {

/// Problems of the capture as a whole, as sentences, which are requested once.  Any
/// number of threads may use it.
class Problems {
 public:
  using Ask = std::function<Result<std::vector<std::string>>(const Stop& stop)>;
  /// `ask` may be empty: there are none.
  Result<std::vector<std::string>> get(const Ask& ask, const Stop& stop);

 private:
  std::mutex mutex_;
  std::optional<std::vector<std::string>> known_;  ///< Nothing: not asked yet.
};

/// Reading ended early, with a sentence that says why, at this place on the axis.
HealthFinding reading_failed(const std::string& failure, double reached);

/// A sentence about the capture as a whole: the first sentence is the title, and what follows the
/// text.
HealthFinding finding_of(const std::string& sentences);

/// Where trace is missing, one finding for each track and kind, with its first place.  `tracks` are
/// those of the overview, with their names.
std::vector<HealthFinding> places_of_loss(const Overview& overview, std::span<const Track> tracks);

}  // namespace waymark::view

// Stores what a session knows of a capture in the capture's index.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/index/index.h"
#include "waymark/inputs/capture.h"
#include "waymark/view/trace_session.h"

namespace waymark::view {

/// The data stored of the capture; nothing: there is no index that belongs to it, or nothing usable
/// in it.  `stop` may end the check of a capture whose file was touched.
std::optional<std::vector<index::ViewRecord>> read_shelf(const IndexPlaces& places,
                                                         const inputs::Capture& capture,
                                                         const Stop& stop);

/// Makes records with an index of the whole capture; nothing: nothing is to be stored.
using MakeRecords =
    std::function<Result<std::optional<std::vector<index::ViewRecord>>>(index::Index& index)>;

/// Opens the index, makes one if there is none, and stores what `make` makes.  Waits a few seconds
/// while another process uses the index.  Errors: there is no index that can be written.
Result<void> write_shelf(const IndexPlaces& places, const inputs::Capture& capture,
                         const MakeRecords& make, const Stop& stop);

}  // namespace waymark::view

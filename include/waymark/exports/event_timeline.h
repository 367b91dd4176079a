// Exceptions, events and messages as a timeline: for traces without a core, such as that of an ITM.
#pragma once

#include <memory>

#include "waymark/exports/event_writer.h"
#include "waymark/exports/timelines.h"

namespace waymark::exports {

/// As EventTracks shows them.
///
/// `make`: the format.
std::unique_ptr<EventWriter> make_event_timeline(
    std::unique_ptr<TimelineWriter> (*make)(TextBuffer& out), ToNanoseconds clock);

}  // namespace waymark::exports

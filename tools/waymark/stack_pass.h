// Call stacks of a capture: for count --tree and export.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "exit_code.h"
#include "output.h"
#include "run.h"
#include "selection.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/stacks/engine.h"
#include "window.h"

namespace waymark::cli {

/// Sets what an engine must know of a capture, which must outlive the engine: the programs,
/// threads, exceptions and sources.  `places`: as place_lookup() gives it; empty: no function has a
/// name.
stacks::Options stack_options(const inputs::Capture& capture, outputs::PlaceLookup places);

enum class Roots : std::uint8_t { kProcesses, kThreads };
/// Names what owns the outermost frames: "name", or "name-TID".  Empty: the capture does not say
/// which process ran.
std::function<std::string(const stacks::Owner& owner)> root_namer(const inputs::Capture& capture,
                                                                  Roots roots);

/// The facts about one of its sources that an engine needs.
stacks::SourceFacts facts_of(const inputs::CaptureSource& source);

/// The same for its sources.
void set_sources(stacks::Engine& engine, const inputs::Capture& capture);

/// Gives the engine the elements of the threads that are selected.
void observe_selected(stacks::Engine& engine, std::optional<Selection>& selection,
                      std::span<const Element> elements);

/// Decodes the capture, or what is in the window, into the engine.  `selection` by task only.
/// `also` gets the same elements, whatever is selected.  The result is as of run_capture().
int trace_stacks(inputs::Capture& capture, const std::optional<Selection>& selection,
                 Window& window, Output& output, stacks::Engine& engine,
                 const std::function<void(std::span<const Element>)>& also = {},
                 const RunLimits& limits = {});

/// Says on standard error what cannot be trusted.
void report_quality(const stacks::Engine& engine);

/// --stats: what returns found, source by source, on standard error.
void print_stack_quality(const stacks::Engine& engine);

}  // namespace waymark::cli

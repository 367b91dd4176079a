// The execution of captures, program by program: for export.
#pragma once

#include <vector>

#include "counting.h"
#include "waymark/count/counts.h"
#include "waymark/inputs/capture.h"
#include "waymark/outputs/function_names.h"
#include "waymark/profile/profile.h"

namespace waymark::cli {

/// Finds the programs of a capture: in the memory of each process if it is a recording, else with
/// `places`, as place_lookup() gives it.  The capture must outlive the result.
profile::Locate program_locator(const inputs::Capture& capture, outputs::PlaceLookup places);

/// The program that executed most of those that are ELF files; nullptr: there is none.
const profile::ProgramProfile* main_program(const profile::Profile& profile);

/// The name of its file, without the folder.
std::string file_name(const profile::ProgramProfile& program);

}  // namespace waymark::cli

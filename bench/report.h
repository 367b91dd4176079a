// The results, as a table for people or as JSON.
#pragma once

#include <span>
#include <string>

#include "bench/measure.h"

namespace waymark::bench {

/// The rates of one side from its best pass.
std::string table(const Capture& capture, std::span<const Row> rows, const std::string& reference);

/// One JSON object, without newline at the end.
std::string json(const Capture& capture, std::span<const Row> rows, const std::string& reference);

}  // namespace waymark::bench

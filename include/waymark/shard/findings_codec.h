// Findings as the content of parts.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/exports/findings.h"

namespace waymark::shard {

/// The same findings always give the same bytes.
std::string encode(std::span<const exports::CaptureFindings> captures);

/// kBadData: it is not findings.
Result<std::vector<exports::CaptureFindings>> read_findings(Bytes content);

}  // namespace waymark::shard

#include <algorithm>
#include <iterator>

#include "waymark/shard/job.h"

namespace waymark::shard {
namespace {

constexpr Want kWants[] = {
    {"counts", "counts", Payload::kProfile},
    {"profile", "autofdo", Payload::kProfile},
    {"profile", "llvm-unsymbolized", Payload::kProfile},
    {"profile", "llvm-sample", Payload::kProfile},
    {"profile", "llvm-sample-binary", Payload::kProfile},
    {"profile", "bolt", Payload::kProfile},
    {"profile", "afl", Payload::kProfile},
    {"profile", "afl-map", Payload::kProfile},
    {"coverage", "lcov", Payload::kProfile},
    {"coverage", "cobertura", Payload::kProfile},
    {"stacks", "folded", Payload::kTree},
    {"branches", "branch-list", Payload::kBranches},
    {"events", "parquet", Payload::kTables},
    {"findings", "findings", Payload::kFindings},
    {"findings", "findings-csv", Payload::kFindings},
};

}  // namespace

std::span<const Want> wants() { return kWants; }

const Want* find_want(std::string_view format) {
  const auto* const found = std::ranges::find(kWants, format, &Want::format);
  return found == std::end(kWants) ? nullptr : found;
}

std::optional<Payload> payload_of_slices(Payload want) {
  if (want == Payload::kProfile) return Payload::kSlice;
  if (want == Payload::kBranches) return Payload::kBranchSlice;
  if (want == Payload::kTree) return Payload::kStackSlice;
  if (want == Payload::kTables) return Payload::kTableSlice;
  return std::nullopt;
}

}  // namespace waymark::shard

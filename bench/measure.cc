#include "bench/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/own.h"
#include "bench/reference.h"

namespace waymark::bench {
namespace {

/// Waymark's passes are short: several of them are compared with one of the reference.
constexpr unsigned kOwnPasses = 3;

std::expected<void, std::string> run_own(const Capture& capture, Row& row) {
  for (unsigned pass = 0; pass < kOwnPasses; ++pass) {
    auto own = make_own(capture, row.work);
    if (!own) return std::unexpected(own.error());
    auto counts = (*own)->pass(false);
    if (!counts) return std::unexpected(counts.error());
    row.own.counts = *counts;
    row.own.seconds.push_back(counts->seconds);
    if (pass + 1 < kOwnPasses) continue;
    (*own)->reset();
    counts = (*own)->pass(false);
    if (!counts) return std::unexpected(counts.error());
    row.warm_allocations = counts->allocations;
    row.warm_seconds = counts->seconds;
  }
  return {};
}

std::expected<void, std::string> run_other(const Capture& capture, Row& row) {
  auto counts = run_reference(capture, row.work, false);
  if (!counts) return std::unexpected(counts.error());
  row.reference.counts = *counts;
  row.reference.seconds.push_back(counts->seconds);
  return {};
}

/// One pass of each side over every element, not timed.
std::expected<void, std::string> compare(const Capture& capture, const Row& row) {
  const Counts& own = row.own.counts;
  const Counts& other = row.reference.counts;
  if (row.work == Work::kListing) return {};
  if (row.work == Work::kPackets) {
    if (own.packets == other.packets) return {};
    return std::unexpected(fmt::format("packets differ: {} and {}", own.packets, other.packets));
  }
  if (own.elements != other.elements || own.instructions != other.instructions) {
    return std::unexpected(fmt::format("elements differ: {} and {}; instructions {} and {}",
                                       own.elements, other.elements, own.instructions,
                                       other.instructions));
  }
  // The row of batches has compared every element.
  if (row.work == Work::kCounting) return {};
  auto decoder = make_own(capture, row.work);
  if (!decoder) return std::unexpected(decoder.error());
  const auto own_pass = (*decoder)->pass(true);
  const auto other_pass = run_reference(capture, row.work, true);
  if (!own_pass) return std::unexpected(own_pass.error());
  if (!other_pass) return std::unexpected(other_pass.error());
  if (own_pass->checksum != other_pass->checksum) {
    return std::unexpected("as many elements, but their kinds or ranges differ");
  }
  return {};
}

Row measure_row(const Capture& capture, Work work, const Plan& plan) {
  Row row;
  row.work = work;
  bool reference = plan.reference;
  for (unsigned i = 0; i < plan.repetitions; ++i) {
    if (reference) {
      if (const auto ran = run_other(capture, row); !ran) {
        row.remark = "no ratio, the reference: " + ran.error();
        row.reference = {};
        reference = false;
      }
    }
    if (const auto ran = run_own(capture, row); !ran) {
      row.remark = "failed: " + ran.error();
      row.failed = true;
      row.own = {};
      return row;
    }
  }
  if (!row.reference.ran()) return row;
  if (const auto same = compare(capture, row); !same) {
    row.remark = "no ratio, " + same.error();
    row.disagrees = true;
  }
  return row;
}

}  // namespace

double Series::best() const { return *std::ranges::min_element(seconds); }

double Series::median() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::array<Row, kWorkCount> measure(const Capture& capture, const Plan& plan) {
  std::array<Row, kWorkCount> rows;
  for (std::size_t i = 0; i < kWorkCount; ++i) {
    rows[i] = measure_row(capture, static_cast<Work>(i), plan);
  }
  // The listing shows the elements that the row of elements compared: if they differ, so does the
  // text.
  const Row& elements = rows[static_cast<std::size_t>(Work::kElementBatches)];
  Row& listing = rows[static_cast<std::size_t>(Work::kListing)];
  if (elements.disagrees && listing.remark.empty()) {
    listing.remark = "no ratio, the elements differ";
    listing.disagrees = true;
  }
  return rows;
}

std::string_view work_name(Work work) {
  switch (work) {
    case Work::kPackets:
      return "packets only";
    case Work::kElementBatches:
      return "elements, batch of 1024";
    case Work::kElementSingle:
      return "elements, one at a time";
    case Work::kListing:
      return "text listing";
    case Work::kCounting:
      return "counting";
    case Work::kOwnElements:
      return "elements without the reference's rules";
  }
  return {};
}

}  // namespace waymark::bench

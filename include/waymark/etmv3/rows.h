// P-headers as the decoder's loop needs them: the effect of each on the elements, without a branch.
// See etmv3.md 4 and 9.3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "waymark/element/element.h"
#include "waymark/etmv3/p_header.h"
#include "waymark/flow/instruction_cache.h"

namespace waymark::etmv3 {

/// Four words of an element at once.
using Quad = std::uint32_t __attribute__((vector_size(16)));

/// The part of an element made by a P-header that the context gives.
enum class RowKind : std::uint8_t { kNotExecuted = 0, kExecuted = 1, kCycles = 2 };

/// The effect of a P-header while the address is known.  `outputs` is 0 for all other bytes, and
/// for P-headers that the loop does not handle.
struct alignas(128) Row {
  // The bits of a step that go into an element: into its addresses and its description.
  Quad address_mask = {0, 0, 0, 0};
  Quad description_mask = {0, 0, 0, 0};
  // Element::timestamp, count and cycle_count of the first and the other elements.
  Quad first_counts = {0, 0, 0, 0};
  Quad other_counts = {0, 0, 0, 0};
  // For each of the first two atoms: a mask of places in the queue, all ones if the atom exists;
  // the bits of its step that end the fast path.
  std::size_t present[2] = {0, 0};
  std::uint32_t stops[2] = {flow::Step::kAlways, 0};
  RowKind kinds[2] = {RowKind::kNotExecuted, RowKind::kNotExecuted};
  std::uint16_t atoms = 0;
  std::uint8_t atom_count = 0;
  std::uint8_t outputs = 0;  ///< The number of elements.
  bool lone = false;         ///< A single range.
};

using Rows = std::array<Row, 256>;

namespace detail {

consteval Row make_row(const PHeader& header, bool cycle_accurate) {
  using flow::Step;
  Row row;
  if (!header.valid || (header.atom_count == 0 && !cycle_accurate)) return row;
  row.atoms = header.atoms;
  row.atom_count = header.atom_count;
  row.stops[0] = 0;
  if (header.atom_count == 0) {
    row.outputs = 1;
    row.kinds[0] = RowKind::kCycles;
    // Where no address is known, it gives another count.
    if (header.format == 1) row.stops[0] = flow::Step::kStopsNotExecuted;
    row.first_counts = Quad{0, 0, 0, header.format == 1 ? 1U : header.cycle_count};
    return row;
  }
  row.outputs = header.atom_count;
  row.lone = header.atom_count == 1;
  row.first_counts = Quad{0, 0, 1, header.first_cycles};
  row.other_counts = Quad{0, 0, 1, header.other_cycles};
  row.address_mask = Quad{~0U, ~0U, 0, 0};
  row.description_mask = Quad{0, 0, Step::kConditional, ~0U};
  for (unsigned i = 0; i < 2 && i < header.atom_count; ++i) {
    const bool executed = (header.atoms >> i & 1) != 0;
    row.present[i] = ~std::size_t{0};
    row.kinds[i] = executed ? RowKind::kExecuted : RowKind::kNotExecuted;
    row.stops[i] = executed ? Step::kStopsExecuted : Step::kStopsNotExecuted;
  }
  if (header.atom_count > 2) row.stops[0] = Step::kAlways;
  return row;
}

consteval std::array<Rows, 4> make_rows() {
  std::array<Rows, 4> tables{};
  for (unsigned table = 0; table < 4; ++table)
    for (unsigned byte = 0; byte < 256; ++byte)
      tables[table][byte] = make_row(kPHeaders[table][byte], table >= 2);
  return tables;
}

inline constexpr std::array<Rows, 4> kRows = make_rows();

}  // namespace detail

/// Indexed by header byte; see p_headers().
constexpr const Rows& rows(bool cycle_accurate, bool tolerant) {
  return detail::kRows[(cycle_accurate ? 2U : 0U) + (tolerant ? 1U : 0U)];
}

}  // namespace waymark::etmv3

#include <fmt/format.h>

#include <utility>

#include "differences.h"
#include "waymark/outputs/json.h"

namespace waymark::outputs {
namespace {

using diff::Side;

void put_text(TextBuffer& out, std::string_view key, std::string_view text) {
  out.put(fmt::format(R"(,"{}":)", key));
  write_json_string(out, text);
}

void put_frame(TextBuffer& out, const DifferenceFrame& frame) {
  out.put(R"({"function":)");
  if (frame.function.empty()) {
    out.put("null");
  } else {
    write_json_string(out, frame.function);
  }
  out.put(fmt::format(R"(,"offset":{})", frame.offset));
  if (frame.address == 0) {
    out.put(R"(,"address":null)");
  } else {
    out.put(fmt::format(R"(,"address":"0x{:x}")", frame.address));
  }
  if (frame.line == 0) {
    out.put(R"(,"file":null,"line":null})");
    return;
  }
  put_text(out, "file", frame.file);
  out.put(fmt::format(R"(,"line":{}}})", frame.line));
}

/// Where a run was, and what it did then.
void put_run(TextBuffer& out, const DifferenceReport& report, std::size_t number, Side side) {
  const diff::Divergence& divergence = report.comparison.divergences()[number];
  const diff::Position& at = divergence.at[side];
  out.put(fmt::format(R"({{"instruction":{},"detour_instructions":{},"detour_steps":{})",
                      at.instruction, divergence.detours[side].instructions,
                      divergence.detours[side].steps));
  if (at.block == diff::kNoBlock) {
    out.put(R"(,"step":null)");
  } else {
    const diff::BlockPlace& place = report.comparison.blocks()[at.block].places[side];
    out.put(fmt::format(R"(,"step":{{"start":"0x{:x}","end":"0x{:x}"}})", place.start.address,
                        place.end().address));
  }
  const DifferencePlace* const place =
      number < report.places.size() ? &report.places[number][side] : nullptr;
  if (place == nullptr || !place->found) {
    out.put(R"(,"index":null,"stack":null})");
    return;
  }
  out.put(fmt::format(R"(,"index":{},"stack":[)", place->index));
  std::string_view comma;
  for (const DifferenceFrame& frame : place->stack) {
    out.put(std::exchange(comma, ","));
    put_frame(out, frame);
  }
  out.put("]}");
}

void put_sums(TextBuffer& out, const diff::Change& change) {
  for (Side side = 0; side < diff::kSides; ++side) {
    const diff::Sums& sums = change.sums[side];
    out.put(fmt::format(R"(,"{}":{{"times":{},"instructions":{},"cycles":{}}})",
                        side == 0 ? "a" : "b", sums.times, sums.instructions, sums.cycles));
  }
  out.put("}\n");
}

void put_programs(TextBuffer& out, const diff::Programs& programs) {
  for (const diff::ProgramPair& pair : programs.pairs()) {
    if (pair.programs[0] == nullptr && pair.programs[1] == nullptr) continue;
    constexpr std::array<std::string_view, 3> kWords{"one_run", "same", "builds"};
    out.put(fmt::format(R"({{"type":"program","match":"{}")",
                        kWords[static_cast<std::size_t>(pair.match)]));
    for (Side side = 0; side < diff::kSides; ++side) {
      out.put(side == 0 ? R"(,"a":)" : R"(,"b":)");
      if (pair.programs[side] == nullptr) {
        out.put("null");
        continue;
      }
      out.put(R"({"path":)");
      write_json_string(out, pair.programs[side]->path());
      put_text(out, "build_id", build_id_text(*pair.programs[side]));
      out.put('}');
    }
    out.put("}\n");
  }
}

void put_threads(TextBuffer& out, const diff::Comparison& all) {
  for (const diff::ThreadPair& pair : all.threads()) {
    if (!pair.threads[0] && !pair.threads[1]) continue;
    out.put(R"({"type":"thread","name":)");
    write_json_string(out, thread_text(pair));
    out.put(
        fmt::format(R"(,"in_a":{},"in_b":{},"by_order":{},"instructions":[{},{}],"same_steps":{},)"
                    R"("divergences":{},"not_aligned":{},"not_compared":[{},{}]}})"
                    "\n",
                    pair.threads[0].has_value(), pair.threads[1].has_value(), pair.by_order,
                    pair.instructions[0], pair.instructions[1], pair.agreement.steps,
                    pair.agreement.divergences, pair.agreement.not_joined, pair.not_compared[0],
                    pair.not_compared[1]));
  }
}

}  // namespace

void write_json(TextBuffer& out, const DifferenceReport& report, std::size_t number) {
  const diff::Comparison& all = report.comparison;
  const diff::Divergence& divergence = all.divergences()[number];
  out.put(fmt::format(
      R"({{"type":"divergence","number":{},"times":{},"cause":"{}","left":{},"thread":)",
      number + 1, divergence.times, cause_word(divergence.cause),
      !divergence.left        ? "null"
      : *divergence.left == 0 ? R"("a")"
                              : R"("b")"));
  write_json_string(out, thread_text(all.threads()[divergence.thread]));
  put_text(out, "text", sentence_of(report, number));
  out.put(R"(,"a":)");
  put_run(out, report, number, 0);
  out.put(R"(,"b":)");
  put_run(out, report, number, 1);
  if (divergence.joined == diff::kNoBlock) {
    out.put(R"(,"joined":null})");
    return;
  }
  const diff::BlockPlace& place = shown_place(all.blocks()[divergence.joined]);
  put_text(out, "joined", place_text(divergence.joined_inside ? place.end() : place.start));
  out.put('}');
}

void write_json(TextBuffer& out, const DifferenceReport& report) {
  const diff::Comparison& all = report.comparison;
  put_programs(out, all.programs());
  put_threads(out, all);
  for (std::size_t i = 0; i < all.divergences().size(); ++i) {
    write_json(out, report, i);
    out.put('\n');
  }
  for (const diff::Change& change : all.function_changes()) {
    out.put(R"({"type":"function","name":)");
    write_json_string(out, function_text(all.programs(), change.number));
    put_sums(out, change);
  }
  for (const diff::Change& change : all.block_changes()) {
    const diff::BlockPlace& place = shown_place(all.blocks()[change.number]);
    out.put(fmt::format(R"({{"type":"block","start":"0x{:x}","end":"0x{:x}","place":)",
                        place.start.address, place.end().address));
    write_json_string(out, place_text(place.start));
    put_sums(out, change);
  }
  const diff::Agreement agreement = all.agreement();
  const auto totals = all.totals();
  out.put(fmt::format(
      R"({{"type":"summary","instructions":[{},{}],"cycles":[{},{}],"same_steps":{},)"
      R"("divergences":{},"not_aligned":{},"apart_instructions":[{},{}],"complete":{},"causes":{{)",
      totals[0].instructions, totals[1].instructions, totals[0].cycles, totals[1].cycles,
      agreement.steps, agreement.divergences, agreement.not_joined, agreement.apart[0].instructions,
      agreement.apart[1].instructions, !all.is_full()));
  for (std::size_t i = 0; i < diff::kCauses; ++i) {
    out.put(fmt::format(R"({}"{}":{})", i == 0 ? "" : ",", cause_word(static_cast<diff::Cause>(i)),
                        agreement.by_cause[i]));
  }
  out.put("}}\n");
}

}  // namespace waymark::outputs

#include "waymark/shard/branch_slice_codec.h"

#include "pack_slice.h"

namespace waymark::shard {
namespace {

using exports::BranchState;
using exports::BranchStates;

constexpr std::uint64_t kLastKind = static_cast<std::uint64_t>(exports::BinaryKind::kModule);

void put_states(std::string& out, const BranchStates& states) {
  put_number(out, states.size());
  for (const auto& [id, state] : states) {
    put_number(out, id);
    put_number(out, state.address);
    put_number(out, state.context.process);
    put_number(out, state.context.level);
    put_number(out, state.waits ? 1 : 0);
    put_number(out, state.drops ? 1 : 0);
    put_text(out, state.place.name.path);
    put_text(out, state.place.name.build_id);
    put_number(out, static_cast<std::uint64_t>(state.place.name.kind));
    put_number(out, state.place.name.kernel_start);
    put_number(out, state.place.address);
    put_text(out, state.bits.bytes);
    put_number(out, state.bits.count);
  }
}

BranchStates take_states(Cursor& cursor) {
  BranchStates states;
  const std::size_t count = take_count(cursor);
  for (std::size_t i = 0; i < count && !cursor.overrun(); ++i) {
    BranchState& state = states[static_cast<TraceId>(take_most(cursor, kTraceIdCount - 1))];
    state.address = take_number(cursor);
    state.context.process = take_number(cursor);
    state.context.level = static_cast<std::uint8_t>(take_most(cursor, 0xFF));
    state.waits = take_flag(cursor);
    state.drops = take_flag(cursor);
    state.place.name.path = take_text(cursor);
    state.place.name.build_id = take_text(cursor);
    state.place.name.kind = static_cast<exports::BinaryKind>(take_most(cursor, kLastKind));
    state.place.name.kernel_start = take_number(cursor);
    state.place.address = take_number(cursor);
    state.bits.bytes = take_text(cursor);
    state.bits.count = in_memory(take_most(cursor, state.bits.bytes.size() * 8));
    // Another outcome is added after the last one, so the bytes must be those of the count.
    if ((state.bits.count + 7) / 8 != state.bits.bytes.size()) overrun(cursor);
  }
  return states;
}

}  // namespace

Result<std::string> encode(const SliceBranches& branches) {
  const auto list = exports::written_branch_list(branches.found.list, false);
  if (!list) return std::unexpected(list.error());
  std::string out;
  put_files(out, branches.files);
  put_seam(out, branches.seam);
  put_states(out, branches.begin);
  put_states(out, branches.end);
  put_text(out, *list);
  put_number(out, branches.found.lost);
  put_number(out, branches.found.cancelled);
  put_number(out, branches.found.saw_packets ? 1 : 0);
  return out;
}

Result<SliceBranches> read_branch_slice(Bytes content) {
  Cursor cursor(content);
  SliceBranches branches;
  branches.files = take_files(cursor);
  branches.seam = take_seam(cursor);
  branches.begin = take_states(cursor);
  branches.end = take_states(cursor);
  const Bytes list = cursor.take(take_count(cursor));
  branches.found.lost = take_number(cursor);
  branches.found.cancelled = take_number(cursor);
  branches.found.saw_packets = take_flag(cursor);
  if (cursor.overrun() || !cursor.at_end())
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  auto read = exports::read_branch_list(list);
  if (!read) return std::unexpected(read.error());
  branches.found.list = *std::move(read);
  return branches;
}

}  // namespace waymark::shard

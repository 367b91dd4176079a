#include "waymark/shard/stack_slice_codec.h"

#include "pack_slice.h"
#include "waymark/shard/step_codec.h"

namespace waymark::shard {
namespace {

bool has_steps(const std::string& bytes) {
  StepReader reader({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  stacks::Step step;
  while (reader.next(step)) {
  }
  return !reader.is_bad();
}

}  // namespace

std::string encode(const SliceStacks& stacks) {
  std::string out;
  put_files(out, stacks.files);
  put_seam(out, stacks.seam);
  put_text(out, stacks.steps);
  put_text(out, stacks.ends);
  return out;
}

Result<SliceStacks> read_stack_slice(Bytes content) {
  Cursor cursor(content);
  SliceStacks stacks;
  stacks.files = take_files(cursor);
  stacks.seam = take_seam(cursor);
  stacks.steps = take_text(cursor);
  stacks.ends = take_text(cursor);
  if (cursor.overrun() || !cursor.at_end() || !has_steps(stacks.steps) || !has_steps(stacks.ends))
    return fail(ErrorCode::kBadData, "the content of the part does not fit together");
  return stacks;
}

}  // namespace waymark::shard

#include "waymark/shard/stack_slice_codec.h"

#include "pack_slice.h"

namespace waymark::shard {
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
  if (cursor.overrun() || !cursor.at_end())
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  return stacks;
}

}  // namespace waymark::shard

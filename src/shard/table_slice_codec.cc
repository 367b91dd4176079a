#include "waymark/shard/table_slice_codec.h"

#include "pack_slice.h"

namespace waymark::shard {
namespace {

auto bad_content() { return fail(ErrorCode::kBadData, "the content of the part is inconsistent"); }

}  // namespace

std::string encode(const SliceEvents& events) {
  std::string out;
  put_files(out, events.files);
  put_seam(out, events.seam);
  put_number(out, events.has_content ? 1 : 0);
  for (const std::string* const text :
       {&events.messages, &events.steps, &events.end_messages, &events.end_steps, &events.end_rows})
    put_text(out, *text);
  return out;
}

Result<SliceEvents> read_slice_events(Bytes content) {
  Cursor cursor(content);
  SliceEvents events;
  events.files = take_files(cursor);
  events.seam = take_seam(cursor);
  events.has_content = take_flag(cursor);
  for (std::string* const text :
       {&events.messages, &events.steps, &events.end_messages, &events.end_steps, &events.end_rows})
    *text = take_text(cursor);
  if (cursor.overrun() || !cursor.at_end()) return bad_content();
  return events;
}

std::string encode(const TableSlice& slice) {
  std::string out;
  put_text(out, encode(slice.data));
  put_text(out, slice.events);
  put_text(out, slice.counts);
  return out;
}

Result<TableSlice> read_table_slice(Bytes content) {
  Cursor cursor(content);
  TableSlice slice;
  const std::string data = take_text(cursor);
  slice.events = take_text(cursor);
  slice.counts = take_text(cursor);
  if (cursor.overrun() || !cursor.at_end()) return bad_content();
  auto files = read_data_files({reinterpret_cast<const std::uint8_t*>(data.data()), data.size()});
  if (!files) return std::unexpected(files.error());
  slice.data = *std::move(files);
  return slice;
}

}  // namespace waymark::shard

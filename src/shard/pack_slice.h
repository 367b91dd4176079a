// The content that the parts of all slices share.
#pragma once

#include <string>
#include <vector>

#include "pack_counts.h"
#include "waymark/parallel/slice_decoder.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {

inline void put_files(std::string& out, const std::vector<Input>& files) {
  put_number(out, files.size());
  for (const Input& file : files) {
    put_text(out, file.path);
    put_number(out, file.bytes);
    put_number(out, file.digest);
  }
}

inline std::vector<Input> take_files(Cursor& cursor) {
  std::vector<Input> files;
  const std::size_t count = take_count(cursor);
  for (std::size_t i = 0; i < count && !cursor.overrun(); ++i) {
    Input& file = files.emplace_back();
    file.path = take_text(cursor);
    file.bytes = take_number(cursor);
    file.digest = take_number(cursor);
  }
  return files;
}

inline void put_seam(std::string& out, const parallel::Seam& seam) {
  put_number(out, seam.framing ? 1 : 0);
  put_number(out, seam.sources.size());
  for (const parallel::Seam::OfSource& source : seam.sources) {
    put_number(out, source.id);
    put_number(out, source.active ? 1 : 0);
    put_number(out, source.holds ? 1 : 0);
  }
}

inline parallel::Seam take_seam(Cursor& cursor) {
  parallel::Seam seam{.framing = take_flag(cursor)};
  const std::uint64_t sources = take_most(cursor, kTraceIdCount);
  for (std::uint64_t i = 0; i < sources && !cursor.overrun(); ++i) {
    auto& source = seam.sources.emplace_back();
    source.id = static_cast<TraceId>(take_most(cursor, UINT8_MAX));
    source.active = take_flag(cursor);
    source.holds = take_flag(cursor);
  }
  return seam;
}

}  // namespace waymark::shard

#include "waymark/shard/part.h"

#include <algorithm>

#include "pack.h"

namespace waymark::shard {
namespace {

constexpr std::string_view kMagic = "WMKPART\n";
constexpr std::uint64_t kPartFormat = 4;

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string bytes_of(const Part& part) {
  std::string bytes(kMagic);
  put_number(bytes, kPartFormat);
  bytes += as_text(part.job);
  put_number(bytes, part.shard);
  put_number(bytes, static_cast<std::uint64_t>(part.payload));
  put_number(bytes, part.codes.size());
  for (const std::uint8_t code : part.codes) bytes += static_cast<char>(code);
  put_text(bytes, part.content);
  const Sha256 digest = sha256(as_bytes(bytes));
  bytes += as_text(digest);
  return bytes;
}

Result<Part> read_part(Bytes bytes) {
  if (bytes.size() < kMagic.size() || as_text(bytes.first(kMagic.size())) != kMagic)
    return fail(ErrorCode::kBadData, "this is not a part");
  Part part;
  if (bytes.size() < kMagic.size() + part.job.size())
    return fail(ErrorCode::kBadData, "the part is cut short");
  const Bytes digest = bytes.last(part.job.size());
  bytes = bytes.first(bytes.size() - digest.size());
  Cursor cursor(bytes.subspan(kMagic.size()));
  const std::uint64_t format = take_number(cursor);
  if (!std::ranges::equal(sha256(bytes), digest))
    return fail(ErrorCode::kBadData, "the part is damaged: its checksum does not match");
  if (format != kPartFormat) return fail(ErrorCode::kUnsupported, "the part has another format");
  std::ranges::copy(cursor.take(part.job.size()), part.job.begin());
  part.shard = take_place(cursor);
  const std::uint64_t payload = take_number(cursor);
  const Bytes codes = cursor.take(take_count(cursor));
  part.codes.assign(codes.begin(), codes.end());
  part.content = take_text(cursor);
  if (cursor.overrun() || !cursor.at_end() ||
      payload > static_cast<std::uint64_t>(Payload::kTableSlice))
    return fail(ErrorCode::kBadData, "the part is damaged: its fields are inconsistent");
  part.payload = static_cast<Payload>(payload);
  return part;
}

}  // namespace waymark::shard

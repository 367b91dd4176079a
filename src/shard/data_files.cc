#include "waymark/shard/data_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "pack_counts.h"
#include "waymark/base/escape.h"
#include "waymark/base/mapped_file.h"

namespace waymark::shard {
namespace {

/// The name becomes a part of a path, so that of a damaged part must not lead elsewhere.
bool is_table_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

std::string encode(std::span<const DataFile> files) {
  std::string out;
  put_number(out, files.size());
  for (const DataFile& file : files) {
    put_text(out, file.table);
    put_number(out, file.input);
    put_number(out, file.slice ? 1 : 0);
    put_number(out, file.slice.value_or(0));
    put_number(out, file.bytes);
    put_text(out, std::string(file.digest.begin(), file.digest.end()));
  }
  return out;
}

Result<std::vector<DataFile>> read_data_files(Bytes content) {
  Cursor cursor(content);
  std::vector<DataFile> files(take_count(cursor));
  for (DataFile& file : files) {
    file.table = take_text(cursor);
    file.input = take_place(cursor);
    const bool is_slice = take_flag(cursor);
    const std::size_t slice = take_place(cursor);
    if (is_slice) file.slice = slice;
    file.bytes = take_number(cursor);
    const std::string digest = take_text(cursor);
    if (digest.size() != file.digest.size() || !is_table_name(file.table))
      return fail(ErrorCode::kBadData, "the part is damaged: its files do not match");
    std::ranges::copy(digest, file.digest.begin());
  }
  if (cursor.overrun() || !cursor.at_end())
    return fail(ErrorCode::kBadData, "the part is damaged: its files do not match");
  return files;
}

std::string data_path(const Folder& folder, const DataFile& file) {
  const std::string slice = file.slice ? fmt::format("-{:08}", *file.slice) : "";
  return fmt::format("{}/tables/{}/{}/{:08}{}.parquet", folder.path(),
                     hex_of(folder.job()).substr(0, 16), file.table, file.input, slice);
}

Result<DataFile> publish_data(const Folder& folder, const std::string& temporary,
                              const std::string& table, std::size_t input,
                              std::optional<std::size_t> slice) {
  DataFile file{.table = table, .input = input, .slice = slice};
  {
    const auto content = MappedFile::open(temporary);
    if (!content) return std::unexpected(content.error());
    file.bytes = content->bytes().size();
    file.digest = sha256(content->bytes());
  }
  const std::string path = data_path(folder, file);
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  if (failed) {
    return fail(
        ErrorCode::kIo,
        fmt::format(
            "Cannot create {}: {}. Check the free space and the permissions there, and try again.",
            escaped(path), failed.message()));
  }
  WAYMARK_TRY(move_into_place(temporary, path));
  return file;
}

Result<void> check_data(const Folder& folder, std::size_t shard, const DataFile& file) {
  const std::string path = data_path(folder, file);
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return fail(code, fmt::format("{}: {}; run shard {} again.", escaped(path), why, shard));
  };
  const auto content = MappedFile::open(path);
  if (!content) {
    if (content.error().code == ErrorCode::kNotFound)
      return refuse(ErrorCode::kNotFound, "this file of a table is missing");
    return std::unexpected(content.error());
  }
  if (content->bytes().size() != file.bytes || sha256(content->bytes()) != file.digest)
    return refuse(ErrorCode::kBadData, "the file is damaged: it is not what the shard wrote");
  return {};
}

}  // namespace waymark::shard

// Files that a shard gives besides its part, which lists them: tables are too large to be in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/shard/folder.h"

namespace waymark::shard {

/// The rows of one input in one table, or those of a slice of it.
struct DataFile {
  std::string table{};
  std::size_t input = 0;  ///< Its number in the plan.
  std::optional<std::size_t> slice{};
  std::uint64_t bytes = 0;
  Sha256 digest{};
  friend bool operator==(const DataFile&, const DataFile&) = default;
};

/// The content of a part with Payload::kTables.
std::string encode(std::span<const DataFile> files);
/// kBadData: it is none.
Result<std::vector<DataFile>> read_data_files(Bytes content);

/// Where a file of a job is.
std::string data_path(const Folder& folder, const DataFile& file);

/// Gives the file at `temporary`, which is on the same disk, its place, when all of it is on the
/// disk.  It replaces one that an earlier attempt left: both have the same content.  kIo.
Result<DataFile> publish_data(const Folder& folder, const std::string& temporary,
                              const std::string& table, std::size_t input,
                              std::optional<std::size_t> slice = {});

/// kBadData, kNotFound, kIo, with the path and the remedy: it is not there as it was written.
Result<void> check_data(const Folder& folder, std::size_t shard, const DataFile& file);

}  // namespace waymark::shard

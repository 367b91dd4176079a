// Memory in files of records: Intel HEX and Motorola S-records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/types.h"
#include "waymark/inputs/debugger_text.h"

namespace waymark::inputs {

/// Whether the first line with something in it is a whole record of Intel HEX with the right
/// checksum.
bool is_intel_hex(Bytes content);

/// The same for S-records.
bool is_s_records(Bytes content);

/// The content of the records of a file.
struct MemoryRecords {
  /// In the order of their addresses, without overlaps; neighbours are one block.
  std::vector<MemoryBlock> blocks{};
  /// The record that ends the file is there.  Without it, the file may be cut short.
  bool ended = false;
};

/// Bytes that two records state for one address must be equal.  A record of Intel HEX wraps as its
/// addressing says: within 64 KiB after a segment address, and else within 4 GiB.
///
/// kParse: a line is not a record, its checksum is wrong, it goes beyond the addresses of its kind,
/// it follows the end, or two records contradict each other; the detail names the line, and is a
/// sentence without the name of the file.  kLimit: more than 256 MiB, or memory at more than 2048
/// places.  kBadData: no record holds memory.
Result<MemoryRecords> read_intel_hex(std::string_view text);
Result<MemoryRecords> read_s_records(std::string_view text);

/// Whether a file is Intel HEX, S-records or ELF, and so says where its bytes are in memory.
bool states_addresses(const std::string& path);

/// The records of a file for the option `--image address=path`: where they say if there is no
/// `address` or it is in one of the blocks, else with the first block at `address`.  Nothing: the
/// file is of another kind, or cannot be opened.  The detail of an error begins with the path.
Result<std::optional<MemoryRecords>> records_at(std::optional<std::uint64_t> address,
                                                const std::string& path);

}  // namespace waymark::inputs

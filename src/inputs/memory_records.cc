#include "waymark/inputs/memory_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "waymark/base/mapped_file.h"

namespace waymark::inputs {
namespace {

constexpr std::size_t kMostParts = 4096;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::uint64_t kSegment = std::uint64_t{1} << 16;
constexpr std::uint64_t kSpace = std::uint64_t{1} << 32;

/// Takes a line without the white space around it.
std::string_view take_line(std::string_view& text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
  return line.substr(0, line.find_last_not_of(kBlank) + 1);
}

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

/// The bytes of a record, which has at most 255 after its length.
struct Record {
  std::array<std::uint8_t, 260> storage{};
  std::size_t size = 0;

  [[nodiscard]] Bytes bytes() const { return Bytes(storage).first(size); }
  /// The big-endian number in bytes [at, at + length).
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t length) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i != length; ++i) value = value << 8 | storage[at + i];
    return value;
  }
  [[nodiscard]] unsigned sum() const {
    unsigned total = 0;
    for (const std::uint8_t byte : bytes()) total += byte;
    return total & 0xFF;
  }
};

/// Nothing: not pairs of digits, or too many.
std::optional<Record> record_of(std::string_view digits) {
  Record record;
  if (digits.size() % 2 != 0 || digits.size() / 2 > record.storage.size()) return std::nullopt;
  for (std::size_t at = 0; at != digits.size(); at += 2) {
    const auto high = digit_of(digits[at]);
    const auto low = digit_of(digits[at + 1]);
    if (!high || !low) return std::nullopt;
    record.storage[record.size++] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return record;
}

/// Collects what the records state, and puts it in the order of addresses.
class Memory {
 public:
  Result<void> add(std::uint64_t address, Bytes bytes, std::size_t line) {
    if (bytes.empty()) return {};
    size_ += bytes.size();
    if (size_ > kMostBytes)
      return fail(ErrorCode::kLimit,
                  "It holds more than 256 MiB of memory; convert it to bytes "
                  "with `objcopy -O binary`.");
    if (parts_.empty() || parts_.back().block.end() != address)
      parts_.push_back({{.address = address}, line});
    std::vector<std::uint8_t>& last = parts_.back().block.bytes;
    last.insert(last.end(), bytes.begin(), bytes.end());
    // Many small parts would need far more memory than their text.
    if (parts_.size() > kMostParts) return merge();
    return {};
  }

  Result<std::vector<MemoryBlock>> take() {
    WAYMARK_TRY(merge());
    if (parts_.empty())
      return fail(ErrorCode::kBadData, "No record holds memory; write the file again.");
    std::vector<MemoryBlock> blocks;
    blocks.reserve(parts_.size());
    for (Part& part : parts_) blocks.push_back(std::move(part.block));
    return blocks;
  }

 private:
  struct Part {
    MemoryBlock block;
    std::size_t line = 0;  ///< The line of its first record.
  };

  Result<void> merge() {
    std::ranges::sort(parts_, {},
                      [](const Part& part) { return std::pair(part.block.address, part.line); });
    std::vector<Part> merged;
    for (Part& part : parts_) {
      if (merged.empty() || merged.back().block.end() < part.block.address) {
        merged.push_back(std::move(part));
        continue;
      }
      WAYMARK_TRY(join(merged.back(), part));
    }
    parts_ = std::move(merged);
    if (parts_.size() > kMostParts / 2)
      return fail(ErrorCode::kLimit,
                  "It holds memory at more than 2048 places; keep those that are needed.");
    return {};
  }

  static Result<void> join(Part& into, const Part& part) {
    const std::size_t at = in_memory(part.block.address - into.block.address);
    const std::size_t common = std::min(into.block.bytes.size() - at, part.block.bytes.size());
    const auto begin = into.block.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto [mine, theirs] =
        std::mismatch(begin, begin + static_cast<std::ptrdiff_t>(common), part.block.bytes.begin());
    if (mine != begin + static_cast<std::ptrdiff_t>(common)) {
      const std::uint64_t place = part.block.address + static_cast<std::uint64_t>(mine - begin);
      return fail(
          ErrorCode::kParse,
          fmt::format("The records that begin in lines {} and {} state different bytes for "
                      "address {:#x}; keep one of them.",
                      std::min(into.line, part.line), std::max(into.line, part.line), place));
    }
    into.block.bytes.insert(into.block.bytes.end(),
                            part.block.bytes.begin() + static_cast<std::ptrdiff_t>(common),
                            part.block.bytes.end());
    into.line = std::min(into.line, part.line);
    return {};
  }

  std::vector<Part> parts_;
  std::size_t size_ = 0;  ///< Of all records, also those that overlap.
};

std::unexpected<Error> bad_line(std::size_t number, std::string_view what) {
  return fail(ErrorCode::kParse,
              fmt::format("Line {}: {}; copy or write the file again.", number, what));
}

// -- Intel HEX: length, address (2), type, data, checksum ----------------------------------------

constexpr std::size_t kHexHeader = 4;

std::optional<Record> hex_record(std::string_view line) {
  if (!line.starts_with(':')) return std::nullopt;
  auto record = record_of(line.substr(1));
  if (!record || record->size < kHexHeader + 1 ||
      record->size != kHexHeader + 1 + record->storage[0])
    return std::nullopt;
  return record;
}

class HexReader {
 public:
  Result<MemoryRecords> read(std::string_view text) {
    while (!text.empty()) {
      ++number_;
      const std::string_view line = take_line(text);
      if (!line.empty()) WAYMARK_TRY(take(line));
    }
    auto blocks = memory_.take();
    if (!blocks) return std::unexpected(std::move(blocks).error());
    return MemoryRecords{*std::move(blocks), ended_};
  }

 private:
  Result<void> take(std::string_view line) {
    const auto record = hex_record(line);
    if (!record) return bad_line(number_, "it is not a record of Intel HEX");
    if (record->sum() != 0) return bad_line(number_, "the checksum of the record is wrong");
    if (ended_) return bad_line(number_, "a record follows the record that ends the file");
    const Bytes data = record->bytes().subspan(kHexHeader, record->storage[0]);
    constexpr std::uint8_t kTypes = 6;
    // The lengths of types 1 to 5.
    constexpr std::array<std::size_t, kTypes> kLengths = {0, 0, 2, 4, 2, 4};
    const std::uint8_t type = record->storage[3];
    if (type >= kTypes)
      return bad_line(number_, fmt::format("there is no record of type {}", type));
    if (type != 0 && data.size() != kLengths[type])
      return bad_line(number_, fmt::format("a record of type {} has {} bytes of data, not {}", type,
                                           kLengths[type], data.size()));
    switch (type) {
      case 0:
        return add(record->number(1, 2), data);
      case 1:
        ended_ = true;
        return {};
      case 2:
        segmented_ = true;
        base_ = record->number(kHexHeader, 2) << 4;
        return {};
      case 4:
        segmented_ = false;
        base_ = record->number(kHexHeader, 2) << 16;
        return {};
      default:  // Where execution begins.
        return {};
    }
  }

  Result<void> add(std::uint64_t offset, Bytes data) {
    const std::uint64_t end = segmented_ ? kSegment : kSpace - base_;
    const auto before =
        static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), end - offset));
    WAYMARK_TRY(memory_.add(base_ + offset, data.first(before), number_));
    return memory_.add(segmented_ ? base_ : 0, data.subspan(before), number_);
  }

  Memory memory_;
  std::size_t number_ = 0;  ///< The number of the line, from 1 on.
  std::uint64_t base_ = 0;
  bool segmented_ = false;
  bool ended_ = false;
};

// -- S-records: 'S', type, length of the rest, address (2 to 4), data, checksum ------------------

std::optional<Record> s_record(std::string_view line) {
  constexpr std::size_t kPrefix = 2;
  if (line.size() < kPrefix || line[0] != 'S' || line[1] < '0' || line[1] > '9')
    return std::nullopt;
  auto record = record_of(line.substr(kPrefix));
  if (!record || record->size < 2 || record->size != 1U + record->storage[0]) return std::nullopt;
  return record;
}

/// How many bytes the address of a record has; 0: the type is not used.
std::size_t address_size(char type) {
  constexpr std::array<std::size_t, 10> kSizes = {2, 2, 3, 4, 0, 2, 3, 4, 3, 2};
  return kSizes[static_cast<std::size_t>(type - '0')];
}

Result<MemoryRecords> read_s_lines(std::string_view text) {
  Memory memory;
  bool ended = false;
  std::uint64_t records = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const auto record = s_record(line);
    if (!record) return bad_line(number, "it is not an S-record");
    if (record->sum() != 0xFF) return bad_line(number, "the checksum of the record is wrong");
    if (ended) return bad_line(number, "a record follows the record that ends the file");
    const char type = line[1];
    const std::size_t size = address_size(type);
    if (size == 0) return bad_line(number, "there is no record of type S4");
    if (record->size < size + 2)
      return bad_line(number, fmt::format("an S{} record has an address of {} bytes", type, size));
    const std::uint64_t address = record->number(1, size);
    ended = type >= '7';
    if ((type == '5' || type == '6') && address != records)
      return bad_line(number, fmt::format("it counts {} records before it, but there are {}",
                                          address, records));
    if (type < '1' || type > '3') continue;
    ++records;
    const Bytes data = record->bytes().subspan(1 + size, record->size - size - 2);
    if (address + data.size() > std::uint64_t{1} << (8 * size))
      return bad_line(number, "the record goes beyond the last address that it can name");
    WAYMARK_TRY(memory.add(address, data, number));
  }
  auto blocks = memory.take();
  if (!blocks) return std::unexpected(std::move(blocks).error());
  return MemoryRecords{*std::move(blocks), ended};
}

/// The first line with something in it.
std::string_view first_line(Bytes content) {
  constexpr std::size_t kLooked = 4096;
  std::string_view text(reinterpret_cast<const char*>(content.data()),
                        std::min(content.size(), kLooked));
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.empty()) return line;
  }
  return {};
}

}  // namespace

bool is_intel_hex(Bytes content) {
  const auto record = hex_record(first_line(content));
  return record && record->sum() == 0;
}

bool is_s_records(Bytes content) {
  const auto record = s_record(first_line(content));
  return record && record->sum() == 0xFF;
}

Result<MemoryRecords> read_intel_hex(std::string_view text) { return HexReader().read(text); }

Result<MemoryRecords> read_s_records(std::string_view text) { return read_s_lines(text); }

bool states_addresses(const std::string& path) {
  constexpr std::array<std::uint8_t, 4> kElf = {0x7F, 'E', 'L', 'F'};
  const auto file = MappedFile::open(path);
  if (!file) return false;
  const Bytes bytes = file->bytes();
  return is_intel_hex(bytes) || is_s_records(bytes) ||
         (bytes.size() > kElf.size() && std::ranges::equal(bytes.first(kElf.size()), kElf));
}

Result<std::optional<MemoryRecords>> records_at(std::optional<std::uint64_t> address,
                                                const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return std::nullopt;
  const bool hex = is_intel_hex(file->bytes());
  if (!hex && !is_s_records(file->bytes())) return std::nullopt;
  auto records = hex ? read_intel_hex(file->text()) : read_s_records(file->text());
  if (!records)
    return fail(records.error().code, fmt::format("{}: {}", path, records.error().detail));
  std::vector<MemoryBlock>& blocks = records->blocks;
  const auto inside = [&](const MemoryBlock& block) { return block.contains(*address, 1); };
  if (!address || std::ranges::any_of(blocks, inside)) return records;
  const std::uint64_t shift = *address - blocks.front().address;
  if (blocks.back().end() + shift < blocks.front().address + shift)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: its memory at {:#x} goes beyond the last address of 64 bits; give "
                            "a lower one.",
                            path, *address));
  for (MemoryBlock& block : blocks) block.address += shift;
  return records;
}

}  // namespace waymark::inputs

#include "waymark/mtb/buffer.h"

#include <fmt/format.h>

#include <bit>

#include "waymark/mtb/packet.h"
#include "waymark/mtb/parser.h"

namespace waymark::mtb {
namespace {

std::unexpected<Error> mismatch(const BufferRegisters& registers, std::uint64_t size,
                                std::uint64_t dump_size) {
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("POSITION {:#010x} and MASTER {:#010x} mean a buffer of {} bytes, in which the "
                  "next record is at offset {:#x} of the SRAM. The dump has {} bytes, so they do "
                  "not belong together; dump the whole buffer, or all of the SRAM.",
                  registers.position, registers.master, size, registers.pointer(), dump_size));
}

}  // namespace

Result<std::array<DumpPart, 2>> order_records(std::uint64_t dump_size,
                                              const BufferRegisters& registers) {
  const std::uint64_t pointer = registers.pointer();
  std::uint64_t size = registers.size();
  // A buffer larger than the SRAM is all of it.
  if (registers.wrapped() && dump_size < size && std::has_single_bit(dump_size)) size = dump_size;
  const std::uint64_t start = pointer & ~(size - 1);  // An offset in the SRAM, as `pointer`.
  const std::uint64_t used = pointer - start;
  // A dump that is longer than the buffer begins where the SRAM begins.
  const std::uint64_t base = dump_size > size ? start : 0;
  const std::uint64_t needed = registers.wrapped() ? size : used;
  if (base + needed > dump_size || size < 2 * kRecordBytes)
    return mismatch(registers, size, dump_size);
  if (registers.wrapped())
    return std::array{DumpPart{base + used, base + size}, DumpPart{base, base + used}};
  std::uint64_t first = 0;
  if (registers.initial_position) {
    const std::uint64_t initial = *registers.initial_position & ~std::uint64_t{7};
    if (initial < start || initial > pointer)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("INITIAL_POSITION {:#010x} is not between the beginning of the "
                              "buffer, {:#x}, and POSITION {:#010x}, although WRAP is 0.",
                              *registers.initial_position, start, registers.position));
    first = initial - start;
  }
  if (first == used)
    return fail(ErrorCode::kBadData,
                fmt::format("POSITION {:#010x} says that the buffer has no record: tracing was not "
                            "enabled (EN of MASTER), or POSITION was written after it.",
                            registers.position));
  return std::array{DumpPart{base + first, base + used}, DumpPart{}};
}

bool likely_follows(std::uint32_t destination, std::uint32_t first_word) {
  constexpr std::uint32_t kMostBytes = 0x2000;
  const std::uint32_t source = first_word & ~1U;
  if (is_return_value(destination)) return destination == source;
  return source - destination < kMostBytes;
}

std::optional<std::uint64_t> find_oldest(Bytes dump) {
  constexpr std::size_t kLeast = 8;
  const std::size_t count = dump.size() / kRecordBytes;
  if (count < kLeast || dump.size() % kRecordBytes != 0) return std::nullopt;
  Packet last;
  read_record(dump.last(kRecordBytes), last);
  std::optional<std::uint64_t> oldest;
  for (std::size_t i = 0; i != count; ++i) {
    Packet packet;
    read_record(dump.subspan(i * kRecordBytes, kRecordBytes), packet);
    if (!is_record(packet.type)) return std::nullopt;
    const bool follows = !packet.start && likely_follows(last.destination, packet.source);
    last = packet;
    if (i == 0 ? follows : follows || packet.start) continue;
    if (i == 0 || oldest) return std::nullopt;
    oldest = i * kRecordBytes;
  }
  return oldest;
}

}  // namespace waymark::mtb

// Memory that a debugger printed as text, and the registers of an MTB in it.  See mtb.md 6.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "capture_builder.h"
#include "temporary_file.h"
#include "waymark/base/plural.h"
#include "waymark/base/shell_word.h"
#include "waymark/inputs/memory_records.h"
#include "waymark/mtb/buffer.h"

namespace waymark::inputs {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string places_of(const std::vector<const MemoryBlock*>& blocks) {
  std::vector<std::string> places;
  places.reserve(blocks.size());
  for (const MemoryBlock* block : blocks)
    places.push_back(fmt::format("{:#x}..{:#x}", block->address, block->end()));
  return fmt::format("{}", fmt::join(places, ", "));
}

/// Bytes of a block.
struct MemoryPart {
  std::uint64_t address = 0;
  Bytes bytes{};
};

/// The used part of the buffer, whose address is known.  The detail is a sentence without the name
/// of the file.
Result<MemoryPart> records_in(const std::vector<const MemoryBlock*>& blocks,
                              const MtbRegisters& registers) {
  const mtb::BufferRegisters buffer{.position = registers.position, .master = registers.master};
  const auto parts = mtb::order_records(buffer.size(), buffer);
  if (!parts) return std::unexpected(parts.error());
  const std::uint64_t begin = registers.base + (buffer.pointer() & ~(buffer.size() - 1));
  const std::uint64_t size = parts->front().size() + parts->back().size();
  for (const MemoryBlock* block : blocks)
    if (block->contains(begin, size))
      return MemoryPart{
          begin, Bytes(block->bytes).subspan(in_memory(begin - block->address), in_memory(size))};
  // A buffer larger than the SRAM is all of it.
  if (buffer.wrapped() && blocks.size() == 1 && begin == registers.base &&
      blocks.front()->address == begin && blocks.front()->bytes.size() < size)
    return MemoryPart{registers.base, blocks.front()->bytes};
  return fail(ErrorCode::kBadData,
              fmt::format("The records are at {:#x}..{:#x} by POSITION {:#010x}, MASTER {:#010x} "
                          "and BASE {:#010x}, but the text shows {} only; print all of them.",
                          begin, begin + size, registers.position, registers.master, registers.base,
                          places_of(blocks)));
}

}  // namespace

Result<DebuggerText> CaptureBuilder::memory_of_text(InputKind kind) {
  const std::string_view text = text_of(capture_.trace_);
  if (kind == InputKind::kDebuggerText) return read_debugger_text(text);
  auto records = kind == InputKind::kIntelHex ? read_intel_hex(text) : read_s_records(text);
  if (!records) return std::unexpected(std::move(records).error());
  if (!records->ended) note_no_end_record(name_);
  return DebuggerText{.blocks = std::move(records->blocks)};
}

void CaptureBuilder::note_no_end_record(const std::string& path) {
  note(fmt::format("{}: the record that ends the file is missing, so the file may be cut short.",
                   path));
}

Result<Detection> CaptureBuilder::read_memory_text(InputKind kind) {
  const auto text = memory_of_text(kind);
  const auto registers =
      text ? find_mtb_registers(*text) : Result<std::optional<MtbRegisters>>(std::nullopt);
  if (!text || !registers) {
    const Error& error = text ? registers.error() : text.error();
    return fail(error.code, fmt::format("{}: {}", name_, error.detail));
  }
  std::vector<const MemoryBlock*> blocks;
  for (const MemoryBlock& block : text->blocks)
    if (!*registers || block.address != (*registers)->address) blocks.push_back(&block);
  if (blocks.empty())
    return fail(
        ErrorCode::kBadData,
        fmt::format("{}: it shows the registers of an MTB at {:#x}, but not the buffer; "
                    "add its memory (`x/64wx ADDRESS`, `mdw ADDRESS 64`), or give a dump as "
                    "INPUT with --registers {}.",
                    name_, (*registers)->address, shell_word(name_)));
  MemoryPart trace{blocks.front()->address, blocks.front()->bytes};
  if (*registers && (*registers)->base != 0) {
    const auto part = records_in(blocks, **registers);
    if (!part) return fail(part.error().code, fmt::format("{}: {}", name_, part.error().detail));
    trace = *part;
  } else if (blocks.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: it shows memory at {}; keep only the trace, or print it without "
                            "gaps.",
                            name_, places_of(blocks)));
  }
  note(fmt::format("{}: {} from {:#x} on were read from the text.", name_,
                   counted(trace.bytes.size(), "byte"), trace.address),
       Severity::kInfo);
  if (*registers) add_mtb_registers(*text, **registers);
  auto file = TemporaryFile::create(fmt::format("Cannot copy the memory in {}", name_));
  if (!file) return std::unexpected(file.error());
  WAYMARK_TRY(file->write(trace.bytes));
  WAYMARK_TRY(set_trace(file->map(capture_.trace_.path())));
  Detection detection = detect(capture_.trace_.bytes());
  if (*registers) detection.kind = InputKind::kMtbRecords;
  return detection;
}

Result<void> CaptureBuilder::read_register_text() {
  const std::string& path = options_.register_text;
  const auto file = MappedFile::open(path);
  if (!file) return fail(file.error().code, fmt::format("--registers: {}", file.error().detail));
  const auto text = read_debugger_text(text_of(*file));
  if (!text)
    return fail(text.error().code, fmt::format("--registers {}: {}", path, text.error().detail));
  const auto registers = find_mtb_registers(*text);
  if (!registers)
    return fail(registers.error().code,
                fmt::format("--registers {}: {}", path, registers.error().detail));
  if (!*registers)
    return fail(ErrorCode::kBadData,
                fmt::format("--registers {}: it does not show the registers of an MTB; print four "
                            "words at its base, with `x/4wx ADDRESS` in GDB or `mdw ADDRESS 4` in "
                            "OpenOCD.",
                            path));
  add_mtb_registers(*text, **registers);
  return {};
}

void CaptureBuilder::add_mtb_registers(const DebuggerText& text, const MtbRegisters& registers) {
  if (options_.protocol.empty()) options_.protocol = "mtb";
  const auto add = [&](std::string_view name, std::uint32_t value) {
    const auto same = [&](const auto& given) { return given.first == name; };
    if (std::ranges::none_of(options_.registers, same))
      options_.registers.emplace_back(name, value);
  };
  add("POSITION", registers.position);
  add("MASTER", registers.master);
  if (text.pc) add("PC", *text.pc);
  note(fmt::format("The MTB has POSITION {:#010x} and MASTER {:#010x} at {:#x}{}.",
                   registers.position, registers.master, registers.address,
                   text.pc ? fmt::format(", and the core was halted at {:#010x}", *text.pc) : ""),
       Severity::kInfo);
}

}  // namespace waymark::inputs

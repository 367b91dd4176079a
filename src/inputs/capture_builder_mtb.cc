// A dump of the buffer of an MTB: its records in the order in which they were written.  See mtb.md
// 3.
#include <fmt/format.h>

#include "capture_builder.h"
#include "temporary_file.h"
#include "waymark/base/plural.h"
#include "waymark/mtb/buffer.h"
#include "waymark/mtb/packet.h"
#include "waymark/mtb/parser.h"

namespace waymark::inputs {

Result<void> CaptureBuilder::read_records(const RegisterReader& registers) {
  WAYMARK_TRY(order_records(registers));
  if (!registers("PC")) note_open_end();
  return {};
}

/// The instructions after the last record are not known.
void CaptureBuilder::note_open_end() {
  const Bytes records = capture_.trace_.bytes();
  if (records.size() < mtb::kRecordBytes) return;
  mtb::Packet last;
  mtb::read_record(
      records.first(records.size() / mtb::kRecordBytes * mtb::kRecordBytes).last(mtb::kRecordBytes),
      last);
  if (!mtb::is_record(last.type) || mtb::is_return_value(last.destination)) return;
  note(fmt::format("{}: the last record goes to {:#x}; state the PC at which the core "
                   "was halted with --reg to see what was executed after it.",
                   name_, last.destination),
       Severity::kInfo);
}

Result<void> CaptureBuilder::order_records(const RegisterReader& registers) {
  const auto position = registers("POSITION");
  const auto master = registers("MASTER");
  if (!position) return find_order();
  if (!master)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: POSITION says where the last record is, but not how large the "
                            "buffer is; state MASTER with --reg.",
                            name_));
  mtb::BufferRegisters buffer{.position = position->value(), .master = master->value()};
  if (const auto initial = registers("INITIAL_POSITION"))
    buffer.initial_position = initial->value();
  const Bytes dump = capture_.trace_.bytes();
  const auto parts = mtb::order_records(dump.size(), buffer);
  if (!parts) return fail(parts.error().code, fmt::format("{}: {}", name_, parts.error().detail));
  const auto& [oldest, newest] = *parts;
  note(fmt::format("{}: by POSITION, {} {} from offset {:#x} on{}.", name_,
                   counted((oldest.size() + newest.size()) / mtb::kRecordBytes, "record"),
                   buffer.wrapped() ? "wrap around the end of the buffer and are read" : "are read",
                   oldest.begin, buffer.wrapped() ? ", the oldest first" : ""),
       Severity::kInfo);
  return read_in_order(*parts);
}

/// Without POSITION.
Result<void> CaptureBuilder::find_order() {
  const std::uint64_t size = capture_.trace_.bytes().size();
  const auto oldest = mtb::find_oldest(capture_.trace_.bytes());
  // A snapshot names all registers that matter.
  const bool snapshot =
      capture_.kind_ == InputKind::kSnapshotFolder || capture_.kind_ == InputKind::kSnapshotIni;
  if (snapshot && !oldest) return {};
  note(fmt::format(
           "{}: POSITION is not known, {}; state POSITION and MASTER with --reg.", name_,
           oldest
               ? fmt::format("but the records show that the oldest one is at offset {:#x}", *oldest)
               : "so the first bytes are taken to be the oldest record"),
       Severity::kInfo);
  return read_in_order({{{oldest.value_or(0), size}, {0, oldest.value_or(0)}}});
}

/// The first part, then the second one.
Result<void> CaptureBuilder::read_in_order(const std::array<mtb::DumpPart, 2>& parts) {
  const Bytes dump = capture_.trace_.bytes();
  if (parts.front() == mtb::DumpPart{0, dump.size()}) return {};
  auto ordered = TemporaryFile::create(fmt::format("Cannot copy the records of {}", name_));
  if (!ordered) return std::unexpected(ordered.error());
  for (const mtb::DumpPart& part : parts)
    if (part.size() != 0)
      WAYMARK_TRY(ordered->write(dump.subspan(in_memory(part.begin), in_memory(part.size()))));
  return set_trace(ordered->map(capture_.trace_.path()));
}

}  // namespace waymark::inputs

#include "waymark/exports/block_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "waymark/element/text.h"
#include "waymark/outputs/csv.h"

namespace waymark::exports {

Result<void> write_block_counts(const profile::Profile& /*profile*/,
                                std::span<const profile::ProgramProfile* const> programs,
                                const Options& /*options*/, TextBuffer& out) {
  out.put(
      "program,build_id,start,end,isa,instructions,times,executed,not_executed,taken,calls,"
      "cycles\n");
  for (const profile::ProgramProfile* program : programs) {
    TextBuffer name;
    outputs::write_csv_field(name, program->path);
    name.put(fmt::format(",{:02x}", fmt::join(program->build_id, "")));
    for (const count::Row& row : program->counts.rows) {
      out.put(name.view());
      out.put(fmt::format(",0x{:016x},0x{:016x},{},{},{},{},{},{},{},{}\n", row.range.start,
                          row.range.end, isa_name(row.range.isa), row.instructions(), row.times(),
                          row.executed, row.not_executed, row.taken(), row.calls(), row.cycles));
    }
  }
  return {};
}

}  // namespace waymark::exports

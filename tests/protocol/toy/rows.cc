#include "rows.h"

#include "source.h"

namespace waymark::toy {
namespace {

Result<std::unique_ptr<Source>> make(const inputs::RegisterReader& registers, isa::Core /*core*/,
                                     const image::Image* /*image*/, const SourceOptions& options) {
  Config config;
  config.toycr = registers("TOYCR").value_or(config.toycr);
  return make_source(config, options);
}

constexpr inputs::RegisterRule kRegisters[] = {{.name = "TOYCR", .mandatory = true}};

constexpr inputs::ProtocolRow kRows[] = {{.type = "TOY",
                                          .protocol = Protocol::kStm,
                                          .registers = kRegisters,
                                          .where_registers = "a debugger reads TOYCR",
                                          .make = make}};

}  // namespace

std::span<const inputs::ProtocolRow> toy_rows() { return kRows; }

}  // namespace waymark::toy

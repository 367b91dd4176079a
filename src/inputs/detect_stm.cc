#include "detect_stm.h"

#include <fmt/format.h>

#include "waymark/stm/parser.h"

namespace waymark::inputs {

StmFacts stm_facts(Bytes content) {
  StmFacts facts;
  if (content.empty()) return facts;
  stm::Parser parser(stm::Config{});
  const frames::Run run{};
  parser.feed({content, {&run, 1}});
  stm::Packet packet;
  bool after_async = false;
  while (parser.next(packet)) {
    using enum stm::PacketType;
    if (packet.type == kNull) continue;
    if (after_async) ++(packet.type == kVersion ? facts.starts : facts.bad);
    after_async = packet.type == kAsync;
    if (after_async && !facts.sync) facts.sync = packet.index;
    if (packet.defect != stm::Defect::kNone) ++facts.bad;
  }
  return facts;
}

std::string stm_sentence(const StmFacts& facts) {
  return fmt::format(
      "Offset {} holds the alignment synchronisation of an STM stream, and a version packet "
      "follows {}.",
      facts.sync.value_or(0), facts.starts == 1 ? "it" : "each");
}

}  // namespace waymark::inputs

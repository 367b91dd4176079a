#include "waymark/protocol/source.h"

#include "waymark/count/counter.h"

namespace waymark {

std::string_view protocol_name(Protocol protocol) {
  switch (protocol) {
    case Protocol::kEtmV3:
      return "ETMV3";
    case Protocol::kPtm:
      return "PTM";
    case Protocol::kEtmV4:
      return "ETMV4I";
    case Protocol::kEte:
      return "ETE";
    case Protocol::kStm:
      return "STM";
    case Protocol::kItm:
      return "ITM";
    case Protocol::kEtmV4Data:
      return "ETMV4D";
    case Protocol::kMtb:
      return "MTB";
  }
  return "?";
}

void Source::count(count::Counter& counter) {
  const std::span<Element> elements = counter.batch();
  counter.set_timestamps_repeat_cycles(protocol() == Protocol::kEtmV4 ||
                                       protocol() == Protocol::kEte);
  while (const std::size_t got = next(elements))
    counter.observe(std::span<const Element>(elements.first(got)));
}

}  // namespace waymark

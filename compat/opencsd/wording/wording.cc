#include "wording/wording.h"

namespace waymark::compat {
namespace {

Words words_of(const Diagnostic& record, Protocol protocol, Wording& wording) {
  if (const Words words = frames_words(record)) return words;
  switch (protocol) {
    case Protocol::kEtmV3:
      return etmv3_words(record, wording);
    case Protocol::kEtmV4:
    case Protocol::kEte:
      return etmv4_words(record, wording);
    case Protocol::kPtm:
      return ptm_words(record);
    case Protocol::kStm:
      return stm_words(record, wording);
    case Protocol::kItm:
      return itm_words(record);
    case Protocol::kEtmV4Data:
    case Protocol::kMtb:
      break;
  }
  return {};
}

}  // namespace

Wording wording_of(const Diagnostic& record, Protocol protocol) {
  Wording wording{error_number(record.fault), record.index, {}};
  wording.text = words_of(record, protocol, wording).value_or(describe(record));
  return wording;
}

}  // namespace waymark::compat

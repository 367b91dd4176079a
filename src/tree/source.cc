#include "waymark/tree/source.h"

#include "waymark/count/counter.h"

namespace waymark {

void Source::count(count::Counter& counter) {
  const std::span<Element> elements = counter.batch();
  counter.set_timestamps_repeat_cycles(protocol() == Protocol::kEtmV4 ||
                                       protocol() == Protocol::kEte);
  while (const std::size_t got = next(elements))
    counter.observe(std::span<const Element>(elements.first(got)));
}

}  // namespace waymark

#include "waymark/tree/source.h"

#include <array>

#include "waymark/count/counter.h"

namespace waymark {

void Source::count(count::Counter& counter) {
  std::array<Element, 128> elements;
  counter.set_timestamps_repeat_cycles(protocol() == Protocol::kEtmV4 ||
                                       protocol() == Protocol::kEte);
  while (const std::size_t got = next(elements))
    counter.observe(std::span<const Element>(elements).first(got));
}

}  // namespace waymark

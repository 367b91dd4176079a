#include "bench/reference.h"

namespace waymark::bench {

std::string reference_version() { return {}; }

std::expected<Counts, std::string> run_reference(const Capture&, Work, bool) {
  return std::unexpected("built without libopencsd-dev");
}

}  // namespace waymark::bench

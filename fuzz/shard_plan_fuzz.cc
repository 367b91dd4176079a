// Job files and plans of any bytes: no crash, and a plan that is read can be written and read
// again.
#include <cstdint>
#include <cstdlib>

#include "waymark/shard/job.h"
#include "waymark/shard/plan.h"

using namespace waymark;
using namespace waymark::shard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto job = read_job(text, "job.toml"); job && find_want(job->format) == nullptr)
    std::abort();
  // With its end, so that more than the digest is tried.
  const Bytes bytes(data, size);
  for (const std::string& whole : {text, text + "end " + hex_of(sha256(bytes)) + "\n"}) {
    const auto plan = read_plan(whole);
    if (!plan) continue;
    const auto again = read_plan(text_of(*plan));
    if (!again || *again != *plan) std::abort();
  }
  return 0;
}

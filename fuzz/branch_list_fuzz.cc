// Branch lists of any bytes: no crash, bounded memory, and what is read can be written and read
// again.
#include <cstdint>
#include <cstdlib>

#include "waymark/exports/branch_list.h"

using namespace waymark;
using namespace waymark::exports;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  (void)is_branch_list(bytes);
  const auto list = read_branch_list(bytes);
  if (!list) return 0;
  for (const auto& [name, branches] : *list) {
    for (const auto& [address, sequences] : branches)
      for (const auto& [bits, times] : sequences)
        if (bits.count == 0 || times == 0 || bits.bytes.size() != (bits.count + 7) / 8)
          std::abort();
    // The input is also the code.
    const BinaryCode code{.read =
                              [&](std::uint64_t address, std::uint32_t& opcode) {
                                if (size < 4 || address > size - 4) return false;
                                opcode = 0;
                                for (unsigned i = 0; i < 4; ++i)
                                  opcode |= std::uint32_t{data[address + i]} << (8 * i);
                                return true;
                              },
                          .is_64_bit = name.kind != BinaryKind::kModule};
    (void)expand(branches, code);
  }
  const auto written = written_branch_list(*list, false);
  if (!written) std::abort();
  const auto again =
      read_branch_list({reinterpret_cast<const std::uint8_t*>(written->data()), written->size()});
  if (!again || *again != *list) std::abort();
  return 0;
}

#include "waymark/etmv4/context_register.h"

#include "waymark/base/bits.h"

namespace waymark::etmv4 {

std::size_t ContextRegister::take(Bytes bytes, const Config& config, bool alone) {
  if (bytes.empty()) return 0;
  const std::uint8_t info = bytes[0];
  const unsigned vmid_bytes = bit<6>(info) ? config.vmid_bytes() : 0;
  const unsigned cid_bytes = bit<7>(info) ? config.context_id_bytes() : 0;
  // Quirk of etmv4-ete.md 2.8: a context packet (not address and context) that announces fields of
  // size zero takes one more byte.
  const bool extra = alone && (info & 0xC0) != 0 && vmid_bytes + cid_bytes == 0;
  const std::size_t length = 1 + vmid_bytes + cid_bytes + (extra ? 1 : 0);
  if (bytes.size() < length) return 0;
  Cursor cursor(bytes.subspan(1));
  value_.el = bits<1, 0>(info);
  value_.nse = bit<3>(info);
  value_.sf = bit<4>(info);
  value_.ns = bit<5>(info);
  value_.updated = true;
  value_.updated_vmid = vmid_bytes != 0;
  value_.updated_context_id = cid_bytes != 0;
  if (vmid_bytes != 0) value_.vmid = static_cast<std::uint32_t>(cursor.little(vmid_bytes));
  if (cid_bytes != 0) value_.context_id = static_cast<std::uint32_t>(cursor.little(cid_bytes));
  seen_ = true;
  return length;
}

}  // namespace waymark::etmv4
